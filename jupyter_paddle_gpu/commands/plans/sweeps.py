"""`sweep` begins one, `sweeps` lists them and does something to one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

import click
import msgspec

from ...domain.messages import Message
from ...domain.plans.space import told
from ...domain.plans.sweeps import SweepReport
from ...i18n import to_json
from .. import options
from ..arguments import about_all, about_one, runs_already
from ..face import Face, View
from ..numbers import Whole
from ..options import JSON, json_option
from ..speech import number
from ..views.job import DoneView
from ..views.plans.sweeps import CheckView, SweepsView, SweepView, trial_state
from .schedules import NAMES as SCHEDULING

POLL_SECONDS = 0.3
"""How often a sweep is looked at that somebody follows."""
_NOT_OF_TRIALS = SCHEDULING | {"what", "sets", "token", "follow", "dry_run", "name"}
"""Options of `submit` that make no sense for many jobs at once, or that are other ones here."""


def sweep_command(submit: click.Command) -> click.Command:
    """The command `sweep`, with all that can be said of a job."""
    shared = [one for one in submit.params if one.name not in _NOT_OF_TRIALS and "json" not in one.opts[0]]
    sweep.params += [one for one in shared if one.name not in {own.name for own in sweep.params}]
    return sweep


@click.command()
@click.argument("what", metavar="NOTEBOOK | SCRIPT.py | JOB", nargs=-1)
@click.option(
    "--set",
    "space",
    metavar="NAME=VALUES",
    multiple=True,
    callback=options.parse_texts,
    help="Values to try: lr=0.1,0.01 batch=32:128:x2 hidden=16:64:16 lr=0.001:0.1:log.",
)
@click.option(
    "--search",
    type=click.Choice(["grid", "random", "optuna"]),
    default="grid",
    show_default=True,
    help="Try all, some by chance, or what Optuna finds promising.",
)
@click.option("--trials", type=Whole(min=1), metavar="N", help="How many at most; 20 where there is no end.")
@click.option("--at-once", type=Whole(min=1), metavar="N", help="How many wait or run at the same time.")
@click.option(
    "--metric",
    default="",
    metavar="NAME",
    help="What tells the best trial; by default an accuracy where one is printed, else the loss.",
)
@click.option(
    "--direction",
    type=click.Choice(["", "min", "max"]),
    default="",
    metavar="[min|max]",
    help="Whether less or more of it is better.",
)
@click.option("--seed", type=int, default=0, metavar="N", help="Of the choices by chance.")
@click.option("--name", default="", metavar="TEXT", help="Name in lists.")
@click.option("--skip", is_flag=True, help="Run those that fit though others do not.")
@click.option("--dry-run", is_flag=True, help="Only show the trials and where each would go.")
@click.option("--follow", "-f", is_flag=True, help="Say how each trial ends; exit with 1 where one failed.")
@json_option
@click.pass_obj
def sweep(face: Face, /, what: tuple[str, ...], *, dry_run: bool, follow: bool, **chosen: Any) -> View | None:
    """Run a notebook with several values, and say which did best.

    Each trial is a job, placed by an estimate of its own. It goes on when terminal and browser are closed.
    """
    from ...services.plans.wanted import SweepRequest

    if not dry_run and runs_already(face, what[0] if what else None):
        return None
    sweeps, services = face.services.plans.sweeps, face.services
    own = {name: chosen.pop(name) for name in SweepRequest.__struct_fields__ if name in chosen}
    request = SweepRequest(**own, submission=options.submission(sets={}, token="", name="", **chosen))
    if len(what) == 1 and services.is_job(what[0]):
        source, request = sweeps.of_job(services.find_job(what[0]).id, request)
    else:
        source = face.source(what[0] if what else None, what[1:])
    if dry_run:
        return CheckView(sweeps.check(source, request))
    if follow:
        face.attend()
    face.hold()
    made = sweeps.create(source, request)
    return _followed(face, made.id) if follow else SweepView(made)


@about_all
def sweeps(face: Face, /) -> View:
    """List the sweeps, or do something to one."""
    return SweepsView(face.services.plans.sweeps.list())


_sweep = click.argument("sweep_id", metavar="SWEEP", default="last")
_one = about_one(sweeps, _sweep)


@sweeps.command()
@_sweep
@click.option("--metric", default="", metavar="NAME", help="What tells the best trial, instead of the sweep's own.")
@click.option("--direction", type=click.Choice(["min", "max"]), help="Whether less or more of it is better.")
@click.option("--follow", "-f", is_flag=True, help="Go on until it is over.")
@json_option
@click.pass_obj
def show(face: Face, /, sweep_id: str, metric: str, direction: str | None, follow: bool) -> View:
    """Show its trials, the best one marked."""
    if follow:
        return _followed(face, sweep_id)
    return SweepView(face.services.plans.sweeps.get(sweep_id, metric=metric, direction=direction or ""))


@_one
def cancel(face: Face, /, sweep_id: str) -> View:
    """Ask all of its trials to end; no further one begins."""
    return SweepView(face.services.plans.sweeps.cancel(sweep_id))


@_one
def retry(face: Face, /, sweep_id: str) -> View:
    """Run those trials once more that failed."""
    return SweepView(face.services.plans.sweeps.retry(sweep_id))


@sweeps.command()
@_sweep
@click.pass_obj
def table(face: Face, /, sweep_id: str) -> View:
    """Print its trials as CSV."""
    from ...services.plans.table import csv_of

    return CsvView(csv_of(face.services.plans.sweeps.get(sweep_id)))


@_one
def delete(face: Face, /, sweep_id: str) -> View:
    """Remove an ended sweep with the jobs of its trials. Published notebooks stay."""
    found = face.services.plans.sweeps.find(sweep_id)
    face.services.plans.sweeps.delete(found.id)
    return DoneView(face.say("Sweep {id} was deleted.", id=found.id), {"deleted": found.id})


class CsvView(View):
    """A table as it is saved."""

    def __init__(self, text: str) -> None:
        self.data = text

    def rich(self, say: Any) -> Any:
        """As it is: no line is folded."""
        from rich.text import Text

        return Text(self.data.rstrip("\n"), no_wrap=True, overflow="ignore")

    def html(self, say: Any) -> str:
        """As text."""
        from html import escape

        return f"<pre>{escape(self.data)}</pre>"


def _followed(face: Face, sweep_id: str) -> View:
    left = Message(
        code="detached",
        text="You stopped looking; the sweep goes on.",
        hint="`jupyter paddle-gpu sweeps show {id} -f` looks again, `jupyter paddle-gpu sweeps cancel {id}` ends it.",
        params={"id": sweep_id},
    )
    sweeps = face.services.plans.sweeps
    face.follow_lines(_lines(face, sweep_id), left)
    return SweepView(sweeps.get(sweep_id), status=True)


def _lines(face: Face, sweep_id: str) -> Iterator[str]:
    """A line whenever a trial gets on."""
    as_json = bool(click.get_current_context().meta.get(JSON))
    known: dict[int, str] = {}
    while True:
        report = face.services.plans.sweeps.get(sweep_id)
        yield from _news(face, report, known, as_json)
        if report.state != "running":
            return
        time.sleep(POLL_SECONDS)


def _news(face: Face, report: SweepReport, known: dict[int, str], as_json: bool) -> Iterable[str]:
    for row in report.trials:
        if row.state in (known.get(row.number), "planned", "queued", "preparing", "stopping"):
            continue
        known[row.number] = row.state
        if as_json:
            yield msgspec.json.encode(to_json(row, face.say.translate)).decode()
            continue
        parts = [f"{row.number}/{report.wanted}", told(row.values), trial_state(face.say, row)]
        if row.state == "succeeded" and row.value is not None:
            parts.append(f"{report.metric} {number(row.value)}")
        if row.why is not None and row.state in ("failed", "refused", "succeeded"):
            parts.append(row.why.render(face.say.translate))
        yield " · ".join(parts)
