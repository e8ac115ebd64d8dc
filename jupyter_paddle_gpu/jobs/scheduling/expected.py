"""How long a job is expected to run: the one place that says so, for the queue and whoever tells people."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...domain.jobs.job import Job

History = Callable[[str], Iterable[Job]]
"""The jobs of a notebook (by its path) that ended well, newest first."""


def expected_seconds(job: Job, history: History) -> float | None:
    """Seconds from its start to its end: as its last runs took, at most its time limit; None: nobody knows.

    Of its notebook's runs the one with most in common counts: the same batch on as many devices, else the newest.
    """
    limit = job.spec.resources.seconds
    runs = [run for run in history(job.spec.notebook) if run.result is not None and run.result.seconds]
    alike = [run for run in runs if _kind(run) == _kind(job)]
    chosen = next(iter(alike or runs), None)
    if chosen is None or chosen.result is None or chosen.result.seconds is None:
        return limit
    return chosen.result.seconds if limit is None else min(limit, chosen.result.seconds)


def _kind(job: Job) -> tuple[object, ...]:
    spec = job.spec
    return spec.resources.gpus, spec.estimated_batch_size, spec.settings.variables
