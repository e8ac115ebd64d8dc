"""Samplers of their own that put batches into a queue: with their data the peak is that of a batch made in place, and
without it their code is run with samples made up, up to the first batch."""

from __future__ import annotations

import sys

import pytest

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(sys.platform == "win32", reason="pipes of forked processes are Unix's"),
]

CHILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, cells in json.load(sys.stdin).items():
    cells = [{"index": i, "source": cell} for i, cell in enumerate(cells)]
    found = tracer.trace_notebook({"cells": cells, "answers": {"items": 300}, "target": "cpu", "wall_seconds": 30.0})
    row = {key: found.get(key) for key in ("status", "batch_size", "stop")}
    row["questions"] = [q["name"] for q in found["questions"]]
    row["bytes"] = sorted(row[0] for row in found.get("storages", ()))
    print(json.dumps([name, row]), flush=True)
os._exit(0)
"""
HERE = "    lines = [f'{number % 20} {number}' for number in range(300)]"
ABSENT = "    lines = open('absent/ratings.txt')"
DATA = """
import queue, threading
from collections import defaultdict
from multiprocessing import Pool, Process, Queue
import numpy as np, paddle
from paddle import nn
def read():
    found, users, items = defaultdict(list), 0, 0
{lines}
    for line in lines:
        user, item = line.split()
        users, items = max(int(user), users), max(int(item), items)
        found[int(user)].append(int(item))
    train = {{}}
    for user in found:
        train[user] = found[user][:-1]
    return train, users, items
train, users, items = read()
items = 300
def batch(train, users, size, length):
    rows = []
    for _ in range(size):
        user = np.random.randint(1, users + 1)
        row, target = np.zeros([length], 'int32'), np.zeros([length], 'int32')
        for place, item in enumerate(train[user][-length:]):
            row[place] = target[place] = item
        rows.append((user, row, target))
    return rows
def fill(train, users, size, length, batches):
    while True:
        batches.put(zip(*batch(train, users, size, length)))
def task(given):
    return list(zip(*batch(*given)))
"""
OF_PROCESSES = """
class Sampler:
    def __init__(self):
        self.batches = Queue(maxsize=4)
        self.workers = [Process(target=fill, args=(train, users, 8, 12, self.batches)) for _ in range(2)]
        for one in self.workers:
            one.daemon = True
            one.start()
    def next_batch(self):
        return self.batches.get()
    def close(self):
        for one in self.workers:
            one.terminate()
            one.join()
"""
OF_THREADS = OF_PROCESSES.replace("Queue(", "queue.Queue(").replace("Process(", "threading.Thread(")
OF_THREADS = OF_THREADS.replace("one.terminate()\n            one.join()", "pass")
OF_A_POOL = """
class Sampler:
    def __init__(self):
        self.pool = Pool(2)
        self.batches = self.pool.imap(task, [(train, users, 8, 12)] * 10000)
    def next_batch(self):
        return next(self.batches)
    def close(self):
        self.pool.terminate()
"""
TRAIN = """
sampler = Sampler()
net = nn.Embedding(items + 1, 16)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(len(train)):
    user, row, target = sampler.next_batch()
    row, target = paddle.to_tensor(np.array(row)), paddle.to_tensor(np.array(target))
    loss = (net(row) * net(target)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
sampler.close()
"""
KINDS = {"processes": OF_PROCESSES, "threads": OF_THREADS, "a pool": OF_A_POOL}
CASES = {
    f"{kind} {place}": [DATA.format(lines=lines), sampler, TRAIN]
    for kind, sampler in KINDS.items()
    for place, lines in (("here", HERE), ("absent", ABSENT))
}
CASES["miscalled"] = [DATA.format(lines=ABSENT), OF_PROCESSES, TRAIN.replace("net(row) *", "net(row, target) *")]
CASES["miscalled"][2] = CASES["miscalled"][2].replace(
    "net = nn.Embedding(items + 1, 16)",
    "class Net(nn.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.words = nn.Embedding(301, 16)\n    def forward(self, row):\n"
    "        return self.words(row)\nnet = Net()",
)


@pytest.fixture(scope="module")
def traced(run_code):
    return run_code(CHILD, CASES)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("place", ["here", "absent"])
def test_a_sampler_gives_its_batches(traced, kind, place):
    row = traced[f"{kind} {place}"]
    assert (row["status"], row["questions"], row["stop"]) == ("ok", [], None)
    assert row["batch_size"] == 8


@pytest.mark.parametrize("kind", list(KINDS))
def test_without_its_data_it_takes_as_much(traced, kind):
    assert traced[f"{kind} absent"]["bytes"] == traced[f"{kind} here"]["bytes"] != []


def test_a_function_of_the_programs_that_is_called_wrongly_ends_it_whatever_the_data_is(traced):
    assert traced["miscalled"]["stop"]["error"].startswith("TypeError: Net.forward() takes 2 positional arguments")
