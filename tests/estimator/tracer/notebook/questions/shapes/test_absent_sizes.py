"""Layers that are sized by a file which is not here are asked for by name, beside the file that would say it; what
nobody knows of a slice of an array in a file is not made up."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SIZED = """import json, pickle, numpy as np, paddle
from paddle import nn
import paddle.nn.functional as F
{made}
head = nn.Linear(64, 2)
opt = paddle.optimizer.Adam(parameters=[*emb.parameters(), *head.parameters()])
for step in range(10):
    x = paddle.randint(0, 10, [32, 20])
    loss = F.cross_entropy(head(emb(x).mean(axis=1)), paddle.randint(0, 2, [32]))
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
OF_H5PY = """def opened(path):
    raise FileNotFoundError("[Errno 2] Unable to synchronously open file (unable to open file: name = 'emb.h5', "
                            "errno = 2, error message = 'No such file or directory', flags = 0, o_flags = 0)")
file = opened("emb" + ".h5")
emb = nn.Embedding(file["emb"].shape[0], 64)"""
OF_FUNCTION = """def build(path):
    state = paddle.load(path)
    return nn.Embedding(state["emb.weight"].shape[0], 64)
emb = build("vocab.pdparams")"""
SIZES = {
    "w_emb_shape_0": ("w = paddle.load('vocab.pdparams')\nemb = nn.Embedding(w['emb'].shape[0], 64)", "vocab.pdparams"),
    "len_w": ("w = paddle.load('vocab.pdparams')\nemb = nn.Embedding(len(w), 64)", "vocab.pdparams"),
    "state_shape_0": (OF_FUNCTION, "vocab.pdparams"),
    "w_shape_0": ("w = np.loadtxt('emb.txt')\nemb = nn.Embedding(w.shape[0], 64)", "emb.txt"),
    "table_shape_0": ("table = np.load('emb.npy')\nemb = nn.Embedding(table.shape[0], 64)", "emb.npy"),
    "len_vocab": ("vocab = pickle.load(open('vocab.pkl', 'rb'))\nemb = nn.Embedding(len(vocab), 64)", "vocab.pkl"),
    "len_cfg_words": ("cfg = json.load(open('config.json'))\nemb = nn.Embedding(len(cfg['words']), 64)", "config.json"),
    "file_emb_shape_0": (OF_H5PY, "emb.h5"),
}
"""By the name that is asked for: what sizes the layer, and of which file."""
SLICED = """import h5py, numpy as np, paddle
import paddle.nn.functional as F
from paddle import nn
file = {opened}
def batches(n=32):
    for i in range(0, 1000, n):
        yield np.array(file["x"][i : i + n]).astype("float32")
net = nn.Linear(32, 64)
opt = paddle.optimizer.Adam(parameters=net.parameters())
for x in batches():
    loss = net(paddle.to_tensor(x)).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
IN_LOOP = """import h5py, paddle
import paddle.nn.functional as F
from paddle import nn
file = h5py.File("train.h5", "r")
x, y = file["images"][:1000], file["labels"][:1000]
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
opt = paddle.optimizer.Adam(parameters=net.parameters())
for i in range(0, len(x), 50):
    xb, yb = paddle.to_tensor(x[i : i + 50].astype("float32")), paddle.to_tensor(y[i : i + 50].astype("int64"))
    loss = F.cross_entropy(net(xb), yb)
    loss.backward()
    opt.step()
    opt.clear_grad()
"""


@pytest.fixture(scope="module")
def traced(run_child):
    sources = {name: SIZED.format(made=made) for name, (made, _) in SIZES.items()}
    answered = {f"{name} answered": source for name, source in sources.items()}
    answered["known"] = SIZED.format(made="emb = nn.Embedding(5000, 64)")
    sliced = {"h5": SLICED.format(opened="h5py.File('train.h5', 'r')"), "in a loop": IN_LOOP}
    answers = {f"{name} answered": {"answers": {name: 5000}} for name in sources}
    return run_child("trace", {**sources, **answered, **sliced}, answers)


@pytest.mark.parametrize("name", SIZES)
def test_a_size_of_an_absent_file_is_asked_for_by_name_beside_the_file(traced, name):
    (asked,) = traced[name]["questions"]
    assert (traced[name]["status"], asked["name"], asked["suggestion"]) == ("needs_input", name, 10_000)
    assert asked["params"]["file"].endswith(SIZES[name][1])


@pytest.mark.parametrize("name", SIZES)
def test_the_answer_sizes_the_layer(traced, name):
    found = traced[f"{name} answered"]
    assert (found["status"], found["peak"]) == ("ok", traced["known"]["peak"])


def test_no_number_of_axes_is_made_up_for_a_slice_of_an_array_in_a_file(traced):
    (asked,) = [one for one in traced["h5"]["questions"] if one["kind"] == "batch"]
    assert traced["h5"]["status"] == "needs_input"
    assert (asked["name"], asked["suggestion"]) == ("batches", "float32[32,32]")


def test_the_batch_size_is_the_one_by_which_the_arrays_are_cut(traced):
    assert [one["suggestion"] for one in traced["in a loop"]["questions"]] == ["float32[50,784]", "int64[50]"]
