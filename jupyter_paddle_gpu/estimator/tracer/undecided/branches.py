"""Conditions on values that are not computed: both of their ways are followed, within a bound.

A decision belongs to the place in the user's code that takes it. The first trace goes the first way everywhere: an
`if` is entered unless it breaks, raises or goes on with the next turn, a `while` turns `TURNS` times unless it holds
the training step itself.
Further traces take one decision otherwise each, and further ones those that only then come up, until `MOST_TRACES` or
`PATIENCE` is reached.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import paddle

from .. import call_stack
from ..eager.dependent_shapes import LEAST, MOST, NOTES, SHARED, Choices, Numbers
from ..patience import Patience
from ..step.report import most_alive

MOST_TRACES = 4
"""Traces beside the first."""
PATIENCE = Patience(150_000, 15.0)
"""After which, over all traces, no further one is begun."""
TURNS = 4
"""Turns of a `while` whose condition is not known."""
VISITS = 64
"""Visits of another decision without an update in between, after which it goes the other way: a loop that it ends."""
Site = tuple[str, int, int]
"""File, line and instruction of a decision."""
Result = dict[str, Any]
STOP_IF_TOLD = "stop_if_told"
"""Of a result: where the notebook would end, if sizes and numbers that were assumed play no part in it."""
OTHER_NUMBERS = Numbers(1, -2.0, -1)
"""With which an error behind a training is looked at again: as places in a list they are mostly there."""
_OTHERWISE = (Numbers(1, 0.5, 1), Numbers(64, -2.0, -1))
"""Numbers for those that are not computed, with which a stop that hangs on none of them has the same sentence."""


Loop = tuple[bool, int]
"""What a condition comes to when the loop goes on, and how often it does."""


class Conditions(NamedTuple):
    """What a file's conditions are about, by line.

    Attributes:
        loops: conditions of `while`, and of an `if` that breaks or raises.
        quiet: conditions of quiet `if`s, with the names that must hold no tensor.
        firsts: of an `if`, what its condition comes to first where that is not True: one that goes on with the next
            turn (`if foreground.sum() == 0: continue`) does not, and a number that nobody knows is not 0
            (`if mask.sum() == 0: loss = paddle.zeros([1])`).
        choices: conditions of an `if` that neither breaks nor raises nor goes on with the next turn.
    """

    loops: dict[int, Loop]
    quiet: dict[int, set[str]]
    firsts: dict[int, bool]
    choices: set[int]


class Decisions:
    """What one trace decides. `taken` are the user's decisions in their order, with the way that was taken."""

    def __init__(self, forced: dict[Site, bool] | None = None, *, alternates: bool = False) -> None:
        """`alternates`: a condition is this and that in turn, as in a training that is followed for long."""
        self.forced = forced or {}
        self._alternates = alternates
        self._visits: Counter[Site] = Counter()
        self.taken: dict[Site, bool] = {}
        self.ends: Callable[[], None] = lambda: None
        """Ends the program where what it does next need not be known."""
        self.is_behind: Callable[[], bool] = lambda: False
        """Whether only errors are looked for: then no decision counts, and each is one way or the other (`is_turned`)
        all along: what fails both ways fails."""
        self.is_turned = False
        self._turns: dict[Site, tuple[int, int]] = {}
        self._known: dict[tuple[str, int], Conditions] = {}

    def decide(self, updates: int) -> bool:
        """The way to take at the place that asks; `updates` of optimizers have ended so far."""
        frame = call_stack.of_program()
        conditions = None if frame is None else self._read(frame.f_code.co_filename)
        if conditions and frame and frame.f_lineno in conditions.choices and self.is_behind():
            return conditions.firsts.get(frame.f_lineno, True) is not self.is_turned
        self.ends()
        if frame is None or conditions is None:
            return not is_way_out()
        file, line = frame.f_code.co_filename, frame.f_lineno
        loop = conditions.loops.get(line)  # a loop's condition is compiled twice: before the first turn, after each
        site = (file, line, 0 if loop else frame.f_lasti)
        way = self.taken.setdefault(site, self.forced.get(site, conditions.firsts.get(line, True)))
        if loop is None:
            self._visits[site] += self._alternates
            is_other = self._visits[site] > 0 and self._visits[site] % 2 == 0
            return way is not (is_other or self._is_turned_out(site, updates, VISITS))
        going_on, most = loop
        return (way and not self._is_turned_out(site, updates, most)) is going_on

    def _is_turned_out(self, site: Site, updates: int, most: int) -> bool:
        since, turns = self._turns.get(site, (updates, 0))
        turns = turns + 1 if since == updates else 1  # an update in between: the training loop itself
        over = turns > most
        self._turns[site] = (updates, 0 if over else turns)
        return over

    def is_quiet(self, frame: FrameType) -> bool:
        """Whether an `if` is decided that only keeps numbers, prints and saves: both ways take the same memory."""
        names = self._read(frame.f_code.co_filename).quiet.get(frame.f_lineno)
        if names is None:
            return False
        known = {**frame.f_globals, **frame.f_locals}
        return not any(isinstance(known.get(name), (paddle.Tensor, list, tuple, dict)) for name in names)

    def _read(self, file: str) -> Conditions:
        source = "".join(linecache.getlines(file))
        key = (file, hash(source))
        if key not in self._known:
            try:
                nodes = list(ast.walk(ast.parse(source)))
            except SyntaxError:
                nodes = []
            found = Conditions({}, {}, {}, set())
            for node in nodes:
                if not isinstance(node, (ast.While, ast.If)):
                    continue
                inverted = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
                if isinstance(node, ast.While) or isinstance(node.body[-1], (ast.Break, ast.Raise)):
                    most = TURNS if isinstance(node, ast.While) else TURNS - 1  # after a turn, not before one
                    turns = (isinstance(node, ast.While) is not inverted, most)
                    found.loops.update(dict.fromkeys(_lines(node.test), turns))
                    continue
                if isinstance(node.body[-1], ast.Continue):
                    found.firsts.update(dict.fromkeys(_lines(node.test), inverted))
                    continue
                found.choices.update(_lines(node.test))
                if _is_nothing(node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test):
                    found.firsts.update(dict.fromkeys(_lines(node.test), False))
                if all(map(_is_quiet, [*node.body, *node.orelse])):
                    names = {name for statement in [*node.body, *node.orelse] for name in _kept(statement)}
                    found.quiet.update(dict.fromkeys(_lines(node.test), names))
            self._known[key] = found
        return self._known[key]


