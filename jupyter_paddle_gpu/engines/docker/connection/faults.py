"""What Docker says when something fails, as classes with a next step each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ....devices.makers.registry import makers
from ....domain.containers.references import parse_reference
from ....domain.errors import PaddleGpuError
from ....domain.jobs import reasons
from ....domain.messages import Message
from ..endings import refused_start
from .transport import DaemonError

CONTAINER_LOST = "container_lost"
"""A daemon that was killed between the start of a process and noting it keeps the container as never started, and
refuses to start it again while that process runs; neither its stop nor its removal reaches the process."""


@contextmanager
def explained(*, image: str = "", gpus: str = "") -> Iterator[None]:
    """Turn every refusal and every fault of the connection into a `PaddleGpuError` that says what to do.

    Args:
        image: the image that the call is about, `gpus` the device ids; both for the sentence only.
    """
    try:
        yield
    except DaemonError as error:
        raise refusal(classify(error.words, image=image, gpus=gpus)) from error
    except OSError as error:
        raise refusal(unreachable(error)) from error


def refusal(message: Message, status: int = 503) -> PaddleGpuError:
    """The message as an exception; most of them mean that a part is missing."""
    return PaddleGpuError.of(message, status=status)


def is_timeout(error: BaseException) -> bool:
    """Whether somebody took the connection and did not answer in time."""
    return any("Timeout" in text or "timed out" in text for text in _chain(error))


def silent(host: str, seconds: float) -> Message:
    """The daemon is there and hangs; passing, as everything is that keeps it from answering."""
    return Message(
        code="engine_unreachable",
        text="The Docker daemon at {host} does not answer ({seconds} s).",
        hint="`journalctl -u docker -n 50` may say why; `sudo systemctl restart docker` starts it anew (which ends "
        "running containers, unless its live-restore is on).",
        params={"host": host, "seconds": f"{seconds:g}"},
    )


def unreachable(error: BaseException) -> Message:
    """Why no daemon answers, by the fault at the bottom of the chain of exceptions."""
    text = " ".join(_chain(error))
    if "PermissionError" in text or "Permission denied" in text:
        return Message(
            code="docker_permission",
            text="Docker's socket may not be used by this user.",
            hint="Run `sudo usermod -aG docker $USER`, log out and in again; know that this gives root's rights "
            "on this machine (docs/security.md).",
        )
    if "FileNotFoundError" in text or "No such file" in text:
        return Message(
            code="docker_missing",
            text="No Docker daemon is running here: its socket does not exist.",
            hint="Install Docker Engine (https://docs.docker.com/engine/install/) or start it: "
            "`sudo systemctl enable --now docker`.",
        )
    waited = re.search(r"read timeout=([\d.]+)", text) if is_timeout(error) else None
    return reasons.engine_unreachable("docker", f"no answer for {waited[1]} s" if waited else _last(error))


def _chain(error: BaseException) -> Iterator[str]:
    seen: BaseException | None = error
    while seen is not None:
        yield f"{type(seen).__name__} {seen}"
        seen = seen.__cause__ or seen.__context__


def _last(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def classify(text: str, *, image: str = "", gpus: str = "") -> Message:
    """The class of a daemon's refusal (create, start, pull, build), from the text it gives."""
    low = text.lower()
    for _, hook in makers().hooks():
        for refused in hook.refusals:
            if any(fragment in low for fragment in refused.fragments):
                return refused.said(_short(text), gpus, image)
    for fragments, build in _CLASSES:
        if any(fragment in low for fragment in fragments):
            return build(text, image, gpus)
    return Message(
        code="docker_refused",
        text="Docker refused: {detail}",
        hint="`jupyter paddle-gpu doctor` looks for the usual causes.",
        params={"detail": _short(text)},
    )


def _short(text: str) -> str:
    return " ".join(text.split())[:400]


def _disk(text: str, image: str, gpus: str) -> Message:
    return disk_full("")


def disk_full(path: str) -> Message:
    """No space left where the daemon keeps images and containers: in `path`, or in a folder that it does not tell."""
    hint = (
        "`docker system df` shows what takes the space, `docker image prune -a` removes images that no container uses."
    )
    if not path:
        return Message(code="disk_full", text="The disk is full in Docker's data folder.", hint=hint)
    return Message(
        code="disk_full",
        text="The disk is full in Docker's data folder {path}.",
        hint=hint,
        params={"path": path},
    )


def _mount(text: str, image: str, gpus: str) -> Message:
    return Message(
        code="path_unseen",
        text="The Docker daemon does not see a folder of this job: {detail}",
        hint="The daemon must run on this machine and see the same paths (a remote daemon, Docker Desktop or a "
        "server inside a container do not). Share the folder with it, or use the local engine.",
        params={"detail": _short(text)},
    )


def _missing(text: str, image: str, gpus: str) -> Message:
    return image_missing(image)


