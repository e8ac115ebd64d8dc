"""The largest batch on each of some devices, for people."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.estimates import LARGEST_BATCH, Estimate, Fit
from ...domain.messages import Message
from ..speech import Speech, count, size
from .estimate import STATUS, EstimateView
from .machine import TableView, marked


class FitView(TableView):
    """A row for each device: the largest batch, and what it takes of the memory that may be used."""

    optional = (3,)
    folding = (0,)

    def __init__(self, estimate: Estimate) -> None:
        self.data: Estimate = estimate
        self.status = STATUS[estimate.status]

    def lead(self, say: Speech) -> str:
        """What trains, and with which batch now."""
        estimate = self.data
        if estimate.status != "ok":
            return EstimateView(estimate).headline(say)
        model = estimate.model or say("This training")
        if estimate.batch_size is None:
            return say("{model}: the largest batch that fits", model=model)
        return say(
            "{model}: the largest batch that fits; the notebook has {batch}",
            model=model,
            batch=count(estimate.batch_size),
        )

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Device"), say("Largest batch"), say("Takes at most"), say("May be used")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a device."""
        return [_row(say, fit) for fit in self.data.fits]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """Open questions and notes."""
        more = (_MORE,) if any(map(_is_cut, self.data.fits)) else ()
        return (*(question.why for question in self.data.questions), *more, *self.data.notes)


_MORE = Message(code="more_fits", text="+: it fits, and no larger batch was tried.")


def _is_cut(fit: Fit) -> bool:
    return fit.largest_batch is not None and fit.largest_batch >= LARGEST_BATCH


def _row(say: Speech, fit: Fit) -> Sequence[str]:
    largest = say("not one sample") if fit.largest_batch is None else count(fit.largest_batch) + " +" * _is_cut(fit)
    return marked(say, fit.device, checked=fit.checked), largest, size(fit.high_bytes), size(fit.limit_bytes)
