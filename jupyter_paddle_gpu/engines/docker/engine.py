"""The Docker engine: jobs as containers that are found again by name and labels, whoever started them."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...domain.containers.images import LocalImage
from ...domain.decisions import Limits
from ...domain.devices import Holders, Inventory
from ...domain.engines import Features
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate
from ...domain.jobs.job import Job, Resources
from ...domain.messages import Message
from ...domain.notebooks import NotebookFacts
from .. import own_files
from ..base import ALONE, NO_METADATA, Handle, JobFolder, Observation, Place, Say
from ..capabilities import JobDefaults
from ..engine_type import ChooseImage
from ..processes import kill_all
from ..usage import Usage
from . import next_steps
from .composing import Composer
from .connection.daemon import Daemon
from .connection.faults import CONTAINER_LOST, explained, refusal
from .connection.output import read_output
from .connection.silence import UNREACHABLE, Passing
from .connection.transport import DaemonError
from .container import container_name, store_label
from .doctor import Doctor
from .endings import observation
from .holders import ByHand, has_won, held
from .images.preparing import Preparation
from .labels import LABEL_JOB, LABEL_OWNER, LABEL_ROLE, LABEL_STORE, owner
from .limits import settle
from .links import remove_links
from .policy import asked_in, options_of
from .settings import DockerSettings
from .statistics import pids_of, read_usage

SHARED_MARGIN = 1.25
"""Batches of samples that are larger than those the estimate has looked at."""
SHARED_LEAST = 64 << 20
"""Bytes; what else uses /dev/shm (NCCL, locks of multiprocessing): Docker's own default."""
_TAIL_LINES = 200
_TAIL_BYTES = 64 * 1024
_LOOKS, _LOOK_SECONDS = 20, 0.05
"""For a second a container may be unknown whose name is taken; after that it is gone."""


