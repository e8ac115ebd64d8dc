"""The commands: each asks one use case of the services and returns a view. They draw and decide nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from ..domain.decisions import RefusedError
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.what_ifs import EstimateRequest
from ..services.jobs.finding import NEWEST
from ..version import __version__
from . import options
from .contribute import contribute
from .face import Face, View
from .learned import learned
from .metrics import metrics
from .policy import policy
from .prices import prices
from .queue import queue
from .schedules import for_submit, schedules, taken
from .sweeps import sweep_command, sweeps
from .views import decision as decision_view
from .views.changes import ChangesView
from .views.estimate import EstimateView
from .views.explain import ExplainView
from .views.fit import FitView
from .views.job import FOLLOW_STATUS, DoneView, JobsView, JobView, submitted
from .views.live import SPARK_CELLS, SPARK_SECONDS, LiveView
from .views.machine import CalibrationView, CatalogueView, DoctorView, ImagesView, InventoryView
from .views.match import MatchView
from .views.schedules import ScheduleView

JSON = options.JSON
_json = options.json_option


def _known_jobs(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The jobs for a shell that completes what is typed, by their ids or the short end of them."""
    jobs = context.find_root().obj.services.jobs.list()
    shown = [CompletionItem(job.id, help=job.spec.name) for job in jobs if job.id.startswith(incomplete)]
    return shown or [CompletionItem(job.id.rsplit("-", 1)[-1]) for job in jobs if f"-{incomplete}" in job.id]


def _files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


_what = click.argument("what", metavar="[NOTEBOOK | SCRIPT.py -- ARGUMENTS]", nargs=-1, shell_complete=_files)
_job = click.argument("job_id", metavar="JOB", shell_complete=_known_jobs)
_follow = click.option("--follow", "-f", is_flag=True, help="Show the log until the job ends; exit with its status.")


def _held(face: Face, what: tuple[str, ...], estimate: Estimate) -> Callable[[EstimateRequest], EstimateRequest] | None:
    """Puts what the place holds by the names of open questions into a request; None where it holds nothing of them, or
    where another notebook is meant."""
    held = {} if what or estimate.status != "needs_input" else face.held(estimate)
    return partial(msgspec.structs.replace, held=held) if held else None


def _wants_json() -> bool:
    return bool(click.get_current_context().meta.get(JSON))


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="jupyter_paddle_gpu %(version)s", help="Show the version and exit.")
def paddle_gpu() -> None:
    """What a Paddle notebook's training takes, where it fits, and the jobs that run it."""


@paddle_gpu.command()
@_what
@options.for_estimates
@_json
@click.pass_obj
def estimate(face: Face, /, what: tuple[str, ...], **asked: Any) -> View:
    """Say what a training step takes, without running it.

    Exit status: 0 estimated, 3 a question is open, 4 nothing trains, 1 or 2 an error.
    """
    request = options.request(**asked)
    if (live := face.live(what, request)) is not None:
        return live
    source = face.source(*_one(face, what))
    if _wants_json():
        found = face.services.estimate(source, request)
        held = _held(face, what, found)
        return EstimateView(face.services.estimate(source, held(request)) if held else found)
    matched = face.services.match(source, request)
    if held := _held(face, what, matched.estimate):
        matched = face.services.match(source, held(request))
    while answers := face.answers(matched.estimate):
        request = msgspec.structs.replace(request, answers={**request.answers, **answers})
        matched = face.services.match(source, request)
    return EstimateView(matched.estimate, matched.placement, inside=request.details, request=request)


@paddle_gpu.command()
@_what
@options.for_fits
@_json
@click.pass_obj
def fit(face: Face, /, what: tuple[str, ...], accelerators: tuple[str, ...], **asked: Any) -> View:
    """Find the largest batch that fits each device.

    Each is sought by the training's own steps, so that one sample more would not fit.
    """
    request = options.request(**asked)
    live = face.live_fits(what, request, accelerators)
    if live is not None:
        fitting = live
    else:
        source = face.source(*_one(face, what))
        fitting = face.services.fits(source, request, accelerators)
    most = max((fit.largest_batch or 1 for fit in fitting.fits), default=None)
    if most is not None and not _wants_json():

        def at(batch: int) -> View:
            asked = msgspec.structs.replace(request, batch_size=batch)
            if live is not None and (view := face.live(what, asked)) is not None:
                return view
            matched = face.services.match(source, asked)
            return EstimateView(matched.estimate, matched.placement)

        face.explore(at, fitting.batch_size or 1, most)
    return FitView(fitting)


@paddle_gpu.command()
@_what
@options.for_estimates
@_json
@click.pass_obj
def explain(face: Face, /, what: tuple[str, ...], **asked: Any) -> View:
    """Say why a step takes what it does, or where a job is and why."""
    if len(what) == 1 and face.services.is_job(what[0]):
        return MatchView(face.services.explain_job(what[0]))
    request = msgspec.structs.replace(options.request(**asked), details=True)
    if (live := face.live(what, request)) is not None and isinstance(live, EstimateView):
        return ExplainView(live.data, live.placement)
    matched = face.services.match(face.source(*_one(face, what)), request)
    return ExplainView(matched.estimate, matched.placement)


