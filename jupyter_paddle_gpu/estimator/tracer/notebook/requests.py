"""The way in: a notebook to a traced training step, as plain JSON values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import own_faults
from ..eager.tensors import Tensors
from ..patches.data.loaders import Loaders
from ..patches.processes.handed import Handed
from ..step.deadline import GIVEN_UP, Clock, Deadline, limited
from ..step.model_inputs import ModelInputs
from . import built_in, stages, what_ifs
from .beyond import draws, following, late_imports
from .beyond.code import Counted
from .cells import behind, late_rounds, programs
from .cells.helpers import Helpers
from .cells.loops import AlikeRounds, Loops, Statistics, TrainingLoops
from .cells.running import CellRun
from .cells.untaken import Asked, note
from .environment import as_in_job
from .evaluations import rounds_behind
from .literals import Sizes
from .outcomes import micro
from .outside import presumed
from .outside.surroundings import working_in
from .questions import batch_places, batch_words, started, trials, ways
from .questions.answers import blamed
from .questions.numbers import ASSUMED
from .questions.settings import SettingsFiles
from .questions.taken_apart import takes_one
from .questions.wording import OF_DATA, given_up_at
from .sites import Sites
from .syntax import parsed
from .traces import prepare, traced
from .trainings import Trainings


def trace_notebook(request: dict[str, Any]) -> dict[str, Any]:
    """Trace the training step of a notebook, several times where a condition's value is not known (see `branches`).

    Args:
        request: `cells` (list of {index, source}, masked sources), `folder`, `answers`, `environment` (variables beside
            those of this process), and the what-ifs `batch_size`, `amp`, `amp_dtype`, `accumulation`, `recompute`,
            `set_to_zero`, `target`. `wall_seconds`, `cpu_seconds` and `waiting_seconds` are the time that it may take
            (`step.deadline`). `training` is the id of the one that is meant, `alone` tells that nothing is wanted of
            those behind it. `files` are texts by path that are read in place of what these files of settings hold.
            `installs` tells that its cells install packages.

    Returns:
        The JSON shape of `estimator.trace.Trace`. Everything that can go wrong in the user's code is in `questions`
        and `notes`.
    """
    with as_in_job(request.get("environment") or {}):
        return _trace(request)


def _trace(request: dict[str, Any]) -> dict[str, Any]:
    asked = Asked()
    result = stages.fullest(request, lambda one: _traced(one, asked))
    if result.pop("is_between", False) and _traced({**request, "later": 1}, asked).get("stop") != result["stop"]:
        forgiven = _traced({**request, "forgives": True}, asked)  # it hangs on rounds of the trainings before
        result = max(forgiven, result, key=lambda one: bool(one.get("operations")))  # for which there may be no time
    found = result.pop("behind", None)
    if found is not None and result["status"] == "ok" and not result.get("stop"):
        # What hangs on how many rounds the loops had is another error then, or none.
        again = _traced({**request, "later": 1}, asked)
        result["stop"] = found["stop"] if found == again.get("behind") or found["stop"] == again.get("stop") else None
    result = draws.certain(result, lambda: _code(request), lambda number: _traced({**request, "draw": number}, asked))
    _by_answers(result, request)
    is_told = result["status"] == "ok" or (result["status"] == "needs_input" and bool(result["questions"]))
    open_still = result["questions"] if result["status"] == "needs_input" else ()
    untaken = note(request.get("answers") or {}, asked, open_still) if is_told else None
    return result if untaken is None else {**result, "notes": [*result["notes"], untaken]}


_OF_NAMES = re.compile(r"(Name|UnboundLocal|Import|ModuleNotFound|Syntax|Indentation)Error\b")
"""Errors that no answer changes."""


def _by_answers(result: dict[str, Any], request: dict[str, Any]) -> None:
    """Name in a stop the answers that it may hang on: a person's, and what was assumed beside them."""
    stop, answers = result.get("stop"), request.get("answers") or {}
    assumed = [note["params"]["answers"] for note in result["notes"] if note["code"] == "answers_assumed"]
    if stop is None or stop.get("device") or _OF_NAMES.match(stop["error"]) or trials.stops_by_types(result, answers):
        return
    if answers or assumed:
        named = blamed(answers, lambda other: _stopped({**request, "answers": other}) != stop["error"])
        stop["answers"] = ", ".join([*(f"{name}={answers[name]}" for name in named), *assumed])


def _stopped(request: dict[str, Any]) -> str | None:
    """The error with which a request stops."""
    stop = _traced(request, Asked()).get("stop")
    return None if stop is None else str(stop["error"])


