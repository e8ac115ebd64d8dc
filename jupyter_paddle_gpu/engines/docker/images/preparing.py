"""Everything before the start: which image, is it here, does it need the project's own packages, may we write."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ....domain.containers.images import AskRegistry, RegistryAnswer
from ....domain.containers.references import parse_reference
from ....domain.errors import PaddleGpuError
from ....domain.jobs import reasons
from ....domain.jobs.job import Job
from ....domain.messages import Message
from ....domain.placements import ImageChoice
from ... import own_files
from ...base import ALONE, Handle, JobFolder, Place, Say, metadata_of
from ...engine_type import ChooseImage
from .. import access
from ..connection.daemon import Daemon
from ..connection.faults import classify, disk_full, image_missing, pull_refused, refusal, registry_unreachable
from ..identity import identity_of
from ..policy import Grant, authorize, check_image, check_socket
from .layers import build, find_layers
from .pulls import pull


class Preparation:
    """Gets the image of a job onto the daemon."""

    def __init__(self, daemon: Daemon, choose: ChooseImage | None) -> None:
        self.daemon = daemon
        self.choose = choose
        self._silent: dict[str, tuple[float, RegistryAnswer]] = {}

    def ask(self, reference: str) -> RegistryAnswer:
        """As `Daemon.ask_registry`, but a registry that was silent a moment ago is not waited for again: what it was
        seen by is told to all who ask meanwhile."""
        host = parse_reference(reference).host
        at, known = self._silent.get(host, (-1e9, None))
        if known is not None and time.monotonic() - at < self.daemon.settings.registry_seconds:
            return known
        answer = self.daemon.ask_registry(reference)
        if answer.state == "silent" and not reasons.is_transient(classify(answer.detail, image=reference)):
            self._silent[host] = (time.monotonic(), answer)
        else:
            self._silent.pop(host, None)
        return answer

    def select(self, job: Job, grant: Grant, place: Place = ALONE) -> ImageChoice:
        """The image: what was named, else what the chooser says. Raises `PaddleGpuError` where there is none."""
        if grant.image:
            return ImageChoice(reference=grant.image)
        if self.choose is None:
            raise PaddleGpuError(
                "image_unnamed",
                "The job names no image.",
                hint="Name one of Paddle's images, for instance with --image.",
            )

        def ask(reference: str) -> RegistryAnswer:
            place.step_aside()
            return self.ask(reference)

        choice = self.choose(job, self.daemon.local_images(), ask)
        if not choice.reference:
            why = "; ".join(message.render() for message in choice.ruled_out[:4])
            raise PaddleGpuError(
                "no_image_fits",
                "No image fits this driver and card: {why}",
                hint="Name an image yourself (`--image`), or choose another device (`--device-id`).",
                status=422,
                why=why,
            )
        name = str(check_image(choice.reference, self.daemon.settings))
        return msgspec.structs.replace(choice, reference=name)

    def prepare(
        self, job: Job, folder: JobFolder, say: Say, cancelled: Callable[[], bool], place: Place = ALONE
    ) -> Handle:
        """Pull and build as needed. Returns `{image, reference, digest}`; `image` is the exact id to run."""
        settings = self.daemon.settings
        grant = authorize(job.spec, settings, notebook_metadata(folder))
        check_socket(grant, self.daemon.host)
        choice = self.select(job, grant, place)
        for reason in choice.reasons:
            say(reason.render())
        self.need_disk(folder)
        found = self.daemon.find_image(choice.reference)
        if found is None:
            place.step_aside()
            pull(self.daemon, pinned(choice), say, cancelled)
            found = self.daemon.find_image(pinned(choice))
            if found is None:
                raise refusal(image_missing(choice.reference), 404)
            if pinned(choice) != choice.reference:
                self.daemon.name_image(str(found["Id"]), choice.reference)
        image, digest = found["Id"], _digest(found)
        layers = find_layers(Path(grant.folder.source), grant, settings, place)
        if layers is not None:
            tag = build(
                self.daemon,
                layers,
                base=choice.reference,
                base_id=image,
                say=say,
                cancelled=cancelled,
                place=place,
            )
            image = (self.daemon.inspect_image(tag) or found)["Id"]
        self.give_folder(folder, grant, say)
        return {"image": image, "reference": choice.reference, "digest": digest}

    def need_disk(self, folder: JobFolder | None = None) -> None:
        """Raise where the job's folder or Docker's own has too little space left."""
        docker = self.daemon.facts().root
        for path in (str(folder.path) if folder else "", docker):
            if not path or self.daemon.remote:
                continue
            with contextlib.suppress(OSError):
                if shutil.disk_usage(path).free < self.daemon.settings.disk_bytes:
                    raise refusal(disk_full(path) if path == docker else reasons.disk_full(path))

    def give_folder(self, folder: JobFolder, grant: Grant, say: Say) -> None:
        """Where we are root and the job is not: the job's folder must belong to whoever the job runs as, and root's own
        folder with the notebook must be open to one who is nobody on this machine."""
        source = Path(grant.folder.source)
        identity = identity_of(self.daemon.settings, self.daemon.facts(), source)
        if not hasattr(os, "getuid") or os.getuid() != 0 or identity.host_uid == 0:
            return
        if identity.is_stranger:
            try:
                is_new = access.open_to(source, identity.host_uid)
                for mount in grant.data:
                    if mount.writable:
                        access.open_to(Path(mount.source), identity.host_uid)
            except OSError as error:
                raise PaddleGpuError.of(not_given(str(source), identity.host_uid), status=409) from error
            if is_new:
                say(opened(str(source), identity.host_uid))
        # Last: what is said is written into the folder, too.
        folder.checkpoints.mkdir(exist_ok=True)
        for path in (folder.path, *folder.path.rglob("*")):
            os.chown(path, identity.host_uid, identity.host_gid, follow_symlinks=False)


def notebook_metadata(folder: JobFolder) -> Mapping[str, Any]:
    """The metadata of the notebook as submitted; empty where it cannot be read (the runner will say so)."""
    try:
        return metadata_of(own_files.read(folder.source))
    except OSError:
        return {}


def pinned(choice: ImageChoice) -> str:
    """The reference with the digest that the registry told, so that a tag that moves cannot change a job."""
    if not choice.digest or choice.local or "@" in choice.reference:
        return choice.reference
    return f"{choice.reference}@{choice.digest}"


def _digest(image: dict[str, Any]) -> str:
    digests = image.get("RepoDigests") or ()
    return str(digests[0]).partition("@")[2] if digests else str(image["Id"])


def checked(choice: ImageChoice, ask: AskRegistry) -> Message | None:
    """Why an image that is not here could not be had, or that its registry is busy; None where that has it."""
    if choice.digest:
        return None
    answer = ask(choice.reference)
    if answer.state == "found":
        return None
    if reasons.is_transient(classify(answer.detail, image=choice.reference)):
        return registry_busy(choice.reference)
    if answer.state == "missing":
        return image_missing(choice.reference)
    if answer.state == "refused":
        return pull_refused(answer.detail, choice.reference)
    return registry_unreachable(answer.detail, choice.reference)


def registry_busy(reference: str) -> Message:
    """A registry that asks to wait (429), or is down for a moment (503): no reason to refuse a job."""
    return Message(
        code="registry_busy",
        text="The registry {host} asks to wait before {image} can be pulled.",
        hint="Submit anyway: the pull is tried again by itself.",
        params={"host": parse_reference(reference).host, "image": reference},
    )


def opened(path: str, user: int) -> Message:
    """What was done so that a job on a folder of root's need not be root."""
    return Message(
        code="folder_opened",
        text="{path} belongs to root: the job runs as user {user} instead, who may read and write there from now on.",
        params={"path": path, "user": user},
    )


def not_given(path: str, user: int) -> Message:
    """A folder of root's on a file system that cannot open it to anybody else."""
    return Message(
        code="folder_not_given",
        text="{path} belongs to root, a job does not run as root, and the folder's file system lets no user be added.",
        hint="Give the folder to the user whose notebooks these are (`sudo chown -R USER {path}`) or to user {user}, "
        "or move the notebook to another file system.",
        params={"path": path, "user": user},
    )
