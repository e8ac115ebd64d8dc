"""From a granted job to the container that runs it: the one place where a container's configuration is written."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from ...domain.jobs.job import Job
from ...domain.notebooks import LAUNCHED
from ...runner.shells.launches import VARIABLE as DEVICES
from .. import own_files
from ..base import RUNNER, JobFolder
from .connection.daemon import DaemonFacts
from .devices import DeviceAccess
from .folders import Mount, is_below
from .identity import identity_of
from .labels import (
    LABEL_DEVICES,
    LABEL_JOB,
    LABEL_OWNER,
    LABEL_ROLE,
    LABEL_SERVER,
    LABEL_SHARES,
    LABEL_STORE,
    owner,
)
from .limits import given_memory, given_processors
from .policy import Grant
from .settings import DockerSettings

RUNNER_TARGET = "/opt/paddle-gpu/runner"
LIBRARY_TARGET = "/opt/paddle-gpu/lib"
CHECKPOINT_FILE = Path(__file__).parents[2] / "checkpoint.py"

FIND_PYTHON = (
    'a=$(command -v python); b=$(command -v python3); [ -n "$a" ] || a=$b; [ -n "$b" ] || b=$a; '
    "[ -n \"$a\" ] || { echo 'paddle-gpu: this image has no Python' >&2; exit 127; }; "
    'if ! [ "$a" -ef "$b" ]; then for p in "$a" "$b"; do '
    'if "$p" -c "import importlib.util as u, sys; sys.exit(u.find_spec(\'paddle\') is None)" 2>/dev/null; '
    'then exec "$p" "$@"; fi; done; fi; exec "$a" "$@"'
)
"""Paddle's images hold several Pythons, one of them with Paddle; its name differs from release to release. Only
where the two names mean different programs is each asked, which takes a start of Python."""


def container_name(job_id: str) -> str:
    """The container of a job. Docker gives a name only once: two servers that start the same job cannot both win."""
    return "paddle-gpu-" + re.sub(r"[^A-Za-z0-9_.-]", "-", job_id)


def store_label(settings: DockerSettings, folder: JobFolder | None = None) -> str:
    """The job store that a container belongs to; empty where only a job's folder could tell."""
    return settings.store or (str(folder.path.parent) if folder else "")


def compose(
    job: Job,
    folder: JobFolder,
    grant: Grant,
    devices: DeviceAccess,
    *,
    image: str,
    image_environment: dict[str, str],
    settings: DockerSettings,
    facts: DaemonFacts,
    device_ids: tuple[str, ...] = (),
    hidden: tuple[str, ...] = (),
    cpuset: str = "",
) -> dict[str, Any]:
    """The body of Docker's create request.

    Args:
        device_ids: which devices these are, as they are claimed.
        image: id or reference to run, exactly.
        image_environment: the variables of the image, of which library paths are taken over and cleaned.
        hidden: folders of the image in whose place an empty one is put, so that the job can reach what is below.
    """
    identity = identity_of(settings, facts, Path(grant.folder.source))
    variables = environment(job, folder, grant, devices, image_environment, uid=identity.host_uid)
    return {
        "Image": image,
        "Entrypoint": command(job, folder, grant, devices),
        "Cmd": [],
        "User": identity.user,
        "WorkingDir": grant.folder.target,
        "Env": [f"{key}={value}" for key, value in variables.items()],
        "Labels": {
            LABEL_OWNER: owner(),
            LABEL_JOB: job.id,
            LABEL_STORE: store_label(settings, folder),
            LABEL_SERVER: settings.server or job.server_id,
            LABEL_ROLE: "job",
            **({LABEL_DEVICES: ",".join(device_ids)} if device_ids else {}),
            **({LABEL_SHARES: ",".join(str(part.bytes) for part in job.shares)} if job.shares else {}),
        },
        "Tty": False,
        "OpenStdin": False,
        "NetworkDisabled": grant.network == "none",
        "StopSignal": "SIGTERM",
        "HostConfig": {
            **_host_config(job, grant, devices, settings=settings, facts=facts, cpuset=cpuset),
            **_places(mounts(folder, grant, devices), settings, hidden),
            # Who is somebody of the host has to be that one on the host's files, too.
            "UsernsMode": "host" if facts.user_namespace and not identity.in_namespace else "",
        },
    }


def command(job: Job, folder: JobFolder, grant: Grant, devices: DeviceAccess) -> list[str]:
    """What runs inside: the runner, through `paddle.distributed.launch` where several processes train together."""
    runner = [RUNNER_TARGET, str(folder.spec)]
    on_cpu = not devices.count and job.spec.processes > 1
    if on_cpu or (devices.count > 1 and grant.distribution in LAUNCHED):
        launch = [
            "-m", "paddle.distributed.launch",
            f"--nproc_per_node={job.spec.processes}" if on_cpu else f"--devices={','.join(devices.labels)}",
            f"--log_dir={folder.path / 'ranks'}",
            f"--job_id={job.id}",
        ]  # fmt: skip
        # The launcher runs what does not end in .py as a program.
        runner = [*launch, f"{RUNNER_TARGET}/__main__.py", *runner[1:]]
    if grant.python:
        return [grant.python, *runner]
    return ["/bin/sh", "-c", FIND_PYTHON, "sh", *runner]


