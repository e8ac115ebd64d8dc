"""The policy files: what a place settles for matching, engines, images and jobs, read once and checked as a whole.

The system's file comes first; what it fixes another one can only tighten (`precedence`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ...domain.containers.references import parse_pattern, parse_reference
from ...domain.errors import PaddleGpuError
from ...engines.engine_type import EngineType
from ...images.catalogue import load_catalogue
from ...images.choice import ImagePolicy
from ...jobs.settings import JobPolicy
from ...matching.policy import Policy
from .precedence import tightened

FILE = "policy.json"
"""Its name in the data folder, where no other is named."""

_GIVEN = frozenset({"policy_file"})
"""Fields of `ImagePolicy` that a file cannot give."""
_AT = re.compile(r" - at `\$\.?([^`]*)`")

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")


_SECTIONS = ("engine", "matching", "images", "jobs")
"""What stands in a file beside a section for each engine."""


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """All that a policy file can say.

    Attributes:
        engine: where jobs run that name no engine; empty: the embedded one.
        matching: how a device is chosen.
        images: registries in their order, allowed and preferred images.
        engines: by name the settings of each engine that has a section; the others have their defaults.
        jobs: how many run at once.
        policy_file: where this is settled, for the sentences that say so.
        own_file: what a person's file said beside the system's; empty where there was none.
        overruled: fields of that file that would have loosened what the system's fixes, and do not count.
    """

    engine: str = ""
    matching: Policy = Policy()
    images: ImagePolicy = ImagePolicy()
    engines: dict[str, Any] = {}
    jobs: JobPolicy = JobPolicy()
    policy_file: str = FILE
    own_file: str = ""
    overruled: tuple[str, ...] = ()

    def of_engine(self, kind: EngineType[S]) -> S:
        """The settings of an engine."""
        found: S = self.engines.get(kind.name) or kind.settings()
        return found


Types = Mapping[str, EngineType[Any]]


def load_policies(file: Path | None, data_folder: Path, types: Types, system: Path | None = None) -> Policies:
    """What the system's file says and, within that, the named one, or where none is named the one in the data folder.

    Without any of them the defaults.

    Each engine has a section of its name, with the fields of its settings.

    Raises:
        PaddleGpuError: `policy_unreadable`, `policy_wrong`, `policy_renamed` (503), with the file and the field.
    """
    own = file or data_folder / FILE
    fixed = None if system is None else _read(system, types)
    said = None if own == system else _read(own, types, needed=file is not None)
    if system is None or fixed is None:
        # Where no file is, an administrator would write the one that holds for everybody.
        named = own if system is None or said is not None else system
        return _named(_checked(said or {}, own, types), named)
    first = _named(_checked(fixed, system, types), system)
    if said is None:
        return first
    _checked(said, own, types)
    held, overruled = tightened(fixed, said, types)
    both = _checked(held, own, types)
    engines = {
        name: types[name].within(settings, first.engines[name], frozenset(fixed[name])) if name in fixed else settings
        for name, settings in both.engines.items()
    }
    return _named(msgspec.structs.replace(both, engines=engines, own_file=str(own), overruled=overruled), system)


def _named(policies: Policies, file: Path) -> Policies:
    """With the file that an administrator would change."""
    images = msgspec.structs.replace(policies.images, policy_file=str(file))
    return msgspec.structs.replace(policies, images=images, policy_file=str(file))


def _read(path: Path, types: Types, *, needed: bool = False) -> dict[str, Any] | None:
    """The file's object; None where it is not there and needs not be."""
    try:
        raw = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError as error:
        if not needed:
            return None
        raise _unreadable(path, "there is no such file") from error
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except msgspec.DecodeError as error:
        raise _unreadable(path, str(error)) from error
    return _section(raw, path, "", (*_SECTIONS, *types))


def _checked(sections: dict[str, Any], path: Path, types: Types) -> Policies:
    matching = _convert(_section(sections.get("matching", {}), path, "matching", Policy), path, "matching", Policy)
    images = _section(sections.get("images", {}), path, "images", ImagePolicy, less=_GIVEN)
    jobs = _convert(_section(sections.get("jobs", {}), path, "jobs", JobPolicy), path, "jobs", JobPolicy)
    known = f"is none of {', '.join(types)}"
    for name in jobs.cpu_slots:
        if name not in types:
            raise _wrong(path, "jobs.cpu_slots", f"“{name}” {known}")
    engine = sections.get("engine", "")
    if engine not in ("", *types):
        raise _wrong(path, "engine", f"“{engine}” {known}")
    return Policies(
        engine=engine,
        matching=matching,
        images=_images(_convert(images, path, "images", ImagePolicy), path),
        engines={name: _engine(sections[name], path, kind) for name, kind in types.items() if name in sections},
        jobs=jobs,
    )


def _engine(raw: Any, path: Path, kind: EngineType[S]) -> S:
    if isinstance(raw, dict):
        for field, now in kind.renamed.items():
            if field in raw:
                raise _renamed(path, f"{kind.name}.{field}", now)
    wanted = _section(raw, path, kind.name, kind.settings, less=kind.given)
    settings = _convert(wanted, path, kind.name, kind.settings)
    for field, why in kind.wrong(settings):
        raise _wrong(path, f"{kind.name}.{field}", why)
    return settings


def _images(policy: ImagePolicy, path: Path) -> ImagePolicy:
    known = {registry.name for registry in load_catalogue().registries}
    mirrors = tuple(name for name in policy.registries if name not in known)
    for field, read, names in (
        ("allowed", parse_pattern, policy.allowed),
        ("preferred", parse_reference, (policy.preferred,) if policy.preferred else ()),
        ("registries", parse_pattern, mirrors),
    ):
        for name in names:
            _check_name(read, name, f"images.{field}", path)
    for name in mirrors:
        if "/" not in name or any(c in name for c in "*@"):
            why = f"“{name}” is none of {', '.join(sorted(known))} and no repository of a mirror"
            raise _wrong(path, "images.registries", why)
    return policy


def _check_name(read: Callable[[str], object], name: str, field: str, path: Path) -> None:
    try:
        read(name)
    except PaddleGpuError as error:
        raise _wrong(path, field, str(error)) from error


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


def _renamed(path: Path, field: str, now: str) -> PaddleGpuError:
    return PaddleGpuError(
        "policy_renamed",
        "The policy file {file} has “{field}”, which is called “{now}” now.",
        hint="Move its entries to “{now}”; nothing of the file is used until then.",
        status=503,
        file=str(path),
        field=field,
        now=now,
    )
