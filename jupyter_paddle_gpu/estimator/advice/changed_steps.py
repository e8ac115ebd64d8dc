"""Steps of a notebook with what-ifs in its cells, as a job will run them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from ...domain.changes import NOTHING_SEEN, Refusal, Rewriting, Seen
from ...domain.devices import Accelerator
from ...domain.estimates import Among, BatchPlace
from ...domain.messages import Message
from ...domain.notebooks import NotebookFacts, Place
from ...domain.what_ifs import WHAT_IFS, EstimateRequest
from ..memory.assemble import Peak
from ..sources.traces import Counts, Traced, Traces
from ..trace import Trace
from ..tracer.notebook.questions.batch_words import COUNTING, attempts
from ..translate import KEPT
from ..workers.interpreters import Interpreter

SOUGHT = frozenset(row.name for row in WHAT_IFS if row.sizes_batch)
"""What a search tries by the tracer alone: a data set of few samples in the cells limits none of its batches."""


class Rewrite(Protocol):
    """A notebook with a request's what-ifs in its cells."""

    def __call__(
        self,
        request: EstimateRequest,
        told: Container[str] = (),
        places: tuple[BatchPlace, ...] = (),
        among: Among | None = None,
    ) -> Rewriting:
        """Those in `told` are left to the tracer; `places` are numbers that a trace has seen to size the batch, `among`
        says which of several trainings is changed."""
        ...


def as_it_is(facts: NotebookFacts) -> Rewrite:
    """The cells stay: all what-ifs are left to the tracer."""

    def rewrite(
        request: EstimateRequest,
        told: Container[str] = (),
        places: tuple[BatchPlace, ...] = (),
        among: Among | None = None,
    ) -> Rewriting:
        return Rewriting(facts=facts, request=request)

    return rewrite


