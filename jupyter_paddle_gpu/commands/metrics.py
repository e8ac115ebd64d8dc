"""`metrics`: the figures that Prometheus scrapes, once or for as long as wanted."""

from __future__ import annotations

import threading

import click

from .face import Face


@click.command()
@click.option(
    "--listen",
    default="",
    metavar="[ADDRESS:]PORT",
    help="Answer scrapes here until you interrupt, for a host without a Jupyter Server.",
)
@click.pass_obj
def metrics(face: Face, /, listen: str) -> None:
    """Print figures of devices and jobs for Prometheus."""
    figures = face.services.metrics()
    if not listen:
        click.echo(figures.text().decode(), nl=False)
        return
    address, _, port = listen.rpartition(":")
    if not port.isdigit():
        raise click.BadParameter(listen, param_hint="--listen")
    end = figures.serve(int(port), address or "127.0.0.1")
    where = f"{address or '127.0.0.1'}:{port}"
    face.tell(face.say("Scrapes are answered at {where} until you interrupt.", where=where))
    try:
        threading.Event().wait()
    finally:
        end()
