"""How a notebook is run whose data is not here: the ways that go on without it, and the answer of the one that asks
least."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...patches import absent_modules
from ..trainings import learns
from . import trials
from .numbers import ASSUMED
from .shapes import stated
from .wording import OF_DATA

Result = dict[str, Any]

_WAYS: tuple[dict[str, bool], ...] = ({"absorbs": True, "follows": True}, {"absorbs": True}, {})
"""The ways, the one that asks least first."""
_MOST_SAID = 80
"""Characters of a comment that a question repeats."""
_IN_LOOPS = {"absorbs": True, "follows": True, "in_loops": True}


class Traced(NamedTuple):
    """What is run.

    Attributes:
        trace: traces it under a request.
        batched: the same at the batch size that is asked for.
        has_time: whether there is time for another trace.
    """

    trace: Callable[[Result], Result]
    batched: Callable[[Result], Result]
    has_time: Callable[[], bool]


def without_data(request: Result, result: Result, traced: Traced, *, may_train: bool) -> Result:
    """The answer of the way that asks least; of open questions what their answers may be.

    Args:
        result: that of a run that goes on behind a cell's statements only.
        may_train: whether the cells train, so that a way that passes all of it by is not taken for one where nothing
            trains.
    """
    found: list[Result] = []
    fetches = any(one["why"] == "download" for one in result["questions"])  # a way goes on with where it would lie
    for way in _WAYS:
        if found and not traced.has_time():
            break
        asked = {**request, **way}
        one = traced.batched(asked) if way else result
        if one["status"] == "needs_input":
            one = {**trials.suggested(asked, one, traced.trace, traced.has_time), "way": way}
            if one["status"] == "would_stop":  # whatever the batch is
                return one
        is_nothing = one["status"] == "no_model" and not one.get("is_idle")
        hides_one = is_nothing and (may_train or one.get("starts") or fetches)
        stops = any(trials.stops_by_types(other, asked.get("answers")) for other in found)
        if trials.is_settled(one, stops=stops) and not hides_one:
            return _or_by_shapes(request, {**one, "way": way}, traced)
        found.append(one)
    best = _or_by_shapes(request, min(found, key=trials.openness), traced)
    return _or_its_modules(result, best)


def with_all_trainings(request: Result, result: Result, traced: Traced) -> Result:
    """A figure with the trainings that hang on data which is not here: the answer of the way that reaches more of them,
    or, where that has to ask, the figure as it is with these questions beside it.

    Args:
        result: that of a run with a figure.
    """
    if not _leaves_out(request, result) or not traced.has_time():
        return result
    further = {**request, "least": sum(map(learns, (result, *result["others"]))) + 1}
    found = without_data(further, {**result, "status": "needs_input"}, traced, may_train=True)
    if found["status"] == "ok":
        return {**found, "stop": found.get("stop") or result.get("stop")}
    asked = [one for one in found["questions"] if one["name"]]
    if found.get("ends") != "ok" or not asked or any(one.get("suggestion") is None for one in asked):
        return result
    others = [one for one in result["questions"] if not one["why"].endswith("_unseen")]
    return {**result, "questions": [*others, *asked]}


def _leaves_out(request: Result, result: Result) -> bool:
    """Whether a figure is without a training of the notebook for want of data: a job comes to it."""
    if result["status"] != "ok" or not result.get("unreached") or request.get("training"):
        return False
    stop = result.get("stop")
    is_ended = stop is not None and not stop.get("device")
    lacks_data = any(one["why"] in OF_DATA or one["why"].endswith("_unseen") for one in result["questions"])
    return lacks_data and not is_ended


def _or_by_shapes(request: Result, best: Result, traced: Traced) -> Result:
    """The best way's answer; where it asks for what nothing tells, or suggests a guess, that of a run with the shapes
    that words beside arrays say, else of a way which goes on within the rounds of all loops, if it has a figure: shapes
    may stand behind what a round lacks."""
    asked = best["questions"] if best["status"] == "needs_input" else []
    is_open = best["status"] == "needs_input" and not asked
    is_open = is_open or any(one.get("suggestion") is None or one["params"].get("source") == ASSUMED for one in asked)
    if not is_open or not traced.has_time():
        return best
    if (by_words := _as_stated(request, best, traced)) is not None:
        return by_words
    if not traced.has_time():
        return best
    found = traced.batched({**request, **_IN_LOOPS})
    return {**found, "way": _IN_LOOPS} if found["status"] == "ok" else best


def _as_stated(request: Result, best: Result, traced: Traced) -> Result | None:
    """The best answer with questions for the arrays whose shapes stand in words, where these lead to a figure; None
    where there are none, or they do not."""
    known = request.get("answers") or {}
    said = [one for one in stated.arrays(request["cells"]) if one.name not in known]
    if not said:
        return None
    answers = {one.name: one.text for one in said}
    found = traced.trace({**request, "answers": {**known, **answers}})
    if found["status"] != "ok":
        return None
    taken = "\n".join(str(note["params"].get("answers")) for note in found["notes"] if note["code"] == "data_described")
    asked = [one for one in said if f"{one.name}={one.text}" in taken]
    return {
        **best,
        "status": "needs_input",
        "questions": list(map(_question, asked)),
        "paths": [],
        "ends": "ok",
        "way": {},
    }


def _question(one: stated.Stated) -> Result:
    params = {"file": "", "source": "stated", "said": one.said[:_MOST_SAID]}
    place = {"cell": one.cell, "line": one.line, "holders": [one.name]}
    return {
        "name": one.name,
        "kind": "batch",
        "why": "tensor_unseen",
        "suggestion": one.text,
        "params": params,
        **place,
    }


def _or_its_modules(result: Result, best: Result) -> Result:
    """The best way's answer, or, where it suggests nothing that leads on, the modules that the program stopped for,
    those that it went without where no model is known, or those of which it took numbers: they hold what would tell,
    and can be installed."""
    asked = best["questions"] if best["status"] == "needs_input" else []
    left = [one for one in asked if one.get("suggestion") is None or "end" in one["params"]]
    lacking = [one for one in result["questions"] if one["why"] == "module_missing"]
    batches = [one for one in left if one["kind"] == "batch"]
    if not lacking and batches:
        is_bare = not all(one.get("candidates") for one in batches)
        absent = [
            one
            for one in best.get("absent_modules", ())
            if absent_modules.may_hold_a_model(one["module"]) and (is_bare or one["is_wanted"])
        ]
        lacking = [_of_module(one) for one in absent]
    return {**result, "questions": lacking, "paths": []} if lacking and left else best


def _of_module(absent: Result) -> Result:
    place = {"cell": absent["cell"], "line": absent["line"], "params": {"module": absent["module"]}}
    return {"name": "", "kind": "value", "why": "module_missing", "suggestion": None, **place}
