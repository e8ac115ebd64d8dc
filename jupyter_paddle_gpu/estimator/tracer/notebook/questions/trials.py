"""Suggestions that hold: each is tried in a trace, and the first with which the training goes on is made."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from ... import own_faults
from ...patience import Patience
from ...undecided.descriptions import is_description, parts_of
from .documented import CODE, DOCUMENTED, NEAR
from .numbers import ASSUMED, LAYER, PRINTED
from .outer import ANY
from .suggestions import HELD
from .trying import order
from .trying.agreeing import agreeing
from .trying.ends import Ends, Tried, leaves_out, may_refuse_batch, refuses_behind
from .trying.looks import unavoidable

PATIENCE = Patience(150_000, 12.0)
"""After which no further suggestion is tried."""
UNTRIED = "untried"
"""Where a suggestion comes from for which there was no time."""
FURTHER = 6
"""Suggestions that are tried behind one with which only another question is open: of a batch, one that reaches the step
is better."""
MOST = 9
"""Questions that are looked for one behind the other."""
_RANKS = {"needs_input": 0, "no_model": 0, "no_package": 0, "static_graph": 0, "would_stop": 1, "ok": 2}
"""How good an end is with a suggestion: an error of Python's may be that of a batch which is not the notebook's."""
_MIXED = "(InvalidType) Type promotion"
"""What it says of tensors whose types it takes together no more."""
_REFUSES = "(InvalidArgument)"
"""What it says of shapes that do not go together: a statement is passed by for it, and the next question comes up."""
_OF_LOADER = "batch_unseen"
_TIME_UP = "time_up"
SURE_STOP = "sure_stop"
"""In `ends`: the program stops, whatever is answered."""
Result = dict[str, Any]


def suggested(
    request: dict[str, Any], result: Result, trace: Callable[[dict[str, Any]], Result], has_time: Callable[[], bool]
) -> Result:
    """The result with all questions that come up on the way to the step, each with what its answer may be.

    What is open no more once the others are answered is not asked. `ends` is the status with all that is suggested, or
    `SURE_STOP`.

    Args:
        has_time: whether there is time for another trace.
    """

    def tell(code: str, **params: Any) -> None:
        result["notes"] = [*result["notes"], {"code": code, "params": params}]

    return own_faults.without(lambda: _suggested(request, result, trace, has_time), result, tell)


def _suggested(
    request: dict[str, Any], result: Result, trace: Callable[[dict[str, Any]], Result], has_time: Callable[[], bool]
) -> Result:
    patience, runs = PATIENCE.begins(), _Runs(request, trace)
    known = dict(request.get("answers") or {})
    answers: dict[str, Any] = {}
    asked: list[Result] = []
    last: Result | None = None
    waiting = result["questions"]

    def goes_on() -> bool:
        return not patience.is_over(runs.operations) and has_time()

    while len(asked) < MOST and (question := _next(waiting, answers)) is not None:
        reached: list[int] = []
        seen: dict[str, Result] = {}

        def attempt(answer: Any, name: str = question["name"], reached: Any = reached, seen: Any = seen) -> Result:
            found: Result | None = seen.get(repr(answer))
            if found is None:
                seen[repr(answer)] = found = runs.with_answers({**answers, name: answer})
                reached.append(found.get("reached") or 0)
            return found

        can_look = question["kind"] == "batch" and all(map(is_description, answers.values()))
        looks = partial(_unavoidable, attempt=attempt, has_time=has_time) if can_look else None
        trials = _all_of(question, {**known, **answers}, attempt, goes_on, looks)
        held, ends = trials.held, trials.ends
        if looks is not None:
            sure, better = (trials.sure, None) if trials.sure is not None else looks(held, ends)
            if sure is not None:
                return sure
            held = held if better is None else (better.answer, ASSUMED, better.found)
            held = None if held is not None and _is_misnamed(held, min(reached)) else held
        asked.append(question)
        if held is None:
            if not ends.said():
                _leave_untried([question, *waiting])
            question["params"].update(ends.said())
            if trials.cuts and trials.cuts == question["params"].get("tried"):  # no answer leads on
                question.update(name="", why="tensor_between", params={"tensor": question["name"]})
            elif question["why"] == _OF_LOADER and (furthest := ends.furthest(min(reached, default=0))) is not None:
                question["suggestion"], question["params"]["source"] = furthest.answer, ASSUMED
                result["ends"] = furthest.found["status"]
            if question["suggestion"] is None and trials.left is not None and question["name"]:
                question["suggestion"], question["params"] = trials.left, {**question["params"], "source": UNTRIED}
                question["params"].pop("end", None)
                result["ends"] = "would_stop"  # for all that is known: another way may lead on
            waiting = _of_one_loader(question, waiting, answers)
            break
        answer, source, last = held
        answers[question["name"]] = question["suggestion"] = answer
        result["ends"] = SURE_STOP if stops_by_types(last, {**known, **answers}) else last["status"]
        question["params"]["source"] = source
        waiting = [] if last["status"] != "needs_input" else last["questions"]
    asked = _without_sides(asked, answers, last, runs, goes_on)
    if asked:
        open_still = [one for one in waiting if one["name"] not in {known["name"] for known in asked}]
        result["questions"] = [*asked, *open_still]
    _agree(asked, answers, last, runs, goes_on)
    return result


class _Runs:
    """Runs of the program with what is suggested for its questions.

    Attributes:
        operations: to which all of them came.
    """

    def __init__(self, request: dict[str, Any], trace: Callable[[dict[str, Any]], Result]) -> None:
        self._request, self._trace = request, trace
        self.operations = 0

    def with_answers(self, answers: dict[str, Any]) -> Result:
        """One more, with the answers of the request and these."""
        given = {**(self._request.get("answers") or {}), **answers}
        found = self._trace({**self._request, "answers": given, "accumulation": None})
        self.operations += found.get("reached") or 0
        return found


def _without_sides(
    asked: list[Result], answers: dict[str, Any], held: Result | None, runs: _Runs, goes_on: Callable[[], bool]
) -> list[Result]:
    """The questions without those for a side of a tensor that is described as a whole (`x_shape_1` beside `x`), which
    take nothing then; their answers go with them."""
    whole = {one["name"] for one in asked if one["kind"] == "batch" and one["suggestion"] is not None}
    sides = {one["name"] for one in asked if one["params"].get("part", "").partition(".shape")[0] in whole}
    others = {name: one for name, one in answers.items() if name not in sides}
    if held is None or held["status"] == "needs_input" or not sides or not goes_on():
        return asked
    if runs.with_answers(others)["status"] != held["status"]:
        return asked
    for name in sides:
        del answers[name]
    return [one for one in asked if one["name"] not in sides]


def _agree(
    asked: list[Result], answers: dict[str, Any], held: Result | None, runs: _Runs, goes_on: Callable[[], bool]
) -> None:
    """Suggest the sizes with which no later part of the program refuses those that were made up.

    Args:
        held: how it ended with the last answer.
    """
    made_up = frozenset(one["name"] for one in asked if one["params"].get("source") in {ASSUMED, LAYER})
    changed = None if held is None else agreeing(held, answers, made_up)
    if held is None or changed is None or not goes_on():
        return
    found = runs.with_answers(changed)
    if found["status"] == "ok" and _place_of(found.get("stop")) > _place_of(held["stop"]):
        for one in asked:
            one["suggestion"] = changed.get(one["name"], one["suggestion"])


def _place_of(stop: Result | None) -> tuple[float, float]:
    """Cell and line; behind all of them where nothing stops."""
    return (math.inf, math.inf) if stop is None else (stop["cell"], stop["line"])


_Held: TypeAlias = tuple[Any, str, Result]
_Looks: TypeAlias = Callable[[_Held | None, Ends], tuple[Result | None, Tried | None]]


class _Trials(NamedTuple):
    """What came of the candidates for one question: the one that is held, how all of them ended, how many cut the model
    off, and the first for which there was no time, or not enough."""

    held: _Held | None
    ends: Ends
    cuts: int
    left: Any = None
    sure: Result | None = None  # a stop that no answer avoids


def _all_of(
    question: Result, known: dict[str, Any], attempt: Callable[[Any], Result], goes_on: Callable[[], bool],
    looks: _Looks | None,
) -> _Trials:  # fmt: skip
    """Try the candidates for a question, the likeliest first, for as long as there is time; no more of them where
    `looks` at other batches show that none avoids what ended the first ones."""
    refused: list[tuple[int, Any, str, Result]] = []
    held: _Held | None = None
    last = cuts = 0
    candidates, ends, left = order.Order(question["candidates"]), Ends(), None
    for number, (answer, source) in enumerate(chain(candidates, ends.otherwise())):
        if not goes_on():
            left = answer if left is None else left
            break
        found = attempt(answer)
        if left is None and any(one["why"] == _TIME_UP for one in found["questions"]):
            left = answer
        is_file = question["why"] == "argument_absent"  # that documents name and that is here: no guess
        is_documented = source == DOCUMENTED and (is_file or not found.get("is_refusal"))
        leads_on = is_documented or _goes_on(found, {**known, question["name"]: answer}, question["kind"])
        cuts += (is_cut := _cuts(question, found))
        leads_on = leads_on and not is_cut and not (question["kind"] == "batch" and leaves_out(found))
        leads_on = leads_on and not _is_unfit(question, answer, source, found)
        if leads_on and (held is None or _rank(found, source) > _rank(held[2], held[1])):
            last = last if held is not None else number + FURTHER * (question["kind"] == "batch")
            held = answer, source, found
        if held is not None and (_rank(held[2], held[1]) == max(_RANKS.values()) or number >= last):
            break
        candidates.told(answer, found)
        ends.told(answer, source, found)
        if looks is not None and ends.are_telling() and (sure := looks(None, ends)[0]) is not None:
            return _Trials(None, ends, cuts, sure=sure)
        if source in {HELD, PRINTED} and found["status"] == "would_stop":
            refused.append((found.get("reached", 0), answer, source, found))
    if held is None and (alike := ends.alike()) is not None:
        held = alike
    # What was printed is so: the notebook stops with it, whatever shapes that nothing speaks of would fit.
    if refused and (held is None or held[1] == ASSUMED):
        held = max(refused, key=itemgetter(0))[1:]
    return _Trials(held, ends, cuts, left)


def _is_misnamed(held: _Held, least: int) -> bool:
    """Whether a batch of named things is a guess that the program's own code takes apart otherwise
    (`batch["graph"]["x"]`)."""
    answer, source, found = held
    is_guess = source == ASSUMED and found["status"] == "would_stop" and not found.get("is_refusal")
    return is_guess and found.get("reached", 0) <= least and any(name for name, *_ in parts_of(answer))


def _unavoidable(
    held: _Held | None, ends: Ends, attempt: Callable[[Any], Result], has_time: Callable[[], bool]
) -> tuple[Result | None, Tried | None]:
    """The stop that no batch avoids, where what was tried of one ended in none better; else a batch that leads to a
    step."""
    if held is not None and held[2]["status"] != "would_stop":
        return None, None
    tried = [*ends.tried, *([] if held is None else [Tried(*held)])]
    found, better = unavoidable(tried, attempt, has_time)
    if found is None:
        return None, better
    return {**found, "notes": [note for note in found["notes"] if note["code"] != "data_described"]}, None


def _leave_untried(questions: list[Result]) -> None:
    """Suggest the likeliest for each: there was no time to try one, nor will there be for another."""
    for one in questions:
        if one.get("candidates"):
            one["suggestion"], one["params"]["source"] = one["candidates"][0][0], UNTRIED


def _of_one_loader(question: Result, waiting: list[Result], answers: dict[str, Any]) -> list[Result]:
    """What is open behind a question that no trial answers. Of several loaders one is asked for: once it is described,
    the others give batches like it, and are asked for only where that does not do."""
    found, is_asked = [], question["why"] == _OF_LOADER
    for one in waiting:
        is_other = one["why"] == _OF_LOADER
        if one["name"] not in {question["name"], *answers} and not (is_other and is_asked):
            found.append(one)
            is_asked = is_asked or is_other
    return found


def _cuts(question: Result, result: Result) -> bool:
    """Whether a tensor that was described stands between the model and its loss: with it the model learns nothing."""
    return question["why"] == "tensor_unseen" and leaves_out(result)


def _is_unfit(question: Result, answer: Any, source: str, result: Result) -> bool:
    """Whether the program stops with what was made up, and says that it is for it: for words of a command line, for a
    file that only lies near, for a text or number that it names (`KeyError: 'data'`)."""
    if result["status"] != "would_stop" or source == DOCUMENTED:
        return False
    is_named = source in {CODE, ANY} and question["kind"] != "batch" and repr(answer) in result["stop"]["error"]
    return question["why"] == "words_missing" or source == NEAR or is_named


def _rank(result: Result, source: str) -> float:
    """How good an end is: a figure with which a loss compares each prediction with each label is hardly meant, unless
    the notebook shows that it is so, nor is an end on the way to which, or behind which, a shape is refused, and types
    that do not go together are rather those of the suggestion than the program's fault."""
    is_mixed = _MIXED in (result.get("stop") or {}).get("error", "")
    is_refused = result["status"] == "needs_input" and _REFUSES in (result.get("failed") or "")
    is_meant = source in {HELD, PRINTED} or not (result.get("is_spread") or is_refused or refuses_behind(result))
    return _RANKS[result["status"]] - 0.5 * (not is_meant) - 2 * is_mixed


