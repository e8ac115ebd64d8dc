"""What a job's container is made of, gathered when its turn has come: what it may have, its image, its devices."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job
from ..base import Handle, JobFolder
from .connection.daemon import Daemon
from .connection.faults import image_missing, refusal
from .container import compose, mounts
from .devices import DeviceAccess, access, processors_near
from .folders import is_below
from .identity import identity_of
from .images.preparing import notebook_metadata
from .policy import Grant, authorize, check_socket

ROOT_HOME = "/root"


class Composer:
    """Everything is judged once more: between submit and start, folders and settings may have changed.

    Args:
        root: where device nodes and sysfs are looked for (another folder in tests).
    """

    def __init__(self, daemon: Daemon, root: Path) -> None:
        self._daemon = daemon
        self._settings = daemon.settings
        self._root = root
        self._closed_homes: dict[str, bool] = {}  # image id -> whether root's home is root's alone

    def composed(self, job: Job, folder: JobFolder, handle: Handle) -> dict[str, Any]:
        """The configuration of a job's container. Raises `PaddleGpuError`: what is asked for is refused now, or the
        image is gone."""
        grant = authorize(job.spec, self._settings, notebook_metadata(folder))
        check_socket(grant, self._daemon.host)
        facts = self._daemon.facts()
        device_ids = job.device_ids or job.spec.resources.device_ids
        image = self._daemon.inspect_image(handle["image"])
        if image is None:
            raise refusal(image_missing(str(handle.get("reference") or handle["image"])), 404)
        variables = (image.get("Config") or {}).get("Env") or []
        return compose(
            job,
            folder,
            grant,
            access(device_ids, facts, self._settings, root=self._root),
            image=handle["image"],
            image_environment=dict(item.split("=", 1) for item in variables if "=" in item),
            settings=self._settings,
            facts=facts,
            device_ids=device_ids,
            hidden=self._hidden(job, folder, grant, handle["image"]),
            cpuset=processors_near(device_ids, root=self._root) if self._settings.numa and device_ids else "",
        )

    def on_host(self, job: Job, folder: JobFolder, path: str) -> Path | None:
        """Where that lies which the container calls `path`, by its mounts; None: in the container alone, or where a
        link leads out of what is mounted."""
        try:
            grant = authorize(job.spec, self._settings, notebook_metadata(folder))
        except PaddleGpuError:  # what it had then it may not have now
            return None
        inside = os.path.normpath(path)
        mounted = [mount for mount in mounts(folder, grant, DeviceAccess()) if is_below(inside, mount.target)]
        if not mounted:
            return None
        innermost = max(mounted, key=lambda mount: len(mount.target))
        real = os.path.realpath(Path(innermost.source, os.path.relpath(inside, innermost.target)))
        return Path(real) if is_below(real, innermost.source) else None

    def _hidden(self, job: Job, folder: JobFolder, grant: Grant, image: str) -> tuple[str, ...]:
        """Root's home, where the image keeps it to root (most do) and something is mounted below it for a job that is
        not: folders have the host's paths inside."""
        identity = identity_of(self._settings, self._daemon.facts(), Path(grant.folder.source))
        below = any(is_below(path, ROOT_HOME) for path in (grant.folder.target, str(folder.path)))
        if identity.uid == 0 or not below:
            return ()
        if image not in self._closed_homes:
            mode = self._daemon.mode_in_image(image, ROOT_HOME)
            self._closed_homes[image] = mode is not None and not mode & stat.S_IXOTH
        return (ROOT_HOME,) if self._closed_homes[image] else ()
