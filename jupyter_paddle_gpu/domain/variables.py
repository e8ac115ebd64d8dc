"""What a person varies from run to run: variables of a notebook, and what differs between two runs of it."""

from __future__ import annotations

from typing import Literal

import msgspec

from .notebooks import FactValue

Role = Literal["", "batch_size", "learning_rate", "epochs", "amp", "optimizer"]


class Variable(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A name that a notebook binds to a plain value, once, at top level; or a fact of the training without a name.

    Attributes:
        name: as typed; empty for a fact without one (`DataLoader(batch_size=64)`), which has a role then.
        value: what it is bound to.
        role: what it is to the training, where that is known.
        cell: index among all cells, -1 for what a library has by default.
        parameter: stands in the cell tagged `parameters` (papermill's convention).
    """

    name: str
    value: FactValue
    role: Role = ""
    cell: int = -1
    parameter: bool = False


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
