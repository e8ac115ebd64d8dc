"""The policy file: what a place settles for matching, engines and images, read once and checked as a whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..domain.errors import PaddleGpuError
from ..engines.docker.settings import DockerSettings
from ..images.choice import ImagePolicy
from ..matching.policy import Policy

FILE = "policy.json"
"""Its name in the data folder, where no other is named."""

_OURS = frozenset({"store", "server"})
"""Fields of `DockerSettings` that follow from where we run; a file cannot give them."""
_FOLDERS = ("roots", "data_folders", "writable_data_folders")
_ENGINES = ("local", "docker")
_AT = re.compile(r" - at `\$\.?([^`]*)`")

T = TypeVar("T")


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """All that a policy file can say.

    Attributes:
        engine: where jobs run that name no engine; empty: the embedded one.
        matching: how a device is chosen.
        docker: folders, networks, images and limits of the Docker engine.
        images: registries in their order, allowed and preferred images.
    """

    engine: str = ""
    matching: Policy = Policy()
    docker: DockerSettings = DockerSettings()
    images: ImagePolicy = ImagePolicy()


def load_policies(file: Path | None, data_folder: Path) -> Policies:
    """What the file says, or where none is named the one in the data folder; without that the defaults.

    Raises:
        PaddleGpuError: `policy_unreadable`, `policy_wrong` (503), with the file and the field.
    """
    path = file or data_folder / FILE
    try:
        raw = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError as error:
        if file is None:
            return Policies()
        raise _unreadable(path, "there is no such file") from error
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except msgspec.DecodeError as error:
        raise _unreadable(path, str(error)) from error
    return _checked(raw, path)


def _checked(raw: Any, path: Path) -> Policies:
    known = Policies.__struct_fields__
    sections = _section(raw, path, "", known)
    matching = _convert(_section(sections.get("matching", {}), path, "matching", Policy), path, "matching", Policy)
    images = _convert(_section(sections.get("images", {}), path, "images", ImagePolicy), path, "images", ImagePolicy)
    wanted = _section(sections.get("docker", {}), path, "docker", DockerSettings, less=_OURS)
    docker = _docker(_convert(wanted, path, "docker", DockerSettings), path)
    engine = sections.get("engine", "")
    if engine not in ("", *_ENGINES):
        raise _wrong(path, "engine", f"“{engine}” is none of {', '.join(_ENGINES)}")
    # What the catalogue may choose from the engine must accept: an own mirror, a team's image.
    own = (*images.allowed, images.preferred, *(name for name in images.registries if "/" in name))
    allowed = (*docker.allowed_images, *(name for name in own if name))
    docker = msgspec.structs.replace(docker, allowed_images=allowed)
    return Policies(engine=engine, matching=matching, docker=docker, images=images)


def _section(raw: Any, path: Path, name: str, known: Any, less: frozenset[str] = frozenset()) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise _wrong(path, name or "$", "it must be an object {…}")
    fields = set(known if isinstance(known, tuple) else known.__struct_fields__) - less
    for field in raw:
        if field not in fields:
            known_fields = ", ".join(sorted(fields))
            raise _wrong(path, f"{name}.{field}".lstrip("."), f"there is no such field; there are {known_fields}")
    return raw


def _convert(raw: dict[str, Any], path: Path, name: str, kind: type[T]) -> T:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        at = _AT.search(str(error))
        field = f"{name}.{at[1]}" if at else name
        raise _wrong(path, field, _AT.sub("", str(error))) from error


def _docker(settings: DockerSettings, path: Path) -> DockerSettings:
    for field in _FOLDERS:
        for folder in getattr(settings, field):
            if not folder.startswith("/") or ".." in Path(folder).parts:
                raise _wrong(path, f"docker.{field}", f"“{folder}” is no absolute path without “..”")
    if not settings.networks:
        raise _wrong(path, "docker.networks", "it must name at least one network")
    if not settings.user == "" and not re.fullmatch(r"\d+(:\d+)?", settings.user):
        raise _wrong(path, "docker.user", "it must be uid:gid in numbers")
    for field in DockerSettings.__struct_fields__:
        value = getattr(settings, field)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            raise _wrong(path, f"docker.{field}", "it must not be negative")
    if settings.memory_headroom < 1:
        raise _wrong(path, "docker.memory_headroom", "less than 1 would end jobs that take what was estimated")
    return settings


def _unreadable(path: Path, why: str) -> PaddleGpuError:
    return PaddleGpuError(
        "policy_unreadable",
        "The policy file {file} cannot be read: {why}.",
        hint="It holds JSON; docs/configuration.md shows one.",
        status=503,
        file=str(path),
        why=why,
    )


def _wrong(path: Path, field: str, why: str) -> PaddleGpuError:
    return PaddleGpuError(
        "policy_wrong",
        "The policy file {file} has a wrong “{field}”: {why}.",
        hint="docs/configuration.md lists the fields; nothing of the file is used until it is mended.",
        status=503,
        file=str(path),
        field=field,
        why=why,
    )
