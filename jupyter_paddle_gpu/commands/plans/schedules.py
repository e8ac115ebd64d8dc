"""`submit --at | --when | --cron`, and `schedules`, which lists them and does something to one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...domain.errors import PaddleGpuError
from ..arguments import about_all, about_one
from ..face import Face, View
from ..views.plans.schedules import SchedulesView, ScheduleView

if TYPE_CHECKING:
    from ...services import Submission
    from ...services.plans.wanted import ScheduleRequest

F = TypeVar("F", bound=Callable[..., Any])
NAMES = frozenset({"at", "when", "cron", "zone", "as_saved"})
"""Options that make a schedule of a submit."""
_FREE = re.compile(r"((?:[a-z]+\s+)?\S+?)(?:\s+(?:is\s+)?free)?", re.IGNORECASE)
_COST = re.compile(r"cost\s*<\s*(\d+(?:\.\d+)?)", re.IGNORECASE)


def for_submit(function: F) -> F:
    """The options that say when a job is to run."""
    for option in (
        click.option("--as-saved", is_flag=True, help="Scheduled runs take the notebook as it is now."),
        click.option("--zone", default="", metavar="NAME", help="Time zone of --at and --cron, as Asia/Shanghai."),
        click.option("--cron", default="", metavar="EXPRESSION", help="Run it again and again: '0 2 * * *'."),
        click.option("--when", default="", metavar="CONDITION", help="Run it when 'gpu 1 free' or 'cost<2'."),
        click.option("--at", default="", metavar="MOMENT", help="Run it at 22:00, '2026-11-23 02:00' or +2h."),
    ):
        function = option(function)
    return function


def taken(chosen: dict[str, Any]) -> Callable[[Submission, tuple[str, ...]], ScheduleRequest] | None:
    """Take these options out of all that were typed; None where the job is to run now."""
    said = {name: chosen.pop(name) for name in NAMES}
    if not (said["at"] or said["when"] or said["cron"]):
        if said["zone"] or said["as_saved"]:
            raise click.UsageError("--zone and --as-saved go with --at, --when or --cron.")
        return None

    def request(submission: Submission, arguments: tuple[str, ...]) -> ScheduleRequest:
        from ...services.plans.wanted import ScheduleRequest

        free, below = _condition(said["when"])
        return ScheduleRequest(
            at=said["at"],
            cron=said["cron"],
            free=free,
            below=below,
            zone=said["zone"],
            source="saved" if said["as_saved"] else "disk",
            arguments=arguments,
            submission=submission,
        )

    return request


def _condition(text: str) -> tuple[str, float | None]:
    """The device that is to be free, or the price that is to be fallen short of."""
    if found := _COST.fullmatch(text.strip()):
        return "", float(found[1])
    if not text or (found := _FREE.fullmatch(text.strip())):
        return (found[1] if text and found else ""), None
    raise PaddleGpuError(
        "condition_wrong",
        "“{typed}” is nothing that can be waited for.",
        hint="Write `--when 'gpu 1 free'` or `--when 'cost<2'`.",
        typed=text[:80],
    )


@about_all
def schedules(face: Face, /) -> View:
    """List what is scheduled, or do something to one."""
    return SchedulesView(face.services.plans.schedules.list())


_one = about_one(schedules, click.argument("schedule_id", metavar="SCHEDULE"))


@_one
def show(face: Face, /, schedule_id: str) -> View:
    """Show one with its next dates."""
    return ScheduleView(face.services.plans.schedules.get(schedule_id))


@_one
def pause(face: Face, /, schedule_id: str) -> View:
    """Let nothing of it run until it is resumed."""
    return ScheduleView(face.services.plans.schedules.pause(schedule_id))


@_one
def resume(face: Face, /, schedule_id: str) -> View:
    """Let it run again from now on."""
    return ScheduleView(face.services.plans.schedules.resume(schedule_id))


@_one
def delete(face: Face, /, schedule_id: str) -> View:
    """Remove it; for a day it can be restored. Its jobs stay."""
    return ScheduleView(face.services.plans.schedules.delete(schedule_id))


@_one
def restore(face: Face, /, schedule_id: str) -> View:
    """Take a deletion back."""
    return ScheduleView(face.services.plans.schedules.restore(schedule_id))
