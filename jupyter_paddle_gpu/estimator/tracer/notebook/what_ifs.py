"""What-ifs that need a look at the program first: the size of images, the length of sequences, accumulation.

A short run (`probes`) tells what there is now. Then names of the notebook that hold the present size are bound to the
one asked for, as a person would edit it, and data is replaced where it arises (`resizing`); where that fails, in whole
batches only, and then without the names. A step that does not get what was asked for is no answer: the result says so
in place of a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any

from ..eager.dependent_shapes import LEAST, Choices
from ..step.model_inputs import Sequence
from ..step.probes import Probe
from ..step.report import versions
from ..step.resizing import Change
from ..undecided.branches import OTHER_NUMBERS, Decisions
from ..undecided.branches import explored as explored_ways
from .literals import numbers

BATCH_SIZE_NAMES = ("batch_size", "BATCH_SIZE", "batchsize", "BATCHSIZE", "bs", "BS", "train_batch_size")
"""Names that a batch size asked for is bound to, besides what loaders take."""
Result = dict[str, Any]
Request = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """One run: the request, what of it changes data, whether names of the notebook follow, or only a look."""

    request: Request
    change: Change | None = None
    binds_names: bool = False
    probe: Probe | None = None
    decisions: Decisions = field(default_factory=Decisions)
    choices: Choices = field(default_factory=Choices)
    otherwise: Choices = field(default_factory=partial(Choices, LEAST, OTHER_NUMBERS))
    """The same of a run that is to tell whether an error hangs on numbers that are not computed."""


@dataclass
class Run:
    """What came of it."""

    result: Result
    image: tuple[int, int] | None = None
    sequence: Sequence | None = None
    failures: list[Result] = field(default_factory=list)
    """Cells that raised, as questions; live objects have no cell."""
    loads: bool = False
    """Whether batches came from a loader."""
    cell: int | None = None
    """The cell that trains; None for live objects."""


def applied(request: Request, trace: Callable[[Scenario], Run], *, several: bool = False) -> Result:
    """The trace of a notebook under its request.

    Args:
        request: see `requests.trace_notebook`.
        trace: one run of the notebook.
        several: whether it may hold several trainings: what is asked for is then of the one that takes most.
    """
    sizes, steps = request.get("image_size") or request.get("sequence_length"), request.get("accumulation")
    if not (sizes or steps):
        return explored(Scenario(request), trace).result
    plain = {**request, "accumulation": None}  # sizes change nothing without a `Change`
    if several and request.get("training") is None:
        which = explored(Scenario(plain), trace).result.get("id")
        request, plain = {**request, "training": which}, {**plain, "training": which}
    probe = Probe(counts_steps=bool(steps))
    seen = trace(Scenario(plain, probe=probe))
    kept = None
    if steps:
        request, kept = _accumulated(request, steps, probe.accumulation, seen)
    result = _resized(request, seen, trace, probe) if sizes else explored(Scenario(request), trace).result
    if kept and result["status"] == "ok":
        result["notes"].append(kept)
    return result


def _accumulated(request: Request, steps: int, present: int, seen: Run) -> tuple[Request, Result | None]:
    """The request in multiples of what the notebook sums already, and a note where it is not quite what was asked."""
    factor, rest = divmod(steps, present)
    if rest:
        return {**request, "accumulation": None}, _note("accumulation_kept", asked=steps, found=present)
    request = {**request, "accumulation": factor}
    if factor == 1 or request.get("batch_size") or seen.loads:
        return request, None
    answers = request.get("answers") or {}
    named = [answers[name] for name in BATCH_SIZE_NAMES if isinstance(answers.get(name), int)]
    named += numbers(request["cells"], BATCH_SIZE_NAMES)
    if named:
        return {**request, "batch_size": named[-1]}, None
    return request, _note("batch_undivided", asked=factor)


def explored(scenario: Scenario, trace: Callable[[Scenario], Run]) -> Run:
    """The run that takes most of those that conditions on unknown values give; failures are the first one's."""
    runs: list[Run] = []

    def once(decisions: Decisions, choices: Choices) -> Result:
        runs.append(trace(replace(scenario, decisions=decisions, choices=choices)))
        return runs[-1].result

    result = explored_ways(once, scenario.request.get("target") or "gpu")
    chosen = next(run for run in runs if run.result is result)
    return Run(result, chosen.image, chosen.sequence, runs[0].failures, chosen.loads, chosen.cell)


