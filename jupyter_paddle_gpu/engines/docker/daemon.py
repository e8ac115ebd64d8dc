"""The connection to a daemon, and what it is: version, podman or Docker, rootless, GPUs."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

import docker
import msgspec
from docker import auth, errors
from requests import exceptions as http

from ...domain.images import LocalImage, RegistryAnswer
from .faults import classify, explained
from .settings import DockerSettings


class DaemonFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a daemon says of itself. `cdi` holds the full names (`nvidia.com/gpu=0`) of the devices it knows."""

    id: str
    version: str
    podman: bool = False
    rootless: bool = False
    desktop: bool = False
    runtimes: tuple[str, ...] = ()
    cdi: tuple[str, ...] = ()
    root: str = ""
    processors: int = 0
    memory_bytes: int = 0
    limits_memory: bool = True


class Daemon:
    """One daemon. Connects when first used and again after it went away; calls may come from several threads."""

    def __init__(self, settings: DockerSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._api: Any = None
        self._facts: DaemonFacts | None = None

    @property
    def host(self) -> str:
        """Where the daemon is: setting, `DOCKER_HOST`, Docker's current context, the rootless socket, the default."""
        named = self.settings.host or os.environ.get("DOCKER_HOST", "")
        if named:
            return named
        try:
            context = docker.ContextAPI.get_current_context()
            if context is not None and context.name != "default" and context.Host:
                return str(context.Host)
        except (errors.DockerException, OSError, ValueError):
            pass  # a broken context file must not hide a daemon in its usual place
        own = Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / "docker.sock"
        usual = Path("/var/run/docker.sock")
        return f"unix://{own}" if own.exists() and not usual.exists() else f"unix://{usual}"

    @property
    def remote(self) -> bool:
        """Whether the daemon runs on another machine, where the paths of this one mean nothing."""
        return not self.host.startswith(("unix://", "npipe://", "http+unix://"))

    @property
    def api(self) -> Any:
        """The SDK's low-level client. Raises `PaddleGpuError` where no daemon answers."""
        with self._lock:
            if self._api is None:
                with explained():
                    self._api = docker.APIClient(
                        base_url=self.host, version="auto", timeout=int(self.settings.request_seconds), num_pools=64
                    )
            return self._api

    def facts(self, *, fresh: bool = False) -> DaemonFacts:
        """What the daemon is. Raises `PaddleGpuError` where none answers."""
        if self._facts is None or fresh:
            api = self.api
            with explained():
                info, version = api.info(), api.version()
            self._facts = read_facts(info, version)
        return self._facts

    def local_images(self) -> tuple[LocalImage, ...]:
        """Every tagged image that the daemon has."""
        api = self.api
        with explained():
            rows = api.images()
        return tuple(
            LocalImage(
                id=row["Id"],
                references=tuple(name for name in row.get("RepoTags") or () if "<none>" not in name),
                digests=tuple(row.get("RepoDigests") or ()),
                labels=row.get("Labels") or {},
            )
            for row in rows
        )

    def ask_registry(self, reference: str) -> RegistryAnswer:
        """What the registry of a reference says of it, asked through the daemon (its proxy, its mirrors) with the
        credentials of Docker's own configuration. Never raises for what a registry may answer."""
        api = self.api
        name = reference.partition("@")[0]
        head, slash, last = name.rpartition("/")
        try:
            registry, _ = auth.resolve_repository_name(f"{head}{slash}{last.partition(':')[0]}")
            credentials = auth.get_config_header(api, registry)
            answer = api.get(
                f"{api.base_url}/v{api.api_version}/distribution/{quote(reference, safe='/:@')}/json",
                headers={"X-Registry-Auth": credentials} if credentials else None,
                # The SDK's own call waits as long as for any answer; a registry that drops packets must not hold up.
                timeout=self.settings.registry_timeout,
            )
            body = answer.json()
        except (errors.DockerException, http.RequestException, OSError, ValueError) as error:
            return RegistryAnswer(state="silent", detail=str(error))
        if answer.status_code < 400:
            return RegistryAnswer(state="found", digest=body["Descriptor"]["digest"])
        detail = str(body.get("message", ""))
        kind = classify(detail, image=reference).code
        # Registries that hide what is private answer “denied” for what does not exist, too.
        state = {"image_missing": "missing", "pull_refused": "refused"}.get(kind, "silent")
        return RegistryAnswer(state=state, detail=detail)  # type: ignore[arg-type]

    def inspect_image(self, reference: str) -> dict[str, Any] | None:
        """What the daemon knows of an image; None where it does not have it."""
        api = self.api
        with explained(image=reference):
            try:
                found: dict[str, Any] = api.inspect_image(reference)
            except errors.ImageNotFound:
                return None
        return found

    def inspect_container(self, name: str) -> dict[str, Any] | None:
        """What the daemon knows of a container; None where there is none of that name or id."""
        api = self.api
        with explained():
            try:
                found: dict[str, Any] = api.inspect_container(name)
            except errors.NotFound:
                return None
        return found

    def close(self) -> None:
        """Drop the connection."""
        with self._lock:
            if self._api is not None:
                self._api.close()
            self._api = None


def read_facts(info: dict[str, Any], version: dict[str, Any]) -> DaemonFacts:
    """The facts from the answers of `/info` and `/version`."""
    components = " ".join(row.get("Name", "") for row in version.get("Components") or ())
    options = " ".join(info.get("SecurityOptions") or ())
    return DaemonFacts(
        id=str(info.get("ID") or info.get("Name") or ""),
        version=str(version.get("Version", "")),
        podman="podman" in components.lower(),
        rootless="rootless" in options,
        desktop="docker desktop" in str(info.get("OperatingSystem", "")).lower(),
        runtimes=tuple(info.get("Runtimes") or ()),
        cdi=tuple(row["ID"] for row in info.get("DiscoveredDevices") or () if row.get("Source") == "cdi"),
        root=str(info.get("DockerRootDir") or ""),
        processors=int(info.get("NCPU") or 0),
        memory_bytes=int(info.get("MemTotal") or 0),
        limits_memory=bool(info.get("MemoryLimit", True)),
    )
