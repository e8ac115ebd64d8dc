"""Texts of which the mean length alone is published: lengths around it go through the program's own code."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

REVIEWS = """
import numpy as np, paddle
from paddlenlp.datasets import load_dataset
train = load_dataset("chnsenticorp", splits="train")
{change}
def padded(batch):
    texts = [{text} for row in batch]
    ids = np.zeros([len(batch), {longest}], "int64")
    return ids, np.array([row["label"] for row in batch], "int64")
{wrapper}
words, out = paddle.nn.Embedding(100, 16), paddle.nn.Linear(16, 2)
optimizer = paddle.optimizer.SGD(parameters=[*words.parameters(), *out.parameters()])
for x, y in paddle.io.DataLoader(train, batch_size=16, shuffle=True, collate_fn=padded):
    loss = paddle.nn.functional.cross_entropy(out(words(x)).mean(1), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
PLAIN = {"change": "", "text": "row['text']", "longest": "max(map(len, texts))", "wrapper": ""}
MAPPED = "def cut(row):\n    return {**row, 'ids': row['text'][:150]}\ntrain.map(cut)"
BATCHED = "train.map(lambda rows: [{**row, 'ids': row['text'][:150]} for row in rows], batched=True)"
WRAPPER = """
class Own(paddle.io.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __getitem__(self, index):
        return self.rows[index]
    def __len__(self):
        return len(self.rows)
train = Own(train)
"""
SOURCES = {
    "plain": PLAIN,
    "cut": {**PLAIN, "text": "row['text'][:150]"},
    "mapped": {**PLAIN, "change": MAPPED, "text": "row['ids']"},
    "batched": {**PLAIN, "change": BATCHED, "text": "row['ids']"},
    "wrapped": {**PLAIN, "wrapper": WRAPPER},
    "limit": {**PLAIN, "longest": "200"},
}
ASKED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, "target": "gpu"})
    notes = [note["code"] for note in found["notes"] if note["code"].startswith("shapes")]
    print(json.dumps([name, [found["status"], found.get("batches"), notes, found.get("inputs")]]))
"""


@pytest.fixture(scope="module")
def found(run_code):
    return run_code(ASKED, {name: REVIEWS.format(**row) for name, row in SOURCES.items()})


@pytest.mark.parametrize("name", SOURCES)
def test_the_figure_is_of_the_mean_and_lengths_around_it_are_told(found, name):
    status, batches, notes, inputs = found[name]
    if name == "limit":
        assert [status, batches, notes, inputs] == ["ok", None, [], ["int64[16, 200]", "int64[16]"]]
        return
    assert (status, notes, batches["assumed"]) == ("ok", ["shapes_assumed_texts"], "texts")
    assert inputs == ["int64[16, 108]", "int64[16]"] and batches["traced"] == [[16, 108], [16]]
    *lengths, own = [words[1] for words, _ in batches["sides"]]
    assert own == 108 and len(lengths) in {4, 20}, "four of one shape are enough"
    if name in {"plain", "wrapped"}:
        assert 108 < min(lengths) < 200 and 400 < max(lengths) < 500
    else:
        assert set(lengths) == {150}, "the program's own limit"
