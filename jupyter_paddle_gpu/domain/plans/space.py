"""The values that a sweep tries: lists and ranges as a person types them.

| typed | means |
|---|---|
| `0.1, 0.01` | these values |
| `16:64:16` | from 16 to 64 in steps of 16 |
| `32:128:x2` | from 32 to 128, each twice the one before |
| `1:4` | every whole number from 1 to 4 |
| `0.1:0.5` | any value between |
| `0.001:0.1:log` | any value between, evenly by orders of magnitude |
| `0.001:0.1:log5` | five of them |
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random

import msgspec

from ..errors import PaddleGpuError
from ..messages import Message
from ..notebooks import FactValue

MOST_VALUES = 1000
"""Values of one list or range: more are a mistyped step."""
MOST_TRIALS = 1000
"""Trials of one sweep."""
_WHY = {
    one.code: one
    for one in (
        Message(code="empty", text="nothing stands there"),
        Message(code="missing", text="a value is missing"),
        Message(code="order", text="a range goes from the smaller value to the larger one"),
        Message(code="log", text="orders of magnitude need values above 0"),
        Message(code="many", text="so many values are not tried"),
        Message(code="step", text="the step does not lead there"),
        Message(code="factor", text="the factor does not lead there"),
        Message(code="numbers", text="a range is of numbers"),
    )
}
_WORDS: dict[str, FactValue] = {"true": True, "false": False, "none": None}


class Dimension(msgspec.Struct, frozen=True, kw_only=True):
    """One name and the values that are tried for it.

    Attributes:
        name: of the notebook's variable, or of a what-if (`batch_size`).
        text: as it was typed.
        values: a list of choices; empty where any value from `low` to `high` is one.
        log: values between are spread evenly by orders of magnitude.
        what_if: it is asked for as a what-if, since the notebook has no variable for it.
        role: what the variable is to the training, where that is known.
    """

    name: str
    text: str = ""
    values: tuple[FactValue, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    what_if: bool = False
    role: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it has no list of values that a grid could go through."""
        return not self.values

    def pick(self, random: Random) -> FactValue:
        """A value by chance."""
        return random.choice(self.values) if self.values else self.at(random.random())

    def at(self, share: float) -> float:
        """The value of an open range at a share of it."""
        if self.log:
            value = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        return self.near(value)

    def near(self, value: float) -> float:
        """A value of an open range with no more digits than tell it from others: people read it."""
        return min(max(_short(value), self.low), self.high)


def parse(name: str, typed: str | Sequence[FactValue]) -> Dimension:
    """A dimension from what a person typed, or from a list of values. Raises `PaddleGpuError` (`sweep_values`, 400)."""
    if not isinstance(typed, str):
        if not typed:
            raise _wrong(name, "[]", "empty")
        return Dimension(name=name, text=", ".join(map(_written, typed)), values=_distinct(typed))
    text = typed.strip()
    if "," not in text and re.fullmatch(r"[^:'\"]+:[^:]+(:[^:]+)?", text):
        return _range(name, text)
    words = [word.strip() for word in text.split(",")]
    if not all(words):
        raise _wrong(name, text, "missing")
    return Dimension(name=name, text=text, values=_distinct([_value(word) for word in words]))


def grid(dimensions: Sequence[Dimension]) -> Iterator[dict[str, FactValue]]:
    """All combinations, the last name varying first. Raises `PaddleGpuError` (`sweep_open`, 400) for an open range."""
    for one in dimensions:
        if one.is_open:
            raise PaddleGpuError(
                "sweep_open",
                "A grid goes through lists, and “{name}” has any value from {low} to {high}.",
                hint="Name steps (`{low}:{high}:log5` takes five), or try some by chance or by Optuna.",
                name=one.name,
                low=_written(one.low),
                high=_written(one.high),
            )
    names = [one.name for one in dimensions]
    return (dict(zip(names, values, strict=True)) for values in product(*(one.values for one in dimensions)))


