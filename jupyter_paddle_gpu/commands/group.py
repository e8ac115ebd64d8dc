"""All commands: each asks one use case of the services and returns a view. They draw and decide nothing."""

from __future__ import annotations

import click

from ..version import __version__
from . import options
from .compare import compare
from .contribute import contribute
from .estimates import apply, estimate, explain, fit
from .jobs import cancel, delete, jobs, logs, rerun, submit
from .learned import learned
from .listing import SECTIONS, Listing
from .machine import calibrate, doctor, gpus, images
from .metrics import metrics
from .plans.schedules import schedules
from .plans.sweeps import sweep_command, sweeps
from .policy import policy
from .prices import prices
from .queue import queue

JSON = options.JSON


@click.group(
    cls=Listing, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, message="jupyter_paddle_gpu %(version)s", help="Show the version and exit.")
def paddle_gpu() -> None:
    """What a Paddle notebook's training takes, where it fits, and the jobs that run it."""


COMMANDS: tuple[click.Command, ...] = (
    estimate,
    fit,
    explain,
    gpus,
    images,
    submit,
    apply,
    jobs,
    logs,
    cancel,
    rerun,
    compare,
    delete,
    doctor,
    calibrate,
    contribute,
    sweep_command(submit),
    sweeps,
    schedules,
    policy,
    metrics,
    prices,
    learned,
    queue,
)
"""Every command; `listing.SECTIONS` has the order in which they are listed."""

for _command in COMMANDS:
    paddle_gpu.add_command(_command)
    if any(one.human_readable_name.strip("[]") == "JOB" for one in _command.params):
        _command.epilog = options.NAMES_A_JOB