def stops_by_types(result: Result, answers: dict[str, Any] | None) -> bool:
    """Whether the program stops for types that do not go together, and nothing but numbers is answered, which have no
    part in them: it is the program's own fault, whatever they are."""
    is_mixed = result["status"] == "would_stop" and _MIXED in result["stop"]["error"]
    return is_mixed and all(type(one) in {int, float} for one in (answers or {}).values())


def _named_in(result: Result, name: str) -> bool:
    """Whether the error that ends the program is one of a library's that names what was answered."""
    error = result["stop"]["error"]
    is_of_library = error.partition(":")[0].endswith(("ValidationError", "SettingsError"))
    return is_of_library and re.search(rf"(?i)\b{re.escape(name)}\b", error) is not None


def _next(waiting: list[Result], answers: dict[str, Any]) -> Result | None:
    """The question to answer next: numbers first, since models are made of them before loaders are read. A side of a
    shape that comes up behind a batch is a layer's of that batch (`rows = net(x).shape[2]`): known once the batch is.
    """
    found = [one for one in waiting if one.get("candidates") and one["name"] not in answers]
    first = next((number for number, one in enumerate(found) if one["why"] == _OF_LOADER), len(found))
    ahead = [one for number, one in enumerate(found) if number <= first or not one["params"].get("part")]
    return min(ahead, key=lambda one: one["kind"] == "batch", default=None)