@paddle_gpu.command()
@click.option("--catalogue", is_flag=True, help="The accelerators that are known, instead of those that are here.")
@click.option("--engine", default="", metavar="NAME", help="Those that jobs on this engine can have.")
@click.option("--once", is_flag=True, help="Show them once; in a terminal they are shown anew until you interrupt.")
@click.option("--watch", is_flag=True, help="Show them anew all the time, also where no terminal is.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How often they are shown anew.",
)
@_json
@click.pass_obj
def gpus(face: Face, /, *, catalogue: bool, engine: str, once: bool, watch: bool, interval: float) -> View | None:
    """List devices: this machine's, an engine's, or known ones."""
    if watch and (catalogue or once or _wants_json()):
        raise click.UsageError("--watch shows the devices of this machine to somebody; it goes with nothing else.")
    if catalogue:
        return CatalogueView(face.services.accelerators())
    if _wants_json():
        return InventoryView(face.services.inventory(engine))

    def now() -> View:
        history = None if engine else face.services.device_history(SPARK_SECONDS, SPARK_CELLS)
        return LiveView(face.services.inventory(engine), history)

    if watch or (face.is_watched() and not once):
        face.watch(now, interval)
        return None
    return now()


@paddle_gpu.command()
@click.option("--paddle-version", default="", metavar="VERSION", help="Another version than the kernel's.")
@click.option("--device", default="", metavar="NAME", help="For an accelerator by name, instead of this machine's.")
@_json
@click.pass_obj
def images(face: Face, /, paddle_version: str, device: str) -> View:
    """Say which container image a job would run in, and why."""
    return ImagesView(face.services.images(paddle_version, device))


@paddle_gpu.command()
@_what
@options.for_jobs
@click.option("--engine", default="", metavar="NAME", help="Where the job runs; doctor lists the engines.")
@click.option("--gpus", type=click.IntRange(min=0), metavar="N", help="Number of devices; 0 runs on the CPU.")
@click.option("--device-id", "device_ids", multiple=True, metavar="ID", help="These devices and no others.")
@click.option("--memory", "memory_bytes", callback=options.parse_bytes, metavar="SIZE", help="Limit of host memory.")
@click.option("--cpus", type=click.FloatRange(min=0, min_open=True), metavar="N", help="Limit of processors.")
@click.option(
    "--time-limit",
    "seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Seconds until it is stopped.",
)
@click.option(
    "--priority",
    type=click.IntRange(-1000, 1000),
    default=0,
    metavar="N",
    help="Before your jobs of a lower one; below 0 others pass as well.",
)
@click.option("--image", default="", metavar="REFERENCE", help="Container image, for engines that have containers.")
@click.option("--name", default="", metavar="TEXT", help="Name in lists.")
@click.option(
    "--env",
    "environment",
    multiple=True,
    metavar="NAME=VALUE",
    callback=options.parse_environment,
    help="Environment variable of the job.",
)
@click.option("--token", default="", help="A second submit with the same token returns the first job.")
@click.option("--estimate/--no-estimate", "estimated", default=True, help="Attach the estimate (default) or not.")
@click.option("--dry-run", is_flag=True, help="Only show what the job's copy of the notebook has otherwise.")
@click.option(
    "--notify",
    multiple=True,
    metavar="WHO",
    help="Who is told when it has ended: a receiver of the policy or a mail address; none tells nobody.",
)
@click.option("--anyway", is_flag=True, help="Submit it though it will not fit what is here.")
@for_submit
@_follow
@_json
@click.pass_obj
def submit(face: Face, /, what: tuple[str, ...], follow: bool, dry_run: bool, **chosen: Any) -> View:
    """Run a notebook or a script as a job, without a browser.

    It goes on when terminal and browser are closed; `logs` and `jobs` find it again.
    """
    path, arguments = _one(face, what)
    source, scheduled = face.source(path, arguments), taken(chosen)
    if dry_run:
        return ChangesView(face.services.changes(source, options.submission(**chosen).request, runs=True))
    if scheduled is not None:
        if follow:
            raise click.UsageError("--follow shows a job that runs now; a scheduled one does not.")
        request = scheduled(options.submission(**chosen), arguments)
        return ScheduleView(face.services.plans.schedules.create(source, request))
    if follow:
        face.attend()
    try:
        job = face.services.submit(source, options.submission(**chosen), accepting=face.hold)
    except RefusedError as error:
        raise PaddleGpuError.of(decision_view.refusal(error.decision), status=error.status) from None
    return _followed(face, job.id, 0, status=True) if follow else JobView(job)


@paddle_gpu.command()
@click.argument("notebook", required=False, shell_complete=_files)
@options.for_jobs
@click.option("--write", is_flag=True, help="Write it into the notebook, instead of only showing it.")
@_json
@click.pass_obj
def apply(face: Face, /, notebook: str | None, write: bool, **asked: Any) -> View:
    """Show what advice changes in the cells, or write it into them.

    Exit status: 0, or 1 where something cannot be changed.
    """
    source = face.source(notebook)
    changes = face.services.changes(source, options.request(**asked), runs=True)
    return ChangesView(changes, face.write(source, changes) if write and changes.cells else "")