class DockerEngine:
    """Runs jobs as containers. Keeps no state that matters: containers carry name and labels, folders the rest.

    Args:
        settings: what the administrator settles.
        choose: picks an image for jobs that name none.
        inventory: this machine's devices now, for containers that name theirs by number.
        root: where device nodes and sysfs are looked for (another folder in tests).
    """

    def __init__(
        self,
        settings: DockerSettings | None = None,
        *,
        choose: ChooseImage | None = None,
        inventory: Callable[[], Inventory] | None = None,
        root: Path = Path("/"),
    ) -> None:
        self.name = "docker"
        self.settings = settings or DockerSettings()
        self.daemon = Daemon(self.settings)
        self.preparation = Preparation(self.daemon, choose)
        self.doctor = Doctor(self.daemon, self.preparation, root)
        self.by_hand = ByHand(self.daemon, inventory)
        self.composer = Composer(self.daemon, root)

    def supported_features(self) -> Features:
        """What can be done here now; what is missing is in `problems`."""
        available, problems = self.doctor.problems()
        gpus = available and self.doctor.hands_out_gpus(self.daemon.facts())
        return Features(
            name=self.name,
            title=Message(code="engine_docker", text="Docker"),
            gpus=gpus,
            containers=True,
            memory_limit=available and self.daemon.facts().limits_memory,
            time_limit=True,
            several_devices=gpus,
            statistics=True,
            shares=True,
            available=available,
            problems=problems,
        )

    def check(self, job: Job, metadata: Mapping[str, Any] = NO_METADATA) -> tuple[Message, ...]:
        """Preflight: everything that would make this job fail before its first cell."""
        return self.doctor.check(job, metadata)

    @property
    def limits_follow_estimate(self) -> bool:
        """By policy (`limits_from_estimate`)."""
        return self.settings.limits_from_estimate

    def examine(self) -> tuple[Message, ...]:
        """What is missing here, a GPU that is not handed out included; may start a container for that."""
        return self.doctor.examine()

    def limits(self, wanted: Resources, estimate: Estimate | None, devices: int) -> Limits:
        """What a job gets of memory and processors, and why. Raises `PaddleGpuError`: the daemon does not answer."""
        return settle(wanted, estimate, self.settings, self.daemon.facts(), devices)

    def shared_memory(self, needed: int) -> int | None:
        """What loaders need with a margin; None where every container's own /dev/shm is as large."""
        wanted = round(needed * SHARED_MARGIN) + SHARED_LEAST
        return wanted if wanted > self.settings.shm_bytes else None

    def options_of(self, facts: NotebookFacts) -> dict[str, Any]:
        """Packages and several devices, as the notebook itself says them."""
        return options_of(facts.requirements, facts.distribution.value if facts.distribution else None)

    def defaults_of(self, metadata: Mapping[str, Any]) -> JobDefaults:
        """Image and variables that a notebook's metadata name."""
        return JobDefaults(*asked_in(metadata, self.settings))

    def local_images(self) -> tuple[LocalImage, ...]:
        """What the daemon has, for choosing an image."""
        return self.daemon.local_images()

    def on_host(self, job: Job, folder: JobFolder, path: str) -> Path | None:
        """Where that lies which the container calls `path`; None: in the container alone."""
        return self.composer.on_host(job, folder, path)

    def explain(self, reason: Message) -> Message:
        """An end with the settings of this engine that have an answer to it."""
        return next_steps.explain(reason)

    def prepare(
        self, job: Job, folder: JobFolder, say: Say, cancelled: Callable[[], bool], place: Place = ALONE
    ) -> Handle:
        """Choose, pull and build the image; `{image, reference, digest}`. Idempotent."""
        with self._passing(), self.daemon.patiently():
            return self.preparation.prepare(job, folder, say, cancelled, place)

    def start(self, job: Job, folder: JobFolder, handle: Handle, place: Place = ALONE) -> Handle:
        """Create the job's container, unless there is one already, and start it when its turn has come.

        Docker gives a name once, so of two servers that start the same job one creates and both find the same
        container. A container that cannot be started is removed again.
        """
        with self._passing(), self.daemon.patiently():
            if "image" not in handle:
                handle = {**handle, **self.preparation.prepare(job, folder, lambda _: None, lambda: False, place)}
            name = container_name(job.id)
            existing = self.daemon.inspect_container(name)
            if existing is None:
                existing = self._create(name, self.composer.composed(job, folder, handle))
            self._must_be_ours(existing, job)
            container = str(existing["Id"])
            if existing["State"]["Status"] == "created":
                container = self._start(container, job, folder, handle, place)
            return {**handle, "container": container, "name": name}

    def observe(self, job: Job, folder: JobFolder) -> Observation:
        """The container's state. Raises `engine_unreachable` where the daemon does not answer: that is no end."""
        with self._passing(), self.daemon.patiently():
            inspected = self._find(job)
            if inspected is None:
                return Observation(state="absent")
            seen = observation(inspected, job.spec)
            # Texts are searched only where neither the runner nor Docker has a better word.
            if seen.state != "ended" or seen.exit_code == 0 or inspected["State"].get("OOMKilled"):
                return seen
            if own_files.is_file(folder.result):
                return seen
            return observation(inspected, job.spec, output=self._last_words(inspected["Id"], folder))

    def log(self, job: Job, folder: JobFolder, cursor: str) -> Iterator[tuple[str, str]]:
        """The container's own output since `cursor`: empty unless the runner could not come up, or it crashed."""
        with self._passing():
            inspected = self._find(job)
            if inspected is not None:
                yield from read_output(self.daemon, inspected["Id"], cursor)

    def stop(self, job: Job, folder: JobFolder, *, force: bool) -> None:
        """SIGTERM (the runner saves and ends) or SIGKILL; a container that was never started is removed."""
        with self._passing():
            inspected = self._find(job)
            if inspected is None:
                return
            api = self.daemon.api
            with explained():
                try:
                    if inspected["State"]["Status"] == "created":
                        api.remove_container(inspected["Id"])
                    else:
                        if inspected["State"].get("Paused"):
                            api.unpause(inspected["Id"])
                        api.kill(inspected["Id"], signal="SIGKILL" if force else "SIGTERM")
                except DaemonError as error:
                    if error.status not in (404, 409):  # gone, or not running any more: what was wanted
                        raise

    def held_by_others(self) -> Holders:
        """By the labels of other users' and stores' containers, and by what containers asked for that are no jobs."""
        with self._passing():
            by_hand = {device: (holder,) for device, holder in self.by_hand.held().items()}
            return {**by_hand, **held(self.daemon, owner(), store_label(self.settings))}

    def adopt(self) -> dict[str, Handle]:
        """Job id -> handle of every container of this user (and of this store, where the settings name one)."""
        return {
            row["Labels"][LABEL_JOB]: {"container": row["Id"], "name": row["Names"][0].lstrip("/")}
            for row in self._ours("job")
        }

    def remove_leftovers(self, known: Collection[str]) -> tuple[str, ...]:
        """Remove what no job of this store answers for: ended containers of jobs that are unknown or have ended, and
        forgotten probes.

        Nothing is touched that runs, that belongs to another user or to another store; without a store in the
        settings no container of a job is touched at all.

        Returns:
            The ids of the jobs whose containers went.
        """
        gone = []
        for row in self._ours("probe"):
            # One that was just created may be in the middle of its trial, in this process or another.
            if row["State"] in ("exited", "dead") or time.time() - row["Created"] > self.settings.probe_seconds:
                self._remove(row["Id"])
        for row in self._ours("job") if self.settings.store else ():
            job_id = row["Labels"][LABEL_JOB]
            if job_id not in known and row["State"] in ("exited", "dead", "created"):
                self._remove(row["Id"])
                gone.append(job_id)
        return tuple(gone)

    def collect(self, job: Job, folder: JobFolder) -> None:
        """Keep the container's own last words in the job's folder, then remove it. Idempotent."""
        with self._passing():
            inspected = self._find(job)
            if inspected is None:
                return
            if not own_files.is_file(folder.engine_log) and folder.path.is_dir():
                lines = [line for _, line in read_output(self.daemon, inspected["Id"], tail=_TAIL_LINES * 10)]
                if lines:
                    # On a full disk they are lost: a job that cannot come to its end would be worse.
                    with contextlib.suppress(OSError):
                        own_files.write(folder.engine_log, ("\n".join(lines) + "\n").encode("utf-8"))
            self._remove(inspected["Id"])
            remove_links(folder.path)

    def usage(self, job: Job, folder: JobFolder) -> Usage | None:
        """What the container uses now; None where it does not run. Its processes are named where it has devices."""
        with self._passing():
            inspected = self._find(job)
            if inspected is None or inspected["State"]["Status"] != "running":
                return None
            api = self.daemon.api
            with explained():
                answer = api.stats(inspected["Id"])
                if answer is None:
                    return None
                pids = self._pids(inspected["Id"]) if job.device_ids else frozenset()
        return read_usage(answer, pids)

    def _pids(self, container: str) -> frozenset[int]:
        # The daemon asks `ps` of its machine, which a small one may not have: then the devices' share is not told.
        with contextlib.suppress(DaemonError):
            return pids_of(self.daemon.api.top(container))
        return frozenset()

    def _create(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        api = self.daemon.api
        with explained(image=body["Image"]):
            try:
                api.create_container(body, name)
            except DaemonError as error:
                if error.status != 409:  # 409: another server was faster
                    raise
        # A daemon takes the name first, and knows the container a moment later.
        for _ in range(_LOOKS):
            if (made := self.daemon.inspect_container(name)) is not None:
                return made
            time.sleep(_LOOK_SECONDS)
        raise _vanished(name)

    def _start(self, container: str, job: Job, folder: JobFolder, handle: Handle, place: Place) -> str:
        """The id of the container that was started: another one, where the first had waited too long for its turn."""
        try:
            place.take_turn()
            left = {one: part.most - part.bytes for one, part in zip(job.device_ids, job.shares, strict=False)}
            shared = bool(job.device_ids or job.spec.resources.device_ids)
            while shared and not has_won(
                self.daemon, container, owner(), store_label(self.settings, folder), place.take_turn, left=left
            ):
                self._remove(container)
                container = str(self._create(container_name(job.id), self.composer.composed(job, folder, handle))["Id"])
            with explained(image=str(handle.get("reference", "")), gpus=", ".join(job.device_ids)):
                self.daemon.api.start(container)
        except PaddleGpuError as error:
            if error.code == CONTAINER_LOST:
                kill_all(None, job.id)
            if error.code not in UNREACHABLE:
                self._remove(container)
            raise
        return container

    def _find(self, job: Job) -> dict[str, Any] | None:
        """The job's container, where it is ours."""
        inspected = self.daemon.inspect_container(container_name(job.id))
        if inspected is None:
            return None
        labels = inspected["Config"].get("Labels") or {}
        return inspected if labels.get(LABEL_OWNER) == owner() and labels.get(LABEL_JOB) == job.id else None

    def _must_be_ours(self, inspected: dict[str, Any], job: Job) -> None:
        labels = inspected["Config"].get("Labels") or {}
        if labels.get(LABEL_OWNER) != owner() or labels.get(LABEL_JOB) != job.id:
            raise PaddleGpuError(
                "container_name_taken",
                "A container {name} exists that is not this job's.",
                hint="Remove it with `docker rm {name}` if it is yours.",
                status=409,
                name=container_name(job.id),
            )

    def _ours(self, role: str) -> list[dict[str, Any]]:
        labels = [f"{LABEL_OWNER}={owner()}", f"{LABEL_ROLE}={role}"]
        if self.settings.store and role == "job":
            labels.append(f"{LABEL_STORE}={store_label(self.settings)}")
        with self._passing(), self.daemon.patiently():
            api = self.daemon.api
            with explained():
                return api.containers(labels)

    def _remove(self, container: str) -> None:
        with explained():
            try:
                self.daemon.api.remove_container(container)
            except DaemonError as error:
                # 404: gone already; 409: another server is removing it right now
                if error.status not in (404, 409):
                    raise

    def _last_words(self, container: str, folder: JobFolder) -> str:
        lines = [line for _, line in read_output(self.daemon, container, tail=_TAIL_LINES)]
        # OSError: no log, or a link in its place
        with contextlib.suppress(OSError), own_files.open_read(folder.log) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            for raw in file.read().splitlines()[-_TAIL_LINES:]:
                with contextlib.suppress(ValueError, KeyError, TypeError):  # the first line may be torn
                    lines.append(str(json.loads(raw)["x"]))
        return "\n".join(lines)

    def _passing(self) -> Passing:
        return Passing(self._lost)

    def _lost(self) -> None:
        """What the daemon said a moment ago says nothing any more; it may come back as another version."""
        self.daemon.close()
        self.doctor.forget()


def _vanished(name: str) -> PaddleGpuError:
    return refusal(
        Message(
            code="start_refused_busy",
            text="The container {name} was removed while it was being started.",
            hint="It is tried again.",
            params={"name": name},
        ),
        409,
    )
