"""What an engine must do; what it may do besides stands in `capabilities`, where it is registered in `registry`.

Calls are synchronous and may block on a daemon; whoever lives on an event loop calls them from a thread. An engine
keeps no state of its own: all it needs to find a job again is in the job's folder, in `handle` and in the labels it
put on what it started, so any process of the same user can go on where another one died.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Protocol

import msgspec

from ..devices.makers.registry import makers
from ..domain.engines import Features
from ..domain.jobs.job import Job
from ..domain.messages import Message
from . import own_files

Handle = dict[str, Any]

RUNNER = Path(__file__).parent.parent / "runner"
"""What an engine starts as `python <RUNNER> <spec.json>`: standard library alone, so it may be mounted read-only."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine knows of a job now.

    Attributes:
        state: `absent` (nothing was started, or no trace of it is left), `starting`, `running`, `ended`.
        exit_code: of the main process, where it ended and left one; negative is a signal.
        reason: the engine's own word on an end (out of memory, killed from outside, image missing).
        started, ended: seconds since the epoch, by a clock that may have been set in between.
        seconds: how long it has run, by a clock that is never set; None: cannot be told.
        pid: a process of this machine that lives as long as the job; None: there is none, or it cannot be told.
    """

    state: Literal["absent", "starting", "running", "ended"]
    exit_code: int | None = None
    reason: Message | None = None
    started: float | None = None
    ended: float | None = None
    seconds: float | None = None
    pid: int | None = None


class JobFolder(msgspec.Struct, frozen=True):
    """Names inside a job's folder: the second half of a job's truth.

    `spec.json` (what the runner reads), `log.jsonl` (`LogLine` a line; one writer at a time: whoever prepares, then the
    runner, then whoever reconciles after it is gone), `events.jsonl` (progress), `notebook.ipynb` (executed so far),
    `result.json` (written once by the runner, by rename), `statistics.jsonl` (of whoever looks after the queue),
    `checkpoints/`.
    """

    path: Path

    @property
    def spec(self) -> Path:
        """What the runner reads."""
        return self.path / "spec.json"

    @property
    def log(self) -> Path:
        """`LogLine` a line."""
        return self.path / "log.jsonl"

    @property
    def events(self) -> Path:
        """Progress events of the runner."""
        return self.path / "events.jsonl"

    @property
    def notebook(self) -> Path:
        """The notebook as executed so far."""
        return self.path / "notebook.ipynb"

    @property
    def source(self) -> Path:
        """The notebook as it was at submit: later edits of the original do not reach a running job."""
        return self.path / "source.ipynb"

    @property
    def result(self) -> Path:
        """What the runner saw, written once at its end."""
        return self.path / "result.json"

    @property
    def statistics(self) -> Path:
        """What the job used over time, a point a line; written by whoever looks after the queue."""
        return self.path / "statistics.jsonl"

    @property
    def checkpoints(self) -> Path:
        """Survives the job; its path is `PADDLE_GPU_CHECKPOINTS` in the notebook."""
        return self.path / "checkpoints"

    @property
    def identity(self) -> Path:
        """Who the runner is (`pid`, `started_ticks`, `boot_id`, `host`), written by itself before its first line."""
        return self.path / "runner.json"

    @property
    def lock(self) -> Path:
        """Held (flock, exclusive) by the runner as long as it lives: a second runner on the folder ends at once."""
        return self.path / "runner.lock"

    @property
    def engine_log(self) -> Path:
        """What the runner itself printed: empty unless it could not even start."""
        return self.path / "runner.log"


def runner_spec(job: Job, folder: JobFolder, *, stop_seconds: float) -> dict[str, Any]:
    """What the runner reads. Paths are this machine's: an engine that mounts elsewhere writes its own into a copy.

    `stop_seconds` is the time between SIGTERM and SIGKILL that whoever stops the job grants; the runner ends its
    notebook process in time to save everything within it.
    """
    return {
        "id": job.id,
        "name": job.spec.name,
        "source": str(folder.source),
        "notebook": str(folder.notebook),
        "original": job.spec.notebook,
        "output": job.spec.output,
        "folder": job.spec.folder,
        "log": str(folder.log),
        "events": str(folder.events),
        "result": str(folder.result),
        "identity": str(folder.identity),
        "lock": str(folder.lock),
        "checkpoints": str(folder.checkpoints),
        "kernel_name": job.spec.kernel_name,
        "sets": job.spec.sets,
        "environment": {**job.spec.environment, **_kept_to_shares(job)},
        "seconds": job.spec.resources.seconds,
        "memory_bytes": job.spec.resources.memory_bytes,
        "stop_seconds": stop_seconds,
        "device_memory_words": makers().words("memory"),
    }


def _kept_to_shares(job: Job) -> dict[str, str]:
    """The variables by which Paddle keeps to the job's shares of its devices."""
    return makers().limited(job.device_ids, (part.bytes for part in job.shares))


