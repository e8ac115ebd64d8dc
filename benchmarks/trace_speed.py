"""What a trace costs beside that of another state of the sources: `python -m benchmarks.trace_speed FOLDER`.

`FOLDER` is another checkout (`git worktree add FOLDER COMMIT`). Of each state a process imports Paddle and the tracer,
and forks for each trace as a worker does; the two take turns, so that a machine that does other work beside slows both.
Compared are processor seconds (the least of `ROUNDS`, and the median of the ratios pair by pair), instructions and
calls of Python functions, which no other work changes, and the peaks, which have to be equal.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .accuracy.cases import CASES
from .accuracy.estimates import peak_of
from .programs import bert, gpt, resnet
from .report import save, show

ROUNDS = 15
ROOT = Path(__file__).resolve().parents[1]
WHOLE = ("gcn_dense", "bilstm_crf", "wavenet", "text_cnn_fit", "cyclegan", "swin_windows", "ppo_epochs", "yolo_grid")
"""Whole programs of the accuracy benchmark; unlike its other cases they import nothing that would have to be read."""

SERVER = """
import gc, json, os, sys, time
sys.path.insert(0, sys.argv[1])
import paddle, tracer
sys.path.insert(0, sys.argv[2])
from instructions import Instructions
sys.path.pop(0)
tracer.prepare()
trace_notebook = tracer.trace_notebook
gc.collect()
gc.freeze()
calls = 0
def count(frame, event, argument):
    global calls
    calls += event == "call"
for line in sys.stdin:
    asked = json.loads(line)
    reading, writing = os.pipe()
    if os.fork() == 0:
        request = {"cells": [{"index": 0, "source": asked["source"]}], "folder": None, "answers": {}, "target": "cpu"}
        sys.setprofile(count if asked["counts"] else None)
        counter = Instructions()
        started, done = time.process_time(), counter.read()
        trace = trace_notebook(request)
        seconds, by_now = time.process_time() - started, counter.read()
        sys.setprofile(None)
        told = {"seconds": seconds, "calls": calls, "instructions": None if done is None else by_now - done}
        kept = ("status", "operations", "storages")
        with os.fdopen(writing, "w") as pipe:
            json.dump({**told, "trace": {name: trace[name] for name in kept}}, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        print(pipe.read(), flush=True)
    os.wait()
"""


class State:
    """The tracer of one checkout."""

    def __init__(self, folder: Path) -> None:
        self._folder = tempfile.TemporaryDirectory()
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            SERVER,
            str(folder.resolve() / "jupyter_paddle_gpu" / "estimator"),
            str(Path(__file__).parent),
        ]
        self._process = subprocess.Popen(
            command,
            cwd=self._folder.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def traced(self, source: str, *, counts: bool = False) -> dict[str, Any]:
        """{seconds, calls, instructions, trace} of a program."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"source": source, "counts": counts}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._folder.cleanup()


def programs() -> dict[str, str]:
    """Sources by name."""
    return {
        "ResNet-50, 224 px": resnet(64),
        "BERT-base-like, T 128": bert(32),
        "GPT-2-small-like, T 1024": gpt(8, 12, 768, 12, 1024),
        **{case.name: case.source for case in CASES if case.name in WHOLE},
    }


def compared(name: str, source: str, now: State, before: State) -> dict[str, Any]:
    """A row: both states in turn, each pair the other way round than the one before."""
    answers = [state.traced(source, counts=True) for state in (now, before)]
    calls = [answer["calls"] for answer in answers]
    peaks = [peak_of(answer["trace"])[0] for answer in answers]
    pairs, instructions = [], []
    for number in range(ROUNDS):
        pair = [now, before] if number % 2 == 0 else [before, now]
        told = {id(state): state.traced(source) for state in pair}
        pairs.append((told[id(now)]["seconds"], told[id(before)]["seconds"]))
        instructions.append((told[id(now)]["instructions"] or 0, told[id(before)]["instructions"] or 0))
    least = [min(column) for column in zip(*pairs, strict=True)]
    fewest = [min(column) for column in zip(*instructions, strict=True)]
    return {
        "program": name,
        "peak_bytes": peaks[0],
        "is_equal": peaks[0] == peaks[1],
        "cpu_seconds": least[0],
        "cpu_seconds_before": least[1],
        "least_ratio": least[0] / least[1],
        "median_ratio": statistics.median(one / other for one, other in pairs),
        "instructions": fewest[0],
        "instructions_ratio": fewest[0] / fewest[1] if fewest[1] else None,
        "calls": calls[0],
        "calls_ratio": calls[0] / calls[1],
    }


def main(folder: str) -> None:
    """Print the table and write `results/trace_speed.json`."""
    now, before = State(ROOT), State(Path(folder))
    rows = [compared(name, source, now, before) for name, source in programs().items()]
    for state in (now, before):
        state.close()
    show(
        "A trace beside that of another state of the sources (least of processor seconds; ratios of four figures)",
        ["program", "CPU s", "before", "ratio of least", "median ratio", "instructions", "calls", "peak"],
        [
            [
                row["program"],
                row["cpu_seconds"],
                row["cpu_seconds_before"],
                row["least_ratio"],
                row["median_ratio"],
                "" if row["instructions_ratio"] is None else row["instructions_ratio"],
                row["calls_ratio"],
                "equal" if row["is_equal"] else "differs",
            ]
            for row in rows
        ],
    )
    command = ["git", "-C", folder, "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    save("trace_speed", {"before": commit, "rounds": ROUNDS, "programs": rows})


if __name__ == "__main__":
    main(sys.argv[1])
