"""Real Paddle steps and traces of the same scripts, each kind in one fork a test module."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.estimator.tracer.measuring import Answers, Measured
from tests.warm_python import WarmPython

CHILD = Path(__file__).with_name("real_steps.py")
TRACER = Path(__file__).resolve().parents[3] / "jupyter_paddle_gpu" / "estimator"


@pytest.fixture(scope="session")
def run_child(paddle_python: WarmPython) -> Callable[..., Answers]:
    """Runs or traces scripts (`real_steps`), all of a kind in one process."""

    def run(kind: str, sources: dict[str, str], requests: dict[str, dict] | None = None) -> Answers:
        done = paddle_python.run(str(CHILD), kind, sent=json.dumps([sources, requests or {}]))
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        found = {row["name"]: row for row in rows}
        missing = [name for name in sources if name not in found]
        assert not missing, f"the child stopped before {missing[0]}: {done.stderr[-2000:]}"
        return found

    return run


@pytest.fixture(scope="session")
def run_code(paddle_python: WarmPython) -> Callable[[str, object], dict]:
    """Runs code that finds the tracer's folder in `sys.argv[1]`, what it is sent in its input, and prints pairs of a
    name and an answer as JSON lines."""

    def run(code: str, sent: object) -> dict:
        done = paddle_python.run("-c", code, str(TRACER), sent=json.dumps(sent))
        assert done.returncode == 0, done.stderr[-3000:]
        return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))

    return run


@pytest.fixture(scope="session")
def measure(run_child: Callable[..., Answers]) -> Callable[..., Measured]:
    """Both kinds, at the same time in their two processes; of the real ones, so many steps where it is said."""

    def run(sources: dict[str, str], steps: dict[str, int] | None = None) -> Measured:
        requests = {name: {"steps": count} for name, count in (steps or {}).items()}
        with ThreadPoolExecutor(2) as pool:
            return Measured(*pool.map(run_child, ("real", "trace"), (sources, sources), (requests, {})))

    return run


@pytest.fixture(scope="module")
def measured(request: pytest.FixtureRequest, measure: Callable[..., Measured]) -> Measured:
    """The scripts in the test module's `SOURCES`; with `-k` those alone that the chosen tests name.

    A module with scripts whose steps let memory go late says in `REAL_STEPS` how many of them are run.
    """
    sources: dict[str, str] = request.module.SOURCES
    chosen = [item for item in request.session.items if getattr(item, "module", None) is request.module]
    names = [getattr(item, "callspec", None) and item.callspec.params.get("name") for item in chosen]
    are_named = all(isinstance(name, str) and name in sources for name in names)
    steps: dict[str, int] | None = getattr(request.module, "REAL_STEPS", None)
    return measure({name: sources[name] for name in names} if are_named else sources, steps)
