"""Processes that a notebook starts for its environments and its data: their code runs, and no process is started."""

from __future__ import annotations

import sys

import pytest

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(sys.platform == "win32", reason="pipes of forked processes are Unix's"),
]

CHILD = """
import _multiprocessing, json, multiprocessing, os, sys
from multiprocessing import heap, synchronize
sys.path.insert(0, sys.argv[1])
import tracer

def refuse(event, arguments):
    if event == "os.fork":
        raise PermissionError("os.fork")

def nowhere(*_):
    raise PermissionError("/dev/shm")

tracer.prepare()
sys.addaudithook(refuse)
_multiprocessing.SemLock = nowhere
heap.Arena._dir_candidates = ["/nowhere"]
for name, cells in json.load(sys.stdin).items():
    cells = [{"index": i, "source": cell} for i, cell in enumerate(cells)]
    found = tracer.trace_notebook({"cells": cells, "wall_seconds": 20.0})
    row = {key: found.get(key) for key in ("status", "batch_size", "inputs")}
    row["questions"] = [[q["why"], q["params"]] for q in found["questions"]]
    print(json.dumps([name, row]), flush=True)
os._exit(0)
"""
ENVIRONMENTS = """
import numpy as np, paddle
from multiprocessing import Pipe, Process
class Game:
    def step(self, action):
        return np.zeros(5, "float32"), float(action)
def worker(remote, parent, make):
    parent.close()
    game = make()
    while True:
        command, data = remote.recv()
        if command == "close":
            remote.close()
            break
        remote.send(game.step(data))
class Games:
    def __init__(self, count):
        self.remotes, works = zip(*[Pipe() for _ in range(count)])
        self.processes = [Process(target=worker, args=(w, r, Game)) for w, r in zip(works, self.remotes)]
        for process in self.processes:
            process.daemon = True
            process.start()
        for work in works:
            work.close()
    def step(self, actions):
        for remote, action in zip(self.remotes, actions):
            remote.send(("step", action))
        return [np.stack(one) for one in zip(*[remote.recv() for remote in self.remotes])]
    def close(self):
        for remote in self.remotes:
            remote.send(("close", None))
        for process in self.processes:
            process.join()
"""
NET = """
import paddle
model = paddle.nn.Linear(5, 2)
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
"""
UPDATE = """
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
PLAY = (
    """
tried = Games(2)
tried.step([0, 0])
tried.close()
games = Games(6)
for turn in range(9):
    states, rewards = games.step([0] * 6)
    loss = model(paddle.to_tensor(states)).mean() * float(rewards[0])
"""
    + UPDATE
)
POOL = (
    """
import numpy as np
{setup}
rows = list({run}(np.ones, [(4, 5)] * 3))
for step in range(9):
    loss = model(paddle.to_tensor(np.concatenate(rows).astype("float32"))).mean()
"""
    + UPDATE
)
TRAIN = "def train(name=''):\n    for step in range(9):\n        loss = model(paddle.rand([16, 5])).mean()"
TRAIN += UPDATE.replace("\n    ", "\n        ")
ALONE = "from multiprocessing import Process\nprocess = Process(target=train)\nprocess.start()\nprocess.join()"
TOGETHER = "import multiprocessing, time\nall_of_them = [multiprocessing.Process(target=train) for _ in range(3)]"
TOGETHER += "\nfor one in all_of_them:\n    one.start()\nfor one in all_of_them:\n    one.join()"
SHARED = """
import multiprocessing
counter, array = multiprocessing.Value("i", 3), multiprocessing.Array("d", 4)
lock, two, queue = multiprocessing.RLock(), multiprocessing.Semaphore(2), multiprocessing.Queue()
with lock, lock, counter.get_lock():
    counter.value += 5
array[1] = 2.0
assert two.acquire() and two.acquire() and not two.acquire(block=False)
two.release()
for step in range(9):
    with two:
        rows = counter.value * int(array[1])
    loss = model(paddle.rand([rows, 5])).mean()
"""
MANAGED = """
import multiprocessing
from multiprocessing import Manager
with Manager() as manager, multiprocessing.get_context("spawn").Manager() as other:
    found, rows, count = manager.dict(size=8), other.list([1]), manager.Value("i", 1)
    with manager.Lock():
        rows.append(len(found))
    count.value += 1
    for step in range(9):
        loss = model(paddle.rand([found["size"] * count.value, 5])).mean()
"""
CASES = {
    "environments": [ENVIRONMENTS, NET, PLAY],
    "pool": [NET, POOL.format(setup="from multiprocessing import Pool\npool = Pool(8)", run="pool.map")],
    "context": [
        NET,
        POOL.format(
            setup="import multiprocessing as mp\npool = mp.get_context('fork').Pool(processes=2)", run="pool.imap"
        ),
    ],
    "executor": [
        NET,
        POOL.format(
            setup="from concurrent.futures import ProcessPoolExecutor as Pool\npool = Pool(max_workers=4)",
            run="pool.map",
        ),
    ],
    "shared": [NET, SHARED + UPDATE],  # as PaddleOCR's data sets share the number of their epoch
    "managed": [NET, MANAGED + UPDATE.replace("\n    ", "\n        ")],
    "trained-alone": [NET, TRAIN, ALONE],
    "trained-together": [NET, TRAIN, TOGETHER],
}


@pytest.fixture(scope="module")
def traced(run_code):
    return run_code(CHILD, CASES)


@pytest.mark.parametrize(
    ("name", "batch"),
    [
        ("environments", 6),
        ("pool", 12),
        ("context", 12),
        ("executor", 12),
        ("shared", 16),
        ("managed", 16),
        ("trained-alone", 16),
        ("trained-together", 16),
    ],
)
def test_what_a_process_does_is_done_without_one(traced, name, batch):
    row = traced[name]
    assert (row["status"], row["questions"]) == ("ok", [])
    assert (row["batch_size"], row["inputs"]) == (batch, [f"float32[{batch}, 5]"])