def image_missing(image: str) -> Message:
    """Neither here nor in a registry that answers."""
    return Message(
        code="image_missing",
        text="The image {image} is not on this machine and no registry gave it.",
        hint="Check the name, or load it on this machine with `docker pull {image}`.",
        params={"image": image},
    )


def pull_refused(text: str, image: str, gpus: str = "") -> Message:
    """The registry does not give it to this user, or hides that it has none."""
    return Message(
        code="pull_refused",
        text="The registry refuses {image}: {detail}",
        hint="Check the name; for a private image run `docker login {registry}` as the user who runs Jupyter.",
        params={"image": image, "detail": _short(text), "registry": registry_of(image)},
    )


def registry_of(image: str) -> str:
    """Whose registry holds an image, as `docker login` wants it."""
    try:
        return parse_reference(image).host
    except PaddleGpuError:
        return ""


def _machine(text: str, image: str, gpus: str) -> Message:
    return Message(
        code="image_other_machine",
        text="{image} is not built for this machine's processor: {detail}",
        hint="`jupyter paddle-gpu images` names one for this machine: submit with it as `--image`.",
        params={"image": image, "detail": _short(text)},
    )


def _rate(text: str, image: str, gpus: str) -> Message:
    return Message(
        code="pull_interrupted",
        text="The registry limits how often it may be asked: {detail}",
        hint="`docker login` raises the limit; or name a mirror first among `registries` (images, in the policy file).",
        params={"detail": _short(text)},
    )


def registry_unreachable(text: str, image: str, gpus: str = "") -> Message:
    """Nobody answers where the image would come from."""
    return Message(
        code="registry_unreachable",
        text="{image} is not on this machine and its registry cannot be reached: {detail}",
        hint="`docker pull {image}` shows whether the daemon has a way out (its proxy: `systemctl edit docker`); or "
        "name a mirror first among `registries` (images, in the policy file), or bring the image: `docker save -o "
        "image.tar {image}` where it is, `docker load -i image.tar` here.",
        params={"image": image, "detail": _short(text)},
    )


def _interrupted(text: str, image: str, gpus: str) -> Message:
    return Message(
        code="pull_interrupted",
        text="The download of {image} broke off: {detail}",
        hint="It is tried again; what is complete is kept.",
        params={"image": image, "detail": _short(text)},
    )


def _out_of_range(text: str, image: str, gpus: str) -> Message:
    return Message(
        code="resources_not_there",
        text="The job asks for more than this machine has: {detail}",
        hint="Lower processors or memory in the job's resources.",
        params={"detail": _short(text)},
    )


def _broken_off(text: str, image: str, gpus: str) -> Message:
    return Message(
        code="start_refused_busy",
        text="Docker was interrupted while it made the container: {detail}",
        hint="It is tried again. If it goes on, `journalctl -u docker -u containerd -n 50` says why.",
        params={"detail": _short(text)},
    )


def _lost(text: str, image: str, gpus: str) -> Message:
    return Message(
        code=CONTAINER_LOST,
        text="Docker broke down just as it started the container, and cannot reach what runs in it: {detail}",
        hint="The job was ended, for it must not run twice. Submit it again.",
        params={"detail": _short(text)},
    )


def _runtime(text: str, image: str, gpus: str) -> Message:
    return refused_start(_short(text))


_Build = Callable[[str, str, str], Message]
# First match wins; each fragment was seen in Docker's or containerd's words (lower case).
_CLASSES: tuple[tuple[tuple[str, ...], _Build], ...] = (
    (("no space left on device", "disk quota exceeded"), _disk),
    (("bind source path does not exist", "mounts denied", "invalid mount config", "not shared from the host"), _mount),
    (("toomanyrequests", "rate limit"), _rate),
    (("no matching manifest", "exec format error", "does not match the specified platform"), _machine),
    # A daemon that dies, or comes back and finds its containerd with what it had begun.
    (("id already in use",), _lost),
    ((": already exists", "ttrpc: closed", "transport is closing", "containerd.sock", "shutting down"), _broken_off),
    (("oci runtime create failed", "failed to create shim", "runc create failed"), _runtime),
    (("unauthorized", "denied", "authentication required", "no basic auth", "403 forbidden"), pull_refused),
    (("manifest unknown", "no such image", "manifest for", "repository name not known", "name unknown"), _missing),
    (("unexpected eof", "connection reset", "layer verification failed", "unexpected http status: 5"), _interrupted),
    (
        ("dial tcp", "no such host", "i/o timeout", "tls handshake", "connection refused", "request canceled"),
        registry_unreachable,
    ),
    (("deadline exceeded", "server misbehaving", "network is unreachable", "proxyconnect"), registry_unreachable),
    (("range of cpus is from", "requested cpus are not available", "minimum memory limit"), _out_of_range),
)