def size(dimensions: Sequence[Dimension]) -> int | None:
    """How many combinations there are; None where a range is open."""
    return None if any(one.is_open for one in dimensions) else math.prod(len(one.values) for one in dimensions)


def at_random(dimensions: Sequence[Dimension], trials: int, seed: int) -> list[dict[str, FactValue]]:
    """So many combinations by chance, none twice; fewer where there are no more."""
    random, found = Random(seed), []
    seen: set[tuple[FactValue, ...]] = set()
    most = size(dimensions)
    for _ in range(100 * trials):
        one = {dimension.name: dimension.pick(random) for dimension in dimensions}
        if (key := tuple(one.values())) not in seen:
            seen.add(key)
            found.append(one)
        if len(found) == trials or len(found) == most:
            break
    return found


def told(values: Mapping[str, FactValue]) -> str:
    """`lr 0.01 · batch 64`."""
    return " · ".join(f"{name} {_written(value)}" for name, value in values.items())


def _range(name: str, text: str) -> Dimension:
    first, last, *rest = (part.strip() for part in text.split(":"))
    low, high = _number(name, text, first), _number(name, text, last)
    if not low < high:
        raise _wrong(name, text, "order")
    step = rest[0] if rest else ""
    if found := re.fullmatch(r"log(\d*)", step):
        if low <= 0:
            raise _wrong(name, text, "log")
        shape = Dimension(name=name, text=text, low=low, high=high, log=True)
        if not found[1]:
            return shape
        count = int(found[1])
        if not 2 <= count <= MOST_VALUES:
            raise _wrong(name, text, "many")
        return Dimension(name=name, text=text, values=tuple(shape.at(n / (count - 1)) for n in range(count)))
    if not step:
        if isinstance(low, int) and isinstance(high, int):
            return Dimension(name=name, text=text, values=_steps(name, text, low, high, 1))
        return Dimension(name=name, text=text, low=low, high=high)
    if step.startswith(("x", "*")):
        return Dimension(name=name, text=text, values=_multiplied(name, text, low, high, _number(name, text, step[1:])))
    return Dimension(name=name, text=text, values=_steps(name, text, low, high, _number(name, text, step)))


def _steps(name: str, text: str, low: float, high: float, step: float) -> tuple[FactValue, ...]:
    if step <= 0:
        raise _wrong(name, text, "step")
    if (high - low) / step > MOST_VALUES:
        raise _wrong(name, text, "many")
    count = math.floor((high - low) / step + 1e-9)
    return tuple(_short(low + n * step) if isinstance(low + step, float) else low + n * step for n in range(count + 1))


def _multiplied(name: str, text: str, low: float, high: float, factor: float) -> tuple[FactValue, ...]:
    if factor <= 1 or low <= 0:
        raise _wrong(name, text, "factor")
    if math.log(high / low) / math.log(factor) > MOST_VALUES:
        raise _wrong(name, text, "many")
    values, value = [], low
    while value <= high * (1 + 1e-9):
        values.append(value if isinstance(value, int) else _short(value))
        value = value * factor
    return tuple(values)


def _number(name: str, text: str, word: str) -> float:
    value = _value(word)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise _wrong(name, text, "numbers")
    return value


def _value(word: str) -> FactValue:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return word
    return value if isinstance(value, (str, int, float, bool)) or value is None else word


def _distinct(values: Sequence[FactValue]) -> tuple[FactValue, ...]:
    """Without repetitions; 1 and True, 1 and 1.0 are different values of a program."""
    return tuple({(type(value), value): value for value in values}.values())


def _short(value: float) -> float:
    return float(f"{value:.4g}") if math.isfinite(value) else value


def _written(value: FactValue) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _wrong(name: str, text: str, why: str) -> PaddleGpuError:
    return PaddleGpuError(
        "sweep_values",
        "“{typed}” are no values for “{name}”: {why}.",
        hint="Write a list (`0.1, 0.01`) or a range (`32:128:x2`, `16:64:16`, `0.001:0.1:log`).",
        name=name[:100],
        typed=text[:100],
        why=_WHY[why],
    )
