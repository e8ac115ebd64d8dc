"""The connection to a daemon, and what it is: version, podman or Docker, rootless, GPUs."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ....domain.containers.images import LocalImage, RegistryAnswer
from ....domain.containers.references import Reference, parse_reference
from ....domain.errors import PaddleGpuError
from ..labels import LABEL_OWNER, LABEL_ROLE, owner
from ..settings import DockerSettings
from .api import Api, greet
from .contexts import current_host
from .credentials import credentials_for
from .faults import classify, explained, is_timeout, refusal, registry_unreachable, silent
from .silence import Silence
from .transport import DaemonError, Transport
from .unix import Unix


def transport_to(host: str) -> Transport:
    """The way to a daemon. Raises `OSError` where the SDK has none."""
    for scheme in ("unix://", "http+unix://"):
        if host.startswith(scheme):
            return Unix("/" + host.removeprefix(scheme).lstrip("/"))
    from .sdk import Sdk  # takes a while to load

    return Sdk(host)


class DaemonFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a daemon says of itself. `cdi` holds the full names (`nvidia.com/gpu=0`) of the devices it knows."""

    id: str
    podman: bool = False
    rootless: bool = False
    desktop: bool = False
    user_namespace: bool = False
    runtimes: tuple[str, ...] = ()
    cdi: tuple[str, ...] = ()
    root: str = ""
    processors: int = 0
    memory_bytes: int = 0
    limits_memory: bool = True


