"""Which folders of the host a container may have: resolved first, then compared with what the settings allow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from ...domain.errors import PaddleGpuError
from .settings import DockerSettings

SYSTEM_FOLDERS = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr",
    "/var/lib", "/var/log", "/var/run", "/var/spool",
)  # fmt: skip
"""Neither these nor anything below them is mounted for a job."""
WHOLE_FOLDERS = ("/", "/home", "/root", "/mnt", "/media", "/opt", "/srv", "/tmp", "/var", "/Users", "/Volumes")
"""These are not mounted whole; folders below them may be."""


class Mount(msgspec.Struct, frozen=True):
    """One folder or file of the host in the container; `source` has no symbolic links left."""

    source: str
    target: str
    writable: bool = False


def resolve_folder(text: str) -> tuple[str, str]:
    """(path as written, path without symbolic links) of a folder; refuses `..`, relative and missing ones."""
    parts = Path(text).parts
    if not text.startswith("/") or ".." in parts or "\0" in text:
        raise PaddleGpuError(
            "path_refused",
            "The folder {path} is not written as an absolute path without “..”.",
            path=text[:300],
        )
    written = os.path.normpath(text)
    real = os.path.realpath(written)
    if not Path(real).is_dir():
        raise PaddleGpuError("folder_missing", "The folder does not exist: {path}", status=404, path=written)
    return written, real


def is_below(path: str, folder: str) -> bool:
    """Is `path` the folder or below it? Both without symbolic links."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _refuse_system(written: str, real: str) -> None:
    if real in WHOLE_FOLDERS or any(is_below(real, folder) for folder in SYSTEM_FOLDERS):
        raise PaddleGpuError(
            "path_of_system",
            "{path} is (or leads to) {real}, which is not given to a container.",
            hint="Put the notebook and its data into a folder of their own.",
            status=403,
            path=written,
            real=real,
        )


def own(text: str, settings: DockerSettings) -> Mount:
    """A job's own folder. Raises `PaddleGpuError`: it is the system's, or outside the settings' roots."""
    written, real = resolve_folder(text)
    _refuse_system(written, real)
    for roots in filter(None, (_real(settings.roots), _real(settings.fixed.roots))):
        if any(is_below(real, root) for root in roots):
            continue
        raise PaddleGpuError(
            "path_outside",
            "{path} leads to {real}, outside the folders that jobs may use.",
            hint="Move the notebook below {roots}, or ask the administrator to add its folder to “docker.roots” in "
            "{file}.",
            status=403,
            file=settings.policy_file,
            path=written,
            real=real,
            roots=", ".join(roots),
        )
    return Mount(source=real, target=written, writable=True)


def data(wanted: Any, settings: DockerSettings) -> tuple[Mount, ...]:
    """The data folders that a job asks for (None: those that every job gets). Raises `PaddleGpuError`: not allowed."""
    if wanted is None:
        wanted = settings.data_folders if settings.mount_data else ()
    if not isinstance(wanted, (list, tuple)) or not all(isinstance(path, str) for path in wanted):
        raise PaddleGpuError("option_value", "The option “{option}” has a value it cannot have.", option="data")
    granted = [settings.data_folders, settings.fixed.data]
    writable = [settings.writable_data_folders, settings.fixed.writable]
    mounts = []
    for text in wanted:
        written, real = resolve_folder(text)
        if not _is_below_each(real, granted):
            raise PaddleGpuError(
                "data_not_allowed",
                "{path} is not among the data folders that jobs may use.",
                hint="Ask the administrator to add it to “docker.data_folders” in {file}.",
                status=403,
                file=settings.policy_file,
                path=written,
            )
        mounts.append(Mount(real, written, _is_below_each(real, writable)))
    return tuple(mounts)


def _real(folders: tuple[str, ...]) -> list[str]:
    return [os.path.realpath(folder) for folder in folders]


def _is_below_each(real: str, lists: list[tuple[str, ...] | None]) -> bool:
    """Whether the path is below a folder of every list; of one that is None nothing is asked."""
    return all(folders is None or any(is_below(real, folder) for folder in _real(folders)) for folders in lists)
