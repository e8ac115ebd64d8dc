"""Trainings that are handed to a pool of threads are each one of the notebook's."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import asyncio, time, paddle
import paddle.nn.functional as F
from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor, as_completed
from multiprocessing.pool import ThreadPool
def train(width, batch=32):
    net = paddle.nn.Sequential(paddle.nn.Linear(16, width), paddle.nn.Linear(width, 1))
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for step in range(4):
        loss = F.mse_loss(net(paddle.randn([batch, 16])), paddle.randn([batch, 1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return width
"""
WAYS = {
    "plain": "train(64)\ntrain(4096)",
    "lines": "pool = ThreadPoolExecutor(4)\na = pool.submit(train, 64)\nb = pool.submit(train, 4096)\n"
    "assert (a.result(), b.result()) == (64, 4096)",
    "one line": "pool = ThreadPoolExecutor(1)\npool.submit(train, 64); pool.submit(train, 4096)",
    "with": "with ThreadPoolExecutor() as pool:\n    pool.submit(train, 64)\n    pool.submit(train, width=4096)",
    "each": "with ThreadPoolExecutor() as pool:\n    waiting = [pool.submit(train, one) for one in (64, 4096)]\n"
    "    assert {one.result() for one in as_completed(waiting)} == {64, 4096}",
    "map": "with ThreadPoolExecutor() as pool:\n    assert list(pool.map(train, (64, 4096))) == [64, 4096]",
    "lambda": "pool = ThreadPoolExecutor()\npool.submit(lambda: train(64))\npool.submit(lambda: train(4096))",
    "apply": "pool, seen = ThreadPool(2), []\na = pool.apply_async(train, (64,), callback=seen.append)\n"
    "b = pool.apply_async(train, kwds={'width': 4096})\nassert (a.get(), b.get(), seen) == (64, 4096, [64])",
    "awaited": "async def both():\n    a = asyncio.to_thread(train, 64)\n    b = asyncio.to_thread(train, 4096)\n"
    "    return await asyncio.gather(a, b)\nassert asyncio.run(both()) == [64, 4096]",
    "processes": "with ProcessPoolExecutor(2) as pool:\n    pool.submit(train, 64)\n    pool.submit(train, 4096)",
}
OTHERS = {
    "waits": """
import queue
rows = queue.Queue(1)
def read():
    for number in range(8):
        rows.put(number)
pool = ThreadPoolExecutor(2)
reading = pool.submit(read)
assert [rows.get() for _ in range(8)] == list(range(8))
train(64)
""",
    "fails": """
def fails(width):
    train(width)
    raise KeyError(width)
ended = ThreadPoolExecutor(1).submit(fails, 64)
assert isinstance(ended.exception(), KeyError)
pool, seen = ThreadPool(1), []
pool.apply_async(fails, (64,), error_callback=seen.append).wait()
assert len(seen) == 1
train(4096)
""",
}
CHILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer
tracer.prepare()
head, sources = json.load(sys.stdin)
for name, source in sources.items():
    cells = [{"index": 0, "source": head}, {"index": 1, "source": source}]
    found = tracer.trace_notebook({"cells": cells, "folder": os.getcwd(), "wall_seconds": 30.0})
    row = {key: found.get(key) for key in ("status", "batch_size", "unreached", "stop")}
    row["parameters"] = sorted(one["parameters"] for one in (found, *found.get("others", ())))
    row["bytes"] = sum(storage[0] for storage in found.get("storages", ()))
    row["threads"] = [one["params"]["threads"] for one in found["notes"] if one["code"] == "trainings_side_by_side"]
    print(json.dumps([name, row]), flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def traced(run_code):
    return run_code(CHILD, json.loads(json.dumps([HEAD, {**WAYS, **OTHERS}])))


@pytest.mark.parametrize("name", WAYS)
def test_each_training_is_seen(traced, name):
    """As if one were called behind the other: none is missing, none is told of that there is not."""
    row, plain = traced[name], traced["plain"]
    assert (row["status"], row["unreached"], row["stop"]) == ("ok", [], None)
    assert row["parameters"] == plain["parameters"] == [18 * width + 1 for width in (64, 4096)]
    assert abs(row["bytes"] - plain["bytes"]) < 100_000


@pytest.mark.parametrize(("name", "threads"), [("lines", [4]), ("apply", [2]), ("one line", []), ("processes", [])])
def test_that_they_run_side_by_side_is_told(traced, name, threads):
    assert traced[name]["threads"] == threads


def test_what_does_not_train_runs_in_its_thread(traced):
    """It may wait for what the program does meanwhile."""
    assert (traced["waits"]["status"], traced["waits"]["parameters"]) == ("ok", [18 * 64 + 1])


def test_an_error_is_that_of_whoever_asks(traced):
    assert (traced["fails"]["status"], traced["fails"]["stop"]) == ("ok", None)
    assert traced["fails"]["parameters"][-1] == 18 * 4096 + 1
