"""The policy files: what a place settles for matching, engines, images and jobs, read once and checked as a whole.

The system's file comes first; what it fixes another one can only tighten (`precedence`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from ...domain.containers.references import parse_pattern, parse_reference
from ...domain.decoding import convert
from ...domain.errors import PaddleGpuError
from ...engines.engine_type import EngineType
from ...images.catalogue import load_catalogue
from ...images.choice import ImagePolicy
from ...jobs.settings import JobPolicy, SchedulerPolicy
from ...matching.policy import Policy
from ...notices import settings as notice_settings
from ...notices.settings import NoticePolicy
from ..settings import POLICY_FILE, policy_in
from .precedence import tightened
from .reading import PolicyFile, read, wrong

OF_THE_MARKET = frozenset({"market", "market_date", "experience"})
"""Fields of `Policy` that a file cannot give."""
_GIVEN = frozenset({"policy_file"})
"""Fields of `ImagePolicy` that a file cannot give."""
_AT = re.compile(r" - at `\$\.?([^`]*)`")

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")


_SECTIONS = ("engine", "task", "matching", "scheduler", "images", "jobs", "notices")
"""What stands in a file beside a section for each engine."""
_BESIDE = ("task", "matching", "scheduler")
"""What a file beside a notebook can say; the rest is for whoever owns the machine or the account."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of the training beside it. What the notebook itself says comes first.

    Attributes:
        model_name, sequence_length: for people; the notebook is what is read.
        batch_size_per_gpu: the batch of each device where nobody asks for another.
        num_gpus_estimate: how many devices; `auto`: as the notebook or the person says.
    """

    type: Literal["training"] = "training"
    framework: Literal["paddlepaddle", "paddle"] = "paddlepaddle"
    model_name: str = ""
    sequence_length: Annotated[int, msgspec.Meta(ge=1)] | None = None
    batch_size_per_gpu: Annotated[int, msgspec.Meta(ge=1)] | None = None
    num_gpus_estimate: Annotated[int, msgspec.Meta(ge=0)] | Literal["auto"] = "auto"


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """All that a policy file can say.

    Attributes:
        engine: where jobs run that name no engine; empty: the embedded one.
        task: of the training beside the file.
        matching: how a device is chosen.
        scheduler: in which order jobs run.
        common: the same by the system's file alone: what all users of a machine must agree on.
        images: registries in their order, allowed and preferred images.
        engines: by name the settings of each engine that has a section; the others have their defaults.
        jobs: how many run at once.
        notices: who is told of jobs that have ended, and how.
        policy_file: where this is settled, for the sentences that say so.
        own_file: what a person's file said beside the system's; empty where there was none.
        overruled: fields of that file, or of the one beside the notebook, that would have loosened what an earlier file
            fixes, and do not count.
        beside_file: the file beside the notebook; empty where there was none.
    """

    engine: str = ""
    task: Task = Task()
    matching: Policy = Policy()
    scheduler: SchedulerPolicy = SchedulerPolicy()
    common: SchedulerPolicy = SchedulerPolicy()
    images: ImagePolicy = ImagePolicy()
    engines: dict[str, Any] = {}
    jobs: JobPolicy = JobPolicy()
    notices: NoticePolicy = NoticePolicy()
    policy_file: str = POLICY_FILE
    own_file: str = ""
    overruled: tuple[str, ...] = ()
    beside_file: str = ""

    def of_engine(self, kind: EngineType[S]) -> S:
        """The settings of an engine."""
        found: S = self.engines.get(kind.name) or kind.settings()
        return found


Types = Mapping[str, EngineType[Any]]


def load_policies(
    file: Path | None, data_folder: Path, types: Types, system: Path | None = None, beside: Path | None = None
) -> Policies:
    """What the system's file says and, within that, the named one, or where none is named the one in the data folder,
    and within both the one in a notebook's own folder.

    Without any of them the defaults.

    Each engine has a section of its name, with the fields of its settings.

    Args:
        beside: the file beside the notebook.

    Raises:
        PaddleGpuError: `policy_unreadable`, `policy_wrong`, `policy_renamed` (503), with the file, the place and the
            field.
    """
    own = file or policy_in(data_folder)
    fixed = None if system is None else _read(system, types)
    said = None if own == system else _read(own, types, needed=file is not None)
    first = None if system is None or fixed is None else _named(_checked(fixed, types), system)
    if first is None or system is None or fixed is None:
        # Where no file is, an administrator would write the one that holds for everybody.
        named = own if system is None or said is not None else system
        held = said or PolicyFile(own, {})
        found = _named(_checked(held, types), named)
    elif said is None:
        held, found = fixed, first
    else:
        _checked(said, types)
        sections, overruled = tightened(fixed.sections, said.sections, types)
        held = PolicyFile(own, sections, said.places, said.said)
        both = _checked(held, types)
        engines = {
            name: types[name].within(settings, first.engines[name], frozenset(fixed.sections[name]))
            if name in fixed.sections
            else settings
            for name, settings in both.engines.items()
        }
        both = msgspec.structs.replace(both, engines=engines, own_file=str(own), overruled=overruled)
        found = _named(both, system)
    found = found if first is None else msgspec.structs.replace(found, common=first.scheduler)
    here = None if beside is None else _read(beside, types, beside=True)
    return found if here is None else _beside(found, held, here, types)


def shown_policies(types: Types, system: Path | None) -> Policies:
    """What is looked at by while a file is wrong: what the system's file says, where that is whole, else the defaults.

    Nothing may be started by it.
    """
    try:
        fixed = None if system is None else _read(system, types)
        return _checked(fixed or PolicyFile(Path(), {}), types)
    except PaddleGpuError:
        return _checked(PolicyFile(Path(), {}), types)


def find_beside(folder: Path) -> Path:
    """The file in a notebook's folder, which never had the old name."""
    return folder / POLICY_FILE


