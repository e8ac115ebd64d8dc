"""`policy check | show | init`: what is settled where."""

from __future__ import annotations

from pathlib import Path

import click

from .face import Face, View
from .options import json_option
from .views.job import DoneView
from .views.policy import PolicyView


@click.group()
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
@_folder
@json_option
@click.pass_obj
def check(face: Face, /, folder: Path | None) -> View:
    """Say whether the policy files are right; exit with 1 where one is not."""
    return PolicyView(face.services.policy_report(folder or Path.cwd()), values=False)


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
