"""The engine that is always there: the job as a detached process of this machine, in the kernel's own interpreter."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from ...devices.makers.registry import makers
from ...domain.engines import TITLES, Features
from ...domain.errors import PaddleGpuError
from ...domain.jobs import reasons
from ...domain.jobs.job import Job
from ...domain.messages import Message
from ...domain.sizes import human
from ...runner.shells.launches import VARIABLE as DEVICES
from .. import own_files, processes
from ..base import ALONE, NO_METADATA, RUNNER, Handle, JobFolder, Observation, Place, Say
from ..paddle import for_cpu
from ..usage import Usage, of_tree

_UP_SECONDS = 60.0
"""Longest wait for the runner's word that it is up: an interpreter on a slow network disk."""
_OF_PROCESSORS = {"PADDLE_DISTRI_BACKEND": "gloo"}
"""How processes that train on processors find each other."""
_SERVER_VARIABLES = ("JPY_", "JUPYTER_TOKEN", "JUPYTERHUB_API_TOKEN", "JPY_API_TOKEN")
"""What a server's environment holds that a job has no business with."""


@dataclass
class LocalEngine:
    """Runs jobs as processes. Holds no state: a job is found again by `runner.json` in its folder.

    Attributes:
        runner: folder (or zip) of the runner.
        environment: the environment jobs start from; None: this process's own, less the server's secrets.
        root: where drivers are looked for (another folder in tests).
    """

    runner: Path = RUNNER
    environment: Mapping[str, str] | None = None
    root: Path = Path("/")
    name: str = "local"

    def supported_features(self) -> Features:
        """What can be done here."""
        problems = () if processes.supported() else (_unsupported(),)
        return Features(
            name=self.name,
            title=TITLES["local"],
            gpus=True,
            containers=False,
            memory_limit=Path("/proc/self/stat").exists(),
            time_limit=True,
            several_devices=True,
            statistics=processes.supported(),
            shares=True,
            available=not problems,
            problems=problems,
        )

    def check(self, job: Job, metadata: Mapping[str, Any] = NO_METADATA) -> tuple[Message, ...]:
        """The interpreter and the folder must be there, and room for what DataLoader workers hand over."""
        problems = [] if processes.supported() else [_unsupported()]
        if not os.access(_python(job), os.X_OK):
            problems.append(reasons.interpreter_missing(_python(job)))
        if not Path(job.spec.folder).is_dir():
            problems.append(reasons.folder_missing(job.spec.folder))
        devices = job.device_ids or job.spec.resources.device_ids
        if devices and (missing := makers().of_device(devices[0]).preflight(devices, Path("/"))) is not None:
            problems.append(missing)
        elif (devices or job.spec.resources.gpus) and (idle := for_cpu(Path(_python(job)))) is not None:
            problems.append(idle)
        wanted, there = job.spec.resources.shm_bytes or 0, _shared_memory()
        if there is not None and wanted > there:
            problems.append(reasons.shared_memory_short(human(wanted), human(there)))
        return tuple(problems)

    def prepare(
        self, job: Job, folder: JobFolder, say: Say, cancelled: Callable[[], bool], place: Place = ALONE
    ) -> Handle:
        """Nothing takes long here; what would fail is told before anything starts."""
        for problem in filter(lambda found: not reasons.is_note(found), self.check(job)):
            raise PaddleGpuError.of(problem, status=409)
        return {}

    def start(self, job: Job, folder: JobFolder, handle: Handle, place: Place = ALONE) -> Handle:
        """Start the runner, detached: it has a session of its own and no parent that could take it along.

        The runner holds a lock in the folder and looks for a result first, so a second start of the same job (after a
        crash between two steps) changes nothing.
        """
        command = [_python(job), str(self.runner), "--detach", *_ranks(job), str(folder.spec)]
        place.take_turn()
        try:
            with own_files.open_append(folder.engine_log) as output:
                started = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd=folder.path,
                    env=self._environment(job),
                    timeout=_UP_SECONDS,
                    start_new_session=True,
                    check=False,
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PaddleGpuError.of(reasons.interpreter_missing(_python(job)), status=409) from error
        identity = processes.read_identity(folder.identity)
        if identity is None:
            said = _tail(folder.engine_log) or f"exit status {started.returncode}"
            raise PaddleGpuError.of(reasons.runner_error(said), status=409)
        return {**handle, "pid": identity.pid, "host": identity.host}

    def observe(self, job: Job, folder: JobFolder) -> Observation:
        """The runner's process, as its own note in the folder names it."""
        identity = processes.read_identity(folder.identity)
        if identity is None:
            return Observation(state="absent")
        if processes.is_alive(identity):
            ran = processes.seconds_since_start(identity.pid)
            return Observation(state="running", started=identity.time, seconds=ran, pid=identity.pid)
        if processes.is_elsewhere(identity) and not folder.result.exists():
            return Observation(state="running", started=identity.time, reason=_elsewhere(identity.host))
        reason = None if folder.result.exists() else reasons.runner_vanished()
        return Observation(state="ended", started=identity.time, reason=reason)

    def log(self, job: Job, folder: JobFolder, cursor: str) -> Iterator[tuple[str, str]]:
        """What the runner could only print: it has a log of its own for everything else."""
        if not own_files.is_file(folder.engine_log):
            return
        with own_files.open_read(folder.engine_log) as file:
            file.seek(int(cursor or 0))
            while line := file.readline():
                yield str(file.tell()), line.decode("utf-8", "replace").rstrip("\n")

    def stop(self, job: Job, folder: JobFolder, *, force: bool) -> None:
        """SIGTERM to the runner, which saves; `force`: SIGKILL to it and to everything of the job."""
        identity = processes.read_identity(folder.identity)
        if force:
            processes.kill_all(identity, job.id)
        elif identity is not None and processes.is_alive(identity):
            with contextlib.suppress(psutil.Error, OSError):
                psutil.Process(identity.pid).send_signal(signal.SIGTERM)

    def usage(self, job: Job, folder: JobFolder) -> Usage | None:
        """The runner's process and all below it."""
        identity = processes.read_identity(folder.identity)
        if identity is None or not processes.is_alive(identity):
            return None
        return of_tree(identity.pid, memory_limit=job.spec.resources.memory_bytes)

    def adopt(self) -> dict[str, Handle]:
        """Runners of this user by the job id in their environment."""
        found: dict[str, Handle] = {}
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if str(self.runner) in process.cmdline() and (job := process.environ().get("PADDLE_GPU_JOB_ID")):
                    found.setdefault(job, {"pid": process.pid})
        return found

    def collect(self, job: Job, folder: JobFolder) -> None:
        """All is in the folder; end what may have outlived a runner that was killed."""
        identity = processes.read_identity(folder.identity)
        if identity is not None and not processes.is_elsewhere(identity) and not processes.is_alive(identity):
            processes.kill_all(None, job.id)

    def _environment(self, job: Job) -> dict[str, str]:
        base = self.environment
        if base is None:
            base = {name: value for name, value in os.environ.items() if not name.startswith(_SERVER_VARIABLES)}
        environment = dict(base)
        # `!pip` and `!python` of the notebook mean the kernel's own.
        environment["PATH"] = os.pathsep.join([str(Path(_python(job)).parent), environment.get("PATH", os.defpath)])
        environment["PADDLE_GPU_JOB_ID"] = job.id
        seen = makers().visible(job.device_ids) if job.device_ids else makers().hidden(self.root)
        environment.update(seen)  # on the CPU no card of somebody else's
        if job.device_ids:
            environment[DEVICES] = makers().labels(job.device_ids)
        return environment


