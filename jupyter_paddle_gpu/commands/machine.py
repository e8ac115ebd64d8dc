"""`gpus`, `images`, `doctor`, `calibrate`: this machine, and what a job would have on it."""

from __future__ import annotations

import click

from ..domain.messages import Message
from . import options
from .arguments import engines_known, wants_json
from .face import Face, View
from .numbers import Number
from .views.details import DetailsView
from .views.live import SPARK_CELLS, SPARK_SECONDS, LiveView
from .views.machine import CalibrationView, CatalogueView, DoctorView, ImagesView, InventoryView


@click.command()
@click.option("--catalog", is_flag=True, help="The accelerators that are known, instead of those that are here.")
@click.option("--catalogue", "catalog", is_flag=True, hidden=True)
@click.option(
    "--engine",
    default="",
    metavar="NAME",
    shell_complete=engines_known,
    help="Those that jobs on this engine can have.",
)
@click.option("--once", is_flag=True, help="Show them once; in a terminal they are shown anew until you interrupt.")
@click.option("--watch", is_flag=True, help="Show them anew all the time, also where no terminal is.")
@click.option(
    "--interval",
    type=Number(min=0.1),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How often they are shown anew.",
)
@click.option("--details", is_flag=True, help="What else each tells: errors, links, fans, modes …")
@options.json_option
@click.pass_obj
def gpus(
    face: Face, /, *, catalog: bool, engine: str, once: bool, watch: bool, interval: float, details: bool
) -> View | None:
    """List devices: this machine's, an engine's, or known ones."""
    if watch and (catalog or once or details or wants_json()):
        raise click.UsageError("--watch shows the devices of this machine to somebody; it goes with nothing else.")
    if catalog:
        return CatalogueView(face.services.accelerators())
    if wants_json():
        return InventoryView(face.services.inventory(engine))
    if details:
        return DetailsView(face.services.inventory(engine))

    def now() -> LiveView:
        history = None if engine else face.services.device_history(SPARK_SECONDS, SPARK_CELLS)
        return LiveView(face.services.inventory(engine), history)

    first = now()
    if watch or (face.is_watched() and not once and first.data.devices):  # where there is none, nothing moves
        face.watch(now, interval)
        return None
    return first


@click.command()
@click.option("--paddle-version", default="", metavar="VERSION", help="Another version than the kernel's.")
@click.option("--device", default="", metavar="NAME", help="For an accelerator by name, instead of this machine's.")
@options.json_option
@click.pass_obj
def images(face: Face, /, paddle_version: str, device: str) -> View:
    """Say which container image a job would run in, and why."""
    return ImagesView(face.services.images(paddle_version, device))


@click.command()
@click.option("--kernel", default="python3", metavar="NAME", help="The kernel whose Python is looked at.")
@options.json_option
@click.pass_obj
def doctor(face: Face, /, kernel: str) -> View:
    """Look whether everything that work needs is here.

    Where something is not, the next step is said. Exit status 1 where something is missing that nothing works without.
    """
    return DoctorView(face.services.doctor(kernel))


@click.command()
@click.option("--device", default="", metavar="NAME", help="gpu:0, gpu:1 … or cpu; the first GPU by default.")
@click.option("--kernel", default="python3", metavar="NAME", help="The kernel whose Paddle is used.")
@options.json_option
@click.pass_obj
def calibrate(face: Face, /, device: str, kernel: str) -> View:
    """Measure a device here, so that estimates become narrower.

    Runs some small trainings on it, which takes some minutes.
    """

    def told(message: Message) -> None:
        face.tell(message.render(face.say.translate))

    return CalibrationView(face.services.calibrate(device, kernel, progress=told))
