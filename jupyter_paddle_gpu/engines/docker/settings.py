"""What an administrator settles for the Docker engine. Every delay, limit and permission of it has its name here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ...domain.strictness import Tighten, both, either, folders, least, most, roots, some


class Folders(msgspec.Struct, frozen=True, kw_only=True):
    """Folders that an earlier policy file fixes: what a later one names must lie below them, links followed.

    None: it says nothing of them; no `roots`: anywhere.
    """

    roots: tuple[str, ...] = ()
    data: tuple[str, ...] | None = None
    writable: tuple[str, ...] | None = None


class DockerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the Docker engine.

    Attributes:
        host: the daemon (`unix:///run/docker.sock`); empty takes `DOCKER_HOST`, then Docker's current context.
        store: names the job store this engine works for, so that two stores of one user leave each other's containers
            alone; the jobs' common folder is a good one. Empty: the folder around each job's folder.
        server: names this process in the containers' labels, for people who look with `docker ps`.
        policy_file: where the administrator settles what is refused here, for the sentences that say so.
        allowed_images: patterns (`registry.example/team/*`) besides Paddle's own: what the policy file's section
            `images` allows, prefers or has as a mirror.
        roots: folders below which notebooks must lie; empty: anywhere but the system's own folders.
        data_folders: folders that a job may mount (`data` option, or all with `mount_data`); read-only unless they are
            in `writable_data_folders`.
        mount_data: mount every data folder into every job without being asked.
        fixed: folders beyond which the three before cannot lead.
        networks: networks a job may ask for, the default first.
        user: `uid:gid` to run as; empty: the caller's, or where the caller is root the owner of the notebook's folder;
            where that is root, too, a user id that nobody has (`identity.JOB_ID`), to which the folder is opened.
        read_only_root: the image's own files cannot be changed; /tmp, /var/tmp and /run are memory.
        tmp_bytes: size of /tmp (memory of the job, as far as it is used).
        shm_bytes: /dev/shm where the job does not say; more where the estimate saw DataLoader workers that need it.
        memory_bytes: host memory that a job may have at most, and has where it does not say; None: `memory_share`.
        memory_share: part of the host's memory that a job may have where nothing else is said: when it wants more the
            kernel ends the training and not the services of the host.
        cpus: processors that a job may have at most, and has where it does not say; None: all.
        limits_from_estimate: a job that was estimated and does not ask for memory or processors itself gets what the
            estimate says it needs, with the headroom that follows, instead of the most that a job may have.
        memory_headroom: the memory limit is so many times what the estimate gives for the host: it knows the data that
            is loaded and the first steps, not what later cells take.
        memory_floor: no limit from an estimate is lower, for each process that trains.
        cpus_per_device: processors for each device beside those of the DataLoader's workers; never less than the
            device's equal share of the machine.
        pids: processes and threads of one job.
        numa: keep a job on the processors next to its device.
        gpu_access: `runtime` (NVIDIA's hook or runtime), `cdi`, or `auto`: CDI only where the daemon has nothing else.
        layers: build an image from requirements.txt, environment cell or Dockerfile beside the notebook.
        dockerfile: of these, also accept a Dockerfile (its RUN lines run as root in the build container).
        build_network: network of a build (`none` forbids downloads; `host` where a bridge has no way out).
        pip_index: package index for builds (a mirror); empty: pip's own.
        context_bytes: largest build context.
        progress_seconds: how often a pull or build says how far it is.
        request_seconds: how long the daemon may take for work that needs no transfer (create, start, stop, remove), and
            for a question on behalf of a job that is being prepared.
        answer_seconds: how long it may take for a question that somebody waits for and that it answers from what it
            knows (version, info, images); a daemon on a slow or busy disk may need more.
        trial_seconds: how long each step of trying out a container may take (create, start, end) while somebody waits
            for a submit; a card that was asleep takes some of it to wake up.
        silence_seconds: how long a daemon that did not answer is taken for silent without asking again.
        registry_timeout: how long a registry may take to say whether it has an image.
        registry_seconds: how long a registry that did not answer is taken for silent without asking again.
        probe_seconds: how long the answer to “does this daemon hand out GPUs?” holds.
        log_bytes: what the daemon keeps of a container's own output (the job's log is not in it).
        disk_bytes: free space that must be left before an image is pulled or a job starts.
    """

    host: str = ""
    store: str = ""
    server: str = ""
    policy_file: str = "paddle-gpu.yaml"
    allowed_images: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    data_folders: tuple[str, ...] = ()
    writable_data_folders: tuple[str, ...] = ()
    fixed: Folders = Folders()
    mount_data: bool = True
    networks: tuple[str, ...] = ("bridge", "none")
    user: str = ""
    read_only_root: bool = True
    tmp_bytes: int = 8 << 30
    shm_bytes: int = 8 << 30
    memory_bytes: int | None = None
    memory_share: float = 0.95
    cpus: float | None = None
    limits_from_estimate: bool = True
    memory_headroom: float = 2.0
    memory_floor: int = 4 << 30
    cpus_per_device: float = 4.0
    pids: int = 8192
    numa: bool = True
    gpu_access: Literal["auto", "runtime", "cdi"] = "auto"
    layers: bool = True
    dockerfile: bool = True
    build_network: str = ""
    pip_index: str = ""
    context_bytes: int = 256 << 20
    progress_seconds: float = 2.0
    request_seconds: float = 60.0
    answer_seconds: float = 5.0
    trial_seconds: float = 20.0
    silence_seconds: float = 10.0
    registry_timeout: float = 20.0
    registry_seconds: float = 60.0
    probe_seconds: float = 600.0
    log_bytes: int = 16 << 20
    disk_bytes: int = 512 << 20


_FOLDERS = ("roots", "data_folders", "writable_data_folders")


def wrong_fields(settings: DockerSettings) -> Iterator[tuple[str, str]]:
    """What the fields' types cannot say: `(field, why)` for each value that cannot be."""
    for field in _FOLDERS:
        for folder in getattr(settings, field):
            if not folder.startswith("/") or ".." in Path(folder).parts:
                yield field, f"“{folder}” is no absolute path without “..”"
    if not settings.networks:
        yield "networks", "it must name at least one network"
    if settings.user and not re.fullmatch(r"\d+(:\d+)?", settings.user):
        yield "user", "it must be uid:gid in numbers"
    for field in DockerSettings.__struct_fields__:
        value = getattr(settings, field)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            yield field, "it must not be negative"
    if settings.memory_headroom < 1:
        yield "memory_headroom", "less than 1 would end jobs that take what was estimated"


TIGHTER: Mapping[str, Tighten] = {
    "roots": roots,
    "data_folders": folders,
    "writable_data_folders": folders,
    "networks": some,
    "mount_data": both,
    "layers": both,
    "dockerfile": both,
    "read_only_root": either,
    "tmp_bytes": least,
    "shm_bytes": least,
    "memory_bytes": least,
    "memory_share": least,
    "cpus": least,
    "pids": least,
    "context_bytes": least,
    "log_bytes": least,
    "disk_bytes": most,
}
"""How a later policy file can only tighten what the system's fixes."""


def within(settings: DockerSettings, fixed: DockerSettings, named: frozenset[str]) -> DockerSettings:
    """The settings with the folders that the system's file fixes beside them: links make no way around these."""
    data = bool({"data_folders", "writable_data_folders"} & named)
    return msgspec.structs.replace(
        settings,
        fixed=Folders(
            roots=fixed.roots,
            data=fixed.data_folders if "data_folders" in named else None,
            writable=fixed.writable_data_folders if data else None,
        ),
    )
