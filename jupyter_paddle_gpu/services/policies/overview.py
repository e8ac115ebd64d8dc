"""What is settled where: the policy files there are, what holds of them, and a first one to begin with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.messages import Message
from ...engines.engine_type import EngineType
from ...notices.settings import masked
from ..settings import OLD_POLICY_FILE, POLICY_FILE, Settings, policy_in
from .files import Policies, find_beside, load_policies
from .reading import PolicyFile, read
from .schema import FILE as SCHEMA

WAITING: Mapping[str, frozenset[str]] = {
    "task": frozenset({"model_name", "sequence_length", "batch_size_per_gpu", "num_gpus_estimate"}),
    "matching": frozenset({"distributed_strategy"}),
}
"""Fields that are understood and kept, and of which nothing follows in this version."""

OF_ALL = frozenset({"priorities", "aging"})
"""Fields of `scheduler` that count in the system's file alone: everybody must reckon the order of all jobs alike."""

TEMPLATE = """\
# yaml-language-server: $schema={schema}
# What this place settles; docs/policy.md explains each field. Every line may be left out.
resource_policy:
  memory_threshold: 0.85       # share of a card's memory that may be in use once the job runs
  # plan_for: low              # start also what may just fit
  # preferred_devices: [A100-SXM4-40GB, V100-32GB, RTX_3090]
  # home_grown_first: true     # cards made in China before others
  # prices: {{A100 SXM 80GB: 1.9, RTX 4090: 0.5}}   # of an hour
  # price_ceiling: 2.0         # devices that cost more are not chosen by themselves
  # power_ceiling: 400         # nor those of more watts
  # heat_ceiling: 85           # nor those hotter now
  # sharing: exclusive         # nor those on which others' processes run; whole cards only
  # default_share: estimate    # jobs share cards: each has what its estimate says at most
  # weights: {{cost: 1, time: 1, balance: 0.5, packing: 0, topology: 0.5, preference: 2, home_grown: 2}}
# scheduler:
#   timeout: 86400             # seconds after which a job that has not started fails
#   quiet_hours: ["22:00-06:00"]   # no job starts on a device then
#   quotas: {{anna: 4, "*": 2}}      # devices at once; the star is everybody else, and needs its quotes
#   priorities: {{ben: 10, "*": 0}}  # the larger the earlier; counts in the system's file alone
#   aging: 3600                # seconds of waiting that are worth one step of priority; likewise
"""


Scope = Literal["system", "user", "notebook"]
"""Whose a policy file is, in the order of their weight."""

READ_AS: Mapping[Scope, Message] = {
    "system": Message(
        code="policy_read_as",
        text="{file} is read as the system's.",
        hint="`--as user` and `--as notebook` read it otherwise.",
    ),
    "user": Message(
        code="policy_read_as",
        text="{file} is read as your own.",
        hint="`--as system` and `--as notebook` read it otherwise.",
    ),
    "notebook": Message(
        code="policy_read_as",
        text="{file} is read as one beside a notebook.",
        hint="`--as system` and `--as user` read it otherwise.",
    ),
}


class PolicyPlace(msgspec.Struct, frozen=True, kw_only=True):
    """One file that counts, in the order of their weight."""

    scope: Scope
    path: str
    found: bool


class PolicyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The files, what holds of them together, and what is to be said of them.

    Attributes:
        settled: section as the file calls it -> field -> value, of the fields that some file names.
        problems: why nothing is settled; then `settled` is empty.
    """

    places: tuple[PolicyPlace, ...]
    settled: dict[str, Any] = {}
    problems: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()


def report(
    settings: Settings,
    types: Mapping[str, EngineType[Any]],
    folder: Path | None,
    *,
    file: Path | None = None,
    scope: Scope | None = None,
) -> PolicyReport:
    """What holds for notebooks in a folder.

    Args:
        folder: None: for notebooks anywhere.
        file: takes the place of the one of this scope; None: of the one that lies there, else of the notebook's where
            notebooks lie beside it under the name of such a file, else of the user's.
    """
    files = _files(settings, folder)
    read_as: tuple[Message, ...] = ()
    if file is not None:
        scope = scope or _scope_of(file, files)
        files = {**files, scope: file}
        read_as = (msgspec.structs.replace(READ_AS[scope], params={"file": str(file)}),)
    places = tuple(PolicyPlace(scope=scope, path=str(path), found=path.exists()) for scope, path in files.items())
    try:
        policies = load_policies(
            file if scope == "user" and file else settings.policy_file,
            settings.data_folder,
            types,
            files["system"],
            beside=files.get("notebook"),
        )
        said = [one for path in files.values() if (one := read(path)) is not None]
    except PaddleGpuError as error:
        return PolicyReport(places=places, problems=(error.message,), notes=read_as)
    return PolicyReport(
        places=places,
        settled=_settled(policies, said),
        notes=(*read_as, *_notes(policies, said, files["system"])),
    )


def _scope_of(file: Path, files: Mapping[Scope, Path]) -> Scope:
    """Whose a file is by where it lies."""
    for scope, path in files.items():
        if path.exists() and file.samefile(path):
            return scope
    return "notebook" if file.name == POLICY_FILE and any(file.absolute().parent.glob("*.ipynb")) else "user"


def _files(settings: Settings, folder: Path | None) -> dict[Scope, Path]:
    found: dict[Scope, Path] = {
        "system": settings.system_policy_file,
        "user": settings.policy_file or policy_in(settings.data_folder),
    }
    return found if folder is None else {**found, "notebook": find_beside(folder)}


def _settled(policies: Policies, said: list[PolicyFile]) -> dict[str, Any]:
    """What holds of each field that a file names."""
    held: dict[str, Any] = {}
    for file in said:
        for section, fields in file.sections.items():
            part = policies.engines.get(section, getattr(policies, section, None))
            if not isinstance(fields, dict):
                held[section] = part
                continue
            values = masked(msgspec.to_builtins(part))
            held.setdefault(file.word(section), {}).update({name: values[name] for name in fields if name in values})
    return held


def _notes(policies: Policies, said: list[PolicyFile], system: Path) -> Iterator[Message]:
    for file in said:
        if file.path != system:
            for name in sorted(OF_ALL & set(file.sections.get("scheduler") or ())):
                yield Message(
                    code="policy_of_all",
                    text="{file}: “{field}” has no effect here: the order of all users' jobs is settled in {system}.",
                    hint="Among your own jobs `submit --priority` decides; the rest the administrator settles.",
                    params={
                        "file": file.at(f"scheduler.{name}"),
                        "field": file.word(f"scheduler.{name}"),
                        "system": str(system),
                    },
                )
        if file.path.name == OLD_POLICY_FILE:
            yield old_name(file.path)
        elif (old := file.path.with_name(OLD_POLICY_FILE)).exists():
            yield Message(
                code="policy_both_names",
                text="{old} is not read: {file} is beside it.",
                hint="Move what you still need to {file}, and delete {old}.",
                params={"old": str(old), "file": str(file.path)},
            )
        for section, fields in WAITING.items():
            for name in sorted(fields & set(file.sections.get(section) or ())):
                yield Message(
                    code="policy_waiting",
                    text="{file}: “{field}” is understood, and nothing follows from it in this version.",
                    hint="docs/policy.md says what follows from which field.",
                    params={"file": file.at(f"{section}.{name}"), "field": file.word(f"{section}.{name}")},
                )
    for name in policies.overruled:
        later = policies.beside_file or policies.own_file
        yield Message(
            code="policy_overruled",
            text="“{field}” of {own} is looser than what {file} fixes, so far it does not count.",
            hint="Take it out, or ask the administrator to change {file}.",
            params={"field": name, "own": later, "file": policies.policy_file},
        )


def old_name(path: Path) -> Message:
    """That a file still has the name before."""
    return Message(
        code="policy_old_name",
        text="{old} is read, but the file is called {new} now and written in YAML.",
        hint="`jupyter paddle-gpu policy init` writes {new} with what {old} says.",
        params={"old": str(path), "new": POLICY_FILE},
    )


def initial(folder: Path) -> Path:
    """Write a first file into a folder: with what one under the old name says, else with explained examples.

    Raises:
        PaddleGpuError: `policy_exists` (409), `policy_unwritable` (409), or what reading the old one raises.
    """
    import yaml  # type: ignore[import-untyped]

    path = folder / POLICY_FILE
    old = read(folder / OLD_POLICY_FILE)
    begin = TEMPLATE.format(schema=SCHEMA)
    if old is not None:
        head = begin.splitlines(keepends=True)[:2]
        begin = "".join(head) + yaml.safe_dump(old.sections, sort_keys=False, allow_unicode=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(begin)
    except FileExistsError:
        raise PaddleGpuError(
            "policy_exists",
            "There is a {file} already.",
            hint="Open it in an editor; `jupyter paddle-gpu policy check` says whether it is right.",
            status=409,
            file=str(path),
        ) from None
    except OSError as error:
        raise PaddleGpuError(
            "policy_unwritable",
            "{file} cannot be written: {error}.",
            hint="Name a folder of your own with `--folder`, or ask whoever owns it.",
            status=409,
            file=str(path),
            error=error.strerror or str(error),
        ) from None
    return path
