"""Plugins and places that tests of several rooms use, and how Hypothesis finds its examples."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests import processes
from tests.warm_python import WarmPython
from tests.work import wait_until

pytest_plugins = ("pytest_jupyter.jupyter_server",)

# Not the folders in which users of this machine agree: no test waits for them, and none of them for a test.
os.environ["PADDLE_GPU_SHARED"] = str(Path(tempfile.gettempdir(), "paddle-gpu-tests-share-nothing"))

os.environ[processes.SESSION] = str(os.getpid())

DOCKER_FAULTS = {f"test_{name}.py" for name in ("clock", "faults", "order", "sharing", "silence", "space", "storm")}
"""Half of the time that Docker's tests take, with the daemon that is killed."""

# A busy machine is no fault: neither an example nor making it has a time. The examples are those of every other run, so
# that a change is judged by what it does and not by what chance brings up beside it.
settings.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None
)
settings.load_profile("tests")
# Hypothesis draws strings and numbers that stand in the sources of whatever modules are loaded, too, and has no setting
# that turns this off: examples would follow from each change anywhere, and from the tests that ran before.
pytest.MonkeyPatch().setattr(providers, "_get_local_constants", lambda: providers._local_constants)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `.ci/run` asks for: there everything that tests need is installed."""
    parser.addoption("--nothing-skipped", action="store_true", help="fail where a test is skipped")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Which tests stay together where several workers share them.

    A file's tests share what its fixtures made. Those on a Docker daemon wait more than they compute: they are two long
    rows, so that other tests run beside each of them.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            if "docker" not in file.split("/"):
                return file
            return "docker, faults" if file.rsplit("/", 1)[1] in DOCKER_FAULTS else "docker"

    return Scheduling(config, log)


_left_running: list[str] = []
"""Command lines of what tests had not ended at the end of all of them."""


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """No process of a test outlives the tests; a skipped test is a failure where nothing may be skipped."""
    _left_running.extend(processes.end(processes.SESSION, str(os.getpid())))
    if hasattr(session.config, "workerinput"):
        session.config.workeroutput["left running"] = _left_running  # type: ignore[attr-defined]
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("--nothing-skipped"):
        return
    if reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """One of several workers has ended."""
    _left_running.extend(getattr(node, "workeroutput", {}).get("left running", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show why a test was tried again, and name what tests left running: both are faults to be mended."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"first failure of {report.nodeid}, which was tried again")
        terminalreporter.line(report.longreprtext)
    if _left_running:
        terminalreporter.section("left running by tests, and ended now")
        for line in _left_running:
            terminalreporter.line(line)


@pytest.fixture(scope="session")
def paddle_python() -> Iterator[WarmPython]:
    """Runs a Python program in a fresh process that has Paddle imported."""
    pytest.importorskip("paddle", reason="needs paddlepaddle in the test interpreter")
    made = WarmPython("paddle", options=("-W", "ignore"))
    yield made
    made.close()


@pytest.fixture
def until() -> Callable[..., Any]:
    """Waits for something to be true, and returns it."""
    return wait_until


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `new` and `old`, each with a library that has NVML's binary interface, of today and before 510."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "a C compiler (gcc) is needed to build the stand-in for NVML"
    folder = tmp_path_factory.mktemp("nvml")
    source = Path(__file__).parent / "devices" / "nvml_stand_in.c"
    for name, options in {"new": [], "old": ["-DOLD_DRIVER"]}.items():
        (folder / name).mkdir()
        library = folder / name / "libnvidia-ml.so.1"
        command = [compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", *options, "-o", library, source]
        subprocess.run(command, check=True)
    return folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Makes folders that are file systems of their own, of so many MiB."""
    mounted: list[Path] = []

    def make(mebibytes: int) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=755", "tmpfs", str(folder)]
        if shutil.which("mount") is None:
            pytest.skip("no small file system: there is no mount here")
        done = subprocess.run(mount, check=False, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no small file system can be mounted: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=False)
