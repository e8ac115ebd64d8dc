"""Batches that a loader holds beside the one that is trained on, against real steps on Paddle's CPU allocator.

Each step waits before its forward pass, so that the reading thread is as far ahead as it gets.
"""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import time
import numpy as np, paddle
from paddle import nn
class Data(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count
    def __getitem__(self, i):
        sample = np.full([4096], i % 7, 'float32')
        return {sample}, np.zeros([1], 'int64')
    def __len__(self):
        return self.count
model = nn.Linear(4096, 8)
optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
"""
TRAIN = """
for epoch in range(3):
    for x, y in paddle.io.DataLoader(Data({count}), batch_size=4{options}):
        time.sleep(0.1)
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
LOOKED_AT = "x, y = next(iter(paddle.io.DataLoader(Data(80), batch_size=4)))\n"
BROKEN_OFF = """
for x, y in paddle.io.DataLoader(Data(80), batch_size=4):
    shown = x.shape
    break
"""


def script(options: str = "", sample: str = "sample", count: int = 80, before: str = "") -> str:
    return HEAD.format(sample=sample) + before + TRAIN.format(count=count, options=options)


STEP = """    time.sleep(0.1)
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
CYCLED = "import itertools\nbatches = itertools.cycle(paddle.io.DataLoader(Data(24), batch_size=4))\n"
BESIDE = """
import itertools
few, many = paddle.io.DataLoader(Data(12), batch_size=4), paddle.io.DataLoader(Data(80), batch_size=4)
for (x, y), (other, _) in zip(itertools.cycle(few), many):
    x = x + other
"""
OF_ITS_OWN = """
from collections import UserDict
def collate(samples):
    return UserDict(x=np.stack([x for x, _ in samples]), labels={"y": np.stack([y for _, y in samples])})
batches = iter(paddle.io.DataLoader(Data(240), batch_size=4, collate_fn=collate))
for step in range(24):
    parts = [next(batches) for _ in range(2)]
    x = paddle.concat([part.pop("x") for part in parts])
    y = paddle.concat([part.pop("labels").pop("y") for part in parts])
"""


SOURCES = {
    "cycled": HEAD.format(sample="sample") + CYCLED + "for step in range(9):\n    x, y = next(batches)\n" + STEP,
    "cycled-beside": HEAD.format(sample="sample") + BESIDE + STEP,
    "plain": script(),
    "of-tensors": script(sample="paddle.to_tensor(sample)"),
    "one-asked-ahead": script(", prefetch_factor=1"),
    "four-asked-ahead": script(", prefetch_factor=4"),
    "no-buffer": script(", use_buffer_reader=False"),
    "no-buffer-four-asked-ahead": script(", use_buffer_reader=False, prefetch_factor=4"),
    "workers": script(", num_workers=2"),
    "workers-without-shared-memory": script(", num_workers=2, use_shared_memory=False"),
    "first-batch-looked-at": script(before=LOOKED_AT),
    "loop-broken-off": script(before=BROKEN_OFF),
    "mapping-of-its-own": HEAD.format(sample="sample") + OF_ITS_OWN + STEP,
    "short-epochs": script(count=16),  # the last one: its batches go while another script runs
}
BY_CHANCE = {"mapping-of-its-own"}
"""Two batches are taken in a row: whether the reader has made another one while the step is fullest hangs on the
machine, and in half of all runs it has in none of 24 steps."""


@pytest.mark.parametrize("name", SOURCES)
def test_batches_ahead_are_the_real_loaders(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] is not None, traced["questions"]
    batch = 4 * 4096 * 4
    ahead = batch if name in BY_CHANCE else 0
    assert max(peaks[1:]) - batch // 100 <= traced["peak"] <= max(peaks[1:]) + ahead + batch // 100


ON_A_GPU = {
    "arrays": script(), "tensors": script(sample="paddle.to_tensor(sample)"),
    "workers": script(", num_workers=2", sample="paddle.to_tensor(sample)"),
    "unpinned": script(before="paddle.io.reader.use_pinned_memory(False)\n"),  # the last one: it stays so
}  # fmt: skip


def test_batches_wait_for_a_gpu_in_pinned_memory(run_child):
    """PASSL's logs have none on the device; what a data set makes there itself waits there."""
    found = run_child("trace", ON_A_GPU, {name: {"target": "gpu"} for name in ON_A_GPU})
    batch = 4 * 4096 * 4
    waiting = {name: round((found[name]["peak"] - found["arrays"]["peak"]) / batch) for name in ON_A_GPU}
    assert waiting == {"arrays": 0, "tensors": 5, "workers": 0, "unpinned": 2}


CHANGED = """
import numpy as np, paddle
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return {"image": np.zeros([8, 6, 3], "float32"), "boxes": [np.zeros([2, 4], "float32")]}
    def __len__(self):
        return 64
def collate(samples):
    for sample in samples:
        sample["image"] = sample["image"].transpose(2, 0, 1)
        sample["boxes"][0] = sample["boxes"][0][:, :2].repeat(2, 0)
    return [np.stack([one["image"] for one in samples]), np.stack([one["boxes"][0] for one in samples])]
model = paddle.nn.Conv2D(3, 4, 3)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for epoch in range(3):
    for x, boxes in paddle.io.DataLoader(Data(), batch_size=16, collate_fn=collate):
        loss = model(x).mean() + 0 * boxes.sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""


SCALES = """
import numpy as np, paddle
class Data(paddle.io.Dataset):
    def __getitem__(self, wanted):
        width, height, index = wanted
        return np.zeros([3, height, width], "float32"), np.zeros([1], "int64")
    def __len__(self):
        return 64
class Scales:
    def __iter__(self):
        for height, count in ((8, 4), (4, 8), (8, 3)):
            yield [(6, height, index) for index in range(count)]
    def __len__(self):
        return 3
model = paddle.nn.Conv2D(3, 4, 3)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for x, y in paddle.io.DataLoader(Data(), batch_sampler=Scales()):
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""

ALTERNATING = SCALES.replace("((8, 4), (4, 8), (8, 3))", "((8, 4), (4, 8))")
STILL = SCALES.replace("((8, 4), (4, 8), (8, 3))", "((8, 4), (8, 4))")


def test_shapes_that_take_as_much_are_told_and_are_no_drawn_sizes(run_child):
    """PaddleOCR's recognisers have fewer pictures where they are larger. As drawn sizes a log of 12,193 MiB was
    estimated at 18,247, as one shape at 12,043."""
    rows = run_child("trace", {"scales": SCALES, "alternating": ALTERNATING, "still": STILL})
    told = {name: sorted(row["notes"]) for name, row in rows.items()}
    assert told == {"scales": ["shapes_differ"], "alternating": ["shapes_alternate", "shapes_differ"], "still": []}


def test_a_batch_is_as_the_programs_own_code_makes_it(run_child):
    """Samples that are changed when they are put together; the largest batch of a sampler that names no size, which
    gives the data set more than an index: of 4 x 8 x 6 and 8 x 4 x 6 pixels the one of more samples."""
    rows = run_child("trace", {"changed": CHANGED, "scales": SCALES})
    assert [row["status"] for row in rows.values()] == ["ok", "ok"]
    assert rows["changed"]["inputs"] == ["float32[16, 3, 8, 6]", "float32[16, 4, 2]"]
    assert rows["scales"]["inputs"][0] == "float32[8, 3, 4, 6]"
    assert rows["scales"]["batch_size"] == 8


LONG = ALTERNATING.replace("in ((8, 4), (4, 8)):", "in ((8, 4), (4, 8)) * 20:")
WANTED = "        width, height, index = wanted\n"
GROWING = LONG.replace(WANTED, f"{WANTED}        Data.batch += index == 0\n        width += Data.batch // 8\n").replace(
    "    def __getitem__", "    batch = 0\n    def __getitem__"
)
"""Behind eight batches pictures are larger than what goes with their indices says."""
COMING = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.patches.data.ahead import next_batches
for name, source in json.load(sys.stdin).items():
    kept = dict(next_batches.LOOKING)
    next_batches.LOOKING.update(seconds=-1.0 if name == "slow" else 60.0, at_most=60.0)
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "folder": "", "target": "gpu"})
    next_batches.LOOKING.update(kept)
    print(json.dumps([name, [shapes[0] for shapes in found["batches"]["sides"]]]))