def _beside(request: dict[str, Any]) -> dict[str, str]:
    """The sources by path of what the cells run and import."""
    return {**programs.sources(request["cells"], request.get("folder")), **Helpers.of(request["cells"]).sources}


def _code(request: dict[str, Any]) -> str:
    return "\n".join([*_sources(request), *_beside(request).values()])


def _sources(request: dict[str, Any]) -> list[str]:
    return [cell["source"] for cell in request["cells"]]


def _traced(request: dict[str, Any], names: Asked) -> dict[str, Any]:
    beside = _beside(request)
    sites, settings = Sites(request["cells"], beside), SettingsFiles()
    times = (request.get(name) or 0 for name in ("wall_seconds", "cpu_seconds", "waiting_seconds"))
    with limited(*times) as deadline:
        learned: dict[str, bool] = {}

        def once(scenario: what_ifs.Scenario) -> what_ifs.Run:
            with settings.followed(scenario.request.get("files") or {}):
                run = _run(scenario, deadline, sites, beside, names)
            if run.result.pop("foresaw_too_little", False):
                learned["differentiates_twice"] = True
            return run

        def trace(asked: dict[str, Any]) -> dict[str, Any]:
            """An imported module may be what asks for gradients of gradients: its first forward pass was another."""
            known = dict(learned)
            result = what_ifs.applied({**asked, **known}, once, several=sites.are_several)
            if _trains_unread(result, sites):
                result = what_ifs.applied({**asked, **learned}, once, several=sites.are_several)
            if learned == known:
                return result
            return what_ifs.applied({**asked, **learned}, once, several=sites.are_several)

        has_time, program = Clock(request, deadline).has_time, _Program(trace, sites, settings)
        result = following.told(_with_batch(request, program), {**request, **learned}, once, sites)
        code = (*_sources(request), *beside.values())
        as_it_is = request, result
        request, result = presumed.behind(request, result, trace, code, may_train=bool(sites.all))
        traced_so = ways.Traced(trace, lambda asked: _with_batch(asked, program), has_time)
        result = ways.with_all_trainings(request, result, traced_so)
        if (way := result.pop("way", None)) is not None:
            result = following.told(result, {**request, **learned, **way}, once, sites)
        hides = _hides_a_training(result) or trials.takes_arrays(result)
        if result["status"] != "needs_input" and not hides:
            return _with_paths(late_imports.told(result, request, sites))
        if result["status"] == "needs_input" and not _wants_data(result):
            tried: list[dict[str, Any]] = []

            def tracing(asked: dict[str, Any]) -> dict[str, Any]:
                tried.append(trace(asked))
                return tried[-1]

            found = trials.suggested(request, result, tracing, has_time)
            is_answerable = all(one.get("suggestion") is not None for one in found["questions"])
            if is_answerable or not any(map(_wants_data, tried)):
                return _with_paths(found)
            # Behind what was asked, data is wanted: the ways that go on without it come further.
        found = ways.without_data(request, result, traced_so, may_train=bool(sites.all))
        if request is not as_it_is[0] and presumed.leads_nowhere(found):
            other = ways.without_data(*as_it_is, traced_so, may_train=bool(sites.all))
            request, found = (request, found) if presumed.leads_nowhere(other) else (as_it_is[0], other)
        found = _within_limit(request, found, trace)
        if found["status"] != "needs_input":
            found = following.told(found, {**request, **learned, **found.pop("way", {})}, once, sites)
        return _with_paths(found)


def _trains_unread(result: dict[str, Any], sites: Sites) -> bool:
    """Whether a cell trains in a way that reading it does not tell, and another one behind it: then both are looked
    for."""
    place = result.get("where") if result["status"] == "ok" and not sites.are_several else None
    return place is not None and sites.seen_in(place["cell"])


def _hides_a_training(result: dict[str, Any]) -> bool:
    """Whether nothing is asked and the code's training was not reached for want of data all the same (a loader of files
    in a folder that is not here is empty, a checkpoint says with which epoch a loop begins): a way that goes on within
    functions comes further."""
    lacks_data = any(note["code"].startswith(("data_", "weights_absent")) for note in result["notes"])
    return result["status"] == "no_model" and not result.get("is_idle") and lacks_data


MOST_PATHS = 2
"""Files and folders that are asked for at a time."""


