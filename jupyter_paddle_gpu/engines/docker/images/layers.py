"""A project's own packages as an image on top of the chosen one: built once, found again by what it is made of."""

from __future__ import annotations

import fnmatch
import hashlib
import io
import os
import re
import tarfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ....domain.errors import PaddleGpuError
from ....domain.messages import Message
from ... import own_files
from ...base import ALONE, Place, Say
from ..connection.daemon import Daemon
from ..connection.faults import classify, refusal
from ..connection.transfers import stream
from ..folders import is_below
from ..labels import LABEL_OWNER, LABEL_ROLE, owner
from ..policy import Grant, check_image
from ..settings import DockerSettings
from .dockerfile import BASES, images_of

REPOSITORY = "paddle-gpu-layers"
LARGE_BYTES = 16 << 20
"""From here on a folder takes a noticeable time to be read, and other jobs need not wait for it."""
LARGE_ENTRIES = 1000
"""The same in files and folders."""
_LOCKS: dict[str, threading.Lock] = {}
_GUARD = threading.Lock()
_FRAMEWORK = re.compile(r"^\s*paddlepaddle(-gpu|-xpu|-npu|-dcu|-mlu)?\b", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

PIP_DOCKERFILE = """\
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
ARG PIP_INDEX_URL
USER root
COPY requirements.txt /tmp/paddle-gpu-requirements.txt
RUN python -m pip install --retries 2 --no-cache-dir --disable-pip-version-check -r /tmp/paddle-gpu-requirements.txt
"""


class Layers(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be built: the build file, what it may copy (path in the context -> content), its origin."""

    dockerfile: str
    files: dict[str, bytes] = {}
    origin: str
    dropped: tuple[str, ...] = ()

    def tag(self, base_id: str, index: str) -> str:
        """The name under which an image of exactly this content is kept."""
        digest = hashlib.sha256()
        for part in (base_id.encode(), self.dockerfile.encode(), index.encode()):
            digest.update(len(part).to_bytes(8, "big") + part)
        for name, content in sorted(self.files.items()):
            for part in (name.encode(), content):
                digest.update(len(part).to_bytes(8, "big") + part)
        return f"{REPOSITORY}:{digest.hexdigest()[:32]}"


def find_layers(folder: Path, grant: Grant, settings: DockerSettings, place: Place = ALONE) -> Layers | None:
    """What the project beside a notebook asks for; None where the chosen image will do.

    A Dockerfile stands for all; else requirements.txt and what the environment cell installs go together. Paddle itself
    is left out: the image has the right build of it, and pip would bring another.

    Raises:
        PaddleGpuError: `context_too_large` (413), `dockerfile_base`, `image_not_allowed`, `layer_link` (403).
    """
    if not (settings.layers and grant.layers):
        return None
    dockerfile, requirements = _instructions(folder, settings)
    if dockerfile:
        files = {name: own_files.read(path) for name, path in _context(folder, settings.context_bytes, place)}
        return Layers(dockerfile=dockerfile, files=files, origin="Dockerfile")
    lines = requirements.splitlines()
    lines += [line for line in grant.requirements if line not in lines]
    dropped = tuple(line.strip() for line in lines if _FRAMEWORK.match(line))
    kept = [line for line in lines if not _FRAMEWORK.match(line)]
    if not any(line.split("#")[0].strip() for line in kept):
        return None
    origin = "requirements.txt" if requirements else "environment cell"
    return Layers(
        dockerfile=PIP_DOCKERFILE,
        files={"requirements.txt": ("\n".join(kept) + "\n").encode()},
        origin=origin,
        dropped=dropped,
    )


def build(
    daemon: Daemon,
    layers: Layers,
    *,
    base: str,
    base_id: str,
    say: Say,
    cancelled: Callable[[], bool],
    place: Place = ALONE,
) -> str:
    """The tag of the derived image, built now or found. Raises `PaddleGpuError` (`build_failed`, …) or `cancelled`."""
    settings = daemon.settings
    tag = layers.tag(base_id, settings.pip_index)
    with _GUARD:
        lock = _LOCKS.setdefault(tag, threading.Lock())
    if daemon.inspect_image(tag) is None:
        place.step_aside()  # to build it, or to wait for somebody who does
    with lock:
        if daemon.inspect_image(tag) is not None:
            say(f"{layers.origin}: already built as {tag}")
            return tag
        for line in layers.dropped:
            say(f"{layers.origin}: {line} is left out, {base} has Paddle")
        say(f"{layers.origin}: building {tag} on {base} …")
        _run(daemon, layers, base=base, base_id=base_id, tag=tag, say=say, cancelled=cancelled)
        if daemon.inspect_image(tag) is None:
            raise _failed(layers.origin, "the build ended without an image")
    return tag


def _run(
    daemon: Daemon, layers: Layers, *, base: str, base_id: str, tag: str, say: Say, cancelled: Callable[[], bool]
) -> None:
    settings = daemon.settings
    arguments = {"BASE_IMAGE": base_id}  # the name could mean another image by now
    if settings.pip_index:
        arguments |= {"PIP_INDEX_URL": settings.pip_index}
    params = {
        "t": tag,
        "dockerfile": "Dockerfile",
        "rm": "1",
        "forcerm": "1",
        "buildargs": msgspec.json.encode(arguments).decode(),
        "labels": msgspec.json.encode({LABEL_OWNER: owner(), LABEL_ROLE: "layers"}).decode(),
    }
    if settings.build_network:
        params["networkmode"] = settings.build_network
    last: list[str] = []
    for event in stream(
        daemon,
        "/build",
        params=params,
        headers={"Content-Type": "application/x-tar"},
        data=_archive(layers),
        cancelled=cancelled,
        image=base,
    ):
        if "error" in event:
            raise _explain(layers.origin, str(event["error"]), last, base)
        for line in _COLOUR.sub("", str(event.get("stream", ""))).splitlines():
            if line.strip():
                last = [*last[-20:], line]
                say(_step(layers.origin, line) or line.rstrip())


_STEP = re.compile(r"Step (\d+)/(\d+) : (.*)")


_FROM_STEP = re.compile(r"^Step \d+/\d+ : FROM (?:--platform=\S+ )?(\S+)", re.IGNORECASE)
_NO_CONTENT = re.compile(r"^(ADD|COPY) failed", re.IGNORECASE)


def _step(origin: str, line: str) -> Message | None:
    """How far a build is, where a line says so."""
    said = _STEP.match(line)
    if said is None:
        return None
    return Message(
        code="building",
        text="Building from {origin}, step {step} of {steps}: {command}",
        params={"origin": origin, "step": int(said[1]), "steps": int(said[2]), "command": said[3].strip()[:200]},
    )


def _explain(origin: str, error: str, last: list[str], base: str) -> PaddleGpuError:
    if _NO_CONTENT.match(error):  # ADD and COPY: neither a registry nor the package index was asked
        return _failed(origin, error)
    text = "\n".join([*last, error]).lower()
    if any(sign in text for sign in _NO_NETWORK):
        return refusal(
            Message(
                code="build_no_network",
                text="{origin}: packages could not be downloaded, there is no way out to the package index.",
                hint="Check network and proxy of the Docker daemon, set a mirror as pip_index, or remove {origin} and "
                "use an image that has the packages.",
                params={"origin": origin},
            )
        )
    started = next((found[1] for line in reversed(last) if (found := _FROM_STEP.search(line))), "")
    kind = classify(error, image=base if not started or started in BASES else started)
    if kind.code in {"disk_full", "registry_unreachable", "pull_refused"}:
        return refusal(kind)
    reason = next((line for line in reversed(last) if "error" in line.lower()), error)
    return _failed(origin, reason)


def _failed(origin: str, detail: str) -> PaddleGpuError:
    return refusal(
        Message(
            code="build_failed",
            text="The image for {origin} could not be built: {detail}",
            hint="The job's log has all that the build printed.",
            params={"origin": origin, "detail": detail.strip()[:400]},
        ),
        422,
    )


_NO_NETWORK = (
    "temporary failure in name resolution", "name or service not known", "failed to establish a new connection",
    "network is unreachable", "no route to host", "could not resolve host", "bad address", "connection timed out",
    "newconnectionerror", "nameresolutionerror",
)  # fmt: skip


def check_layers(folder: Path, grant: Grant, settings: DockerSettings) -> None:
    """Refuse at submit what `find_layers` would refuse when the job's turn comes; of a folder only sizes are read."""
    if settings.layers and grant.layers:
        dockerfile, _ = _instructions(folder, settings)
        if dockerfile:
            for _ in _context(folder, settings.context_bytes, ALONE):
                pass


def _instructions(folder: Path, settings: DockerSettings) -> tuple[str, str]:
    """(Dockerfile, requirements.txt) beside the notebook, empty where there is none; of two the first counts."""
    dockerfile, requirements = folder / "Dockerfile", folder / "requirements.txt"
    if settings.dockerfile and dockerfile.is_file():
        text = _text(dockerfile)
        for image in images_of(text):
            check_image(image, settings)
        return text, ""
    return "", _text(requirements) if requirements.is_file() else ""


def _text(path: Path) -> str:
    """A file beside the notebook, through a link only where it stays beside it: its content ends up in the image."""
    real = os.path.realpath(path)
    if not is_below(real, os.path.realpath(path.parent)):
        raise PaddleGpuError(
            "layer_link",
            "{path} is a link to {real}, outside the notebook's folder.",
            hint="Put the file itself beside the notebook.",
            status=403,
            path=str(path),
            real=real,
        )
    return own_files.read(Path(real)).decode("utf-8", "replace")


def _context(folder: Path, limit: int, place: Place) -> Iterator[tuple[str, Path]]:
    """(name, path) of the regular files of a folder, less what .dockerignore names. Links are left out: they may lead
    outside. Raises `PaddleGpuError` (413) at the file with which it is too much."""
    ignore = folder / ".dockerignore"
    # The folder itself is mounted when the job runs: notebooks in the image would only make it a new one each time.
    patterns = [".git", "paddle-gpu-runs", ".ipynb_checkpoints", "*.ipynb"]
    if ignore.is_file():
        lines = _text(ignore).splitlines()
        patterns += [line.strip().strip("/") for line in lines if line.strip() and line[0] not in "#!"]
    size = 0
    for path in _entries(folder, place):
        name = path.relative_to(folder).as_posix()
        parents = [name, *(parent.as_posix() for parent in Path(name).parents)]
        if any(fnmatch.fnmatch(part, pattern) for part in parents for pattern in patterns):
            continue
        if (
            path.is_symlink()
            or not path.is_file()
            or any(p.is_symlink() for p in path.parents if p != folder and folder in p.parents)
        ):
            continue
        size += path.stat().st_size
        if size > limit:
            raise PaddleGpuError(
                "context_too_large",
                "The folder with the Dockerfile holds more than {limit_mib} MiB.",
                hint="Name data and results in a .dockerignore beside it.",
                status=413,
                limit_mib=limit >> 20,
            )
        if size > LARGE_BYTES:
            place.step_aside()
        yield name, path


def _entries(folder: Path, place: Place) -> list[Path]:
    """Everything below a folder, in an order that is always the same."""
    found: list[Path] = []
    for path in folder.rglob("*"):
        found.append(path)
        if len(found) == LARGE_ENTRIES:
            place.step_aside()
    return sorted(found)


def _archive(layers: Layers) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in sorted({**layers.files, "Dockerfile": layers.dockerfile.encode()}.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()
