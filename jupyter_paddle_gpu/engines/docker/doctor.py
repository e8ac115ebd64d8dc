"""What is missing, before anything is submitted: each part with the exact next step."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...devices.makers.registry import makers
from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job
from ...domain.messages import Message, Param
from ...domain.sizes import human
from . import access
from .connection.daemon import Daemon, DaemonFacts
from .devices import hands_out
from .identity import JOB_ID, identity_of
from .images.layers import check_layers
from .images.preparing import Preparation, checked, not_given
from .policy import Grant, check_image, check_socket, examine
from .settings import DockerSettings
from .trials import Trials

FACTS_SECONDS = 2.0
"""How long what the daemon says of itself and of an image holds while jobs are being submitted."""


class Doctor:
    """Looks at a daemon."""

    def __init__(self, daemon: Daemon, preparation: Preparation, root: Path = Path("/")) -> None:
        self.daemon = daemon
        self.preparation = preparation
        self.root = root
        self.trials = Trials(daemon, root)
        self._images: dict[str, tuple[float, str]] = {}
        self._looked = -1e9

    def forget(self) -> None:
        """The daemon did not answer somebody: what it said a moment ago is to be asked again."""
        self._looked = -1e9

    def problems(self) -> tuple[bool, tuple[Message, ...]]:
        """(can jobs run at all, everything worth knowing). Never raises."""
        try:
            # Many jobs may be submitted at once: the daemon is asked again only after a moment.
            now = time.monotonic()
            facts = self.daemon.facts(fresh=now - self._looked > FACTS_SECONDS)
            self._looked = now
        except PaddleGpuError as error:
            self._looked = -1e9
            return False, (error.message,)
        if self.daemon.remote:
            return False, (_remote(self.daemon.host),)
        found = []
        if facts.podman:
            found.append(_podman())
        elif self._has_cards() and not self.hands_out_gpus(facts):
            found += [hook.missing for maker, hook in makers().hooks() if maker.present(self.root)]
        if facts.rootless:
            found += [hook.rootless for _, hook in makers().hooks()]
        if facts.desktop:
            found.append(_desktop())
        if not facts.limits_memory:
            found.append(_no_limits())
        try:
            self.preparation.need_disk()
        except PaddleGpuError as error:
            found.append(error.message)
        return True, tuple(found)

    def examine(self) -> tuple[Message, ...]:
        """As `problems`, and whether a GPU is really handed out: tried with an image that is here, where the machine
        has a card. Never raises."""
        available, found = self.problems()
        if available:
            found = (*found, *rights(self.daemon.settings, self.daemon.facts()))
        try:
            if not (available and self._has_cards() and self.hands_out_gpus(self.daemon.facts())):
                return found
            image = self._any_image()
            return (*found, *self.trials.of_any_device(image)) if image else found
        except PaddleGpuError as error:
            return (*found, error.message)

    def _any_image(self) -> str:
        """The id of an image that is here and that jobs may use; empty where there is none."""
        for image in self.daemon.local_images():
            for name in image.references:
                with contextlib.suppress(PaddleGpuError):
                    check_image(name, self.daemon.settings)
                    return image.id
        return ""

    def hands_out_gpus(self, facts: DaemonFacts) -> bool:
        """Can this daemon give GPUs to containers, as far as it says or a probe has shown?"""
        if facts.podman:
            return False
        shown = self.trials.has_handed_out()
        if shown is not None:
            return shown
        return any(hands_out(hook, facts, self.root) for _, hook in makers().hooks())

    def check(self, job: Job, metadata: Mapping[str, Any]) -> tuple[Message, ...]:
        """Everything that would make this job fail before its first cell. Never raises.

        `metadata`: the notebook's; what it asks for is judged here as it is when the job's turn comes.
        """
        available, found = self.problems()
        if not available:
            return found
        # Of what is worth knowing only what stops this job.
        stops = [message for message in found if message.code == "disk_full"]
        grant, refused = examine(job.spec, self.daemon.settings, metadata)
        stops += [error.message for error in refused]
        try:
            stops += self._resources(job)
            if grant is None:
                return tuple(stops)
            check_socket(grant, self.daemon.host)
            stops += self._folder(grant)
            check_layers(Path(grant.folder.source), grant, self.daemon.settings)
            choice = self.preparation.select(job, grant)
            image = self._image(choice.reference)
            if image is None:
                missing = checked(choice, self.preparation.ask)
                return (*stops, missing) if missing else tuple(stops)
            stops += self.trials.problems(image, grant, job)
        except PaddleGpuError as error:
            stops.append(error.message)
        return tuple(stops)

    def _image(self, reference: str) -> str | None:
        """The id of an image that the daemon has; asked once for many jobs that are submitted at the same time."""
        now = time.monotonic()
        at, known = self._images.get(reference, (-1e9, ""))
        if now - at < FACTS_SECONDS:
            return known
        found = self.daemon.find_image(reference)
        if found is None:
            self._images.pop(reference, None)
            return None
        self._images[reference] = (now, str(found["Id"]))
        return str(found["Id"])

    def _resources(self, job: Job) -> list[Message]:
        facts, wanted = self.daemon.facts(), job.spec.resources
        found = []
        if wanted.cpus and facts.processors and wanted.cpus > facts.processors:
            found.append(_too_much("processors", f"{wanted.cpus:g}", str(facts.processors)))
        if wanted.memory_bytes and facts.memory_bytes and wanted.memory_bytes > facts.memory_bytes:
            found.append(_too_much("memory", human(wanted.memory_bytes), human(facts.memory_bytes)))
        return found

    def _folder(self, grant: Grant) -> list[Message]:
        folder = Path(grant.folder.source)
        identity = identity_of(self.daemon.settings, self.daemon.facts(), folder)
        given = not identity.is_stranger or access.is_supported(folder)
        found = [] if given else [not_given(str(folder), identity.host_uid)]
        if self.daemon.facts().desktop or identity.host_uid == 0:  # Docker Desktop gives every file to its user
            return found
        for mount in grant.data:
            opened = identity.is_stranger and mount.writable  # before the job starts
            source, uid = Path(mount.source), identity.host_uid
            closed = None if opened else access.first_closed(source, uid, identity.host_gid)
            if closed is not None:
                found.append(_data_closed(mount.source, "" if closed == source else str(closed), uid))
        return found

    def _has_cards(self) -> bool:
        """Whether there is a driver here whose devices a container gets by request."""
        return any(maker.present(self.root) for maker, _ in makers().hooks())


def rights(settings: DockerSettings, facts: DaemonFacts) -> tuple[Message, ...]:
    """What jobs may that they need not: with the rights of root, inside or outside."""
    if facts.rootless or not hasattr(os, "getuid"):
        return ()
    if settings.user.partition(":")[0] == "0":
        return (_as_root(),) if not facts.user_namespace else ()
    return (_for_root(),) if not settings.user and os.getuid() == 0 else ()


def _as_root() -> Message:
    return Message(
        code="jobs_as_root",
        text="Jobs run as root: the policy file says so. A file that a job leaves with the setuid bit is root's.",
        hint="Remove `user` (docker) from the policy file, or turn on the daemon's user namespace: `userns-remap` in "
        "/etc/docker/daemon.json.",
    )


def _for_root() -> Message:
    return Message(
        code="server_is_root",
        text="This server runs as root: a job runs as the owner of its notebook's folder, and where that is root, as "
        "user {user}, to whom the folder is opened.",
        hint="Start Jupyter as a user of this machine, or give the folders to their users.",
        params={"user": JOB_ID},
    )


def _remote(host: str) -> Message:
    return Message(
        code="docker_remote",
        text="The Docker daemon runs on another machine ({host}), which does not see the folders of this one.",
        hint="Run Jupyter on that machine, or use a daemon here: `unset DOCKER_HOST` and `docker context use default`.",
        params={"host": host},
    )


def _podman() -> Message:
    return Message(
        code="podman_ignores_gpus",
        text="This is podman: its Docker interface ignores requests for GPUs without a word.",
        hint="Use Docker Engine for jobs on GPUs, or the local engine.",
    )


def _desktop() -> Message:
    return Message(
        code="docker_desktop",
        text="This is Docker Desktop: only folders that are shared with it can be mounted.",
        hint="Share the folder under Settings, Resources, File sharing.",
    )


def _no_limits() -> Message:
    return Message(
        code="memory_limit_unsupported",
        text="This kernel does not let Docker limit memory: limits of jobs are not enforced.",
        hint="Start the kernel with cgroup_enable=memory swapaccount=1.",
    )


def _data_closed(path: str, inside: str, user: int) -> Message:
    """`inside`: the file or folder in it that is closed; empty where the data folder itself is."""
    hint = (
        "Let that user read it: `sudo setfacl -R -m u:{user}:rX {path}`, or `sudo chmod -R o+rX {path}` where "
        "everybody may."
    )
    if inside:
        text = "Of the data folder {path} user {user}, as whom the job runs, may not read {inside} (and perhaps more)."
        params: dict[str, Param] = {"path": path, "inside": inside, "user": user}
        return Message(code="data_not_readable", text=text, hint=hint, params=params)
    return Message(
        code="data_not_readable",
        text="The data folder {path} may not be read by user {user}, as whom the job runs.",
        hint=hint,
        params={"path": path, "user": user},
    )


def _too_much(what: str, asked: str, there: str) -> Message:
    return Message(
        code="resources_not_there",
        text="The job asks for more than this machine has ({what}: {asked}, there are {there}).",
        hint="Lower processors or memory in the job's resources.",
        params={"what": what, "asked": asked, "there": there},
    )