def _resized(request: Request, seen: Run, trace: Callable[[Scenario], Run], probe: Probe) -> Result:
    image, length = request.get("image_size"), request.get("sequence_length")
    if probe.has_trained and image and seen.image is None:
        return _refused("no_images", asked=image)
    if probe.has_trained and length and seen.sequence is None:
        return _refused("no_sequences", asked=length)
    if not probe.has_trained:
        return explored(Scenario(request), trace).result  # its questions, or that nothing trains
    change = Change(
        (seen.image, image) if image and seen.image not in {None, (image, image)} else None,
        (seen.sequence, length) if length and seen.sequence and seen.sequence.length != length else None,
    )
    if change == Change():
        return explored(Scenario(request), trace).result
    problems = []
    for scenario in _ways(request, change):
        run = explored(scenario, trace)
        problem = _problem(run, request, seen)
        if problem is None:
            return run.result
        problems.append((not _is_reached(run, request), problem))
    # What a model says that was called with the size tells more than what its data's preparation says.
    return min(problems, key=itemgetter(0))[1]


def _ways(request: Request, change: Change) -> Iterator[Scenario]:
    batches = replace(change, in_samples=False)
    yield Scenario(request, change, binds_names=True)
    yield Scenario(request, batches, binds_names=True)
    yield Scenario(request, batches)
    if change.image is not None:
        yield Scenario(request, replace(batches, is_flat=True), binds_names=True)


def _is_reached(run: Run, request: Request) -> bool:
    """Whether the model was called with the size that is asked for."""
    image, length = request.get("image_size"), request.get("sequence_length")
    if image and run.image != (image, image):
        return False
    return not length or (run.sequence is not None and run.sequence.length == length)


def _problem(run: Run, request: Request, seen: Run) -> Result | None:
    """Why a run does not answer what was asked; None where it does."""
    image, length = request.get("image_size"), request.get("sequence_length")
    if run.result["status"] != "ok" or run.cell != seen.cell:
        known = {failure["cell"] for failure in seen.failures}
        new = [failure for failure in run.failures if failure["cell"] not in known]
        if new:
            # That of the cell that trains, where it fails; cells before it may have failed on the way to it.
            return _quoted(next((one for one in new if one["cell"] == seen.cell), new[0]), image, length)
        return _refused("size_unreached", asked=image or length)
    if (image and run.image is None) or (length and run.sequence is None):
        return _refused("size_unreached", asked=image or length)
    if image and run.image != (image, image):
        height, width = run.image or (0, 0)
        return _refused("image_kept", asked=image, height=height, width=width)
    if length and run.sequence and run.sequence.length != length:
        return _refused("sequence_kept", asked=length, found=run.sequence.length)
    return None


def _quoted(failure: Result, image: int | None, length: int | None) -> Result:
    """Where the notebook, or the live model, would stop with the size that is asked for."""
    code = "both_refused" if image and length else "image_refused" if image else "sequence_refused"
    stop = {"cell": failure["cell"], "line": failure.get("line"), "error": _said(failure)}
    note = _note(code, images=image or 0, length=length or 0)
    return {"status": "would_stop", "stop": stop, "questions": [], "notes": [note], "seconds": {}, **versions()}


def _said(failure: Result) -> str:
    params = failure["params"]
    if "problem" in params:
        return str(params["problem"])
    if "error" in params:
        return f"{params['error']}: {params['message']}"
    return ": ".join([failure["why"], *map(str, params.values())])


def _note(code: str, **params: Any) -> Result:
    return {"code": code, "params": params}


def _refused(code: str, **params: Any) -> Result:
    return {"status": "needs_input", "questions": [], "notes": [_note(code, **params)], "seconds": {}, **versions()}
