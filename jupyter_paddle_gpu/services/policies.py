"""The policy file: what a place settles for matching, engines and images, read once and checked as a whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..domain.errors import PaddleGpuError
from ..engines.engine_type import EngineType
from ..images.choice import ImagePolicy
from ..matching.policy import Policy

FILE = "policy.json"
"""Its name in the data folder, where no other is named."""

_AT = re.compile(r" - at `\$\.?([^`]*)`")

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """All that a policy file can say.

    Attributes:
        engine: where jobs run that name no engine; empty: the embedded one.
        matching: how a device is chosen.
        images: registries in their order, allowed and preferred images.
        engines: by name the settings of each engine that has a section; the others have their defaults.
    """

    engine: str = ""
    matching: Policy = Policy()
    images: ImagePolicy = ImagePolicy()
    engines: dict[str, Any] = {}

    def of_engine(self, kind: EngineType[S]) -> S:
        """The settings of an engine."""
        found: S = self.engines.get(kind.name) or kind.settings()
        return found

    def chosen_images(self) -> tuple[str, ...]:
        """Patterns of what `images` may choose: an own mirror, a team's image."""
        own = (*self.images.allowed, self.images.preferred, *(name for name in self.images.registries if "/" in name))
        return tuple(name for name in own if name)


def load_policies(file: Path | None, data_folder: Path, types: Mapping[str, EngineType[Any]]) -> Policies:
    """What the file says, or where none is named the one in the data folder; without that the defaults.

    Each engine has a section of its name, with the fields of its settings.

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
    return _checked(raw, path, types)


def _checked(raw: Any, path: Path, types: Mapping[str, EngineType[Any]]) -> Policies:
    own = tuple(name for name in Policies.__struct_fields__ if name != "engines")
    sections = _section(raw, path, "", (*own, *types))
    matching = _convert(_section(sections.get("matching", {}), path, "matching", Policy), path, "matching", Policy)
    images = _convert(_section(sections.get("images", {}), path, "images", ImagePolicy), path, "images", ImagePolicy)
    engine = sections.get("engine", "")
    if engine not in ("", *types):
        raise _wrong(path, "engine", f"“{engine}” is none of {', '.join(types)}")
    engines = {name: _engine(sections[name], path, kind) for name, kind in types.items() if name in sections}
    return Policies(engine=engine, matching=matching, images=images, engines=engines)


def _engine(raw: Any, path: Path, kind: EngineType[S]) -> S:
    wanted = _section(raw, path, kind.name, kind.settings, less=kind.given)
    settings = _convert(wanted, path, kind.name, kind.settings)
    for field, why in kind.wrong(settings):
        raise _wrong(path, f"{kind.name}.{field}", why)
    return settings


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
