"""The worked example that docs/estimation.md opens with is what the product says, and what Paddle does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.warm_python import WarmPython

ROOT = Path(__file__).parents[2]
CHILD = ROOT / "tests" / "estimator" / "tracer" / "real_steps.py"
TRACE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
source = sys.stdin.read()
print(json.dumps(tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, "target": "cpu"})))
"""
pytestmark = pytest.mark.paddle


@pytest.fixture(scope="module")
def page() -> str:
    pytest.importorskip("paddle", reason="needs paddlepaddle in the test interpreter")
    return (ROOT / "docs" / "estimation.md").read_text(encoding="utf-8").split("\n## ")[1]


@pytest.fixture(scope="module")
def source(page: str) -> str:
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def rows(page: str) -> list[list[str]]:
    """The cells of both tables without their heads, as they are written in plain text."""
    plain = page.replace("`", "").replace(",", "").replace("−", "-")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in plain.splitlines() if line[:1] == "|"]
    return [row for row in rows if re.fullmatch(r"[\d]+", row[0])]


@pytest.fixture(scope="module")
def answer(paddle_python: WarmPython) -> Callable[[list[str], str], dict]:
    def ask(command: list[str], sent: str) -> dict:
        done = paddle_python.run(*command, sent=sent)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))

    return ask


def test_the_tables_are_what_is_traced(answer, source: str, rows: list[list[str]], page: str) -> None:
    trace = answer(["-c", TRACE, str(ROOT / "jupyter_paddle_gpu" / "estimator")], source)
    operations, storages = trace["operations"], trace["storages"]
    alive = [sum(row[0] for row in storages if row[1] <= at <= row[2]) for at in range(len(operations))]
    ledger = [[str(n), op[0], op[1], str(alive[n])] for n, op in enumerate(operations)]
    kept = [
        [str(size), kind, op, str(shape).replace(",", ""), str(start), str(end)]
        for size, start, end, kind, op, _, shape, _ in storages
    ]
    assert rows == ledger + kept
    assert f"The peak is {max(alive):,} bytes, at operation {alive.index(max(alive))}" in page


def test_paddle_takes_as_much(answer, source: str, page: str) -> None:
    measured = answer([str(CHILD), "real"], json.dumps([{"a": source}, {}]))
    said = re.search(r"CPU allocator says the same ([\d,]+) bytes from the\s+second step on", page)
    assert said is not None
    assert set(measured["peaks"][1:]) == {int(said[1].replace(",", ""))}
