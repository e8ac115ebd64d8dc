"""Shapes that stand in words beside arrays which are not here."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.estimator.tracer.notebook.questions.shapes import stated

EPISODES = """
import numpy as np, paddle
from paddle import nn
n_way, k_spt, side = 5, 1, 28
{loads}
def cache(rows):
    batches = []
    for _ in range(3):
        tasks = []
        for i in range(4):
            chosen = np.random.choice(rows.shape[0], n_way, replace=False)
            tasks.append([rows[one][:k_spt] for one in chosen])
        batches.append(np.array(tasks).astype('float32').reshape(4 * n_way * k_spt, -1))
    return batches
cached = {{'train': cache(x_train)}}
net = nn.Linear({width}, n_way)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for batch in cached['train']:
    loss = net(paddle.to_tensor(batch)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
BEHIND = EPISODES.format(loads="x_train = np.load('absent.npy')  # (973, 20, 1, 28, 28)", width=784)
ABOVE = EPISODES.format(loads="# shape: (973, 20, 1, side, side), float64\nx_train = np.load('absent.npy')", width=784)
SHOWN = EPISODES.format(loads="x_train = np.load('absent.npy')\nprint(x_train.shape)  # (973, 20, 9)", width=9)
ASSERTED = EPISODES.format(loads="x_train = np.load('absent.npy')\nassert x_train.shape == (97, 20, 9)", width=9)
WRONG = EPISODES.format(loads="x_train = np.load('absent.npy')  # (973, 20, 1, 30, 30)", width=784)
SOURCES = {"behind": BEHIND, "above": ABOVE, "shown": SHOWN, "asserted": ASSERTED, "wrong": WRONG}


@pytest.fixture(scope="module")
def found(run_child):
    return run_child("trace", SOURCES)


@pytest.mark.paddle
@pytest.mark.parametrize(
    "name, suggestion, said",
    [
        ("behind", "float32[973,20,1,28,28]", "(973, 20, 1, 28, 28)"),
        ("above", "float64[973,20,1,28,28]", "shape: (973, 20, 1, side, side), float64"),
        ("shown", "float32[973,20,9]", "(973, 20, 9)"),
        ("asserted", "float32[97,20,9]", "x_train.shape == (97, 20, 9)"),
    ],
)
def test_words_beside_an_array_are_suggested_for_it(found, name, suggestion, said):
    (asked,) = found[name]["questions"]
    assert (asked["name"], asked["kind"], asked["suggestion"]) == ("x_train", "batch", suggestion)
    assert (asked["params"]["source"], asked["params"]["said"]) == ("stated", said)


@pytest.mark.paddle
def test_with_the_suggestion_there_is_a_figure(run_child):
    answers = {"answers": {"x_train": "float32[973,20,1,28,28]"}}
    assert run_child("trace", {"behind": BEHIND}, {"behind": answers})["behind"]["status"] == "ok"


@pytest.mark.paddle
def test_words_that_the_program_ends_with_are_not_suggested(found):
    assert "stated" not in {one["params"].get("source") for one in found["wrong"]["questions"]}


def test_what_is_no_array_and_what_is_no_one_shape_is_left():
    source = """
size = 8
table = read_csv('a.csv')  # (891, 12)
pair = load('a')  # (3, 4) or (5, 6)
open_one = load('b')  # (n, 4)
words = load('c')  # (see above)
labels = load('d')  # (size,)
"""
    found = stated.arrays([{"index": 2, "source": source}])
    assert [(one.name, one.text, one.cell, one.line) for one in found] == [("labels", "int64[8]", 2, 7)]
