"""Which stage of a pipeline takes most: the first, which has most batches in flight, the last, which has the output and
its loss, or one between, which may have more layers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

_PROCESS = "PADDLE_TRAINER_ID"
"""What a launcher sets: which of the processes is meant."""
MOST = 4
"""Stages between the first and the last that are traced: those that have most layers."""


def fullest(request: dict[str, Any], trace: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The answer of the stage that takes most.

    A stage is traced with what the one before it sends. One that is made as an earlier one is takes no more than that,
    since it has fewer batches in flight, and is not traced. Where the environment says that the first process is meant,
    the answer is that one's.

    Args:
        request: what is asked.
        trace: answers a request, with what a stage sends and how each is made; None where there is no pipeline.
    """
    is_first = os.environ.get(_PROCESS) == "0"
    answer = trace(request)
    sent, made = answer.pop("sent", None), answer.pop("made", ())
    if sent is None or is_first or answer["status"] != "ok":
        return answer
    for stage in _unlike(made):
        found = trace({**request, "received": sent, "stage": stage})
        sent = found.pop("sent", None) or sent
        found.pop("made", None)
        if found["status"] == "ok" and _peak(found) > _peak(answer):
            answer = found
    return answer


def _unlike(made: list[list[str]]) -> list[int]:
    """Stages behind the first to trace, in their order, by how each is made; the last one is always among them."""
    last = len(made) - 1
    between = [stage for stage in range(1, last) if made[stage] not in made[:stage]]
    longest = sorted(between, key=lambda stage: -len(made[stage]))[:MOST]
    return [*sorted(longest), last]


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
