"""How a value of one policy file gets tighter by that of a later one: what the first fixes the later cannot loosen.

Each rule takes (what is fixed, what a later file says) as the files say it and gives what holds.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

Tighten = Callable[[Any, Any], Any]
"""(what is fixed, what a later file says) -> what holds."""


def least(fixed: Any, wanted: Any) -> Any:
    """The smaller one; None is no limit."""
    return fixed if wanted is None else wanted if fixed is None else min(fixed, wanted)


def most(fixed: Any, wanted: Any) -> Any:
    """The larger one."""
    return max(fixed, wanted)


def both(fixed: bool, wanted: bool) -> bool:
    """Allowed only where both allow it."""
    return fixed and wanted


def either(fixed: bool, wanted: bool) -> bool:
    """On where either wants it."""
    return fixed or wanted


def least_of_each(fixed: Mapping[str, int], wanted: Mapping[str, int]) -> dict[str, int]:
    """The smaller one of each name that is fixed; other names are free."""
    return {**wanted, **{name: min(most, wanted.get(name, most)) for name, most in fixed.items()}}


def least_of_users(fixed: dict[str, int], wanted: dict[str, int]) -> dict[str, int]:
    """Of each user the smaller number. Whoever a side does not name it means by its star, so that nobody gets out of
    the star by naming himself."""

    def of(user: str) -> list[int]:
        return [told for side in (fixed, wanted) if (told := side.get(user, side.get("*"))) is not None]

    return {user: min(of(user)) for user in {**fixed, **wanted}}


def together(fixed: list[Any], wanted: list[Any]) -> list[Any]:
    """All of both."""
    return [*fixed, *(item for item in wanted if item not in fixed)]


def some(fixed: list[Any], wanted: list[Any]) -> list[Any]:
    """Those of the fixed ones that are wanted; all of them where none is, since no list means no limit or no choice."""
    return [item for item in wanted if item in fixed] or fixed


def meet(fixed: list[str], wanted: list[str], within: Callable[[str, str], bool]) -> list[str]:
    """Where each item stands for many things (`within` says whether one holds no more than another): what is in both
    lists."""
    kept = [item for item in wanted if any(within(item, other) for other in fixed)]
    return [*kept, *(item for item in fixed if item not in kept and any(within(item, other) for other in wanted))]


def folders(fixed: list[str], wanted: list[str]) -> list[str]:
    """What lies below one of both, by their text; whoever uses them follows links."""
    return meet(fixed, wanted, _is_below)


def roots(fixed: list[str], wanted: list[str]) -> list[str]:
    """As `folders`; no roots at all would mean anywhere."""
    return (folders(fixed, wanted) or fixed) if fixed else wanted


def _is_below(path: str, folder: str) -> bool:
    folder = posixpath.normpath(folder).rstrip("/")
    return (posixpath.normpath(path) + "/").startswith(folder + "/")