def environment(
    job: Job,
    folder: JobFolder,
    grant: Grant,
    devices: DeviceAccess,
    image_environment: dict[str, str],
    *,
    uid: int,
) -> dict[str, str]:
    """The container's variables; ours last, so that none of the person's replaces them."""
    ours = {
        "HOME": "/tmp",
        "USER": _user_name(uid),
        "LOGNAME": _user_name(uid),
        "LANG": image_environment.get("LANG", "C.UTF-8"),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": _joined(LIBRARY_TARGET, image_environment.get("PYTHONPATH", "")),
        "PADDLE_GPU_JOB_ID": job.id,
        "PADDLE_GPU_CHECKPOINTS": str(checkpoints_of(folder)),
        **({DEVICES: ",".join(devices.labels)} if devices.count > 1 else {}),
        **devices.environment,
    }
    libraries = image_environment.get("LD_LIBRARY_PATH")
    if libraries is not None:
        ours["LD_LIBRARY_PATH"] = without_compat(libraries)
    return {**grant.environment, **ours}


def without_compat(paths: str) -> str:
    """LD_LIBRARY_PATH less every `…/compat` folder.

    Images bring an old libcuda there for hosts with still older drivers; on newer hosts it hides the driver's own and
    cuInit fails.
    """
    return ":".join(path for path in paths.split(":") if path and "compat" not in Path(path).parts)


def _joined(*parts: str) -> str:
    return ":".join(part for part in parts if part)


def _user_name(uid: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):  # on Windows; a user id without a name, as OpenShift gives
        return "jovyan"


def checkpoints_of(folder: JobFolder) -> Path:
    """Where checkpoints go: as `spec.json` says (a re-run keeps the first job's), else in the job's folder."""
    try:
        named = json.loads(own_files.read(folder.spec)).get("checkpoints")
    except (OSError, ValueError):
        named = None
    return Path(named) if named else folder.checkpoints


def mounts(folder: JobFolder, grant: Grant, devices: DeviceAccess) -> list[Mount]:
    """Everything of the host that the container sees: outer folders before those inside them."""
    job_folder = str(folder.path)
    own = [Mount(os.path.realpath(job_folder), job_folder, True)]
    checkpoints = str(checkpoints_of(folder))
    store = os.path.realpath(folder.path.parent)
    # Another job's checkpoints, of the same store: no other path may be named in spec.json.
    if not is_below(os.path.realpath(checkpoints), own[0].source) and is_below(os.path.realpath(checkpoints), store):
        own.append(Mount(os.path.realpath(checkpoints), checkpoints, True))
    fixed = [Mount(str(RUNNER), RUNNER_TARGET)]
    if CHECKPOINT_FILE.exists():
        fixed.append(Mount(str(CHECKPOINT_FILE), f"{LIBRARY_TARGET}/jupyter_paddle_gpu/checkpoint.py"))
    wanted = [grant.folder, *grant.data, *own, *fixed, *devices.mounts]
    by_target = {mount.target: mount for mount in wanted}
    return [by_target[target] for target in sorted(by_target)]


def _places(mounted: list[Mount], settings: DockerSettings, hidden: tuple[str, ...]) -> dict[str, Any]:
    """What of the host and of memory is where.

    Docker's interface has no `nosuid,nodev` for folders of the host. No new privileges, no capabilities and the list of
    devices come to the same.
    """
    options = f"rw,exec,nosuid,nodev,mode=1777,size={settings.tmp_bytes}"
    return {
        "Mounts": [
            {
                "Type": "bind",
                "Source": mount.source,
                "Target": mount.target,
                "ReadOnly": not mount.writable,
                "BindOptions": {"Propagation": "rprivate"},
            }
            for mount in mounted
        ]
        # Not in memory: that would take on the rights of what it hides. It goes with the container.
        + [{"Type": "volume", "Target": path, "VolumeOptions": {"NoCopy": True}} for path in hidden],
        "Tmpfs": {"/tmp": options, "/var/tmp": options, "/run": "rw,noexec,nosuid,nodev,mode=1777,size=64m"},
    }


def _host_config(
    job: Job, grant: Grant, devices: DeviceAccess, *, settings: DockerSettings, facts: DaemonFacts, cpuset: str
) -> dict[str, Any]:
    memory = given_memory(job.spec, settings, facts)
    return {
        "ReadonlyRootfs": settings.read_only_root,
        "ShmSize": job.spec.resources.shm_bytes or settings.shm_bytes,
        "Memory": memory,
        # Memory and swap together as much as memory: a training that swaps is worse than one that ends with a reason.
        "MemorySwap": memory,
        "NanoCpus": int(given_processors(job.spec, settings) * 1e9),
        "CpusetCpus": cpuset,
        "PidsLimit": settings.pids,
        "Init": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "Privileged": False,
        "NetworkMode": grant.network,
        "GroupAdd": list(devices.groups),
        "Devices": [{"PathOnHost": node, "PathInContainer": node, "CgroupPermissions": "rw"} for node in devices.nodes],
        "DeviceRequests": list(devices.requests),
        "LogConfig": {
            "Type": "json-file",
            "Config": {"max-size": str(max(settings.log_bytes // 2, 4096)), "max-file": "2"},
        },
        "AutoRemove": False,
        "IpcMode": "private",
    }
