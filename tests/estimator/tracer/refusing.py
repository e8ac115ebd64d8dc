"""Programs that are run for real and traced, and what is said of both in one form."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.refusals.running import ROOT

Answers = dict[str, tuple[dict[str, Any], dict[str, Any]]]
"""By name: what a real run ended with, and what the trace says."""
PROGRAM = """
import paddle, numpy as np
import paddle.nn.functional as F
linear = paddle.nn.Linear(6, 6)
optimizer = paddle.optimizer.SGD(0.1, parameters=linear.parameters())
for step in range(4):
    x = linear(paddle.rand([4, 3, 6]))
    z = x.clone()
    {line}
    z.mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
"""A training with a line between its forward and its backward pass."""
_HINT = re.compile(r" ?received (?:0x[0-9a-f]+|list)\.")
"""Paddle gives the address of a value's type."""


def answers_of_lines(lines: Iterable[str]) -> Answers:
    """What is said of lines that stand in the training."""
    return answers_of({line: PROGRAM.format(line=line) for line in lines})


def answers_of(sources: Mapping[str, str]) -> Answers:
    """What is said of programs, by their names."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.refusals.running"]
    text = "".join(json.dumps({"name": name, "source": source}) + "\n" for name, source in sources.items())
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return {row["name"]: (row["real"], row["traced"]) for row in map(json.loads, done.stdout.splitlines())}


def without_hint(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer without what differs from run to run."""
    return {**answer, "text": _HINT.sub("", answer["text"])}
