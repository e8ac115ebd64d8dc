"""`contribute`: what a finished GPU job took, as one line that a person can send to the public collection."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from ..domain.measurements.gpu_logs import Kind
from .arguments import wants_json
from .face import Face, View
from .options import json_option
from .views.contribution import ContributionView
from .views.job import DoneView

KINDS = tuple(filter(None, get_args(Kind)))


@click.command()
@click.argument("job_id", metavar="[JOB]", default="last")
@click.option("--kind", type=click.Choice(KINDS), default=None, help="What was trained.")
@click.option(
    "--write",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Add the line to this file; at a terminal you are shown it first, and asked. Without it it is only shown.",
)
@json_option
@click.pass_obj
def contribute(face: Face, /, job_id: str, kind: Kind | None, write: Path | None) -> View:
    """Show what a finished job took of its GPU, as one line to send.

    The line has figures, versions and the card's model, no code and no names. Nothing is sent.
    """
    log = face.services.contribute(job_id, kind or "")
    if write is None:
        return ContributionView(log)
    question = face.say("Add this line to {file}?", file=write)
    agrees = None if wants_json() else face.agrees(ContributionView(log, asks=True), question)
    if agrees is False:
        return DoneView(face.say("Nothing was written."), log)
    log = face.services.contribute(job_id, kind or "", write)
    if agrees:
        return DoneView(face.say("This line was added to {file}.", file=write), log)
    return ContributionView(log, write)
