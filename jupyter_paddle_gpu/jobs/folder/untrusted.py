"""What a job says of itself, checked before any of it is kept.

`result.json` and `events.jsonl` lie in a folder that the job can write: whatever stands there, its row must stay
readable and the job must come to an end.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec

from ...domain.decoding import convert, decoder
from ...domain.jobs.job import CellFailure, JobResult

_LARGEST = 2**53
"""Whole numbers beyond this are none of ours: a browser cannot hold them, and a product of two overflows a float."""
_TEXT = 10_000
_TRACEBACK = 100_000
"""Characters that are kept of a text; of a traceback the end, which names the error."""
_METRICS = 50
_METRIC_NAME = 80

_OURS = ("rank", "failure", "statistics", "notes", "rank_allocated_bytes")
"""What a result may not say of itself, or is read by itself."""

S = TypeVar("S", bound=msgspec.Struct)
Count = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
Number = Annotated[float, msgspec.Meta(ge=-1e300, le=1e300)]


class Event(msgspec.Struct, frozen=True):
    """A line of `events.jsonl`; `t` in seconds since the epoch, `m` of the same moment by a clock that is never set.

    A metric that is told to be no number (`nan`) is None.
    """

    type: str
    t: Number = 0.0
    m: Number | None = None
    state: str = ""
    cell: Count | None = None
    done: Count = 0
    total: Count = 0
    epoch: Count | None = None
    epochs: Count | None = None
    step: Count | None = None
    steps: Count | None = None
    metrics: dict[str, Number | None] = {}
    viewer: str = ""
    folder: Annotated[str, msgspec.Meta(max_length=4096)] = ""


_event = decoder(Event)


def event(line: bytes) -> Event | None:
    """The event of a line; None for what is none."""
    try:
        found = _event.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):  # ValidationError is a DecodeError
        return None
    if len(found.metrics) > _METRICS or any(len(name) > _METRIC_NAME for name in found.metrics):
        kept = [(name[:_METRIC_NAME], value) for name, value in found.metrics.items()][:_METRICS]
        return msgspec.structs.replace(found, metrics=dict(kept))
    return found


def result(raw: dict[str, Any]) -> JobResult:
    """What the runner says it saw. Fields that are not what they should be are left out; what is ours is never taken
    from there."""
    failure = raw.get("failure")
    told = {name: value for name, value in raw.items() if name not in _OURS}
    found = _tolerant(JobResult, told)
    if isinstance(failure, dict):
        found = msgspec.structs.replace(
            found, failure=_tolerant(CellFailure, failure, cell=0, line=None, name="", value="")
        )
    return found


def moment(value: Any) -> float | None:
    """Seconds since the epoch; None for what is no time."""
    return float(value) if _is_number(value) and 0 < value < 1e11 else None


def whole(value: Any) -> int:
    """A small whole number such as an exit status; 0 for what is none."""
    return value if isinstance(value, int) and abs(value) < 1 << 31 else 0


def _tolerant(kind: type[S], raw: dict[str, Any], **defaults: Any) -> S:
    found = dict(defaults)
    for field in msgspec.structs.fields(kind):
        value = _bounded(field.name, raw.get(field.name))
        if value is None:
            continue
        try:
            found[field.name] = convert(value, field.type, strict=False)
        except msgspec.ValidationError:
            continue
    return kind(**found)


def _bounded(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return value[-_TRACEBACK:] if name == "traceback" else value[:_TEXT]
    return value if not _is_number(value) or abs(value) <= _LARGEST else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
