"""How trials of batches end, and errors that no batch avoids: a trial ends in one, and so does each with a batch that
is otherwise.

A batch that a model's first layers take may end in an error behind them which is the program's own: two layers that do
not go together, a constant of another type. What Paddle compares there (`[Hint: Expected C == filter_dims[0], but
received C:16 != filter_dims[0]:32.]`) is then the same whatever the batch looks like. So each side of each of its
things is made longer, axes are added and taken away, and types changed: where the same two figures are compared each
time, or the program ends before it comes there, the batch has no part in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from traceback import walk_tb
from typing import Any, NamedTuple

from .... import call_stack
from ....patience import Patience
from ....session import Session
from ....undecided.absent_data import AbsentData
from ....undecided.descriptions import is_description, parts_of
from ..candidates import Candidate
from ..numbers import ASSUMED

Result = dict[str, Any]
Thing = tuple[str, str, tuple[int, ...]]
"""Of a batch: its name, or none, its type and its shape."""
PATIENCE = Patience(100_000, 8.0)
"""After which an error is left open."""
FURTHER = 4
"""Batches that are looked at, each of which comes further than the one before."""
_COMPARED = (
    re.compile(r"Received (\[\d+\]) in X is not equal to (\[\d+\]) in Y"),
    re.compile(r"expected input with shape \[\*, (\d+)\], but got input shape \[(?:\d+, )*(\d+)\]"),
    re.compile(
        r"\[Hint: Expected (?!.*dtype)(?!.* == true).*, but received .*?:(-?\d+) \S+ .*?:(-?\d+)\.\]", re.DOTALL
    ),
)
"""What Paddle says of two figures that do not go together, in the order in which they are looked for."""
_MIXED = re.compile(r"Type promotion|\(float\d\d\) does not match the type of data|dtype", re.IGNORECASE)
"""What it says of types that do not."""
_FLOATS = ("float32", "float64")
_TYPES = (*_FLOATS, "int64", "int32", "bool", "uint8", "float16")
_UNTOLD = "complex64"
"""A type that no description speaks of."""


class Tried(NamedTuple):
    """A batch that was tried, where it comes from, and how the program ended."""

    answer: Any
    source: str
    found: Result


_LONGEST = 160
"""Characters of the error that is told of."""
_OF_TYPES = re.compile(r"type of data|Type promotion|data type|dtype", re.IGNORECASE)
"""What Paddle says of types that do not go together."""


class Ends:
    """How the program ended with each candidate. Where it ends with all of them in the same place with the same words,
    the batch is not what these are about: with inputs of other shapes, or for types that do not go together, the
    program stops there whatever it is given."""

    def __init__(self) -> None:
        self.tried: list[Tried] = []
        self._ends: dict[Any, None] = {}
        self._other = ""

    def told(self, answer: Any, source: str, found: Result) -> None:
        """What came of a candidate that was tried."""
        stop = found.get("stop") if found["status"] == "would_stop" else None
        if answer != self._other:
            self._ends[None if stop is None else (stop["cell"], stop["line"], stop["error"])] = None
            self.tried.append(Tried(answer, source, found))

    def said(self) -> Result:
        """How many were tried, and how the program ended with the one that came furthest; nothing where none was."""
        tried = [one for _, _, one in self.tried]
        if not tried:
            return {}
        best = max(tried, key=lambda one: one.get("reached") or 0)
        messages = (one["params"].get("message") for one in best["questions"])
        end = (best.get("stop") or {}).get("error") or next(filter(None, messages), "")
        return {"tried": len(tried), **({"end": str(end)[:_LONGEST]} if end else {})}

    def furthest(self, least: int) -> Tried | None:
        """The candidate with which the program came furthest, where it came further than with the `least` fitting one:
        the first layers take it."""
        best = max(self.tried, key=lambda one: _reached(one.found), default=None)
        is_told = best is not None and best.found["status"] == "would_stop" and bool(self.said().get("end"))
        return best if best is not None and is_told and _reached(best.found) > least else None

    def otherwise(self) -> Iterator[Candidate]:
        """A last candidate, of numbers that are twice as long, where types did not go together with any."""
        found = self.alike()
        if found is not None and isinstance(found[0], str) and _OF_TYPES.search(next(iter(self._ends))[2]):
            self._other = found[0].replace("float32", "float64")
            yield self._other, ASSUMED

    def alike(self) -> tuple[Any, str, Result] | None:
        """The first candidate, where the program ends alike with all of them."""
        if len(self._ends) != 1 or (end := next(iter(self._ends))) is None:
            return None
        inputs = {input_of(answer) for answer, _, _ in self.tried} - {""}
        is_of_types = len(self.tried) > 1 and _OF_TYPES.search(end[2]) is not None
        return self.tried[0] if len(inputs) > 1 or is_of_types else None


def input_of(answer: Any) -> str:
    """All but the last thing of a description; empty where there is but one."""
    return answer.rpartition(" ")[0] if isinstance(answer, str) else ""


def end_of(problem: BaseException, stop: Result, session: Session, is_of_code: bool, is_straight: bool) -> Result:
    """What is kept of the first error of a run.

    Args:
        is_of_code: whether it hangs on constants of the program's alone.
        is_straight: whether the program comes there with any batch.
    """
    said = str(problem)
    compared = next((one.groups() for one in (row.search(said) for row in _COMPARED) if one is not None), None)
    *_, (innermost, _) = walk_tb(problem.__traceback__)
    is_refused = session.is_refusal(problem) or innermost.f_code.co_filename.startswith(call_stack.PADDLE)
    is_known = is_refused and is_straight and not session.of(AbsentData).is_lent
    is_mixed = compared is None and _MIXED.search(said) is not None and _UNTOLD not in said
    known = "compared" if compared is not None else "mixed" if is_mixed else ""
    return {**stop, "kind": "code" if is_of_code else known if is_known else "", "compared": compared}


def unavoidable(
    tried: list[Tried], trace: Callable[[str], Result], has_time: Callable[[], bool]
) -> tuple[Result | None, Tried | None]:
    """The result of the trial whose error no batch avoids; else a batch that was looked at and leads to a step. Where
    one that is otherwise comes further, it is looked at in the same way.

    Args:
        trace: traces the program with a batch.
        has_time: whether there is time for another trace.
    """
    patience, traced = PATIENCE.begins(), 0
    for _ in range(FURTHER):
        best = max(tried, key=lambda one: _reached(one.found), default=None)
        end = (best.found.get("end") if best is not None else None) or {}
        if best is None or best.found["status"] != "would_stop" or not end.get("kind"):
            break
        if not is_description(best.answer) or not all(_is_borne_out(one.found, best.found) for one in tried):
            break
        is_seen = False
        for other in dict.fromkeys(_otherwise(best.answer, end["kind"])):
            if patience.is_over(traced) or not has_time():
                return None, None
            found = trace(other)
            traced += found.get("reached", 0)
            if not _is_borne_out(found, best.found):
                tried = [*tried, Tried(other, "", found)]
                break
            is_seen = is_seen or _mark(found) == _mark(best.found)
        else:
            return (best.found if is_seen else None), None
        if found["status"] == "ok":
            return None, None if found.get("is_spread") or _loses_axes(other, best.answer) else tried[-1]
    return None, None


def _loses_axes(other: str, answer: str) -> bool:
    """Whether a batch is without axes that a first layer may need: what leads on without may be another training."""
    return any(len(one[2]) < len(own[2]) for one, own in zip(parts_of(other), parts_of(answer), strict=False))


def _reached(found: Result) -> int:
    return int(found.get("reached") or 0)


def _mark(found: Result) -> Any:
    """Where a run ended, and for which figures, types or constants."""
    end = found.get("end") or {}
    told = end.get("compared") if end.get("kind") == "compared" else end.get("error")
    return end.get("cell"), end.get("line"), str(end.get("raised")), end.get("kind"), str(told)


def _is_borne_out(found: Result, best: Result) -> bool:
    """Whether a run ended as the best did, or before it came as far; where that was for types that do not go together,
    for such anywhere."""
    end = found.get("end") or {}
    if found["status"] == "ok" or not end:
        return False
    is_mixed = end.get("kind") == best["end"]["kind"] == "mixed"
    return _mark(found) == _mark(best) or _reached(found) < _reached(best) or is_mixed


def _otherwise(answer: str, kind: str) -> Iterator[str]:
    """A batch with other sizes, another number of axes, or of other types, the likeliest to tell first."""
    things = parts_of(answer)
    firsts = {shape[0] for _, _, shape in things if shape}
    if len(firsts) == 1:
        size = firsts.pop()
        yield _text([(name, dtype, (2 * size + 1, *shape[1:])) for name, dtype, shape in things])
    if kind == "code":
        return
    if kind == "mixed":
        yield from (_text(one) for one in _all_of_type(things))
    for variants in (_of_types, _of_shapes):
        for number, thing in enumerate(things):
            yield from (_text([*things[:number], one, *things[number + 1 :]]) for one in variants(thing))
    for side in {side for _, _, shape in things for side in shape[1:]}:
        for longer in (2 * side + 1, side + 1):
            yield _text([(name, dtype, (*shape[:1], *(longer if one == side else one for one in shape[1:])))
                         for name, dtype, shape in things])  # fmt: skip


def _all_of_type(things: list[Thing]) -> Iterator[list[Thing]]:
    """All things of numbers in each type."""
    for other in _FLOATS:
        yield [(name, other if dtype in _FLOATS else dtype, shape) for name, dtype, shape in things]


def _of_types(thing: Thing) -> Iterator[Thing]:
    """A thing of numbers of other types."""
    name, dtype, shape = thing
    yield from ((name, other, shape) for other in _TYPES if other != dtype)


def _of_shapes(thing: Thing) -> Iterator[Thing]:
    """A thing with one longer side, and with more and fewer axes."""
    name, dtype, shape = thing
    for number, side in enumerate(shape):
        for longer in (2 * side + 1, side + 1):
            yield name, dtype, (*shape[:number], longer, *shape[number + 1 :])
    for other in ((*shape, 5), (*shape[:1], 5, *shape[1:]), (*shape, 1), shape[:-1], (*shape[:1], *shape[2:])):
        if other and other != shape:
            yield name, dtype, other


def _text(things: list[Thing]) -> str:
    """Things in the words of an answer."""
    return " ".join(
        f"{name}{': ' if name else ''}{dtype}[{','.join(map(str, shape))}]" for name, dtype, shape in things
    )