"""


def test_batches_that_there_is_no_time_for_are_as_those_of_their_kind(run_code):
    """A sample of PaddleOCR's takes a tenth of a second, and the shapes that come decide what the allocator keeps."""
    sides = run_code(COMING, {"quick": LONG, "slow": LONG, "growing": GROWING})
    assert sides["quick"] == sides["slow"] == [[4, 3, 8, 6], [8, 3, 4, 6]] * 10
    assert len(sides["growing"]) == 20
    assert {width for *_, width in sides["growing"]} > {6, 7}


STREAM = """
import numpy as np, paddle
class Data(paddle.io.IterableDataset):
    def __iter__(self):
        while True:
            yield np.zeros([3, 8, 6], "float32")
    def __len__(self):
        return 100
model = paddle.nn.Conv2D(3, 4, 3)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for x in paddle.io.DataLoader(Data(), batch_size=4, num_workers=2):
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_stream_may_say_how_many_samples_it_has(run_child):
    """Paddle's sampler of a stream has no length, whatever its data set says: PaddleMIX's autoencoder."""
    row = run_child("trace", {"stream": STREAM})["stream"]
    assert (row["status"], row["inputs"]) == ("ok", ["float32[4, 3, 8, 6]"])


IN_STEP = """
short, long = paddle.io.DataLoader(Data(32), batch_size=4), paddle.io.DataLoader(Data({count}), batch_size=4)
for epoch in range(3):
    for (x, _), (u, _) in {both}:
        time.sleep(0.1)
        loss = model(x).mean() + model(u).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""


