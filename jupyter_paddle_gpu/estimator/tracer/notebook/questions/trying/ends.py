"""How trials of batches end: where, how far they came, and for which figures, types or constants."""

from __future__ import annotations

import ast
import linecache
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from traceback import walk_tb
from types import FrameType
from typing import Any, NamedTuple

from .... import call_stack
from ....session import Session
from ....undecided.absent_data import AbsentData
from ...syntax import nodes
from ...trainings import LEARNS_NOTHING
from ..candidates import Candidate
from ..numbers import ASSUMED

Result = dict[str, Any]
_COMPARED = (
    re.compile(r"Received (\[\d+\]) in X is not equal to (\[\d+\]) in Y"),
    re.compile(r"expected input with shape \[\*, (\d+)\], but got input shape \[(?:\d+, )*(\d+)\]"),
    re.compile(r"received X\[-1\] = \[(\d+)\], Y\[0\] = \[(\d+)\]"),
    re.compile(r"dimension of Input\(X\) is \[(\d+)\], and the \[\d+\] dimension of Input\(Y\) is \[(\d+)\]"),
    re.compile(
        r"\[Hint: Expected (?!.*dtype)(?!.* == true).*, but received .*?:(-?\d+) \S+ .*?:(-?\d+)\.\]", re.DOTALL
    ),
)
"""What Paddle says of two figures that do not go together, in the order in which they are looked for."""
_MIXED = re.compile(r"Type promotion|\(float\d\d\) does not match the type of data|dtype", re.IGNORECASE)
"""What it says of types that do not."""
_OF_GRAPH = re.compile(r"Leaf (Var|Tensor) \([^)]*\) that doesn't stop gradient|(same|whole) graph .*second time")
"""What Paddle says of tensors for their place in the graph of gradients, whatever their shapes and types are."""
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
        self._marks: Counter[Any] = Counter()

    def told(self, answer: Any, source: str, found: Result) -> None:
        """What came of a candidate that was tried."""
        self._marks[mark(found)] += 1
        stop = found.get("stop") if found["status"] == "would_stop" else None
        if answer != self._other:
            self._ends[None if stop is None else (stop["cell"], stop["line"], stop["error"])] = None
            self.tried.append(Tried(answer, source, found))

    def are_telling(self) -> bool:
        """Whether the last candidate ended as one before it, or for what stands in the code alone: that no batch avoids
        it may be seen before all of them are tried. Once for each such end."""
        last = self.tried[-1].found if self.tried else {}
        kind = (last.get("end") or {}).get("kind")
        times = self._marks[mark(last)]
        return last.get("status") == "would_stop" and bool(kind) and times == (1 if kind == "code" else 2)

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
        best = max(self.tried, key=lambda one: reached(one.found), default=None)
        is_told = best is not None and best.found["status"] == "would_stop" and bool(self.said().get("end"))
        return best if best is not None and is_told and reached(best.found) > least else None

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


def compared_in(error: str) -> tuple[int, int] | None:
    """The two sizes that Paddle says do not go together."""
    for row in _COMPARED:
        if (found := row.search(error)) is not None and all(one.strip("[]").isdigit() for one in found.groups()):
            first, second = (int(one.strip("[]")) for one in found.groups())
            return first, second
    return None


def input_of(answer: Any) -> str:
    """All but the last thing of a description; empty where there is but one."""
    return answer.rpartition(" ")[0] if isinstance(answer, str) else ""


def may_refuse_batch(result: Result) -> bool:
    """Whether Paddle refuses something that may be for the batch: what it says of the graph of gradients is not."""
    return bool(result.get("is_refusal")) and not _OF_GRAPH.search((result.get("stop") or {}).get("error", ""))


def refuses_behind(result: Result) -> bool:
    """Whether what follows the first step ends for a shape (an accuracy that compares a column of labels with a row of
    predictions)."""
    said = (str(note["params"].get("error")) for note in result["notes"] if note["code"] == "step_cut")
    return any(map(_REFUSES.search, said))


def leaves_out(result: Result) -> bool:
    """Whether the step is without the model, which refused the batch (`assert height == 1`) or was passed by."""
    return any(note["code"] in LEARNS_NOTHING for note in result["notes"])


_REFUSES = re.compile(r"\(InvalidArgument\)|broadcast")
"""What Paddle and numpy say of shapes that do not go together."""


def end_of(problem: BaseException, stop: Result, session: Session, is_of_code: bool, is_straight: bool) -> Result:
    """What is kept of the first error of a run.

    Args:
        is_of_code: whether it hangs on constants of the program's alone.
        is_straight: whether the program comes there with any batch.
    """
    said = str(problem)
    compared = next((one.groups() for one in (row.search(said) for row in _COMPARED) if one is not None), None)
    *_, (innermost, line) = walk_tb(problem.__traceback__)
    compared = compared or _asserted(innermost, line)
    is_refused = session.is_refusal(problem) or innermost.f_code.co_filename.startswith(call_stack.PADDLE)
    is_known = is_refused and is_straight and not session.of(AbsentData).is_lent
    is_mixed = compared is None and _MIXED.search(said) is not None and _UNTOLD not in said
    known = "compared" if compared is not None else "mixed" if is_mixed else ""
    return {**stop, "kind": "code" if is_of_code else known if is_known else "", "compared": compared}


def _asserted(frame: FrameType, line: int) -> tuple[str, str] | None:
    """The two numbers that Paddle's own code wants to be the same (`assert weight.shape[0] == x.shape[1]`)."""
    if not frame.f_code.co_filename.startswith(call_stack.PADDLE):
        return None
    for node in nodes("".join(linecache.getlines(frame.f_code.co_filename))):
        match node:
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]), lineno=first):
                if not first <= line <= (node.end_lineno or 0):
                    continue
                names = {**frame.f_globals, **frame.f_locals}
                with suppress(Exception):  # what its tensors answer
                    sides = [eval(compile(ast.Expression(one), "<side>", "eval"), names) for one in (left, right)]
                    if all(type(one) is int for one in sides):
                        return str(sides[0]), str(sides[1])
    return None


def reached(found: Result) -> int:
    """How many operations a run came to."""
    return int(found.get("reached") or 0)


def mark(found: Result) -> Any:
    """Where a run ended, and for which figures, types or constants."""
    end = found.get("end") or {}
    told = end.get("compared") if end.get("kind") == "compared" else end.get("error")
    return end.get("cell"), end.get("line"), str(end.get("raised")), end.get("kind"), str(told)


def is_borne_out(found: Result, best: Result) -> bool:
    """Whether a run ended as the best did, or before it came as far; where that was for types that do not go together,
    for such anywhere."""
    end = found.get("end") or {}
    if found["status"] == "ok" or not end:
        return False
    is_mixed = end.get("kind") == best["end"]["kind"] == "mixed"
    return mark(found) == mark(best) or reached(found) < reached(best) or is_mixed
