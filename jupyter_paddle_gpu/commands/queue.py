"""`queue`, `queue hold | release | move`: who waits for what, and one's own order."""

from __future__ import annotations

import click

from .arguments import about_all, about_one
from .face import Face, View
from .options import json_option
from .views.job import JobView
from .views.queue import QueueView

_job = click.argument("job_id", metavar="JOB")


@about_all
def queue(face: Face, /) -> View:
    """Show who waits for what, and until about when."""
    return QueueView(face.services.jobs.queue.view())


_one = about_one(queue, _job)


@_one
def hold(face: Face, /, job_id: str) -> View:
    """Keep one of your waiting jobs from starting."""
    return JobView(face.services.jobs.queue.hold(face.services.find_job(job_id).id))


@_one
def release(face: Face, /, job_id: str) -> View:
    """Let a held job wait again, as one that came now."""
    return JobView(face.services.jobs.queue.hold(face.services.find_job(job_id).id, held=False))


@queue.command()
@_job
@click.option("--before", default="", metavar="JOB", help="Before this one of your jobs.")
@click.option("--last", is_flag=True, help="Behind all of your jobs; before all of them where nothing is said.")
@json_option
@click.pass_obj
def move(face: Face, /, job_id: str, before: str, last: bool) -> View:
    """Change the order among your own waiting jobs; nobody else's place changes."""
    if before and last:
        raise click.UsageError("--before and --last are two places.")
    job = face.services.find_job(job_id).id
    if last:
        return JobView(face.services.jobs.queue.move(job))
    first = face.services.find_job(before).id if before else face.services.jobs.queue.first()
    return JobView(face.services.jobs.queue.move(job, first or job))
