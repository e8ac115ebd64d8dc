"""What a person varies from run to run: variables of a notebook, and what differs between two runs of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from .messages import Message
from .notebooks import FactValue

Role = Literal["", "batch_size", "learning_rate", "epochs", "amp", "optimizer"]
COUNTS = frozenset({"batch_size", "epochs"})
"""Roles of which there are no fractions, whatever stands in the notebook."""
_CALLED = {"batch": "batch_size", "lr": "learning_rate"}
"""What people call what a notebook may call otherwise."""


def role_of(name: str) -> str:
    """The role that somebody means by a name; the name itself where it is none of those that people shorten."""
    return _CALLED.get(name, name)


class Variable(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A name that a notebook binds to a plain value, once, at top level; a hyperparameter that stands in a call; or a
    fact of the training without a name.

    Attributes:
        name: as typed; of a hyperparameter in a call the argument's (`learning_rate`), with its place where there are
            several (`learning_rate@5`); empty for a fact without one (`DataLoader(batch_size=64)`), which has a role
            then.
        value: what it is bound to.
        role: what it is to the training, where that is known.
        cell: index among all cells, -1 for what a library has by default.
        parameter: stands in the cell tagged `parameters` (papermill's convention).
        call: what takes it, where it stands in a call (`AdamW`): another value is written into a job's copy.
    """

    name: str
    value: FactValue
    role: Role = ""
    cell: int = -1
    parameter: bool = False
    call: str = ""


class Difference(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that a run has otherwise than another one.

    Attributes:
        kind: `variable`, `environment`, `code` (the cells, beyond their variables), `devices` (how many), `device`
            (which card), `image`, `engine`.
        name: of the variable; empty for the other kinds.
        role: of the variable.
        before, after: the values; None: there is none. Of code neither is told.
    """

    kind: Literal["variable", "environment", "code", "devices", "device", "image", "engine"]
    name: str = ""
    role: Role = ""
    before: FactValue = None
    after: FactValue = None


class Settings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a run was made with, as far as a reader can tell; what two of them have otherwise are their differences.

    Attributes:
        variables: in reading order, parameters first; with the values that the run has.
        code: a digest of the cells without the values of variables; empty: not read.
    """

    variables: tuple[Variable, ...] = ()
    code: str = ""


def differences(before: Settings, after: Settings) -> tuple[Difference, ...]:
    """What differs of the notebook, variables with a role first."""
    old = {_key(one): one for one in before.variables}
    new = {_key(one): one for one in after.variables}
    found = []
    for key in dict.fromkeys([*new, *old]):
        one, other = old.get(key), new.get(key)
        if one is None or other is None or one.value != other.value or type(one.value) is not type(other.value):
            said = other or one
            assert said is not None
            found.append(
                Difference(
                    kind="variable",
                    name=said.name,
                    role=said.role,
                    before=one.value if one else None,
                    after=other.value if other else None,
                )
            )
    found.sort(key=lambda difference: not difference.role)
    if before.code and after.code and before.code != after.code:
        found.append(Difference(kind="code"))
    return tuple(found)


def _key(variable: Variable) -> tuple[str, str]:
    """A batch size is one however the notebook calls it."""
    return ("role", variable.role) if variable.role else ("name", variable.name)


def several_meant(name: str, keys: Iterable[str]) -> Message:
    """That a name does not tell which of several places is meant."""
    return Message(
        code="literal_several",
        text="“{name}” stands in several places of the notebook: {keys}.",
        hint="Name the ones that are meant; behind the @ stands the cell, and behind its colon the line.",
        params={"name": name[:100], "keys": ", ".join(keys)[:300]},
    )
