"""Batches of other shapes that come behind the first one, of data that is here, against real steps on Paddle's CPU
allocator."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

TEXTS = """
import numpy as np, paddle
LENGTHS = {lengths}
class Texts(paddle.io.Dataset):
    def __getitem__(self, index):
        return np.full([LENGTHS[index % len(LENGTHS)]], 5, "int64"), np.zeros([1], "int64")
    def __len__(self):
        return 48
def padded(batch):
    words = np.zeros([len(batch), max(len(text) for text, _ in batch){more}], "int64")
    return words, np.stack([label for _, label in batch])
words, out = paddle.nn.Embedding(100, 256), paddle.nn.Linear(256, 1)
optimizer = paddle.optimizer.SGD(parameters=[*words.parameters(), *out.parameters()])
for x, y in paddle.io.DataLoader(Texts(), batch_size=4, collate_fn={collate}, prefetch_factor=1):
    loss = (out(words(x)).mean(1) - y.astype("float32")).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
LATE = [3, 4, 5, 6, 9, 30, 8, 7, 5, 64, 4, 4, 20, 21, 3, 2]
PADDED = TEXTS.format(lengths=LATE, more="", collate="padded")
ALIKE = TEXTS.format(lengths=[16], more="", collate="padded")
OF_TOKENS = """
class OfTokens(paddle.io.BatchSampler):
    def __init__(self):
        pass
    def __iter__(self):
        yield from ([9] * 1, [5] * 2, [0] * 12, [12] * 3)
    def __len__(self):
        return 4
"""
OWN = PADDED.replace("batch_size=4", "batch_sampler=OfTokens()").replace("def padded", OF_TOKENS + "def padded")
GPU = {"target": "gpu"}


def test_the_largest_of_the_next_batches_is_the_step(measure):
    """The third batch has the longest text. Only batches that wait differ from a real run: all are counted as large."""
    found = measure({"late": PADDED, "alike": ALIKE})
    for name in ("late", "alike"):
        real = max(found.real[name]["peaks"])
        assert real <= found.traced[name]["peak"] <= real + 5 * 4 * 64 * 8, name
    assert found.traced["late"]["notes"] == ["shapes_differ"]
    assert found.traced["alike"]["notes"] == []


BATCHES = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, (source, asked) in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], **asked})
    kept = found.get("batches")
    if kept is not None and "other" in kept:
        kept["other"] = [kept["other"]["sides"], len(kept["other"]["storages"]) == len(found["storages"])]
    print(json.dumps([name, [found.get("batch_size"), kept]]))
"""


def test_the_shapes_of_the_next_batches_are_told_in_their_order(run_code):
    """That of samples of one length is none; of a sampler of the program's own it is as it gives them. A batch that is
    asked for is the one that is traced."""
    of = {
        "padded": (PADDED, GPU),
        "unlike": (PADDED, {**GPU, "batch": "unlike"}),
        "asked": (PADDED, {**GPU, "batch": [[4, 30], [4, 1]]}),
        "alike": (ALIKE, GPU),
        "sized": (PADDED, {**GPU, "sequence_length": 40}),
        "own": (OWN, GPU),
    }
    found = run_code(BATCHES, of)
    shapes = [[[4, length], [4, 1]] for length in (6, 30, 64, 21)] * 3
    assert found["padded"] == [4, {"sides": shapes, "traced": [[4, 64], [4, 1]]}]
    assert found["unlike"][1]["traced"] == [[4, 6], [4, 1]]
    assert found["asked"][1]["traced"] == [[4, 30], [4, 1]]
    assert found["alike"] == [4, None]
    assert found["sized"][1] is None
    assert [one[0] for one in found["own"][1]["sides"]] == [[1, 64], [2, 30], [12, 3], [3, 20]]


UNEQUAL = """
import paddle
net = paddle.nn.Linear(64, 64)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for length in [{lengths}] * 5:
    net(paddle.rand([4, length, 64])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_loop_over_lists_of_unequal_length_tells_its_own_steps(run_code):
    of = {"unequal": (UNEQUAL.format(lengths="8, 32, 16"), GPU), "equal": (UNEQUAL.format(lengths="8, 8"), GPU)}
    of["cpu"] = (UNEQUAL.format(lengths="8, 32, 16"), {"target": "cpu"})
    found = run_code(BATCHES, of)
    told = found["unequal"][1]
    assert told["sides"][:3] == [[[4, 8, 64]], [[4, 32, 64]], [[4, 16, 64]]]
    assert told["traced"] == [[4, 32, 64]]
    assert told["other"] == [[[4, 8, 64]], True]
    assert found["equal"][1] is None and found["cpu"][1] is None