Run = Callable[[Decisions, Choices], Result]
"""One trace, which decides so and takes so much of shapes that hang on values."""


def explored(run: Run, target: str) -> Result:
    """The largest of the traces that different decisions give, with their range in `extra`.

    Args:
        run: one trace.
        target: cpu or gpu: which transients count for the comparison.
    """
    patience = PATIENCE.begins()
    waiting: list[dict[Site, bool]] = [{}]
    results: list[Result] = []
    ways: list[dict[Site, bool]] = []
    traced = 0
    while waiting and len(results) <= MOST_TRACES and (not results or not patience.is_over(traced)):
        forced = waiting.pop(0)
        decisions = Decisions(forced)
        ways.append(forced)
        results.append(run(decisions, Choices()))
        traced += results[-1].get("reached", 0)
        waiting += [{**forced, site: not way} for site, way in decisions.taken.items() if site not in forced]
    joined = _joined(results, target, is_whole=not waiting)
    way = next(forced for forced, result in zip(ways, results, strict=True) if result is joined)
    return _widened(joined, way, run, target)


def _widened(result: Result, way: dict[Site, bool], run: Run, target: str) -> Result:
    """The trace with the least and the most that its unknown sizes may come to, in `extra["extents"]`.

    Args:
        way: how conditions were decided on the way to it.
    """
    stop = result.pop(STOP_IF_TOLD, None)
    if stop is not None and all(
        run(Decisions(way), Choices(LEAST, numbers)).get(STOP_IF_TOLD) == stop for numbers in _OTHERWISE
    ):
        result.update(status="would_stop", stop=stop)  # the same sentence, whatever the sizes and numbers are
    codes = {note["code"] for note in result["notes"]}
    if result["status"] != "ok" or not codes & {*NOTES, SHARED}:
        return result
    shown = peak(result, target)
    found = {"low": shown, "likely": shown, "high": shown}
    for end, other in (("low", LEAST), ("high", MOST)):
        if other == MOST and SHARED not in codes:
            continue
        again: Result | None = None
        with contextlib.suppress(Exception):  # the program may refuse other sizes: then that end is not known
            again = run(Decisions(), Choices(other))
        if again is not None and again["status"] == "ok" and again["optimizer"] == result["optimizer"]:
            found[end] = peak(again, target)
            result["seconds"] = {name: own + again["seconds"][name] for name, own in result["seconds"].items()}
    ends = sorted(found.values())
    result.setdefault("extra", {})["extents"] = {"low": ends[0], "likely": shown, "high": ends[-1]}
    return result