def _with_paths(result: dict[str, Any]) -> dict[str, Any]:
    """The result with a question for where files are, if something is open for which the notebook suggests nothing."""
    result.pop("starts", None)
    for name in ("is_idle", "looked_for", "is_for_want"):
        result.pop(name, None)
    paths, asked = result.pop("paths", [])[:MOST_PATHS], result["questions"]
    given_up = [note["params"] for note in result["notes"] if note["code"] == GIVEN_UP]
    result["notes"] = [note for note in result["notes"] if note["code"] != GIVEN_UP]
    is_near = any(one["suggestion"] for one in paths)
    is_open = any(one["suggestion"] is None or (is_near and one["params"].get("source") == ASSUMED) for one in asked)
    if result["status"] == "needs_input" and paths and is_open:
        others = [one for one in asked if one["why"] != "file_missing" or one["name"]]
        result["questions"] = [*paths, *others]
        if not others:  # nothing else can be said in its place
            result["questions"] = [{**one, "params": {**one["params"], "alone": "yes"}} for one in paths]
    asked = result["questions"]
    if result["status"] == "needs_input" and given_up and all(one["suggestion"] is None for one in asked):
        # Files alone lead no further: with them the same code runs before the first step.
        result["questions"] = [given_up_at(**given_up[0]), *asked]
    return result


MOST_ASKED = 3
"""Answers that are asked for; what is open beyond them is assumed, and said to be so."""