def _beside(found: Policies, held: PolicyFile, here: PolicyFile, types: Types) -> Policies:
    """Within what holds already, what the file beside a notebook says."""
    _checked(here, types)
    own = {name: held.sections[name] for name in _BESIDE if name in held.sections}
    sections, overruled = tightened(own, here.sections, types)
    both = _checked(PolicyFile(here.path, sections, here.places, here.said), types)
    return msgspec.structs.replace(
        found,
        task=both.task,
        matching=both.matching,
        scheduler=both.scheduler,
        overruled=(*found.overruled, *overruled),
        beside_file=str(here.path),
    )


def _named(policies: Policies, file: Path) -> Policies:
    """With the file that an administrator would change."""
    images = msgspec.structs.replace(policies.images, policy_file=str(file))
    return msgspec.structs.replace(policies, images=images, policy_file=str(file))


def _read(path: Path, types: Types, *, needed: bool = False, beside: bool = False) -> PolicyFile | None:
    """The file with sections that it may have; None where it is not there and needs not be."""
    file = read(path, needed=needed)
    if file is not None:
        _section(file.sections, file, "", _BESIDE if beside else (*_SECTIONS, *types))
    return file


def _checked(file: PolicyFile, types: Types) -> Policies:
    sections, path = file.sections, file
    task = _convert(_section(sections.get("task", {}), path, "task", Task), path, "task", Task)
    order = _section(sections.get("scheduler", {}), path, "scheduler", SchedulerPolicy)
    scheduler = _convert(order, path, "scheduler", SchedulerPolicy)
    matching = _convert(
        _section(sections.get("matching", {}), path, "matching", Policy, less=OF_THE_MARKET), path, "matching", Policy
    )
    images = _section(sections.get("images", {}), path, "images", ImagePolicy, less=_GIVEN)
    jobs = _convert(_section(sections.get("jobs", {}), path, "jobs", JobPolicy), path, "jobs", JobPolicy)
    told = _section(sections.get("notices", {}), path, "notices", NoticePolicy)
    notices = _convert(told, path, "notices", NoticePolicy)
    if (found := notice_settings.wrong(notices)) is not None:
        raise wrong(path, f"notices.{found[0]}", found[1])
    known = f"is none of {', '.join(types)}"
    for name in jobs.cpu_slots:
        if name not in types:
            raise wrong(path, "jobs.cpu_slots", f"“{name}” {known}")
    engine = sections.get("engine", "")
    if engine not in ("", *types):
        raise wrong(path, "engine", f"“{engine}” {known}")
    return Policies(
        engine=engine,
        task=task,
        matching=matching,
        scheduler=scheduler,
        images=_images(_convert(images, path, "images", ImagePolicy), path),
        engines={name: _engine(sections[name], path, kind) for name, kind in types.items() if name in sections},
        jobs=jobs,
        notices=notices,
    )


def _engine(raw: Any, path: PolicyFile, kind: EngineType[S]) -> S:
    if isinstance(raw, dict):
        for field, now in kind.renamed.items():
            if field in raw:
                raise _renamed(path, f"{kind.name}.{field}", now)
    wanted = _section(raw, path, kind.name, kind.settings, less=kind.given)
    settings = _convert(wanted, path, kind.name, kind.settings)
    for field, why in kind.wrong(settings):
        raise wrong(path, f"{kind.name}.{field}", why)
    return settings


def _images(policy: ImagePolicy, path: PolicyFile) -> ImagePolicy:
    known = {registry.name for registry in load_catalogue().registries}
    mirrors = tuple(name for name in policy.registries if name not in known)
    for field, parse, names in (
        ("allowed", parse_pattern, policy.allowed),
        ("preferred", parse_reference, (policy.preferred,) if policy.preferred else ()),
        ("registries", parse_pattern, mirrors),
    ):
        for name in names:
            _check_name(parse, name, f"images.{field}", path)
    for name in mirrors:
        if "/" not in name or any(c in name for c in "*@"):
            why = f"“{name}” is none of {', '.join(sorted(known))} and no repository of a mirror"
            raise wrong(path, "images.registries", why)
    return policy


def _check_name(read: Callable[[str], object], name: str, field: str, path: PolicyFile) -> None:
    try:
        read(name)
    except PaddleGpuError as error:
        raise wrong(path, field, str(error)) from error


def _section(raw: Any, path: PolicyFile, name: str, known: Any, less: frozenset[str] = frozenset()) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise wrong(path, name, "it must be an object {…}")
    fields = set(known if isinstance(known, tuple) else known.__struct_fields__) - less
    for field in raw:
        if field not in fields:
            known_fields = ", ".join(sorted(fields if name else map(path.offered, fields)))
            raise wrong(path, f"{name}.{field}".lstrip("."), f"there is no such field; there are {known_fields}")
    return raw


def _convert(raw: dict[str, Any], path: PolicyFile, name: str, kind: type[T]) -> T:
    try:
        return convert(raw, kind)
    except msgspec.ValidationError as error:
        at = _AT.search(str(error))
        field = f"{name}.{at[1]}" if at else name
        raise wrong(path, field, _AT.sub("", str(error))) from error


def _renamed(file: PolicyFile, field: str, now: str) -> PaddleGpuError:
    return PaddleGpuError(
        "policy_renamed",
        "The policy file {file} has “{field}”, which is called “{now}” now.",
        hint="Move its entries to “{now}”; nothing of the file is used until then.",
        status=503,
        file=file.at(field),
        field=file.word(field),
        now=now,
    )
