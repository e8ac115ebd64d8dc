"""Errors that no batch avoids: a trial ends in one, and so does each with a batch that is otherwise.

A batch that a model's first layers take may end in an error behind them which is the program's own: two layers that do
not go together, a constant of another type. What Paddle compares there (`[Hint: Expected C == filter_dims[0], but
received C:16 != filter_dims[0]:32.]`) is then the same whatever the batch looks like. So each side of each of its
things is made longer, and axes are added and taken away; where types do not go together, types are changed. Where the
same two figures are compared each time, or the program ends before it comes there, the batch has no part in it.

Each look is a trace. None is taken that the ones before have answered: a thing that may be anything else at all without
another end has no part in it; where another length is refused since a layer wants one, so is a third.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress

from ....patience import Patience
from ....undecided.descriptions import is_description, parts_of, said
from .ends import Result, Tried, is_borne_out, mark, reached

Thing = tuple[str, str, tuple[int, ...]]
"""Of a batch: its name, or none, its type and its shape."""
PATIENCE = Patience(100_000, 8.0)
"""After which an error is left open."""
FURTHER = 4
"""Batches that are looked at, each of which comes further than the one before."""
_KINDS = (("float32", "float64", "float16"), ("int64", "int32"), ("bool", "uint8"))
"""Types that layers take alike."""
_FLOATS = ("float32", "float64")
_MORE = 5
"""How long an axis is that a thing has not."""


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
    known = {one.answer: one.found for one in tried}
    for _ in range(FURTHER):
        best = max(tried, key=lambda one: reached(one.found), default=None)
        end = (best.found.get("end") if best is not None else None) or {}
        if best is None or best.found["status"] != "would_stop" or not end.get("kind"):
            break
        if not is_description(best.answer) or not all(is_borne_out(one.found, best.found) for one in tried):
            break
        is_seen, looking = False, _Looks(best)
        looks = looking.all()
        with suppress(StopIteration):
            other = next(looks)
            while True:
                if patience.is_over(traced) or not has_time():
                    return None, None
                if (found := known.get(other)) is None:
                    known[other] = found = trace(other)
                    traced += found.get("reached", 0)
                if not is_borne_out(found, best.found) and not (looking.is_rough and found["status"] != "ok"):
                    break
                is_seen = is_seen or mark(found) == mark(best.found)
                other = looks.send(found)
            tried = [*tried, Tried(other, "", found)]
            if found["status"] == "ok":
                return None, None if found.get("is_spread") or _loses_axes(other, best.answer) else tried[-1]
            continue
        return (best.found if is_seen else None), None
    return None, None


def _loses_axes(other: str, answer: str) -> bool:
    """Whether a batch is without axes that a first layer may need: what leads on without may be another training."""
    return any(len(one[2]) < len(own[2]) for one, own in zip(parts_of(other), parts_of(answer), strict=False))


_Look = Generator[str, Result, None]
"""Batches, the likeliest to tell first; each is answered by what came of it."""


class _Looks:
    """The batches that are otherwise than one.

    Args:
        best: the batch with which the program came furthest, and how it ended.

    Attributes:
        is_rough: whether several things are otherwise at once, so that another end tells nothing of one.
    """

    def __init__(self, best: Tried) -> None:
        self._best = best.found
        self._things: list[Thing] = parts_of(best.answer)
        self.is_rough = False

    def all(self) -> _Look:
        """Another number of samples; then, where it is not of the code alone, other sizes and axes, or other types."""
        kind = self._best["end"]["kind"]
        firsts = {shape[0] for _, _, shape in self._things if shape}
        if len(firsts) == 1:
            size = firsts.pop()
            yield said([(name, dtype, (2 * size + 1, *shape[1:])) for name, dtype, shape in self._things])
        if kind == "code":
            return
        self.is_rough = True
        numbers = yield from self._with_a_part()
        self.is_rough = False
        if kind == "mixed":
            for other in _FLOATS:
                things = [(name, other if dtype in _FLOATS else dtype, shape) for name, dtype, shape in self._things]
                yield said(things)
        for number in numbers:
            yield from self._of_types(number) if kind == "mixed" else self._of_shapes(number, alone=len(numbers) == 1)
        if kind != "mixed":
            yield from self._of_sides(numbers)

    def _with_a_part(self) -> Generator[str, Result, list[int]]:
        """The numbers of the things that have a part in the end: all but those that may be anything else."""
        numbers = list(range(len(self._things)))
        if len(numbers) > 1 and self._is_same((yield self._strangely(numbers[1:]))):
            return numbers[:1]
        found = numbers[:1] if len(numbers) > 2 else numbers
        self.is_rough = self._best["end"]["kind"] != "mixed"
        for number in numbers[1:] if len(numbers) > 2 else ():
            if not self._is_same((yield self._strangely([number]))):
                found.append(number)
        return found

    def _strangely(self, numbers: list[int]) -> str:
        """Things of other types, or with one axis more of which each is longer, whatever tells of the end."""
        if self._best["end"]["kind"] == "mixed":
            strange = [
                (name, "int64" if dtype in _KINDS[0] else "float32", shape) for name, dtype, shape in self._things
            ]
        else:
            strange = [(name, dtype, (*(2 * side + 1 for side in shape), _MORE)) for name, dtype, shape in self._things]
        return said([strange[n] if n in numbers else own for n, own in enumerate(self._things)])

    def _is_same(self, found: Result) -> bool:
        return bool(mark(found) == mark(self._best))

    def _is_before(self, found: Result) -> bool:
        return reached(found) < reached(self._best)

    def _with(self, number: int, thing: Thing) -> str:
        return said([thing if n == number else own for n, own in enumerate(self._things)])

    def _of_types(self, number: int) -> _Look:
        """A thing of numbers of other types; of those that are taken alike one, where that is not taken."""
        name, dtype, shape = self._things[number]
        for kind in _KINDS:
            for other in kind:
                if other != dtype and self._is_before((yield self._with(number, (name, other, shape)))):
                    break

    def _of_shapes(self, number: int, *, alone: bool) -> _Look:
        """A thing with one longer side, and with more and fewer axes; of more samples than other things."""
        name, dtype, shape = self._things[number]
        for last in (_MORE, 1):
            if _is_for((yield self._with(number, (name, dtype, (*shape, last)))), last, unless="1"):
                break
        for other in ((*shape[:1], _MORE, *shape[1:]), shape[:-1], (*shape[:1], *shape[2:])):
            if other and other != shape:
                yield self._with(number, (name, dtype, other))
        for axis, side in enumerate(shape):
            if axis == 0 and alone:
                continue
            for longer in (2 * side + 1, side + 1):
                found = yield self._with(number, (name, dtype, (*shape[:axis], longer, *shape[axis + 1 :])))
                if self._is_same(found) or _is_for(found, longer):
                    break

    def _of_sides(self, numbers: list[int]) -> _Look:
        """Sides that are as long in several places, longer in all of them."""
        sides = [side for number in numbers for side in self._things[number][2][1:]]
        for side in dict.fromkeys(one for one in sides if sides.count(one) > 1):
            for longer in (2 * side + 1, side + 1):
                found = yield said([
                    (name, dtype, (*shape[:1], *(longer if one == side else one for one in shape[1:])))
                    for name, dtype, shape in self._things
                ])  # fmt: skip
                if self._is_same(found) or _is_for(found, longer):
                    break


def _is_for(found: Result, size: int, *, unless: str = "") -> bool:
    """Whether a run ended since a size is not the one that is wanted; `unless` that one."""
    figures = {str(one).strip("[]") for one in (found.get("end") or {}).get("compared") or ()}
    return str(size) in figures and unless not in figures
