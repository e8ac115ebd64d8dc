"""Conditions on values that are not computed: both of their ways are followed, within a bound.

A decision belongs to the place in the user's code that takes it. The first trace goes the first way everywhere: an
`if` is entered, a `while` turns `TURNS` times unless it holds the training step itself. Further traces take one
decision otherwise each, and further ones those that only then come up, until `MOST_TRACES` or `PATIENCE` is reached.
"""

from __future__ import annotations

import ast
import linecache
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import paddle

MOST_TRACES = 4
"""Traces beside the first."""
PATIENCE = 10.0
"""Seconds after which no further trace is begun."""
TURNS = 4
"""Turns of a `while` whose condition is not known."""
Site = tuple[str, int, int]
"""File, line and instruction of a decision."""
Result = dict[str, Any]
_NOT_THE_USERS = (str(Path(__file__).parent), str(Path(paddle.__file__).parent))


class Decisions:
    """What one trace decides. `taken` are the user's decisions in their order, with the way that was taken."""

    def __init__(self, forced: dict[Site, bool]) -> None:
        self.forced = forced
        self.taken: dict[Site, bool] = {}
        self._turns: dict[Site, tuple[int, int]] = {}

    def decide(self, updates: int) -> bool:
        """The way to take at the place that asks; `updates` of optimizers have ended so far."""
        frame = _asking()
        if frame is None:
            return True
        file, line = frame.f_code.co_filename, frame.f_lineno
        turns = _is_while(file, line)  # its condition is compiled twice: before the first turn and after each
        site = (file, line, 0 if turns else frame.f_lasti)
        way = self.taken.setdefault(site, self.forced.get(site, True))
        return way and not (turns and self._is_turned_out(site, updates))

    def _is_turned_out(self, site: Site, updates: int) -> bool:
        since, turns = self._turns.get(site, (updates, 0))
        turns = turns + 1 if since == updates else 1  # an update in between: the training loop itself
        over = turns > TURNS
        self._turns[site] = (updates, 0 if over else turns)
        return over


current = Decisions({})
"""The decisions of the running trace."""


def begin(forced: dict[Site, bool]) -> Decisions:
    """Start a run's decisions."""
    global current  # noqa: PLW0603
    current = Decisions(forced)
    return current


def explored(run: Callable[[], Result], target: str) -> Result:
    """The largest of the traces that different decisions give, with their range in `extra`.

    Args:
        run: one trace.
        target: cpu or gpu: which transients count for the comparison.
    """
    started = time.monotonic()
    waiting: list[dict[Site, bool]] = [{}]
    results: list[Result] = []
    while waiting and len(results) <= MOST_TRACES and (not results or time.monotonic() - started < PATIENCE):
        forced = waiting.pop(0)
        decisions = begin(forced)
        results.append(run())
        waiting += [{**forced, site: not way} for site, way in decisions.taken.items() if site not in forced]
    begin({})
    return _joined(results, target)


def _joined(results: list[Result], target: str) -> Result:
    best = min(map(_fault, results))
    good = [result for result in results if _fault(result) == best]
    if best == _NO_STEP:
        return results[0]
    sizes = [peak(result, target) for result in good]
    largest = good[sizes.index(max(sizes))]
    if len(good) > 1:
        largest["extra"] = {"branches": {"low": min(sizes), "high": max(sizes), "ways": len(good)}}
        for note in largest["notes"]:
            if note["code"] == "stand_in_branch":
                note.update(code="branches_followed", params={**note["params"], "ways": len(good)})
    parts = [result["seconds"] for result in results]
    largest["seconds"] = {name: sum(part[name] for part in parts) for name in parts[0]}
    return largest


_NO_STEP = 2


def _fault(result: Result) -> int:
    """0 for a whole step, 1 for a first one only, 2 for none: a way that ends in an exception tells nothing."""
    if result["status"] != "ok":
        return _NO_STEP
    return int(any(note["code"] == "few_steps" for note in result["notes"]))


def peak(result: Result, target: str) -> int:
    """The most bytes alive at once in a traced step; of a GPU's transients the least."""
    transient = 5 if target == "cpu" else 6
    operations = result["operations"]
    change = [0] * (len(operations) + 3)
    for size, start, end, *_ in result["storages"]:
        change[start + 1] += size
        change[end + 2] -= size
    alive, most = change[0], 0
    for now, operation in enumerate(operations):
        alive += change[now + 1]
        most = max(most, alive + operation[transient])
    return most


def _asking() -> FrameType | None:
    """The user's frame that asks; None where Paddle's own code does."""
    frame: FrameType | None = sys._getframe(1)
    own, paddles = _NOT_THE_USERS
    while frame is not None and frame.f_code.co_filename.startswith(own):
        frame = frame.f_back
    return None if frame is None or frame.f_code.co_filename.startswith(paddles) else frame


_loops: dict[tuple[str, int], frozenset[int]] = {}


def _is_while(file: str, line: int) -> bool:
    """Whether the line belongs to the condition of a `while`."""
    source = "".join(linecache.getlines(file))
    key = (file, hash(source))
    if key not in _loops:
        _loops[key] = frozenset(_lines_of_conditions(source))
    return line in _loops[key]


def _lines_of_conditions(source: str) -> Iterable[int]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.While):
            yield from range(node.test.lineno, (node.test.end_lineno or node.test.lineno) + 1)
