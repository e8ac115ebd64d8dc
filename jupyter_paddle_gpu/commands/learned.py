"""`learned show | replay | export | reset`: what finished jobs have taught here."""

from __future__ import annotations

from pathlib import Path

import click

from .face import Face, View
from .listing import Listing
from .options import json_option
from .views.job import DoneView
from .views.learned import LearnedView, ReplayView


@click.group(cls=Listing)
def learned() -> None:
    """See what finished jobs have taught, and whether it decides."""


@learned.command()
@json_option
@click.pass_obj
def show(face: Face, /) -> View:
    """Show what was learned, part by part, and whether it has proven itself here."""
    return LearnedView(face.services.learned_report(), face.services.find_accelerator)


@learned.command()
@json_option
@click.pass_obj
def replay(face: Face, /) -> View:
    """See each job again with what was known before it: what was foretold, and who would have chosen which card."""
    return ReplayView(face.services.learned_report(replayed=True), face.services.find_accelerator)


@learned.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
@click.pass_obj
def export(face: Face, /, file: Path) -> View:
    """Write the kept jobs into a file, one JSON object a line."""
    count = face.services.learned_export(file)
    words = "{count} job was written to {file}.", "{count} jobs were written to {file}."
    return DoneView(face.say.n(*words, count, count=count, file=str(file)), {"written": count})


@learned.command()
@json_option
@click.pass_obj
def reset(face: Face, /) -> View:
    """Forget all jobs; they are put aside into a file, and the rules decide again."""
    aside = face.services.learned_reset()
    return DoneView(face.say("Forgotten; the jobs lie in {file} now.", file=str(aside)), {"aside": str(aside)})
