"""`submit`, `jobs`, `logs`, `cancel`, `rerun`, `delete`: a notebook that runs as a job, and what is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from ..domain.decisions import Decision, RefusedError
from ..domain.errors import PaddleGpuError
from ..domain.jobs.job import ENDED, NEWEST, WantedResources
from ..domain.notebooks import FactValue
from . import options
from .arguments import ENGINE, IMAGE, WHAT, job_argument, one, runs_already, wants_json
from .face import Face, View
from .numbers import Number, Whole
from .plans.schedules import for_submit, taken
from .views import decision as decision_view
from .views.changes import ChangesView, bound_later
from .views.job import DoneView, JobsView, JobView, submitted
from .views.plans.schedules import ScheduleView
from .views.states import FOLLOW_STATUS

if TYPE_CHECKING:
    from ..domain.notebooks import NotebookSource
    from ..services.requests import Submission

_FOLLOW = click.option("--follow", "-f", is_flag=True, help="Show the log until the job ends; exit with its status.")


@click.command()
@WHAT
@options.for_jobs
@ENGINE
@options.for_devices
@click.option("--memory", "memory_bytes", callback=options.parse_bytes, metavar="SIZE", help="Limit of host memory.")
@click.option("--cpus", type=Number(min=0, min_open=True), metavar="N", help="Limit of processors.")
@click.option(
    "--time-limit",
    "seconds",
    type=Number(min=0, min_open=True),
    metavar="SECONDS",
    help="Seconds until it is stopped.",
)
@click.option(
    "--priority",
    type=Whole(-1000, 1000),
    default=0,
    metavar="N",
    help="Before your jobs of a lower one; below 0 others pass as well.",
)
@IMAGE
@click.option("--name", default="", metavar="TEXT", help="Name in lists.")
@options.ENVIRONMENT
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
@_FOLLOW
@options.json_option
@click.pass_obj
def submit(face: Face, /, what: tuple[str, ...], follow: bool, dry_run: bool, **chosen: Any) -> View | None:
    """Run a notebook or a script as a job, without a browser.

    It goes on when terminal and browser are closed; `logs` and `jobs` find it again.
    """
    path, arguments = one(face, what)
    if not dry_run and runs_already(face, path):
        return None
    source, scheduled = face.source(path, arguments), taken(chosen)
    if dry_run:
        submission = options.submission(**chosen)
        changes = face.services.changes(source, submission, runs=True)
        return ChangesView(changes, notes=tuple(bound_later(submission.request, changes)))
    if scheduled is not None:
        if follow:
            raise click.UsageError("--follow shows a job that runs now; a scheduled one does not.")
        request = scheduled(options.submission(**chosen), arguments)
        return ScheduleView(face.services.plans.schedules.create(source, request))
    if follow:
        face.attend()
    submission = options.submission(**chosen)
    try:
        job = face.services.submit(source, submission, accepting=face.hold)
    except RefusedError as error:
        decision = _searched(face, source, submission, error.decision)
        raise PaddleGpuError.of(decision_view.refusal(decision), status=error.status) from None
    return _followed(face, job.id, 0, status=True) if follow else JobView(job, begun=True)


def _searched(face: Face, source: NotebookSource, submission: Submission, decision: Decision) -> Decision:
    """A refusal with its ways out: now that nothing begins there is time to look for them."""
    if decision_view.is_searched(decision) or submission.estimate is False:
        return decision
    wanted = submission.resources or WantedResources()
    request = msgspec.structs.replace(submission.whole().request, details=True)
    with face.working():
        matched = face.services.match(
            source,
            request,
            engine=submission.engine,
            gpus=wanted.gpus,
            device_ids=wanted.device_ids,
            share=wanted.share,
        )
    found = matched.placement.decision
    found = found if found.reason.code == decision.reason.code else decision
    late = (note for note in matched.estimate.notes if note.code == decision_view.LATE)
    return msgspec.structs.replace(found, notes=(*found.notes, *late))


@click.command()
@job_argument("[JOB]", required=False)
@click.option("--all", "every", is_flag=True, help="Each trial of a sweep as well, instead of one row for the sweep.")
@options.json_option
@click.pass_obj
def jobs(face: Face, /, job_id: str | None, every: bool) -> View:
    """List the jobs, or show one."""
    if job_id:
        job = face.services.find_job(job_id)
        return JobView(job, statistics=face.services.jobs.statistics(job.id).summary)
    face.services.jobs.nudge()  # who looked after them may have been killed
    return JobsView(face.services.jobs.list(), () if every else face.services.plans.sweeps.list())


@click.command()
@job_argument("[JOB]", default=NEWEST)
@click.option("--follow", "-f", is_flag=True, help="Go on until the job ends.")
@click.option("--since", type=Whole(min=0), default=0, metavar="N", help="The first line's number, from 0.")
@click.option("--rank", type=Whole(min=0), metavar="N", default=0, help="Of this process of a distributed training.")
@options.json_option
@click.pass_obj
def logs(face: Face, /, job_id: str, follow: bool, since: int, rank: int) -> View | None:
    """Print a job's log: of the newest one where none is named."""
    job = face.services.find_job(job_id)
    if follow and rank:
        raise click.UsageError("--rank shows what is there; it cannot be followed.")
    if follow:
        _followed(face, job.id, since, status=False)
    else:
        face.show_log(job, since, rank=rank, as_json=wants_json())
    return None


@click.command()
@job_argument()
@click.option("--force", is_flag=True, help="End it at once, without letting it save.")
@options.json_option
@click.pass_obj
def cancel(face: Face, /, job_id: str, force: bool) -> View:
    """Ask a job to save and end. What it wrote so far is kept."""
    job = face.services.find_job(job_id)
    if job.state in ENDED:
        face.tell(face.say("Job {id} had ended before.", id=job.id))
    return JobView(face.services.jobs.cancel(job.id, force=force))


@click.command()
@job_argument()
@options.SET
@_FOLLOW
@options.json_option
@click.pass_obj
def rerun(face: Face, /, job_id: str, sets: dict[str, FactValue], follow: bool) -> View:
    """Submit the same again as a new job.

    It goes on from the old one's checkpoints; with another value (--set) it begins anew.
    """
    from ..services.requests import Rerun

    old = face.services.find_job(job_id)
    if follow:
        face.attend()
    face.hold()
    try:
        job = face.services.rerun(old.id, Rerun(values=sets))
    except RefusedError as error:
        raise PaddleGpuError.of(decision_view.refusal(error.decision), status=error.status) from None
    return _followed(face, job.id, 0, status=True) if follow else JobView(job, begun=True)


@click.command()
@job_argument()
@options.json_option
@click.pass_obj
def delete(face: Face, /, job_id: str) -> View:
    """Remove an ended job with its log. Its executed copy stays."""
    job = face.services.find_job(job_id)
    face.services.jobs.delete(job.id)
    return DoneView(face.say("Job {id} was deleted.", id=job.id), {"deleted": job.id})


def _followed(face: Face, job_id: str, since: int, *, status: bool) -> View:
    if status and not wants_json():
        face.tell(submitted(face.say, face.services.jobs.get(job_id)))
    job = face.follow(face.services.jobs.get(job_id), since, as_json=wants_json())
    return JobView(job, status=FOLLOW_STATUS[job.state] if status else 0)
