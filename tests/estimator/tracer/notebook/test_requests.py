# ruff: noqa: E501 - one script a line reads as a table
"""What the entry points make of notebooks: answers, questions, what-ifs, mixed precision."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

TRACER = Path(__file__).resolve().parents[4] / "jupyter_paddle_gpu" / "estimator"
CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
from paddle.base import core

def short(found):
    kinds = {}
    for size, start, end, kind, *_ in found.get("storages", []):
        if start == -1:
            kinds[kind] = kinds.get(kind, 0) + size
    phases = {}
    for name, phase, layer, flops, *_ in found.get("operations", []):
        phases[phase] = phases.get(phase, 0) + flops
    keep = {k: v for k, v in found.items() if k not in ("storages", "operations")}
    casts = [o[0] for o in found.get("operations", [])].count("cast")
    keep["workspaces"] = {o[0]: o[-2:] for o in found.get("operations", [])}
    paths = sorted({o[2] for o in found.get("operations", [])})
    return {**keep, "kinds": kinds, "flops": phases, "casts": casts, "paths": paths, "bytes": sum(s[0] for s in found.get("storages", [])),
            "lives": sorted(s[:3] for s in found.get("storages", []))}

for name, request in json.load(sys.stdin).items():
    print(json.dumps([name, short(tracer.trace_notebook(request))]))
print(json.dumps(["allocated", core.host_memory_stat_peak_value("Allocated", 0)]))
"""
NET = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.zeros(20, 'float32'), i % 3
    def __len__(self):
        return 1000
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Sequential(nn.Linear(64, 64), nn.ReLU()), nn.Linear(64, 3))
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
"""
LOOP = """
for epoch in range(3):
    for x, y in paddle.io.DataLoader(Data(), batch_size=batch_size, shuffle=True):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""


def cells(*sources: str) -> list[dict]:
    return [{"index": index, "source": source} for index, source in enumerate(sources)]


PLAIN = cells("batch_size = 32", NET, LOOP)
AUTO_CAST = LOOP.replace("loss = F", "with paddle.amp.auto_cast(level='O1', dtype='float16'): loss = F")
BLOCKS = """
import paddle
from paddle import nn
model = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0), 4)
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
x = paddle.randn([4, 16, 32])
x.stop_gradient = False
for step in range(9):
    model(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
OWN = """
import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)) for _ in range(4)])
    def forward(self, x):
        for block in self.blocks:
            x = {call}
        return x
