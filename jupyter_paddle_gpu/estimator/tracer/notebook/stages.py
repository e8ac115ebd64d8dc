"""Which stage of a pipeline takes most: the first, which has most batches in flight, or the last, which has the output
and its loss."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

_PROCESS = "PADDLE_TRAINER_ID"
"""What a launcher sets: which of the processes is meant."""


def fullest(request: dict[str, Any], trace: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The answer of the first stage, or the last one's where that takes more.

    Stages give on the same from one to the next: the last is traced with what the first sends. Where the environment
    says that the first process is meant, it is that one's.

    Args:
        request: what is asked.
        trace: answers a request, with what the first stage sends; None where there is no pipeline.
    """
    is_first = os.environ.get(_PROCESS) == "0"
    first = trace(request)
    sent = first.pop("sent", None)
    if sent is None or is_first or first["status"] != "ok":
        return first
    last = trace({**request, "received": sent})
    last.pop("sent", None)
    return last if last["status"] == "ok" and _peak(last) > _peak(first) else first


def _peak(result: dict[str, Any]) -> int:
    """Bytes of tensors alive at the same time, at most."""
    change = [0] * (len(result["operations"]) + 3)
    for size, start, end, *_ in result["storages"]:
        change[start + 1] += size
        change[end + 2] -= size
    alive, most = 0, 0
    for one in change:
        alive += one
        most = max(most, alive)
    return most
