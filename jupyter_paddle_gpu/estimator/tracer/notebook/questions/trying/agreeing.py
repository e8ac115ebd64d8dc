"""Sizes that were made up, in agreement with what the program's own code says behind the first step: a later training's
`Linear(5, 1)` takes the columns of the same table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ....undecided.descriptions import is_description
from .ends import Result, compared_in

_SIZES = re.compile(r"\[([\d,]*)\]")
_NEAR = 1
"""By which a number may differ from the size that follows from it (a table's columns, of which one is the label)."""
_SMALLEST = 8
"""A size below it is no sign: too many things are as long."""


def agreeing(found: Result, answers: Mapping[str, Any], assumed: frozenset[str]) -> dict[str, Any] | None:
    """The answers with another size in place of the assumed one that the program refuses behind its step; None where it
    refuses none.

    Args:
        found: how the program ended with the answers.
        assumed: names of the answers that nothing in the notebook speaks of.
    """
    stop = found.get("stop")
    if found["status"] != "ok" or stop is None or (pair := compared_in(stop["error"])) is None:
        return None
    for has, wants in (pair, pair[::-1]):
        if has >= _SMALLEST and wants > 0 and has != wants:
            changed = {name: _with(answers[name], has, wants) for name in assumed if name in answers}
            if any(changed[name] != answers[name] for name in changed):
                return {**answers, **changed}
    return None


def _with(answer: Any, has: int, wants: int) -> Any:
    """An answer with one size in place of another, but for the first of each array, which is the batch's."""
    if type(answer) is int:
        return answer + wants - has if abs(answer - has) <= _NEAR else answer
    if not is_description(answer):
        return answer

    def sizes(one: re.Match[str]) -> str:
        first, *others = one[1].split(",")
        return f"[{','.join([first, *(str(wants) if size == str(has) else size for size in others)])}]"

    return _SIZES.sub(sizes, answer)