def _within_limit(
    request: dict[str, Any], result: dict[str, Any], trace: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """The result with no more questions than a person is willing to answer."""
    left = MOST_ASKED - len(request.get("answers") or {})
    asked = result["questions"] if result["status"] == "needs_input" else []
    if not asked or any(one.get("suggestion") is None for one in asked) or len(asked) <= left:
        return result
    if left > 0:
        return {**result, "questions": asked[:left]}
    assumed = {one["name"]: one["suggestion"] for one in asked}
    way: dict[str, Any] = result.get("way") or {}
    found = trace({**request, **way, "answers": {**(request.get("answers") or {}), **assumed}})
    if found["status"] == "needs_input":
        return result
    said = ", ".join(f"{name}={value}" for name, value in assumed.items())
    way = {**way, "answers": {**(request.get("answers") or {}), **assumed}}  # the way is shared by all requests
    return {**found, "way": way, "notes": [*found["notes"], {"code": "answers_assumed", "params": {"answers": said}}]}


class _Program(NamedTuple):
    """What is traced.

    Attributes:
        trace: traces it under a request.
        sites: where the cells train, so that a way that passes all of it by is not taken for one where nothing trains.
        settings: the files of settings that it has read.
    """

    trace: Callable[[dict[str, Any]], dict[str, Any]]
    sites: Sites
    settings: SettingsFiles


def _wants_data(result: dict[str, Any]) -> bool:
    """Whether data or a module is not here."""
    is_told = result["status"] == "needs_input" and any(note["code"] == "data_absent" for note in result["notes"])
    return is_told or any(one["why"] in OF_DATA or one["why"].endswith("_unseen") for one in result["questions"])


def _with_batch(request: dict[str, Any], program: _Program) -> dict[str, Any]:
    """The trace at the batch size that is asked for. Where the step does not follow the usual names and loaders, what
    sizes its batch is looked for, and changed in the cells: one further trace. `seeks_batch` asks where that may be,
    and for no further trace: who asks changes the cells."""
    result = program.trace(request)
    if not (request.get("batch_size") or request.get("seeks_batch")) or result["status"] != "ok":
        return result

    def tell(code: str, **params: Any) -> None:
        result["notes"] = [*result["notes"], {"code": code, "params": params}]

    read = dict(program.settings.read)

    def resized() -> dict[str, Any]:
        return _resized(request, result, program, read)

    return own_faults.without(resized, result, tell, code=own_faults.BATCH)


def _resized(
    request: dict[str, Any], result: dict[str, Any], program: _Program, read: dict[str, bytes]
) -> dict[str, Any]:
    beside = program.sites.beside.values()
    asked = request.get("batch_size")
    kept = next((note["params"] for note in result["notes"] if note["code"] == "batch_size_kept"), None)
    present = kept["found"] if kept else result.get("own_batch_size") if asked else result["batch_size"]
    if request.get("seeks_batch"):
        scripts = programs.sources(request["cells"], request.get("folder"))
        request = {**request, "cells": started.as_typed(request["cells"], scripts)}
    found = batch_places.places(request["cells"], present, beside, read) if present else []
    if request.get("seeks_batch"):
        if asked and present == micro(asked, request):  # names of it were bound: what it is by itself is not known
            found = list(dict.fromkeys([*found, *batch_places.only_setting(read)]))
        for size in dict.fromkeys(one.get("own_batch_size") or one["batch_size"] for one in result.get("others", ())):
            if size and size != present:  # which of the trainings is changed is known to who asks
                found = [*found, *batch_places.places(request["cells"], size, beside, read)]
        return {**result, "batch_candidates": batch_places.as_data(found)}
    if asked and kept and found:
        for tried in batch_words.attempts(found):
            counts = batch_places.counting(found, tried)
            changed = batch_places.changed(request, tried, counts, (kept["found"], micro(asked, request)), read)
            again = program.trace({**request, **changed})
            is_kept = any(note["code"] == "batch_size_kept" for note in again["notes"])
            if again["status"] == "ok" and not is_kept and batch_places.is_batch_alone(tried, result, again):
                followed = again.get("counted", ())
                result, found = again, [*tried, *(one for one in counts if (one.cell, one.line) in followed)]
                break
        else:
            return result
    else:
        found = batch_words.of_training(found)
    result["batch_from"] = batch_places.as_data(found)
    return result


def _run(
    scenario: what_ifs.Scenario, deadline: Deadline, sites: Sites, beside: dict[str, str], names: Asked
) -> what_ifs.Run:
    """One run of a notebook."""
    prepare()  # before what the process has is looked at: a run leaves it so
    request, change = scenario.request, scenario.change
    code = [*request["cells"], *({"index": -1, "source": source} for source in beside.values())]
    answers = dict(request.get("answers") or {})
    size = request.get("batch_size")
    if size:
        size = micro(size, request)
        answers.update({name: size for name in what_ifs.BATCH_SIZE_NAMES if _assigns(code, name)})
    source = "\n".join(cell["source"] for cell in code)
    sizes = Sizes(change, source) if change is not None and scenario.binds_names else None
    rounds = rounds_behind(code)
    is_beyond = bool(request.get("beyond"))
    sums = (request.get("accumulation") or 1) > 1
    is_all = is_beyond or sums or rounds > 0
    loops = Loops(sites) if is_all else Statistics() if "datasets" in source else None
    follows = scenario.change is None and scenario.probe is None and not (request.get("absorbs") or is_beyond or sums)
    goes_on = follows and behind.goes_on(cell["source"] for cell in request["cells"])
    has_rest = goes_on or (follows and behind.is_any(cell["source"] for cell in code))
    left = TrainingLoops(sites) if has_rest and not is_all else None
    late = late_rounds.rewriting(has_rest)
    counted, steady = Counted() if is_beyond else None, AlikeRounds(sites, [cell["source"] for cell in code])
    rewriting = tuple(one for one in (sizes, *late, steady, left, loops, counted) if one is not None)
    run = CellRun(
        request["cells"], answers, rewriting, sites=sites, beside=beside, trainings=_trainings(request, sites),
        absorbs=bool(request.get("absorbs")), follows=bool(request.get("follows")),
        in_loops=bool(request.get("in_loops")), catches=not request.get(presumed.CAUGHT), asked=names,
        built_in=built_in.NAMES,
    )  # fmt: skip
    run.follows_rest, run.has_rest, run.goes_on = follows, has_rest, goes_on
    run.found.forgives = bool(request.get("forgives"))
    run.found.candidates.printed, run.found.candidates.held = request.get("printed") or {}, request.get("held") or {}

    def execute(session: Tensors) -> None:
        session.put(deadline)
        presumed.told(session, request)
        session.of(Handed).trains = sites.trains_in
        session.of(Loaders).takes_one = lambda name: takes_one(map(parsed, run.found.sources), name)
        with run.begun.run(), built_in.known(run.in_place.of_text, run.absorbs), working_in(request.get("folder")):
            run.run(session)

    draws.alike(request.get("draw") or 0)
    runtime, result = traced(execute, scenario, run, rounds=rounds)
    if is_beyond:
        return what_ifs.Run(result)
    seen, has_loader = runtime.of(ModelInputs), bool(runtime.of(Loaders).seen_batch_sizes)
    return what_ifs.Run(result, seen.image, seen.sequence, run.found.failures, has_loader, run.trained_in)


def _trainings(request: dict[str, Any], sites: Sites) -> Trainings | None:
    if not sites.are_several or request.get("beyond"):
        return None
    asked, target = request.get("training"), request.get("target") or "gpu"
    least, alone = request.get("least") or 1, bool(request.get("alone"))
    return Trainings(sites, asked, alone=alone, least=least, target=target)


def _assigns(cells: list[dict[str, Any]], name: str) -> bool:
    return any(line.replace(" ", "").startswith(f"{name}=") for cell in cells for line in cell["source"].splitlines())
