"""Real Paddle steps and traces of the same scripts, each kind in one child process a test module."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.estimator.tracer.measuring import Answers, Measured

CHILD = Path(__file__).with_name("real_steps.py")
TRACER = Path(__file__).resolve().parents[3] / "jupyter_paddle_gpu" / "estimator"


@pytest.fixture(scope="session")
def run_child() -> Callable[..., Answers]:
    pytest.importorskip("paddle")

    def run(kind: str, sources: dict[str, str], requests: dict[str, dict] | None = None) -> Answers:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(CHILD), kind],
            input=json.dumps([sources, requests or {}]),
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,
        )
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        found = {row["name"]: row for row in rows}
        missing = [name for name in sources if name not in found]
        assert not missing, f"the child stopped before {missing[0]}: {done.stderr[-2000:]}"
        return found

    return run


@pytest.fixture(scope="session")
def run_code() -> Callable[[str, object], dict]:
    """Runs code that finds the tracer's folder in `sys.argv[1]`, what it is sent in its input, and prints pairs of a
    name and an answer as JSON lines."""
    pytest.importorskip("paddle")

    def run(code: str, sent: object) -> dict:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code, str(TRACER)],
            input=json.dumps(sent),
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))

    return run


@pytest.fixture(scope="session")
def measure(run_child: Callable[..., Answers]) -> Callable[[dict[str, str]], Measured]:
    """Both kinds, at the same time in their two processes."""

    def run(sources: dict[str, str]) -> Measured:
        with ThreadPoolExecutor(2) as pool:
            return Measured(*pool.map(run_child, ("real", "trace"), (sources, sources)))

    return run


@pytest.fixture(scope="module")
def measured(request: pytest.FixtureRequest, measure: Callable[[dict[str, str]], Measured]) -> Measured:
    """The scripts in the test module's `SOURCES`; with `-k` those alone that the chosen tests name."""
    sources: dict[str, str] = request.module.SOURCES
    chosen = [item for item in request.session.items if getattr(item, "module", None) is request.module]
    names = [getattr(item, "callspec", None) and item.callspec.params.get("name") for item in chosen]
    are_named = all(isinstance(name, str) and name in sources for name in names)
    return measure({name: sources[name] for name in names} if are_named else sources)