@paddle_gpu.command()
@click.argument("job_id", metavar="[JOB]", required=False, shell_complete=_known_jobs)
@click.option("--all", "every", is_flag=True, help="Each trial of a sweep as well, instead of one row for the sweep.")
@_json
@click.pass_obj
def jobs(face: Face, /, job_id: str | None, every: bool) -> View:
    """List the jobs, or show one."""
    if job_id:
        job = face.services.find_job(job_id)
        return JobView(job, statistics=face.services.jobs.statistics(job.id).summary)
    return JobsView(face.services.jobs.list(), () if every else face.services.plans.sweeps.list())


@paddle_gpu.command()
@click.argument("job_id", metavar="[JOB]", default=NEWEST, shell_complete=_known_jobs)
@click.option("--follow", "-f", is_flag=True, help="Go on until the job ends.")
@click.option("--since", type=click.IntRange(min=0), default=0, metavar="N", help="The first line's number, from 0.")
@click.option(
    "--rank", type=click.IntRange(min=0), metavar="N", default=0, help="Of this process of a distributed training."
)
@_json
@click.pass_obj
def logs(face: Face, /, job_id: str, follow: bool, since: int, rank: int) -> View | None:
    """Print a job's log: of the newest one where none is named."""
    job = face.services.find_job(job_id)
    if follow and rank:
        raise click.UsageError("--rank shows what is there; it cannot be followed.")
    if follow:
        _followed(face, job.id, since, status=False)
    else:
        face.show_log(job, since, rank=rank, as_json=_wants_json())
    return None


@paddle_gpu.command()
@_job
@click.option("--force", is_flag=True, help="End it at once, without letting it save.")
@_json
@click.pass_obj
def cancel(face: Face, /, job_id: str, force: bool) -> View:
    """Ask a job to save and end. What it wrote so far is kept."""
    return JobView(face.services.jobs.cancel(face.services.find_job(job_id).id, force=force))


@paddle_gpu.command()
@_job
@_follow
@_json
@click.pass_obj
def rerun(face: Face, /, job_id: str, follow: bool) -> View:
    """Submit the same again as a new job."""
    old = face.services.find_job(job_id)
    if follow:
        face.attend()
    face.hold()
    job = face.services.jobs.rerun(old.id)
    return _followed(face, job.id, 0, status=True) if follow else JobView(job)


@paddle_gpu.command()
@_job
@_json
@click.pass_obj
def delete(face: Face, /, job_id: str) -> View:
    """Remove an ended job with its log. The published notebook stays."""
    job = face.services.find_job(job_id)
    face.services.jobs.delete(job.id)
    return DoneView(face.say("Job {id} was deleted.", id=job.id), {"deleted": job.id})


@paddle_gpu.command()
@click.option("--kernel", default="python3", metavar="NAME", help="The kernel whose Python is looked at.")
@_json
@click.pass_obj
def doctor(face: Face, /, kernel: str) -> View:
    """Look whether everything that work needs is here.

    Where something is not, the next step is said. Exit status 1 where something is missing that nothing works without.
    """
    return DoctorView(face.services.doctor(kernel))


@paddle_gpu.command()
@click.option("--device", default="", metavar="NAME", help="gpu:0, gpu:1 … or cpu; the first GPU by default.")
@click.option("--kernel", default="python3", metavar="NAME", help="The kernel whose Paddle is used.")
@_json
@click.pass_obj
def calibrate(face: Face, /, device: str, kernel: str) -> View:
    """Measure a device here, so that estimates become narrower.

    Runs some small trainings on it, which takes a minute.
    """
    return CalibrationView(face.services.calibrate(device, kernel, progress=face.progress))


paddle_gpu.add_command(contribute)
paddle_gpu.add_command(sweep_command(submit))
paddle_gpu.add_command(sweeps)
paddle_gpu.add_command(schedules)
paddle_gpu.add_command(policy)
paddle_gpu.add_command(metrics)
paddle_gpu.add_command(prices)
paddle_gpu.add_command(learned)
paddle_gpu.add_command(queue)


def _one(face: Face, words: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The notebook, or the script with the arguments behind it."""
    if words and words[0].endswith(".py"):
        return words[0], words[1:]
    if len(words) > 1:
        text = "One notebook at a time, not {count}: {names}"
        raise click.UsageError(face.say(text, count=len(words), names=" ".join(words)))
    return (words[0] if words else None), ()


def _followed(face: Face, job_id: str, since: int, *, status: bool) -> View:
    if status and not _wants_json():
        face.tell(submitted(face.say, face.services.jobs.get(job_id)))
    job = face.follow(face.services.jobs.get(job_id), since, as_json=_wants_json())
    return JobView(job, status=FOLLOW_STATUS[job.state] if status else 0)