class ChangedSteps:
    """Traces of one notebook's changed cells.

    Attributes:
        places: what the traces so far have seen to size the batch, where the cells say it in no other way.
        found: where the tracer itself changed the batch size, in the notebook as it is.
        among: of several trainings the one that is changed, once a trace has told them apart.
        refused: of the last trace: what is not in the cells, so that the tracer did it.
    """

    def __init__(
        self,
        traces: Traces,
        folder: Path,
        interpreter: Interpreter,
        rewrite: Rewrite,
        seen: Seen = NOTHING_SEEN,
        *,
        accelerator: Accelerator | None = None,
    ) -> None:
        self._traces, self._folder, self._interpreter, self._rewrite = traces, folder, interpreter, rewrite
        self._accelerator = accelerator
        self.places, self.among = seen
        self.found: tuple[BatchPlace, ...] = ()
        self.refused: tuple[Refusal, ...] = ()
        self._by_itself: dict[bytes, Trace | None] = {}
        self._samples: frozenset[str] = frozenset()
        """The model's size and the step's inputs, without the size of the batch."""

    def trace(
        self, request: EstimateRequest, told: Container[str] = (), *, keep: bool = True
    ) -> tuple[Traced, NotebookFacts]:
        """The step with a request's changes in its cells, and the facts of those cells.

        Where the cells cannot have them, or a batch size in them does not arrive at the step (a data set of fewer
        samples), the tracer does what they ask for. Where reading finds no batch size, but the trace does, it is
        changed there.
        """
        if (computed := self._where_computed(request, told, keep=keep)) is not None:
            changed, traced = computed
        else:
            changed, traced = self._traced(request, told, keep)
        if request.batch_size is not None and "batch_size" not in told and computed is None:
            wanted = _micro(request)
            is_lost = any(one.file for one in self.places) and any(one.change in SOUGHT for one in changed.refused)
            if self.places and (is_lost or not self._arrives(traced, wanted)):  # of another size, or another file
                self.places = ()
                changed, traced = self._traced(request, told, keep)
            candidates, own = self._candidates(request, changed, traced, wanted)
            changed, traced = self._changed_at_any(candidates, own, request, told, keep=keep) or (changed, traced)
            is_refused = any(one.change in SOUGHT for one in changed.refused)
            if not is_refused and _is_known(traced) and not self._arrives(traced, wanted):
                changed, traced = self._traced(request, SOUGHT, keep)
                told_of = self._of_the_notebook(request, changed, traced, wanted, SOUGHT).trace
                self.found = told_of.batch_from if told_of is not None else ()
                if places := self.found:
                    changed, traced = self._changed_at(places, request, told, wanted, keep=keep) or (changed, traced)
        elif computed is None and (request.accumulation or 1) > 1 and not told and _batch_refused(changed):
            # An update is to see as many samples: what sizes the batch is looked for as if that batch were asked for.
            size = self._only_batch(msgspec.structs.replace(request, accumulation=None))
            is_computed = any(one.why.code == "batch_size_computed" for one in changed.refused)
            if size is not None and (is_computed or not self._arrives(traced, size // (request.accumulation or 1))):
                return self.trace(msgspec.structs.replace(request, batch_size=size), told, keep=keep)
        self.refused = changed.refused
        if traced.trace is not None and changed.made <= {"batch_size"}:  # else lines are other ones than the notebook's
            self.found = traced.trace.batch_from or self.found
        return traced, changed.facts

    def _where_computed(
        self, request: EstimateRequest, told: Container[str], *, keep: bool
    ) -> tuple[Rewriting, Traced] | None:
        """The step with another number where the notebook as it is holds its batch size, of which reading says only
        that it is computed (`batch_size = int(os.getenv("B", 32))`): a trace tells what that is, and one more has it
        changed. None where it does not arrive so."""
        if request.batch_size is None or "batch_size" in told or self.places or self.among is not None:
            return None
        if not any(one.why.code == "batch_size_computed" for one in self._rewrite(request, told).refused):
            return None
        trace = self._unbound(request)
        if trace is None or trace.others or trace.batch_size in {None, _micro(request)}:
            return None
        self._samples = _samples(trace)
        size = trace.batch_size or 0
        return self._changed_at_any(self._holding(trace, size), size, request, told, keep=keep)

    def _changed_at_any(
        self,
        candidates: tuple[BatchPlace, ...],
        own: int,
        request: EstimateRequest,
        told: Container[str],
        *,
        keep: bool,
    ) -> tuple[Rewriting, Traced] | None:
        """The step with another number at the first of the candidates by which it arrives; None where it does not."""
        wanted = _micro(request)
        for places in self._nearest_first(candidates):
            counting = tuple(one for one in candidates if one.name in COUNTING and one not in places)
            counts = Counts(own, wanted, counting) if counting else None
            if (found := self._changed_at(places, request, told, wanted, keep=keep, counts=counts)) is not None:
                return found
        return None

    def _holding(self, trace: Trace, size: int) -> tuple[BatchPlace, ...]:
        """Where the cells of the notebook as it is hold a size that a step of them has."""
        facts = self._rewrite(EstimateRequest()).facts
        cells = {cell.index: (cell.typed or cell.source).split("\n") for cell in facts.cells}
        return tuple(dict.fromkeys(one for one in trace.batch_candidates if _at(cells.get(one.cell, []), one) == size))

    def _candidates(
        self, request: EstimateRequest, changed: Rewriting, traced: Traced, wanted: int
    ) -> tuple[tuple[BatchPlace, ...], int]:
        """Where the notebook as it is holds the batch size that a step has, where its cells say it in no way that is
        read, or reading was misled: the number that was changed is none of the batch, and no loader's of few samples.
        And that size.
        """
        trace = traced.trace
        is_refused = any(one.change in SOUGHT for one in changed.refused)
        if trace is None or trace.status != "ok" or self.places:
            return (), 0
        if not is_refused and (self._arrives(traced, wanted) or self._changed_one(trace).own_batch_size == wanted):
            return (), 0
        traced = self._of_the_notebook(request, changed, traced, wanted)
        trace = traced.trace
        if trace is None or trace.status != "ok":
            return (), 0
        changed_one = self._changed_one(trace)
        arrives = self._arrives(traced, wanted)
        size = (changed_one.own_batch_size if arrives else changed_one.batch_size) or 0
        is_bound = size == wanted or (arrives and not size)  # by its names: its own size is not in this trace
        of_files = {one: None for one in trace.batch_candidates if is_bound and one.file}
        if is_bound and not of_files and (unbound := self._unbound(request)) is not None:
            trace, changed_one = unbound, self._changed_one(unbound)
            size = changed_one.batch_size or 0
        self._samples = _samples(changed_one)
        return tuple(of_files | dict.fromkeys(self._holding(trace, size))), size

    def _unbound(self, request: EstimateRequest) -> Trace | None:
        """The step as the notebook has it by itself, with where its cells may hold the batch size."""
        alone = msgspec.structs.replace(request, **{row.name: row.default for row in WHAT_IFS if row.in_jobs})
        if _key(alone) not in self._by_itself:
            traced = self._traces.trace(
                self._rewrite(alone).facts, self._folder, alone, self._interpreter,
                keep=False, seeks_batch=True, accelerator=self._accelerator,
            )  # fmt: skip
            self._by_itself[_key(alone)] = traced.trace if _is_known(traced) else None
        return self._by_itself[_key(alone)]

    def _of_the_notebook(
        self, request: EstimateRequest, changed: Rewriting, traced: Traced, wanted: int, told: Container[str] = ()
    ) -> Traced:
        """The trace whose places are those of the notebook as it is: other changes than the batch size move lines, so
        that the step is traced once more without them."""
        if changed.made <= {"batch_size"}:
            return traced
        usual = {row.name: row.default for row in WHAT_IFS if row.in_jobs}
        alone = msgspec.structs.replace(request, **{**usual, "batch_size": wanted})
        return self._traced(alone, told, keep=False)[1]

    def _nearest_first(self, places: tuple[BatchPlace, ...]) -> Iterator[tuple[BatchPlace, ...]]:
        """Of several trainings with batches of one size: the numbers between the one that is changed and the one before
        it are its own; all of them, where those move nothing. What only counts, and settings of an evaluation, stay as
        long as the step does without.
        """
        if self.among is not None:
            own = _position(self.among.where)
            before = max((at for one in self.among.others if (at := _position(one)) < own), default=(-1, 0))
            near = tuple(one for one in places if before < (one.cell, one.line) <= own)
            if near and near != places:
                yield near
        yield from map(tuple, attempts(places))

    def _changed_at(
        self,
        places: tuple[BatchPlace, ...],
        request: EstimateRequest,
        told: Container[str],
        wanted: int,
        *,
        keep: bool,
        counts: Counts | None = None,
    ) -> tuple[Rewriting, Traced] | None:
        """The step with another number at these places, which are remembered where it arrives; None where not. What
        counts as many, and the step needs at the other size, is one of them."""
        self.places = places
        changed, traced = self._traced(request, told, keep, counts)
        if not self._arrives(traced, wanted) or not self._is_batch_alone(traced):
            self.places = ()
            return None
        followed = traced.trace.counted if traced.trace is not None else ()
        if counts is not None and followed:
            self.places += tuple(one for one in counts.places if (one.cell, one.line) in followed)
            changed = self._rewrite(request, told, self.places, self.among)
        return changed, traced

    def _only_batch(self, request: EstimateRequest) -> int | None:
        """The size of all batches of a step as asked for; None where there are several, or none is known."""
        _, traced = self._traced(request, (), keep=False)
        trace = traced.trace
        told = (trace, *trace.others) if trace is not None and trace.status == "ok" else ()
        sizes = {one.fed_batch_size or one.batch_size for one in told}
        return next(iter(sizes)) if len(sizes) == 1 else None

    def _traced(
        self, request: EstimateRequest, told: Container[str], keep: bool, counts: Counts | None = None
    ) -> tuple[Rewriting, Traced]:
        changed = self._rewrite(request, told, self.places, self.among)
        # Who reads the batch in the cells changes it there, too: the tracer has only to tell where.
        is_read = changed.request.batch_size is None or any(one.change in SOUGHT for one in changed.refused)
        seeks = request.batch_size is not None and "batch_size" not in told and is_read and not self.places
        return changed, self._traces.trace(
            changed.facts,
            self._folder,
            changed.request,
            self._interpreter,
            keep=keep,
            seeks_batch=seeks,
            counts=counts,
            accelerator=self._accelerator,
        )

    def _changed_one(self, trace: Trace) -> Trace:
        """Of a notebook's trainings the one that is changed."""
        own = self.among.id if self.among is not None else None
        return next((one for one in trace.others if one.id == own), trace)

    def _is_batch_alone(self, traced: Traced) -> bool:
        """Whether only the inputs' leading dimension changed: plain numbers may hold a window's length as well, or how
        many features there are."""
        if traced.trace is None or any(place.how != "literal" for place in self.places):
            return True
        return not self._samples or _samples(self._changed_one(traced.trace)) == self._samples

    def _arrives(self, traced: Traced, wanted: int) -> bool:
        """Whether the batch size in the cells is that of a step: of the training that is changed."""
        trace = traced.trace
        if trace is None or trace.status != "ok":
            return False
        if self.among is None or not trace.others:
            return wanted in trace.batch_sizes
        return any(
            one.id == self.among.id and wanted in (one.batch_size, one.fed_batch_size) for one in (trace, *trace.others)
        )


def _micro(request: EstimateRequest) -> int:
    """The samples of a step, of which an update may take several."""
    return max(1, (request.batch_size or 1) // (request.accumulation or 1))


def _batch_refused(changed: Rewriting) -> bool:
    return any(one.why.code in {"batch_size_unnamed", "batch_size_computed"} for one in changed.refused)


def _at(lines: list[str], place: BatchPlace) -> int | None:
    """The number at a place."""
    if place.file:
        return place.value
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    digits = line.encode()[place.column : place.end]
    return int(digits) if digits.isdigit() else place.default


def _samples(trace: Trace) -> frozenset[str]:
    """The size of the model, and what of each input (`float32[32, 13]`) is not the size of its batch: a set, as a step
    that sums several has the same inputs more often."""
    return frozenset((str(trace.parameters), *(re.sub(r"\[\d+", "[", described) for described in trace.inputs)))


def _position(place: Place) -> tuple[int, int]:
    return place.cell, place.line


def _is_known(traced: Traced) -> bool:
    return traced.trace is not None and traced.trace.status == "ok"


class Steps:
    """Peaks of changed steps, for remedies and searches."""

    def __init__(self, changed: ChangedSteps, peak: Callable[[Trace, EstimateRequest], Peak]) -> None:
        self._changed, self._peak = changed, peak
        self._refused: dict[bytes, tuple[Refusal, ...]] = {}

    def trace(self, request: EstimateRequest, told: Container[str] = ()) -> Trace | None:
        """The step as it will run, None where it cannot be had; what is `told` is left to the tracer."""
        traced, _ = self._changed.trace(request, told, keep=False)
        if not told:
            self._refused[_key(request)] = self._changed.refused
        return answering(traced.trace)

    def peak(self, trace: Trace | None, request: EstimateRequest) -> Peak | None:
        """What a step takes that was traced under a request; None of none."""
        return None if trace is None else self._peak(trace, request)

    def refused(self, request: EstimateRequest) -> Message | None:
        """Why a job cannot be run with what was asked for by `trace`; None where it can."""
        return next((one.why for one in self._refused.get(_key(request), ())), None)


def _key(request: EstimateRequest) -> bytes:
    return msgspec.json.encode(request)


def answering(trace: Trace | None) -> Trace | None:
    """A trace that answers what was asked, else None."""
    if trace is None or trace.status != "ok" or trace.evidence != "trace":
        return None  # real steps know of no what-if but the batch
    if any(one.code in KEPT for one in trace.notes):
        return None  # another step than the one asked for is no answer
    return trace