model = Net()
optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
x = paddle.randn([32, 64])
x.stop_gradient = False
for step in range(6):
    model(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
FROZEN = """
import paddle
from paddle import nn
model = nn.Sequential(nn.Conv2D(3, 8, 3), nn.BatchNorm2D(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4), nn.Linear(4, 2))
for parameter in model[4].parameters():
    parameter.stop_gradient = True
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(9):
    model(paddle.randn([2, 3, 8, 8])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
DROPS = """
data = paddle.io.TensorDataset([paddle.randn([100, 20]), paddle.randint(0, 3, [100])])
loader = paddle.io.DataLoader(data, batch_size=batch_size, drop_last=True)
schedule = paddle.optimizer.lr.LinearWarmup(0.1, 10 // len(loader), 0.0, 0.1)
for epoch in range(5):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
SINGLE = NET.replace("return np.zeros(20, 'float32'), i % 3", "return np.zeros(20, 'float32')")
SINGLE_LOOP = LOOP.replace("for x, y in", "for x in").replace("F.cross_entropy(model(x), y)", "model(x).mean()")
RECURRENT = """
import paddle
net = paddle.nn.LSTM(8, 16, num_layers=2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(4):
    net(paddle.randn([4, 10, 8]))[0].mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
EQUATION = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(2, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 1))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for _ in range(4):
    x, t = paddle.rand([20, 1]), paddle.rand([20, 1])
    x.stop_gradient = t.stop_gradient = False
    u = net(paddle.concat([x, t], axis=1))
    first = paddle.grad(u, x, create_graph=True)[0]
    second = paddle.grad(first, x, create_graph=True)[0]
    (u * first - second).square().mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
NORMALISED = """
import paddle
model = paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3), paddle.nn.{kind}(8), paddle.nn.Conv2D(8, 8, 3))
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for step in range(4):
    model(paddle.rand([4, 3, 24, 24])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ATTENTION = """
import paddle
from paddle.incubate import softmax_mask_fuse_upper_triangle as masked
softmax = paddle.nn.functional.softmax
query, key = paddle.nn.Linear(16, 16), paddle.nn.Linear(16, 16)
optimizer = paddle.optimizer.SGD(parameters=[*query.parameters(), *key.parameters()])
for step in range(4):
    x = paddle.rand([2, 4, 32, 16])
    {kind}(query(x).matmul(key(x), transpose_y=True)).matmul(x).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LATER = "def later(model, data):\n    model.fit(data)\nways = [later]\n"
"""Something that trains and is named; without it nothing is asked for."""
REQUESTS = {
    "recurrent": {"cells": cells(RECURRENT), "target": "gpu"},
    "equation": {"cells": cells(EQUATION), "target": "gpu"},
    "equation-unsaid": {
        "cells": cells(EQUATION.replace("create_graph=True", "**{'create' + '_graph': True}")), "target": "gpu"
    },
    "one-card": {"cells": cells(NORMALISED.format(kind="BatchNorm2D")), "target": "gpu"},
    "over-cards": {"cells": cells(NORMALISED.format(kind="SyncBatchNorm")), "target": "gpu"},
    "softmax": {"cells": cells(ATTENTION.format(kind="softmax")), "target": "gpu"},
    "masked-softmax": {"cells": cells(ATTENTION.format(kind="masked")), "target": "gpu"},
    "masked-no-card": {"cells": cells(ATTENTION.format(kind="masked")), "target": "cpu"},
    "no-card": {"cells": cells(NORMALISED.format(kind="SyncBatchNorm")), "target": "cpu"},
    "single": {"cells": cells("batch_size = 8", SINGLE, SINGLE_LOOP), "target": "cpu"},
    "beyond-data": {"cells": cells("batch_size = 10", NET, DROPS), "batch_size": 5000, "target": "cpu"},
    "plain": {"cells": PLAIN},
    "batch": {"cells": PLAIN, "batch_size": 128},
    "answer": {"cells": cells("batch_size = int(input())", NET, LOOP), "answers": {"batch_size": 16}},
    "download": {"cells": cells(LATER + "import paddle\npath = paddle.utils.download.get_path_from_url(URL, '.')".replace(
        "URL", "'https://data.invalid/a.zip'"))},
    "mnist": {
        "cells": cells("""
import paddle
from paddle.vision.transforms import ToTensor
train = paddle.vision.datasets.MNIST(mode='train', transform=ToTensor())
mean, seen = paddle.zeros([1]), 0
for image, label in train:
    mean[0] += image.mean()
    seen += 1
assert seen < len(train)
del image, label, mean
model = paddle.Model(paddle.vision.models.LeNet())
model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
model.fit(train, epochs=1, batch_size=64, verbose=1)
""")
    },
    "file": {"cells": cells(LATER + "import numpy as np\nrows = np.load('rows.npy')")},
    "text": {"cells": cells(LATER + "words = open('words.txt').read().split()")},
    "count": {"cells": cells(LATER + "vocabulary = len(open('words.txt').read().split())")},
    "module": {"cells": cells(LATER + "import no_such_module_anywhere")},
    "lesson": {"cells": cells("import no_such_module_anywhere\nimport numpy as np\nrows = np.load('rows.npy')")},
    "out of reach": {"cells": cells(LATER.replace("ways = [later]\n", "") + "import numpy as np\nrows = np.load('rows.npy')")},
    "failing": {"cells": cells("import paddle\n\nwidth = 1 / 0")},
    "failing-within": {"cells": cells("import paddle\ndef half(of):\n    return of / 0", "x = 1\nwidth = half(3)")},
    "no-model": {"cells": cells("import paddle\nx = paddle.ones([3])")},
    "bad-cell-elsewhere": {"cells": [{"index": 0, "source": "import plot_that_is_not_there"}, *PLAIN]},
    "caught": {"cells": cells("batch_size = 8", NET, "try:\n" + LOOP.replace("\n", "\n    ") + "\nexcept:\n    pass")},
    "amp-off": {"cells": cells("batch_size = 32", NET, AUTO_CAST), "amp": "off", "target": "gpu"},
    "amp-own": {"cells": cells("batch_size = 32", NET, AUTO_CAST), "target": "gpu"},
    "amp-cpu": {"cells": cells("batch_size = 32", NET, AUTO_CAST), "target": "cpu"},
    "amp-asked": {"cells": PLAIN, "amp": "O1", "amp_dtype": "bfloat16", "target": "gpu"},
    "amp-o2": {"cells": PLAIN, "amp": "O2", "target": "gpu"},
    "accumulation": {"cells": PLAIN, "accumulation": 4},
    "blocks": {"cells": cells(BLOCKS)},
    "recompute": {"cells": cells(BLOCKS), "recompute": True},
    "own-recompute": {"cells": cells(OWN.format(call="recompute(block, x, use_reentrant=False)"))},
    "kept": {"cells": cells(OWN.format(call="recompute(block, x, use_reentrant=False)")), "recompute": False},
    "by-hand": {"cells": cells(OWN.format(call="block(x)"))},
    "saves": {"cells": cells("batch_size = 8", NET, "paddle.save(model.state_dict(), 'model.pdparams')", LOOP)},
    "branch": {"cells": cells("batch_size = 8", NET, LOOP.replace("optimizer.step", "if loss > 1: print(1)\n        optimizer.step"))},
    "frozen": {"cells": cells(FROZEN)},
    "large": {"cells": cells("""
import paddle
model = paddle.nn.Sequential(*[paddle.nn.Linear(8192, 8192) for _ in range(8)])
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(4):
    model(paddle.randn([4096, 8192])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
""")},
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(tmp_path_factory, run_code):
    folder = tmp_path_factory.mktemp("notebook")
    sent = {name: {"folder": str(folder), "answers": {}, **request} for name, request in REQUESTS.items()}
    found = run_code(CHILD, sent)
    found["files"] = [path.name for path in folder.iterdir()]
    return found


def test_a_plain_loop_is_read(answers):
    found = answers["plain"]
    assert (found["status"], found["evidence"], found["model"]) == ("ok", "trace", "Sequential")
    assert (found["batch_size"], found["optimizer"], found["loss"]) == (32, "Adam", "cross_entropy")
    assert found["inputs"] == ["float32[32, 20]", "int64[32]"]
    count = 20 * 64 + 64 + 64 * 64 + 64 + 64 * 3 + 3
    assert found["parameters"] == found["trainable_parameters"] == count
    assert sum(row[2] for row in found["layers"]) == count
    assert {"0", "2.0", "3"} <= set(found["paths"])


def test_trainable_parameters_have_a_gradient(answers):
    """Neither frozen parameters nor running means and variances, which a training step writes over."""
    found = answers["frozen"]
    convolution, scale, statistics, frozen, last = 3 * 9 * 8 + 8, 2 * 8, 2 * 8, 288 * 4 + 4, 4 * 2 + 2
    assert found["parameters"] == convolution + scale + statistics + frozen + last
    assert found["trainable_parameters"] == convolution + scale + last
    assert found["convolves"] and not answers["plain"]["convolves"]


def test_what_is_there_before_the_step(answers):
    kinds, count = answers["plain"]["kinds"], answers["plain"]["parameters"]
    assert kinds["parameters"] == kinds["gradients"] == 4 * count
    assert 8 * count <= kinds["optimizer_state"] <= 8 * count + 200


def test_flops_count_a_multiply_add_as_two(answers):
    products = 2 * 32 * (20 * 64 + 64 * 64 + 64 * 3)
    flops = answers["plain"]["flops"]
    assert products <= flops["forward"] <= products * 1.2
    assert flops["backward"] == pytest.approx(2 * products, rel=0.25)


def test_a_batch_size_asked_for_and_an_answer_are_taken(answers):
    assert answers["batch"]["batch_size"] == 128
    assert answers["answer"]["batch_size"] == 16


def test_the_workspace_of_recurrent_layers_is_a_range_on_a_gpu(answers):
    for name in (
        "rnn",
        "rnn_grad",
    ):  # of each of two layers twelve states of four samples, sixteen wide, and a mebibyte
        low, high = answers["recurrent"]["workspaces"][name]  # a strided gradient's copy is in both
        assert high - low == 2 * (12 * 4 * 16 * 4 + (1 << 20))


def test_second_gradients_are_followed_from_the_first_step_on_a_gpu(answers):
    assert answers["equation"]["status"] == "ok"
    unsaid = answers["equation-unsaid"]  # as where an imported module asks for them
    assert (unsaid["status"], unsaid["lives"]) == ("ok", answers["equation"]["lives"])


def test_batches_that_paddle_keeps_are_named(answers):
    assert answers["single"]["status"] == "ok"
    assert "batches_pile_up" in {note["code"] for note in answers["single"]["notes"]}
    assert "batches_pile_up" not in {note["code"] for note in answers["plain"]["notes"]}


def test_a_batch_larger_than_the_data_set_is_taken_as_if_there_were_data_enough(answers):
    assert (answers["beyond-data"]["status"], answers["beyond-data"]["batch_size"]) == ("ok", 5000)
    assert "float32[5000, 20]" in answers["beyond-data"]["inputs"]


@pytest.mark.parametrize(
    ("name", "why"), [("download", "download"), ("file", "path_missing"), ("module", "module_missing")]
)
def test_missing_data_is_a_question(answers, name, why):
    assert answers[name]["questions"][0]["why"] == why


@pytest.mark.parametrize("name", ["lesson", "out of reach"])
def test_what_trains_nothing_asks_for_nothing(answers, name):
    assert (answers[name]["status"], answers[name]["questions"]) == ("no_model", [])


def test_a_question_says_where_and_what_for(answers):
    question = answers["file"]["questions"][0]
    # Nobody types an array, but where its file is.
    assert (question["name"], question["kind"], question["cell"], question["line"]) == ("rows_npy", "path", 0, 5)
    assert [one["name"] for one in answers["count"]["questions"]][-1] == "vocabulary"
    text = answers["text"]["questions"][0]
    assert (text["name"], text["why"]) == ("words_txt", "path_missing")  # nobody types a text: only the file helps
    failing = answers["failing"]
    assert (failing["status"], failing["questions"]) == ("would_stop", [])
    assert failing["stop"] == {"cell": 0, "line": 3, "raised": None, "error": "ZeroDivisionError: division by zero"}
    within = answers["failing-within"]["stop"]
    assert (within["cell"], within["line"], within["raised"]) == (1, 2, {"cell": 0, "line": 3})


def test_known_data_sets_need_no_files(answers):
    assert answers["mnist"]["status"] == "ok"
    assert answers["mnist"]["inputs"] == ["float32[64, 1, 28, 28]", "int64[64, 1]"]
    assert [note["code"] for note in answers["mnist"]["notes"]] == ["dataset_stand_in"]


def test_nothing_to_train_and_a_failing_cell_elsewhere(answers):
    assert answers["no-model"]["status"] == "no_model"
    assert answers["bad-cell-elsewhere"]["status"] == "ok"
    assert answers["caught"]["status"] == "ok"


def test_mixed_precision_follows_target_and_request(answers):
    assert [answers[name]["amp"] for name in ("amp-own", "amp-off", "amp-asked", "amp-o2")] == ["O1", "off", "O1", "O2"]
    assert answers["amp-cpu"]["amp"] == "off"
    # a weight, a bias or an input of each of the four products is cast, loss and logits back
    assert answers["amp-own"]["casts"] == answers["amp-asked"]["casts"] > answers["amp-off"]["casts"]
    count = answers["plain"]["parameters"]
    assert answers["amp-o2"]["kinds"]["parameters"] == 2 * count
    assert answers["amp-o2"]["kinds"]["optimizer_state"] >= 12 * count  # float32 moments and master weights


def test_accumulation_and_recomputation(answers):
    assert answers["accumulation"]["batch_size"] == 8
    assert answers["accumulation"]["inputs"] == ["float32[8, 20]", "int64[8]"]
    assert answers["recompute"]["flops"]["backward"] > answers["blocks"]["flops"]["backward"] * 1.2
    assert answers["recompute"]["flops"]["forward"] == answers["blocks"]["flops"]["forward"]


def test_recompute_of_the_program_is_taken_out_as_by_hand(answers):
    def step(name):
        return answers[name]["flops"], answers[name]["parameters"], answers[name]["lives"]

    assert step("kept") == step("by-hand")
    assert answers["own-recompute"]["flops"]["backward"] > answers["kept"]["flops"]["backward"]


def test_statistics_over_cards_take_what_those_of_one_take(answers):
    assert answers["over-cards"]["lives"] == answers["one-card"]["lives"]
    assert "sync_batch_norm` is not registered" in answers["no-card"]["stop"]["error"]


def test_a_softmax_with_its_mask_takes_what_a_softmax_takes(answers):
    assert answers["masked-softmax"]["lives"] == answers["softmax"]["lives"]
    assert "only supports GPU" in answers["masked-no-card"]["stop"]["error"]


def test_nothing_is_written_and_nothing_allocated(answers):
    assert answers["saves"]["status"] == "ok"
    assert answers["files"] == []
    assert answers["large"]["parameters"] == 8 * (8192 * 8192 + 8192)
    assert answers["allocated"] < 1 << 22  # a result's room, never filled, where eager mode is asked about a call


def test_a_branch_on_an_unknown_number_is_noted(answers):
    assert "branches_followed" in [note["code"] for note in answers["branch"]["notes"]]