def _joined(results: list[Result], target: str, *, is_whole: bool) -> Result:
    best = min(map(_fault, results))
    good = [result for result in results if _fault(result) == best]
    if best == _NO_STEP:
        return _without_step(results, is_whole=is_whole)
    sizes = [peak(result, target) for result in good]
    largest = good[sizes.index(max(sizes))]
    if len(good) > 1:
        largest.setdefault("extra", {})["branches"] = {"low": min(sizes), "high": max(sizes), "ways": len(good)}
        for note in largest["notes"]:
            if note["code"] == "stand_in_branch":
                note.update(code="branches_followed", params={**note["params"], "ways": len(good)})
    refused = next((one["stop"] for one in results if _fault(one) == _NO_STEP and one.get("is_refusal")), None)
    if refused is not None:  # nobody knows that the condition ever comes to that; nor that it does not
        told = {"cell": refused["cell"] + 1, "line": refused["line"], "error": refused["error"]}
        largest["notes"].append({"code": "way_refused", "params": told})
    parts = [result["seconds"] for result in results]
    largest["seconds"] = {name: sum(part[name] for part in parts) for name in parts[0]}
    return largest


def _kind(stop: Result | None) -> Result | None:
    """Where an error is and what it says, but for its numbers."""
    return stop and {**stop, "error": re.sub(r"[-+]?\d[\d.]*", "#", stop["error"])}


def _without_step(results: list[Result], *, is_whole: bool) -> Result:
    """Why no way leads to a step: an error for certain where every way was followed (`is_whole`) and ends by it; else
    the error of the way that comes furthest, which is hardly the wrong one."""
    first = results[0]
    stop = first.get("stop")
    if stop is not None and is_whole and all(_kind(result.get("stop")) == _kind(stop) for result in results):
        first["questions"] = []
        return first
    if _ends_by(first) is None:
        return first
    furthest = max(filter(_ends_by, results), key=lambda result: result.get("reached", 0))  # of several the first
    if furthest.get("stop") is not None:
        furthest.update(status="needs_input", stop=None)
    return furthest


def _ends_by(result: Result) -> Result | None:
    """The error by which a way ends, also one that is sure only once sizes and numbers are known."""
    stop: Result | None = result.get("stop") or result.get(STOP_IF_TOLD)
    return stop


_NO_STEP = 2


def _fault(result: Result) -> int:
    """0 for a whole step, 1 for a first one only, 2 for none: a way that ends in an exception tells nothing."""
    if result["status"] != "ok":
        return _NO_STEP
    return int(any(note["code"] in {"few_steps", "step_cut"} for note in result["notes"]))


def peak(result: Result, target: str) -> int:
    """The most bytes alive at once in a traced step; of a GPU's transients the least."""
    return most_alive(result["storages"], result["operations"], target)


def is_way_out() -> bool:
    """Whether Paddle's own code asks if it may stop early, as L-BFGS does: nobody knows that training has converged; or
    whether numbers are out of bounds that nobody knows (`gaussian_nll_loss`), which a program that runs has not."""
    frame = call_stack.of_paddle()
    if frame is None:
        return False
    following = linecache.getline(frame.f_code.co_filename, frame.f_lineno + 1)
    return following.split(maxsplit=1)[:1] in (["break"], ["return"], ["raise"])


_HARMLESS = frozenset(
    (
        *("print", "save", "write", "flush", "info", "debug", "warning", "float", "round", "str", "format", "join"),
        *("item", "state_dict", "set_description", "set_postfix"),
    )
)
"""Calls that leave no tensor behind."""


def _is_nothing(test: ast.expr) -> bool:
    """Whether a condition is that something is 0; what is left of a division (`turn % 5 == 0`) often is."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq) or len(test.ops) > 1:
        return False
    sides = (test.left, *test.comparators)
    is_remainder = any(isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mod) for side in sides)
    return not is_remainder and any(isinstance(side, ast.Constant) and side.value == 0 for side in sides)


def _lines(node: ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_quiet(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return all(map(_is_quiet, [*statement.body, *statement.orelse]))
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr, ast.Pass)):
        return False
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return all(getattr(call, "attr", getattr(call, "id", "")) in _HARMLESS for call in calls)


def _kept(node: ast.AST) -> set[str]:
    """Names outside of calls."""
    if isinstance(node, ast.Call):
        return set()
    own = {node.id} if isinstance(node, ast.Name) else set()
    return own.union(*map(_kept, ast.iter_child_nodes(node)))
