"""Batches that are made up where a program pads to the longest of each and its data is not here."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SENTENCES = """
import functools, random
import numpy as np, paddle
TEXTS = np.load("absent.npy", allow_pickle=True)
class Texts(paddle.io.Dataset):
    def __getitem__(self, index):
        return {sample}
    def __len__(self):
        return len(TEXTS)
def padded(batch, more=0):
    words = np.zeros([len(batch), max(len(text) for text, _ in batch) + more], "int64")
    return words, np.stack([label for _, label in batch])
def drawn(batch):
    side = random.choice([8, 12, 16])
    return [paddle.nn.functional.interpolate(np.stack(one), [side, side]) for one in zip(*batch)]
def stacked(batch):
    return [np.stack(column) for column in zip(*batch)]
class Collator:
    def __call__(self, batch):
        return padded(batch)
class DataCollatorWithPadding:
    def __init__(self, padding):
        self.padding = padding
    def __call__(self, batch):
        return stacked(batch)
class OfTokens(paddle.io.BatchSampler):
    def __init__(self):
        self.batches = TEXTS
    def __iter__(self):
        return iter(self.batches)
words, out = paddle.nn.Embedding(100, 16), paddle.nn.Linear(16, 1)
optimizer = paddle.optimizer.SGD(parameters=[*words.parameters(), *out.parameters()])
loader = paddle.io.DataLoader(Texts(), {loader})
for x, y in loader:
    loss = (out(words(x)).mean(1) - y.astype("float32")).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
PLAIN, BATCHED = "TEXTS[index], index % 2", "batch_size=8, collate_fn="
LIMITED = "tokenizer(TEXTS[index], padding='max_length', max_length=40)['input_ids'], index % 2"
COLLATES = {
    "function": (PLAIN, BATCHED + "padded"),
    "partial": (PLAIN, BATCHED + "functools.partial(padded, more=1)"),
    "lambda": (PLAIN, BATCHED + "lambda batch: padded(batch)"),
    "object": (PLAIN, BATCHED + "Collator()"),
    "longest": (PLAIN, BATCHED + "DataCollatorWithPadding(padding='longest')"),
    "to the limit": (PLAIN, BATCHED + "DataCollatorWithPadding(padding='max_length')"),
    "limit": (LIMITED, BATCHED + "padded"),
    "stacked": (PLAIN, BATCHED + "stacked"),
    "none": (PLAIN, "batch_size=8"),
    "tokens": (PLAIN, "batch_sampler=OfTokens(), collate_fn=padded"),
}
BATCH = "int64[8,40] int64[8,1]"
ASKED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, (source, batch, asked) in json.load(sys.stdin).items():
    request = {"cells": [{"index": 0, "source": source}], "answers": {"loader": batch}, "target": "gpu", **asked}
    found = tracer.trace_notebook(request)
    notes = [note["code"] for note in found["notes"] if note["code"].startswith(("shapes", "sizes"))]
    print(json.dumps([name, [found["status"], found.get("batches"), notes, found.get("inputs")]]))
"""


@pytest.fixture(scope="module")
def found(run_code):
    of = {
        name: (SENTENCES.format(sample=sample, loader=loader), BATCH, {}) for name, (sample, loader) in COLLATES.items()
    }
    source = of["function"][0]
    of["unlike"] = (source, BATCH, {"batch": "unlike"})
    of["sized"] = (source, BATCH, {"sequence_length": 20})
    pictures = source.replace('(out(words(x)).mean(1) - y.astype("float32"))', "out(x)")
    of["drawn"] = (pictures.replace("fn=padded", "fn=drawn"), "float32[8,3,16,16] int64[8,1]", {})
    of["pictures"] = (pictures, "float32[8,3,32,16] int64[8,1]", {})
    return run_code(ASKED, of)


@pytest.mark.parametrize("name", ["function", "partial", "lambda", "object", "longest"])
def test_lengths_are_between_half_and_all_of_what_was_described(found, name):
    status, batches, notes, _ = found[name]
    assert (status, notes, batches["assumed"], len(batches["sides"])) == ("ok", ["shapes_assumed_half"], "half", 20)
    assert batches["traced"] == [[8, 40], [8, 1]]
    lengths = [words[1] for words, _ in batches["sides"]]
    assert max(lengths) == 40 and min(lengths) >= 20 and len(set(lengths)) > 5
    assert {(words[0], *labels) for words, labels in batches["sides"]} == {(8, 8, 1)}


@pytest.mark.parametrize("name", ["to the limit", "limit", "stacked", "none"])
def test_what_does_not_pad_to_the_longest_has_one_shape(found, name):
    status, batches, notes, _ = found[name]
    assert (status, batches, notes) == ("ok", None, [])
    assert found["sized"][1] is None, "another length was asked about, and that alone"


def test_a_sampler_that_names_no_size_gives_as_many_tokens(found):
    _, batches, *_ = found["tokens"]
    assert [[8, 40], [8, 1]] in batches["sides"]
    for words, labels in batches["sides"]:
        assert words[0] == labels[0] and 320 - words[1] < words[0] * words[1] <= 320


def test_the_other_step_is_of_the_shortest(found):
    _, batches, _, inputs = found["unlike"]
    shortest = min(words[1] for words, _ in batches["sides"])
    assert batches["traced"] == [[8, shortest], [8, 1]] and inputs[0] == f"int64[8, {shortest}]"


def test_pictures_are_padded_in_width(found):
    _, batches, *_ = found["pictures"]
    assert {tuple(picture[:3]) for picture, _ in batches["sides"]} == {(8, 3, 32)}
    assert {picture[3] for picture, _ in batches["sides"]} <= set(range(8, 17))


def test_that_a_size_is_drawn_for_pictures_is_seen_without_them(found):
    assert found["drawn"][:3] == ["ok", None, ["sizes_drawn_unseen"]]