class Daemon:
    """One daemon. Connects when first used and again after it went away; calls may come from several threads.

    Questions that it answers from what it knows (version, info, images) must be answered in `answer_seconds`: somebody
    waits for them. A job's own thread has time (`patiently`).
    """

    def __init__(self, settings: DockerSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._api: Api | None = None
        self._podman = False
        self._facts: DaemonFacts | None = None
        self._silence = Silence(settings.silence_seconds)
        self._patient = threading.local()

    @property
    def host(self) -> str:
        """Where the daemon is: setting, `DOCKER_HOST`, Docker's current context, the rootless socket, the default."""
        named = self.settings.host or os.environ.get("DOCKER_HOST", "")
        if named:
            return named
        if chosen := current_host():
            return chosen
        own = Path(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent")) / "docker.sock"
        usual = Path("/var/run/docker.sock")
        return f"unix://{own}" if own.exists() and not usual.exists() else f"unix://{usual}"

    @property
    def remote(self) -> bool:
        """Whether the daemon runs on another machine, where the paths of this one mean nothing."""
        return not self.host.startswith(("unix://", "npipe://", "http+unix://"))

    @property
    def api(self) -> Api:
        """Its interface, for what may take long. Raises `PaddleGpuError` where no daemon answers."""
        with self._lock:
            if self._api is not None:
                return self._api
        # Without the lock: of many who come while the daemon hangs none is to wait for the others' turns as well.
        with self._asking() as seconds:
            transport = transport_to(self.host)
            version, podman = greet(transport, seconds)
        mine = Api(transport, version, self.settings.request_seconds)
        with self._lock:
            if self._api is None:
                self._api, self._podman = mine, podman
            api = self._api
        if api is not mine:
            mine.close()
        return api

    @contextlib.contextmanager
    def patiently(self) -> Iterator[None]:
        """Within it this thread's questions may take as long as any request: nobody waits but the job itself."""
        before = self._is_patient
        self._patient.now = True
        try:
            yield
        finally:
            self._patient.now = before

    @property
    def _is_patient(self) -> bool:
        return getattr(self._patient, "now", False)

    @contextlib.contextmanager
    def _asking(self, image: str = "", gpus: str = "", most: float | None = None) -> Iterator[float]:
        """Around a question, which may take so many seconds (`most`, else what is usual). Raises `PaddleGpuError`."""
        seconds = self.settings.request_seconds if self._is_patient else most or self.settings.answer_seconds
        silence = contextlib.nullcontext() if self._is_patient else self._silence.asking()
        with silence, explained(image=image, gpus=gpus):
            try:
                yield seconds
            except DaemonError:
                self._silence.heard()
                raise
            except OSError as error:
                if not is_timeout(error):
                    self._silence.heard()  # nobody is there to wait for, which shows at once
                    raise
                message = silent(self.host, seconds)
                self._silence.not_heard(message)
                raise refusal(message) from error
            self._silence.heard()

    @contextlib.contextmanager
    def _question(self, image: str = "") -> Iterator[Api]:
        """The interface for a question that the daemon answers from what it knows."""
        api = self.api
        with self._asking(image) as seconds:
            yield api.within(seconds)

    @contextlib.contextmanager
    def trial(self, image: str = "", gpus: str = "") -> Iterator[Api]:
        """The interface for one step of trying something out with a container while somebody waits for what it shows.

        A daemon that is known not to answer refuses at once here, too. Raises `PaddleGpuError`.
        """
        api = self.api
        with self._asking(image, gpus, self.settings.trial_seconds) as seconds:
            yield api.within(seconds)

    def facts(self, *, fresh: bool = False) -> DaemonFacts:
        """What the daemon is. Raises `PaddleGpuError` where none answers."""
        if self._facts is None or fresh:
            with self._question() as api:
                info = api.info()
            self._facts = read_facts(info, podman=self._podman)
        return self._facts

    def local_images(self) -> tuple[LocalImage, ...]:
        """Every tagged image that the daemon has."""
        with self._question() as api:
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

    def containers(self, labels: Collection[str], states: Collection[str]) -> list[dict[str, Any]]:
        """The containers of everybody that have all these labels (`key=value`, or a key) and one of these states."""
        with self._question() as api:
            return api.containers(labels, states)

    def ask_registry(self, reference: str) -> RegistryAnswer:
        """What the registry of a reference says of it, asked through the daemon (its proxy, its mirrors) with the
        credentials of Docker's own configuration. Never raises for what a registry may answer, only for what is no
        image's name."""
        name = parse_reference(reference).canonical
        try:
            told = self.api.distribution(name, credentials_for(reference) or {}, self.settings.registry_timeout)
        except PaddleGpuError as error:
            return RegistryAnswer(state="refused", detail=error.message.render(), reason=error.message)
        except (OSError, ValueError) as error:
            return RegistryAnswer(state="silent", detail=str(error), reason=registry_unreachable(str(error), reference))
        except DaemonError as error:
            reason = classify(error.words, image=reference)
            # Registries that hide what is private answer “denied” for what does not exist, too.
            state = {"image_missing": "missing", "pull_refused": "refused"}.get(reason.code, "silent")
            return RegistryAnswer(state=state, detail=error.words, reason=reason)  # type: ignore[arg-type]
        return RegistryAnswer(state="found", digest=told["Descriptor"]["digest"])

    def find_image(self, name: str) -> dict[str, Any] | None:
        """What the daemon knows of the image of exactly this name; None where it has none.

        It is asked for the whole name, which it can take neither for an id nor for a path to clean, and what it answers
        must carry a name of the same repository. Raises `PaddleGpuError` for what is no name.
        """
        reference = parse_reference(name)
        found = self.inspect_image(reference.canonical)
        return found if found is not None and _carries(found, reference) else None

    def inspect_image(self, reference: str) -> dict[str, Any] | None:
        """What the daemon knows of an image, by its id or a name of our own; None where it does not have it."""
        with self._question(image=reference) as api:
            return api.inspect_image(reference)

    def mode_in_image(self, image: str, path: str) -> int | None:
        """The rights (permission bits) of a file or folder of an image; None where it has none of that name."""
        labels = {LABEL_OWNER: owner(), LABEL_ROLE: "probe"}
        with explained(image=image):
            api = self.api
            made = api.create_container({"Image": image, "Entrypoint": ["-"], "Cmd": [], "Labels": labels})
            try:
                told = api.stat_path(made, path)
            finally:
                api.remove_container(made)
        return int(told["mode"]) & 0o777 if told else None

    def name_image(self, image: str, reference: str) -> None:
        """Give an image a name and tag. What is pulled by its digest has none, and would not be found again by one."""
        name = parse_reference(reference)
        with explained(image=reference):
            self.api.tag(image, f"{name.host}/{name.path}", name.tag)

    def inspect_container(self, name: str) -> dict[str, Any] | None:
        """What the daemon knows of a container; None where there is none of that name or id.

        No quick question: of one that starts it is answered when it has started.
        """
        api = self.api
        with explained():
            return api.inspect_container(name)

    def close(self) -> None:
        """Drop the connection."""
        with self._lock:
            api, self._api = self._api, None
        if api is not None:
            api.close()


def _carries(image: dict[str, Any], reference: Reference) -> bool:
    """Whether one of an image's own names is of the reference's repository."""
    for name in (*(image.get("RepoTags") or ()), *(image.get("RepoDigests") or ())):
        with contextlib.suppress(PaddleGpuError):  # `<none>:<none>`
            known = parse_reference(name)
            if (known.host, known.path) == (reference.host, reference.path):
                return True
    return False


def read_facts(info: dict[str, Any], *, podman: bool) -> DaemonFacts:
    """The facts from the answer of `/info`, which podman's interface for Docker gives, too."""
    options = " ".join(info.get("SecurityOptions") or ())
    return DaemonFacts(
        id=str(info.get("ID") or info.get("Name") or ""),
        podman=podman,
        rootless="rootless" in options,
        user_namespace="name=userns" in options,
        desktop="docker desktop" in str(info.get("OperatingSystem", "")).lower(),
        runtimes=tuple(info.get("Runtimes") or ()),
        cdi=tuple(row["ID"] for row in info.get("DiscoveredDevices") or () if row.get("Source") == "cdi"),
        root=str(info.get("DockerRootDir") or ""),
        processors=int(info.get("NCPU") or 0),
        memory_bytes=int(info.get("MemTotal") or 0),
        limits_memory=bool(info.get("MemoryLimit", True)),
    )