def write_spec(job: Job, folder: JobFolder, *, stop_seconds: float) -> None:
    """Write `spec.json` by rename. The dispatcher does this before `Engine.prepare`; raises `OSError`."""
    spec = msgspec.json.encode(runner_spec(job, folder, stop_seconds=stop_seconds))
    own_files.write(folder.spec, msgspec.json.format(spec))


Say = Callable[[str | Message], None]
"""Tells what an engine does while it prepares: a line of stream `system` in the job's log. A `Message` says how far it
is and stands in the row as well, until the next one."""


class Place(Protocol):
    """A job's place among those of its engine that were let go: they are prepared side by side and start in order."""

    def step_aside(self) -> None:
        """Say that what comes next may take long (a pull, a build, a large copy): those behind go on without it."""
        ...

    def take_turn(self) -> None:
        """Called right before what starts the job: returns when everybody ahead has started.

        Raises `PaddleGpuError` (`cancelled`) where the job is not wanted any more.
        """
        ...


class Alone:
    """The place of a job that nobody is ahead of."""

    def step_aside(self) -> None:
        """Nobody is behind."""

    def take_turn(self) -> None:
        """It is its turn."""


ALONE = Alone()


NO_METADATA: Mapping[str, Any] = MappingProxyType({})
"""Of a notebook that says nothing of itself."""


def metadata_of(content: Mapping[str, Any] | str | bytes) -> Mapping[str, Any]:
    """The metadata of a notebook (nbformat JSON); empty where it cannot be read (the runner will say so)."""
    try:
        notebook = content if isinstance(content, Mapping) else msgspec.json.decode(content)
        metadata = notebook.get("metadata")
    except (msgspec.DecodeError, AttributeError):
        return NO_METADATA
    return metadata if isinstance(metadata, dict) else NO_METADATA


class Engine(Protocol):
    """A place where jobs run."""

    name: str

    def supported_features(self) -> Features:
        """What can be done here now; never raises: what is missing is in `problems`."""
        ...

    def check(self, job: Job, metadata: Mapping[str, Any] = NO_METADATA) -> tuple[Message, ...]:
        """Preflight: everything that would make this job fail before its first cell; empty when it can start.

        `metadata`: the notebook's own, which may ask an engine for something.
        """
        ...

    def prepare(
        self, job: Job, folder: JobFolder, say: Say, cancelled: Callable[[], bool], place: Place = ALONE
    ) -> Handle:
        """All that may take long (pull, build), for which it steps aside; idempotent. Stops early when `cancelled`.

        Raises `PaddleGpuError`.
        """
        ...

    def start(self, job: Job, folder: JobFolder, handle: Handle, place: Place = ALONE) -> Handle:
        """Start the runner on `folder.spec` when its turn has come; returns with the handle to find it by as soon as it
        has started. Idempotent by job id."""
        ...

    def observe(self, job: Job, folder: JobFolder) -> Observation:
        """The state as the engine sees it now."""
        ...

    def log(self, job: Job, folder: JobFolder, cursor: str) -> Iterator[tuple[str, str]]:
        """What the engine itself kept of the output since `cursor` (`(cursor, line)`): what `log.jsonl` cannot hold
        because the runner never came up. Empty for an engine whose folder holds all."""
        ...

    def stop(self, job: Job, folder: JobFolder, *, force: bool) -> None:
        """Ask the runner to save and end (SIGTERM), or end it (`force`: SIGKILL, with all its children)."""
        ...

    def adopt(self) -> dict[str, Handle]:
        """Job id -> handle of everything of this user that is found running here, for the rows to be matched with."""
        ...

    def collect(self, job: Job, folder: JobFolder) -> None:
        """After the end: fetch what is not in the folder yet and remove what the engine holds. Idempotent."""
        ...
