"""A real Docker daemon for the tests of this folder, jobs for it, and a registry that is not there."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import docker
import msgspec
import pytest

from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines.base import JobFolder, Observation, runner_spec
from jupyter_paddle_gpu.engines.docker import DockerSettings
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from tests.work import notebook

sys.path.insert(0, str(Path(__file__).parent))

from stand_ins.daemon import PrivateDaemon, missing, remove
from stand_ins.image import make_archive, make_image

IMAGE = "stand-in/paddle:1"
LIMIT = 180.0
"""Seconds after which a test gives up waiting; nothing here takes a tenth of it on a machine that is not busy."""
PACKAGES = sysconfig.get_path("purelib")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and "daemon" in getattr(item, "fixturenames", ()):
            item.add_marker("docker")


@pytest.fixture(scope="session")
def image_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the stand-in image, made once for all daemons of all workers."""
    if why := missing():
        pytest.skip(f"no private Docker daemon: {why}")
    base = tmp_path_factory.getbasetemp()
    return make_archive(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base, PACKAGES)


@pytest.fixture(scope="session")
def daemon(image_archive: Path) -> Iterator[PrivateDaemon]:
    """The daemon that all tests share which do not break it."""
    yield from _daemon(image_archive)


@pytest.fixture(scope="session")
def fragile_daemon(image_archive: Path) -> Iterator[PrivateDaemon]:
    """The daemon that all tests share which do break it."""
    yield from _daemon(image_archive)


@pytest.fixture
def own_daemon(fragile_daemon: PrivateDaemon) -> Iterator[PrivateDaemon]:
    """A daemon for a test that stops or kills it; it runs again for the next one."""
    yield fragile_daemon
    fragile_daemon.restore()


def _daemon(archive: Path, kind: type[PrivateDaemon] = PrivateDaemon) -> Iterator[PrivateDaemon]:
    # Short: a socket's path has at most 107 characters.
    private = kind(Path(tempfile.mkdtemp(prefix="pgd-")))
    try:
        try:
            private.start()
        except RuntimeError as error:
            pytest.skip(f"no private Docker daemon: {error}")
        client = private.api()
        make_image(client, IMAGE, archive=archive)
        client.close()
        yield private
    finally:
        private.dispose()


class Said(list[str]):
    """What an engine says while it prepares, in English."""

    def append(self, said: str | Message) -> None:
        super().append(said if isinstance(said, str) else said.render())


class Bench:
    """Jobs in a folder, and an engine to run them on."""

    def __init__(self, folder: Path, host: str, **settings: Any) -> None:
        self.host = host
        self.jobs = folder / "jobs"
        self.work = folder / "work"
        self.jobs.mkdir(parents=True, exist_ok=True)
        self.work.mkdir(exist_ok=True)
        given = {
            "host": host,
            "store": str(self.jobs),
            "allowed_images": ("stand-in/*", "127.0.0.1:*/*"),
            "networks": ("none",),
            "shm_bytes": 64 << 20,
            "tmp_bytes": 256 << 20,
            "progress_seconds": 0.0,
        }
        self.settings = DockerSettings(**{**given, **settings})
        self.engine = DockerEngine(self.settings)
        self.said = Said()
        self._count = 0

    @cached_property
    def api(self) -> docker.APIClient:
        """The daemon by Docker's own SDK: what a test does and sees past the engine."""
        return PrivateDaemon(Path(self.host.removeprefix("unix://")).parent).api()

    def another(self, **settings: Any) -> DockerEngine:
        """An engine as another process would have it."""
        return DockerEngine(msgspec.structs.replace(self.settings, **settings))

    def job(
        self, *cells: str, metadata: dict[str, Any] | None = None, device_ids: tuple[str, ...] = (), **spec: Any
    ) -> tuple[Job, JobFolder]:
        """A job with these code cells, its folder written as the job service writes it."""
        self._count += 1
        name = spec.pop("id", f"{self.jobs.parent.name}-{self._count}")
        folder = JobFolder(self.jobs / name)
        folder.path.mkdir(parents=True)
        notebook = self.work / f"{Path(name).name}.ipynb"
        notebook.write_text(json.dumps(notebook_of(*cells, metadata=metadata)))
        folder.source.write_text(notebook.read_text())
        given = {
            "name": name,
            "notebook": str(notebook),
            "output": str(self.work / f"{name}-out.ipynb"),
            "folder": str(self.work),
            "engine": "docker",
            "image": IMAGE,
            "resources": Resources(memory_bytes=2 << 30),
        }
        job = Job(
            id=Path(name).name,
            spec=JobSpec(**{**given, **spec}),
            state="preparing",
            created=time.time(),
            updated=time.time(),
            device_ids=device_ids,
        )
        folder.spec.write_text(json.dumps(runner_spec(job, folder, stop_seconds=5.0)))
        return job, folder

    def start(self, job: Job, folder: JobFolder) -> dict[str, Any]:
        handle = self.engine.prepare(job, folder, self.said.append, lambda: False)
        return self.engine.start(job, folder, handle)

    def run(self, job: Job, folder: JobFolder) -> Observation:
        """Start it and wait for its end."""
        self.start(job, folder)
        return self.wait(job, folder)

    def wait(self, job: Job, folder: JobFolder) -> Observation:
        return until(lambda: (seen := self.engine.observe(job, folder)).state == "ended" and seen)

    def lines(self, folder: JobFolder) -> list[dict[str, Any]]:
        """The job's log, whole lines only."""
        if not folder.log.exists():
            return []
        raw = folder.log.read_bytes()
        return [json.loads(line) for line in raw[: raw.rfind(b"\n") + 1].splitlines()]

    def text(self, folder: JobFolder) -> str:
        return "\n".join(line["x"] for line in self.lines(folder))

    def explain(self, job: Job, folder: JobFolder) -> str:
        """For an assertion that fails: everything there is."""
        own = [line for _, line in self.engine.log(job, folder, "")]
        return f"log: {self.text(folder)}\ncontainer: {own}\nsaid: {self.said}"

    def close(self) -> None:
        for row in self.api.containers(all=True, filters={"label": f"jupyter-paddle-gpu.store={self.jobs}"}):
            remove(self.api, row["Id"])
        self.api.close()
        self.engine.daemon.close()


def notebook_of(*cells: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return notebook(*cells, **(metadata or {}))


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something to be true and return it."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


@pytest.fixture
def bench(daemon: PrivateDaemon, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path, daemon.host)
    yield made
    made.close()


@pytest.fixture
def make_bench(daemon: PrivateDaemon, tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """A bench with other settings."""
    made: list[Bench] = []

    def make(**settings: Any) -> Bench:
        made.append(Bench(tmp_path / f"b{len(made)}", daemon.host, **settings))
        return made[-1]

    (tmp_path / "b0").mkdir()
    yield make
    for each in made:
        each.close()


@pytest.fixture
def place(daemon: PrivateDaemon, tmp_path: Path) -> Iterator[Any]:
    """A data folder with servers on it that can be killed."""
    from place import Place

    made = Place(tmp_path, daemon.host)
    yield made
    made.close()
