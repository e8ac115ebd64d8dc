"""`policy check | show | init`: what is settled where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .face import Face, View
from .listing import Listing
from .options import json_option
from .views.job import DoneView
from .views.policy import PolicyView

if TYPE_CHECKING:
    from ..services.policies.overview import Scope


@click.group(cls=Listing)
def policy() -> None:
    """See and write what this place settles: paddle-gpu.yaml."""


_folder = click.option(
    "--folder",
    default=None,
    metavar="PATH",
    type=click.Path(file_okay=False, path_type=Path),
    help="For notebooks in this folder; the current one by default.",
)


@policy.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--as",
    "scope",
    type=click.Choice(("system", "user", "notebook")),
    help="Whose FILE is to be: it takes the place of that one. By default the one that it is by its place.",
)
@_folder
@json_option
@click.pass_obj
def check(face: Face, /, file: Path | None, scope: Scope | None, folder: Path | None) -> View:
    """Say whether the policy files are right, or FILE before it takes its place; exit with 1 where one is not."""
    if scope is not None and file is None:
        raise click.UsageError("--as says whose FILE is to be: name the file.")
    return PolicyView(face.services.policy_report(folder or Path.cwd(), file=file, scope=scope), values=False)


@policy.command()
@_folder
@json_option
@click.pass_obj
def show(face: Face, /, folder: Path | None) -> View:
    """Show what the policy files settle together."""
    return PolicyView(face.services.policy_report(folder or Path.cwd()), values=True)


@policy.command()
@click.option(
    "--folder",
    default=None,
    metavar="PATH",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write it here: a notebook's folder, or /etc/paddle-gpu for everybody.",
)
@json_option
@click.pass_obj
def init(face: Face, /, folder: Path | None) -> View:
    """Write a first paddle-gpu.yaml into your data folder or --folder, with what a policy.json there says."""
    path = face.services.policy_init(folder)
    return DoneView(face.say("{file} was written.", file=str(path)), {"written": str(path)})
