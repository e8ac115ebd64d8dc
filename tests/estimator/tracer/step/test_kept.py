"""What steps keep of what they made, against real steps: lists of losses, sums of tensors, what Python itself holds."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """import collections
import paddle
from paddle import nn
net = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))
opt = paddle.optimizer.Adam(parameters=net.parameters())
total, losses, outs, last = 0, [], [], collections.deque(maxlen=2)
hundred = collections.deque(maxlen=100)
"""
TRAIN = """for step in range(8):
    x, y = paddle.rand([32, 256]), paddle.randint(0, 10, [32])
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
KEEPING = {
    "losses": "losses.append(loss)",
    "sum": "total += loss",
    "sum-written-out": "total = total + loss",
    "outputs": "outs.append(out)",
    "outputs-without-graphs": "outs.append(out.detach())",
    "outputs-as-arrays": "outs.append(out.numpy())",
    "a-hundred-losses": "hundred.append(loss)",
    "a-hundred-arrays": "hundred.append((step, out.numpy()))",
    "a-hundred-losses-and-all": "hundred.append(loss)\n    losses.append(loss)",
}
HARMLESS = {
    "nothing": "",
    "numbers": "total += loss.item()\n    losses.append(float(loss))",
    "without-graph": "losses.append(loss.detach())",
    "last-two": "last.append(loss)",
    "last-two-of-a-list": "losses = (losses + [loss])[-2:]",
    "the-one-before": "before = out",
    "first-one": "first = loss if step == 0 else first",
    "an-array-of-the-last": "array = out.numpy()",
    "metric": "right = (out.argmax(-1) == y).astype('float32').mean()",
}
BY_HAND = """import paddle
w, losses = paddle.rand([400, 10]), []
w.stop_gradient = False
for step in range(12):
    loss = paddle.matmul(paddle.rand([16, 400]), w).mean()
    loss.backward()
    with paddle.no_grad():
        w.set_value(w - 0.1 * w.grad)
    w.clear_gradient()
    losses.append(loss)
"""
IN_FUNCTIONS = (
    HEAD
    + """def step(x, y):
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    return loss
for _ in range(8):
    losses.append(step(paddle.rand([32, 256]), paddle.randint(0, 10, [32])))
"""
)
BEGUN = """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return paddle.zeros([2048]).numpy(), 1
    def __len__(self):
        return 64
one, other = paddle.io.DataLoader(Data(), batch_size=4), paddle.io.DataLoader(Data(), batch_size=4)
net = nn.Linear(2048, 10)
opt = paddle.optimizer.SGD(parameters=net.parameters())
for i, ((x, _), (u, _)) in enumerate(zip(one, other)):
    if i < {skipped}:
        continue
    loss = net(x).mean() + net(u).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
SOURCES = {
    **{name: f"{HEAD}{TRAIN}    {line}\n" for name, line in {**KEEPING, **HARMLESS}.items()},
    "by-hand": BY_HAND,
    "in-functions": IN_FUNCTIONS,
    **{f"numbered-pairs-from-{skipped}": HEAD + BEGUN.format(skipped=skipped) for skipped in (0, 1)},
}
GRAPH = 7
"""Operations of the model and its loss: two linear layers of two, a ReLU, softmax with cross entropy, a mean."""
OUT = 32 * 10 * 4


def said(row: dict) -> dict[str, dict]:
    return dict(zip(row["notes"], row["params"], strict=True))


@pytest.mark.parametrize("name", ["losses", "sum", "sum-written-out"])
def test_a_loss_that_keeps_its_graph_is_told_with_the_line_that_keeps_it(measured, name):
    peaks, row = measured.pair(name)
    assert said(row)["graphs_kept"]["operations"] == GRAPH
    assert (said(row)["graphs_kept"]["cell"], said(row)["graphs_kept"]["line"]) == (1, 15)
    assert row["peak"] == peaks[4]


@pytest.mark.parametrize("name", ["outputs", "outputs-without-graphs"])
def test_what_grows_with_each_step_is_told_in_bytes(measured, name):
    peaks, row = measured.pair(name)
    assert said(row)["steps_kept"]["size"] == OUT == peaks[4] - peaks[3]
    assert ("graphs_kept" in said(row)) is (name == "outputs")
    assert row["peak"] == peaks[4]


def test_arrays_that_are_made_behind_the_update_and_kept_are_told(measured):
    peaks, row = measured.pair("outputs-as-arrays")
    assert said(row) == {"steps_kept": {"size": OUT}}
    assert peaks[-1] - peaks[-2] == OUT


def test_what_a_collection_of_so_many_keeps_is_told_with_their_number(measured):
    assert said(measured.pair("a-hundred-losses")[1])["graphs_kept"]["most"] == 100
    assert said(measured.pair("a-hundred-arrays")[1]) == {"steps_kept": {"size": OUT, "most": 100}}
    assert "most" not in said(measured.pair("a-hundred-losses-and-all")[1])["graphs_kept"]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_keeps_no_graph_or_the_last_ones_alone_is_told_nothing(measured, name):
    peaks, row = measured.pair(name)
    assert row["notes"] == []
    assert abs(row["peak"] - max(peaks)) <= (16 if name == "without-graph" else 0)


@pytest.mark.parametrize(("name", "line"), [("by-hand", 10), ("in-functions", 10)])
def test_a_kept_graph_is_told_of_updates_by_hand_and_of_functions(measured, name, line):
    assert said(measured.pair(name)[1])["graphs_kept"]["line"] == line


@pytest.mark.parametrize("skipped", [0, 1])
def test_the_pair_that_enumerate_holds_is_counted_wherever_the_training_begins(measured, skipped):
    peaks, row = measured.pair(f"numbered-pairs-from-{skipped}")
    assert row["peak"] == max(peaks[1:])


APART = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

head, train = json.load(sys.stdin)
cells = [{"index": 2, "source": head}, {"index": 5, "source": train}]
print(json.dumps(["notes", tracer.trace_notebook({"cells": cells})["notes"]]))
"""


def test_the_line_is_found_where_cells_of_text_stand_between(run_code):
    told = run_code(APART, [HEAD, f"{TRAIN}    losses.append(loss)\n"])["notes"]
    assert [(one["code"], one["params"]["cell"], one["params"]["line"]) for one in told] == [("graphs_kept", 6, 8)]