def _ranks(job: Job) -> list[str]:
    """Has the runner start the processes that train together: each sees one of the job's devices."""
    if job.spec.processes == 1:
        return []
    own: list[dict[str, str]] = [makers().visible((one,)) for one in job.device_ids]
    if len(own) != job.spec.processes:  # on the CPU
        own = [_OF_PROCESSORS] * job.spec.processes
    elif for_cpu(Path(_python(job))) is not None:  # it looks for no device, and knows no other way to the others
        own = [{**one, **_OF_PROCESSORS} for one in own]
    return ["--ranks", json.dumps(own)]


def _python(job: Job) -> str:
    return job.spec.python or sys.executable


def _shared_memory(folder: str = "/dev/shm") -> int | None:
    """Bytes free in shared memory; None where there is no such folder."""
    try:
        return int(psutil.disk_usage(folder).free)
    except OSError:
        return None


def _unsupported() -> Message:
    return Message(
        code="platform_unsupported",
        text="Local jobs run on Linux and macOS; this is {platform}.",
        hint="Use the Docker engine, or start JupyterLab inside WSL 2.",
        params={"platform": sys.platform},
    )


def _elsewhere(host: str) -> Message:
    return Message(
        code="runs_elsewhere",
        text="The job was started on {host}; its state is known there only.",
        hint="Open JupyterLab on {host} to stop it.",
        params={"host": host},
    )


def _tail(path: Path, limit: int = 2000) -> str:
    try:
        return own_files.read(path)[-limit:].decode("utf-8", "replace").strip()
    except OSError:
        return ""