def _goes_on(result: Result, answers: dict[str, Any], kind: str) -> bool:
    """Whether the step was reached, or only something else is open that can be answered, or installed. Behind a number
    that is what a batch looks like, too: suggestions for it need the model, which is made of that number."""
    if result["status"] == "would_stop" and any(_named_in(result, name) for name in answers):
        return False  # a library refuses what was answered, by its name
    if result["status"] == "ok" or (result["status"] == "would_stop" and not may_refuse_batch(result)):
        return True  # the notebook's own fault, behind what was answered
    if stops_by_types(result, answers):
        return True
    open_still = result["questions"]
    return bool(open_still) and all(
        one["why"] == "module_missing"
        or ((one.get("candidates") or (kind == "value" and one["kind"] == "batch")) and one["name"] not in answers)
        for one in open_still
    )


def takes_arrays(result: Result) -> bool:
    """Whether the program stops for an array where it wants a tensor, and a batch was described: which of both a loader
    gives that could not be made is not known here, and a way that makes it knows."""
    is_described = any(note["code"] == "data_described" for note in result["notes"])
    return result["status"] == "would_stop" and is_described and "ndarray" in result["stop"]["error"]


def is_settled(result: dict[str, Any], *, stops: bool) -> bool:
    """Whether there is a figure, a stop that hangs on nothing made up, or questions that each have a suggestion (which
    lead to a figure, where another way `stops` whatever is answered)."""
    if result["status"] == "needs_input":
        is_answered = all(one.get("suggestion") is not None for one in result["questions"])
        is_well = result.get("ends") == "ok" or (result.get("ends") != "would_stop" and not stops)
        return bool(result["questions"]) and is_answered and is_well
    return result["status"] == "ok" or not any(note["code"] == "data_followed" for note in result["notes"])


def openness(result: dict[str, Any]) -> tuple[bool, int, int, bool, int]:
    """How much of an answer is left to a person who has no data: what has no field is left wholly. A package can be
    installed; where another way does without it, and suggests what it asks for, it is not needed."""
    asked = result["questions"] if result["status"] == "needs_input" else []
    nothing = result["status"] == "no_model" or (result["status"] == "needs_input" and not asked)
    others = [one for one in asked if one["why"] != "module_missing"]
    no_field, no_suggestion = (sum(not one.get(part) for one in others) for part in ("name", "suggestion"))
    return nothing, no_field, no_suggestion, len(others) < len(asked), len(others)
