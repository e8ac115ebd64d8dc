"""Which variable of a notebook a name means that somebody typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ...domain.errors import PaddleGpuError
from ...domain.plans.space import Dimension
from ...domain.variables import COUNTS, Settings, Variable, role_of, several_meant
from ...domain.what_ifs import BY_NAME

if TYPE_CHECKING:
    from ...domain.notebooks import NotebookSource


def settings_of(source: NotebookSource) -> Settings:
    """The notebook's variables with their values; nothing of it runs."""
    from ...notebook.inspection import inspect_notebook
    from ...notebook.variables import read_settings

    return read_settings(source, inspect_notebook(source))


def resolved(dimension: Dimension, settings: Settings) -> Dimension:
    """The dimension with the name that the notebook has for it: its own first, else what it is to the training.

    Raises:
        PaddleGpuError: `sweep_unknown` (400): the notebook has nothing of that name; `sweep_fraction` (400): it is a
            whole number there, and fractions are to be tried; `sweep_count` (400): it counts, and less than one is;
            `sweep_text` (400): it is a number, and words are.
    """
    own = next((one for one in settings.variables if one.name == dimension.name), None)
    role = role_of(dimension.name)
    means = (one for one in settings.variables if (one.role and one.role == role) or _base(one) == dimension.name)
    found = own or next(means, None)
    if found is not None and found is not own:
        several = [one.name for one in settings.variables if one.call and _base(one) == _base(found)]
        if len(several) > 1:
            raise PaddleGpuError.of(several_meant(dimension.name, several))
    if found is not None:
        dimension = _whole(_of_numbers(dimension, found), found)
    if found is not None and found.name:
        return msgspec.structs.replace(dimension, name=found.name, role=found.role)
    asked = BY_NAME.get(role)
    if asked is not None and asked.in_sweeps and (found is not None or not asked.if_known):
        return msgspec.structs.replace(dimension, name=asked.name, what_if=True, role=role)
    known = ", ".join(dict.fromkeys(map(_called, settings.variables))) or "–"
    raise PaddleGpuError(
        "sweep_unknown",
        "The notebook has no variable “{name}”.",
        hint="There are: {known}. A value that stands alone in a cell, as `{name} = …`, is one.",
        name=dimension.name[:100],
        known=known,
    )


def _of_numbers(dimension: Dimension, variable: Variable) -> Dimension:
    """The dimension, refused where the notebook's variable is a number and none of the values is one."""
    counts = variable.role in COUNTS
    # Beside numbers a word may be one of the arguments that take either: `padding=1` or "SAME".
    texts = (any if counts else all)(isinstance(one, str) for one in dimension.values)
    if not dimension.values or not texts or not (counts or type(variable.value) in (int, float)):
        return dimension
    raise PaddleGpuError(
        "sweep_text",
        "“{name}” is a number ({value}) in the notebook, and “{typed}” is none.",
        hint="Write a list (`0.1, 0.01`) or a range (`32:128:x2`, `16:64:16`, `0.001:0.1:log`).",
        name=_called(variable)[:100],
        value=str(variable.value)[:40],
        typed=dimension.text[:100],
    )


def _whole(dimension: Dimension, variable: Variable) -> Dimension:
    """The dimension in whole numbers where the notebook's variable is one."""
    counts = variable.role in COUNTS
    # 0 and 1 are also how people write a share or a rate that is off, or full.
    if not counts and (type(variable.value) is not int or variable.value in (0, 1) or variable.role):
        return dimension
    if dimension.is_open or any(isinstance(one, float) and not one.is_integer() for one in dimension.values):
        called = _called(variable)
        raise PaddleGpuError(
            "sweep_fraction",
            "“{name}” is a whole number ({value}) in the notebook, and “{typed}” has fractions.",
            hint="Name whole numbers (`16, 32`, `32:128:x2`)."
            if counts
            else "Name whole numbers (`16, 32`, `32:128:x2`), or write `{name} = {value}.0` where fractions are meant.",
            name=called[:100],
            value=str(variable.value)[:40],
            typed=dimension.text[:100],
        )
    if counts and any(not isinstance(one, str) and (one is None or one < 1) for one in dimension.values):
        raise PaddleGpuError(
            "sweep_count",
            "No training has less than one of “{name}”, and “{typed}” has.",
            hint="Name whole numbers above 0 (`16, 32`, `32:128:x2`).",
            name=_called(variable)[:100],
            typed=dimension.text[:100],
        )
    values = tuple(int(one) if isinstance(one, float) else one for one in dimension.values)
    return msgspec.structs.replace(dimension, values=tuple(dict.fromkeys(values)))


def _base(variable: Variable) -> str:
    """The argument's name, of one that stands in several calls."""
    return variable.name.partition("@")[0] if variable.call else ""


def _called(variable: Variable) -> str:
    return variable.name or variable.role
