"""A decision for people who type: the sentence, and what to type for each way out."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...domain.decisions import Decision, Way
from ...domain.messages import Message
from ...domain.what_ifs import BY_NAME
from ..options import typed
from ..speech import Speech, together

LATE = "details_late"
"""The note that there was not time for all that would be of use."""


def refusal(decision: Decision) -> Message:
    """Why a job is not accepted, and what to type instead."""
    reason = decision.reason
    options = [option for option in map(_option_of_job, decision.ways) if option]
    then = Message(code="then", text=reason.hint, params=reason.params)
    late = next((note for note in decision.notes if note.code == LATE), None)
    if decision.final and not options:
        return reason
    if late is not None:
        then = Message(
            code="then_late",
            text="{then} {late} `estimate --details-seconds {more}` seeks for longer.",
            params={"then": then, "late": late, "more": late.params["more"]},
        )
    if decision.final:
        hint = "{then} Submit it with {options}."
    elif options:
        hint = "{then} Submit it with {options}, or as it is with `--anyway`."
    elif is_searched(decision) or late is not None:
        hint = "{then} `--anyway` submits it as it is."
    else:
        hint = "{then} `estimate --details` computes it; `--anyway` submits it as it is."
    ticked = ", ".join(f"`{option}`" for option in options)
    return msgspec.structs.replace(reason, hint=hint, params={**reason.params, "then": then, "options": ticked})


def is_searched(decision: Decision) -> bool:
    """Whether there is nothing to look for; else an estimate with details finds what would make a refused job fit."""
    if decision.outcome != "refuse" or decision.reason.code == "too_few_devices":
        return True
    return decision.final or decision.searched or bool(decision.ways)


def lines(decision: Decision, say: Speech) -> Iterator[tuple[str, str]]:
    """What becomes of the training: pairs of a sentence and what to type for it, which may be empty."""
    yield decision.reason.render(say.translate), ""
    if decision.outcome == "refuse" and not decision.searched and decision.reason.code.startswith("fits_"):
        yield say("What would fit is computed with:"), "--details"
    elif decision.reason.code == "cpu_no_device":
        yield say("`jupyter paddle-gpu fit` finds the largest batch that each card takes."), ""
    elif hint := decision.reason.render_hint(say.translate):
        yield hint, ""
    for way in decision.ways:
        yield f"  {way.label.render(say.translate)}", _option(way)
    for note in decision.notes:
        yield together(note.render(say.translate), note.render_hint(say.translate)), ""


def _option(way: Way) -> str:
    if way.device_ids:
        return " ".join(f"--device-id {name}" for name in way.device_ids)
    return typed(way.request) if way.gpus is None else f"--gpus {way.gpus}"


def _option_of_job(way: Way) -> str:
    """What `submit` takes of it; empty where the change is of the estimate alone."""
    rows = [BY_NAME[name] for name in way.request]
    return _option(way) if all(row.in_jobs or row.picks for row in rows) else ""
