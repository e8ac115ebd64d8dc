"""The next batches of an `IterableDataset`, where looking at them takes nothing from the program."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

STREAM = """
import numpy as np, paddle
LENGTHS = [3, 4, 5, 6, 9, 30, 8, 7, 5, 64, 4, 4, 20, 21, 3, 2]
TAKEN = []
class Texts(paddle.io.IterableDataset):
    def __init__(self):
        self.lengths = {held}
    def __iter__(self):
        {how}
    def drawn(self):
        for length in self.lengths:
            TAKEN.append(length)
            yield {sample}
def padded(batch):
    words = np.zeros([len(batch), max(len(text) for text, _ in batch)], "int64")
    return words, np.stack([label for _, label in batch])
words, out = paddle.nn.Embedding(100, 16), paddle.nn.Linear(16, 1)
optimizer = paddle.optimizer.SGD(parameters=[*words.parameters(), *out.parameters()])
loader = paddle.io.DataLoader(Texts(), {loader})
for x, y in loader:
    loss = (out(words(x)).mean(1) - y.astype("float32")).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
ONE = 'np.full([length], 5, "int64"), np.zeros([1], "int64")'
WHOLE = 'np.full([2, length], 5, "int64"), np.zeros([2, 1], "int64")'
BATCHED = "batch_size=4, collate_fn=padded"
STREAMS = {
    "generator": ("LENGTHS", "yield from self.drawn()", ONE, BATCHED),
    "iterator": ("LENGTHS", "return self.drawn()", ONE, BATCHED),
    "held": ("iter(LENGTHS * 9)", "yield from self.drawn()", ONE, BATCHED),
    "whole": ("LENGTHS", "yield from self.drawn()", WHOLE, "batch_size=None"),
    "alike": ("[9] * 64", "yield from self.drawn()", ONE, BATCHED),
    "endless": ("LENGTHS", "while True: yield from self.drawn()", ONE, BATCHED),
}
ASKED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, "target": "gpu"})
    notes = [note["code"] for note in found["notes"] if note["code"].startswith("shapes")]
    print(json.dumps([name, [found["status"], found.get("batches"), notes]]))
"""


@pytest.fixture(scope="module")
def found(run_code):
    names = ("held", "how", "sample", "loader")
    of = {key: STREAM.format(**dict(zip(names, row, strict=True))) for key, row in STREAMS.items()}
    return run_code(ASKED, of)


@pytest.mark.parametrize(("name", "rounds"), [("generator", 1), ("endless", 5)])
def test_a_generator_begins_anew_and_its_batches_are_looked_at(found, name, rounds):
    status, batches, notes = found[name]
    shapes = [[[4, length], [4, 1]] for length in (6, 30, 64, 21)] * rounds
    assert (status, notes) == ("ok", ["shapes_differ"])
    assert batches == {"sides": shapes, "traced": [[4, 64], [4, 1]]}


def test_what_gives_whole_batches_is_looked_at_as_well(found):
    _, batches, _ = found["whole"]
    assert [words for words, _ in batches["sides"]][:3] == [[2, 3], [2, 4], [2, 5]]
    assert batches["traced"] == [[2, 64], [2, 1]]


@pytest.mark.parametrize("name", ["iterator", "held"])
def test_what_would_be_read_on_is_left_and_lengths_are_made_up(found, name):
    status, batches, notes = found[name]
    assert (status, notes, batches["assumed"]) == ("ok", ["shapes_assumed_half"], "half")
    longest = batches["traced"][0][1]
    assert {words[1] for words, _ in batches["sides"]} <= set(range(longest // 2, longest + 1))


def test_one_length_is_no_change(found):
    assert found["alike"][1:] == [None, []]
