"""What would make a training fit: read off an estimate with details, which computed it for a card's memory."""

from __future__ import annotations

from collections.abc import Iterator

from ..domain.decisions import Way
from ..domain.estimates import Estimate, Remedy
from ..domain.messages import Message, Param
from ..domain.what_ifs import BY_NAME

MOST_WAYS = 4
"""As many as are read before one chooses."""


def ways_out(estimate: Estimate | None, limit: int) -> tuple[Way, ...] | None:
    """Changes with which a job fits into `limit` bytes: a smaller batch first, then what saves most.

    What no job is run with (other data, a change that its cells do not allow) is advice of the estimate's alone, and no
    way out. Nothing is guessed: None where the estimate was made without its details, or these were computed for a
    larger card.
    """
    fit = next((fit for fit in estimate.fits if fit.limit_bytes <= limit), None) if estimate is not None else None
    if estimate is None or fit is None:
        return None
    fixed = any(remedy.change == "batch_size" and remedy.refused is not None for remedy in estimate.remedies)
    found = {"batch_size": _batch(fit.largest_batch)} if fit.largest_batch and not fixed else {}
    kept: dict[str, int] = {}
    for remedy in filter(_is_for_jobs, estimate.remedies):
        # Of one change's values the one that keeps most of the batch, and of equals the last: that which changes least.
        keeps = min(remedy.largest_batch or 0, estimate.batch_size or 0)
        for way in _of_remedy(estimate, remedy, limit, fixed=fixed):
            if keeps >= kept.get(remedy.change, 0):
                found[remedy.change], kept[remedy.change] = way, keeps
    return tuple(found.values())[:MOST_WAYS]


def ways_now(estimate: Estimate | None, room: int) -> tuple[Way, ...] | None:
    """Changes with which the step would fit into the `room` bytes that are free now: those that were computed."""
    if estimate is None or not estimate.remedies:
        return None
    found: dict[str, Way] = {}
    for remedy in estimate.remedies:
        if _takes(estimate, remedy) <= room and _is_for_jobs(remedy):
            words = _asked(remedy)
            way = Way(change=remedy.change, request=dict(remedy.request), message=words, label=remedy.says)
            found.setdefault(remedy.change, way)
    return tuple(found.values())[:MOST_WAYS]


def _batch(batch: int) -> Way:
    return Way(
        change="batch_size",
        request={"batch_size": batch},
        message=Message(code="with_batch", text="with batch size {batch}", params={"batch": f"{batch:,}"}),
        label=Message(code="batch", text="Batch size {batch}", params={"batch": f"{batch:,}"}),
    )


def _is_for_jobs(remedy: Remedy) -> bool:
    return remedy.refused is None and all(BY_NAME[name].in_jobs for name in remedy.request)


def _takes(estimate: Estimate, remedy: Remedy) -> int:
    """Most bytes of a step with the change: what the range adds to the estimate's figure is added to this one."""
    return remedy.peak_bytes + max(0, (estimate.high or 0) - (estimate.peak_bytes or 0))


def _asked(remedy: Remedy) -> Message:
    value = remedy.request[remedy.change]
    return Message(code=remedy.change, text=BY_NAME[remedy.change].words_of(value).asked, params={"value": str(value)})


def _of_remedy(estimate: Estimate, remedy: Remedy, limit: int, *, fixed: bool) -> Iterator[Way]:
    """A change by itself where the batch may stay as it is, else together with the batch that fits then; not where a
    job cannot be given another batch (`fixed`). Where the time was too short to seek the largest batch, the change by
    itself may be known to fit."""
    largest, batch = remedy.largest_batch, estimate.batch_size
    if batch is None or remedy.change == "batch_size":
        return
    if largest is None and _takes(estimate, remedy) > limit:
        return
    value = remedy.request[remedy.change]
    gpus = value if remedy.change == "devices" and isinstance(value, int) else None
    if gpus is not None:  # each has its share of the batch
        batch = int(str(remedy.request["batch_size"]))
    words = _asked(remedy)
    if largest is None or largest >= batch:
        yield Way(change=remedy.change, request=dict(remedy.request), message=words, label=remedy.says, gpus=gpus)
        return
    if fixed or "batch_size" in remedy.request:  # that says what becomes of that very batch
        return
    params: dict[str, Param] = {"change": words, "says": remedy.says, "batch": f"{largest:,}"}
    yield Way(
        change=remedy.change,
        request={**remedy.request, "batch_size": largest},
        message=Message(code="with_change_and_batch", text="{change} at batch size {batch}", params=params),
        label=Message(code="change_and_batch", text="{says}, batch size {batch}", params=params),
    )