def in_step(count: int, both: str = "zip(short, long)") -> str:
    return HEAD.format(sample="sample") + IN_STEP.format(count=count, both=both)


def test_what_the_longer_of_two_loaders_leaves_with_each_epoch_is_told(run_child):
    sources = {
        "longer": in_step(80),
        "as long": in_step(32),
        "hardly longer": in_step(48),
        "anew": "from itertools import cycle\n" + in_step(80, "zip(long, cycle(short))"),
    }
    traced = run_child("trace", sources)
    told = {name: dict(zip(row["notes"], row["params"], strict=True)) for name, row in traced.items()}
    assert [name for name in sources if "batches_left" in told[name]] == ["longer"]
    assert growth(run_child, sources["longer"]) == told["longer"]["batches_left"]["size"]


def growth(run_child, source: str) -> int:
    """Bytes that the third epoch of eight steps takes beyond the second one."""
    peaks = run_child("real", {"it": source}, {"it": {"steps": 24}})["it"]["peaks"]
    return max(peaks[16:24]) - max(peaks[8:16])


def by_next(count: int, before: str = "", within: str = "    ahead = iter(long)\n", function: bool = False) -> str:
    """A loop over the loader with eight batches that asks the other one for one of its own each time."""
    begin, train = IN_STEP.format(count=count, both="BOTH").split("for epoch in range(3):\n")
    train = within + train.replace("for (x, _), (u, _) in BOTH:\n", "for x, _ in short:\n        u, _ = next(ahead)\n")
    named = "def run_epoch():\n" + train + "for epoch in range(3):\n    run_epoch()\n"
    return HEAD.format(sample="sample") + begin + before + (named if function else "for epoch in range(3):\n" + train)


def test_so_is_what_an_iterator_leaves_that_each_epoch_makes_anew(run_child):
    sources = {
        "anew": by_next(80),
        "anew in a function": by_next(80, function=True),
        "as long": by_next(32),
        "made once": by_next(120, before="ahead = iter(long)\n", within=""),
    }
    traced = run_child("trace", sources)
    told = {name: dict(zip(row["notes"], row["params"], strict=True)) for name, row in traced.items()}
    assert [name for name in sources if "batches_left" in told[name]] == ["anew", "anew in a function"]
    assert {"size": growth(run_child, sources["anew"])} == told["anew"]["batches_left"]
    assert growth(run_child, sources["made once"]) == 0


RAGGED = """
import paddle
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return paddle.zeros([4096 + i % 3])
    def __len__(self):
        return 64
model = paddle.nn.Linear(4096, 8)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for x in paddle.io.DataLoader(Data(), batch_size=4{options}):
    model(x).mean().backward()
    optimizer.step()
"""
LENGTHLESS = RAGGED.replace("def __len__(self):\n        return 64", "pass").replace("+ i % 3", "")
ENDLESS = {
    "ragged": RAGGED.format(options=""), "ragged-workers": RAGGED.format(options=", num_workers=2"),
    "lengthless": LENGTHLESS.format(options=""), "lengthless-shuffled": LENGTHLESS.format(options=", shuffle=True"),
}  # fmt: skip


def test_an_error_that_ends_the_reading_thread_is_told_as_one_that_the_loop_waits_behind(run_child):
    """Paddle's loop waits for good: really run, neither of the two ended. Workers pass their errors on; shuffling asks
    for the length where the loader is made."""
    found = run_child("trace", ENDLESS)
    assert {found[name]["status"] for name in ENDLESS} == {"would_stop"}
    assert [name for name in ENDLESS if found[name]["stop"].get("hangs")] == ["ragged", "lengthless"]
