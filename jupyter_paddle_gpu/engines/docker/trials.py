"""Does the daemon see a job's folders, does it hand out its devices? Tried out with a container, remembered a while."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...devices.maker import RuntimeHook
from ...devices.makers.registry import makers
from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job
from ...domain.messages import Message
from .connection.daemon import Daemon
from .devices import access
from .folders import Mount
from .labels import LABEL_OWNER, LABEL_ROLE, owner
from .policy import Grant

_PROBE = "ls {nodes} 2>/dev/null | grep -q . || exit 42"
"""A device that was handed out shows as a node."""
_PROBE_SILENT = 42
_ANY: Mapping[str, Any] = {"Driver": "", "Count": 1, "Capabilities": [["gpu"]]}
"""Any device will do for the question whether there are any."""

Key = tuple[str, ...]


class Trials:
    """Of many who submit at the same time one tries, the others take what it found.

    What went well holds for `probe_seconds`; a refusal only for `silence_seconds`, since somebody is about to follow
    its next step. A daemon that does not answer is not remembered here (`silence`).
    """

    def __init__(self, daemon: Daemon, root: Path) -> None:
        self._daemon, self._root = daemon, root
        self._seen: dict[Key, float] = {}
        self._devices: dict[Key, tuple[float, Message | None]] = {}
        self._trying = threading.Lock()

    def has_handed_out(self) -> bool | None:
        """Whether a device was handed out when it was last tried; None where nobody has lately."""
        known = [message for at, message in self._devices.values() if self._holds(at, message)]
        # That there is no such device says nothing of those that there are.
        telling = [message for message in known if message is None or message.code != "device_unknown"]
        return any(message is None for message in telling) if telling else None

    def problems(self, image: str, grant: Grant, job: Job) -> list[Message]:
        """What a container with this job's folders and devices runs into. Raises `PaddleGpuError`."""
        with self._trying:
            return self._problems(image, (grant.folder, *grant.data), *self._request(job))

    def of_any_device(self, image: str) -> list[Message]:
        """What a container runs into that wants a GPU, whichever. Raises `PaddleGpuError`."""
        with self._trying:
            return self._problems(image, (), (self._daemon.facts().id,), _ANY)

    def _problems(
        self, image: str, mounts: tuple[Mount, ...], devices: Key, request: Mapping[str, Any]
    ) -> list[Message]:
        folders = (image, *(mount.source for mount in mounts))
        at, refusal = self._devices.get(devices, (-1e9, None))
        known = not devices or self._holds(at, refusal)
        host: dict[str, Any] = {"NetworkMode": "none"}
        if mounts and not self._is_fresh(self._seen.get(folders, -1e9)):
            host["Mounts"] = [
                {"Type": "bind", "Source": mount.source, "Target": mount.target, "ReadOnly": True} for mount in mounts
            ]
        if not known:
            host["DeviceRequests"] = [request]
        if len(host) == 1:
            return [refusal] if refusal else []
        with self._container(image, host) as container:
            self._seen[folders] = time.monotonic()  # Docker looks for the folders when it makes a container
            if not known:
                refusal = self._start(container, ", ".join(request.get("DeviceIDs") or ()))
                self._devices[devices] = (time.monotonic(), refusal)
        return [refusal] if refusal else []

    def _request(self, job: Job) -> tuple[Key, Mapping[str, Any]]:
        """The devices' name in what is remembered, and how Docker is asked for them; empty: none is to be tried."""
        wanted = job.device_ids or job.spec.resources.device_ids
        if not wanted and not job.spec.resources.gpus:
            return (), {}
        facts = self._daemon.facts()
        granted = access(wanted or ("0",), facts, self._daemon.settings, root=self._root)
        if not granted.requests:
            return (), {}
        return (facts.id, *wanted), granted.requests[0] if wanted else _ANY

    @contextlib.contextmanager
    def _container(self, image: str, host: dict[str, Any]) -> Iterator[str]:
        with self._daemon.trial(image) as api:
            made = api.create_container(
                {
                    "Image": image,
                    "Entrypoint": ["/bin/sh", "-c", _probe()],
                    "Cmd": [],
                    "Labels": {LABEL_OWNER: owner(), LABEL_ROLE: "probe"},
                    "HostConfig": {"CapDrop": ["ALL"], "SecurityOpt": ["no-new-privileges"], **host},
                }
            )
        try:
            yield made
        finally:
            # Nobody waits for that, but for the end of this process.
            threading.Thread(target=self._remove, args=(made,), name="paddle-gpu trial").start()

    def _start(self, container: str, gpus: str) -> Message | None:
        try:
            with self._daemon.trial(gpus=gpus) as api:
                api.start(container)
            with self._daemon.trial() as api:
                status = api.wait(container)
        except PaddleGpuError as error:
            if error.code == "engine_unreachable":
                raise
            return error.message
        return _hook_of(gpus).ignored if status == _PROBE_SILENT else None

    def _remove(self, container: str) -> None:
        # One that stays behind goes with the leftovers (`remove_leftovers`).
        with contextlib.suppress(PaddleGpuError), self._daemon.trial() as api:
            api.remove_container(container)

    def _holds(self, at: float, message: Message | None) -> bool:
        settings = self._daemon.settings
        return time.monotonic() - at < (settings.probe_seconds if message is None else settings.silence_seconds)

    def _is_fresh(self, at: float) -> bool:
        return self._holds(at, None)


def _probe() -> str:
    nodes = [node for _, hook in makers().hooks() for node in hook.shown]
    return _PROBE.format(nodes=" ".join(nodes))


def _hook_of(device_ids: str) -> RuntimeHook:
    """The hook that was asked for these devices, with commas between them; for any device the first there is."""
    hooks = makers().hooks()
    first = device_ids.partition(", ")[0]
    return next((hook for maker, hook in hooks if first and maker.owns(first)), hooks[0][1])
