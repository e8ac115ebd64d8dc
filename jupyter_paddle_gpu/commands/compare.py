"""`compare`: two jobs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from . import options
from .views.comparison import ComparisonView

if TYPE_CHECKING:
    from .face import Face, View


@click.command()
@click.argument("before", metavar="JOB")
@click.argument("after", metavar="OTHER")
@options.json_option
@click.pass_obj
def compare(face: Face, /, before: str, after: str) -> View:
    """Show what one job has otherwise than another, code included."""
    one, other = face.services.find_job(before), face.services.find_job(after)
    return ComparisonView(one, other, face.services.compare(one.id, other.id))
