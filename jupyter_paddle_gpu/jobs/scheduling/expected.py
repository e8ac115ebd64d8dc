"""How long a job is expected to run: the one place that says so, for the queue and whoever tells people."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...domain.decisions import Need
from ...domain.jobs.job import Job
from ...matching.learned.experience import Experience

History = Callable[[str], Iterable[Job]]
"""The jobs of a notebook (by its path) that ended well, newest first."""


Predicted = Callable[[Job], float | None]
"""What the steps of a job are expected to take, as placement expects it; None where nothing was measured."""


def expected_seconds(job: Job, history: History, predicted: Predicted = lambda job: None) -> float | None:
    """Seconds from its start to its end, at most its time limit; None: nobody knows.

    As a run of its notebook took with the same batch on as many devices and with as many steps; else as what was
    measured or learned of its steps says; else as such a run took for each of its steps; else as its newest run took.
    """
    limit = job.spec.resources.seconds
    runs = [run for run in history(job.spec.notebook) if run.result is not None and run.result.seconds]
    alike = [run for run in runs if _kind(run) == _kind(job)]
    same = [run for run in alike if _steps(run) == _steps(job)]
    seconds = _ran(same) or predicted(job) or _step_by_step(alike, job) or _ran(alike) or _ran(runs)
    known = [one for one in (seconds, limit) if one is not None]
    return min(known, default=None)


def predicted_seconds(need: Need, cards: Iterable[str], experience: Experience) -> float | None:
    """Seconds of a whole run on the slowest of these cards, as placement expects its steps; a roofline is none."""
    if not need.steps:
        return None
    found = [experience.expect(need, name) for name in cards]
    known = [one.likely for one in found if one is not None and one.source != "roofline"]
    return need.steps * max(known) if known else None


def _ran(runs: list[Job]) -> float | None:
    return next((run.result.seconds for run in runs if run.result is not None), None)


def _step_by_step(runs: list[Job], job: Job) -> float | None:
    """As the newest run took whose steps are known, made longer or shorter."""
    known = ((run.result.seconds, _steps(run)) for run in runs if run.result is not None)
    wanted = _steps(job)
    return next((seconds * wanted / steps for seconds, steps in known if seconds and steps and wanted), None)


def _steps(job: Job) -> int | None:
    return None if job.spec.need is None else job.spec.need.steps


def _kind(job: Job) -> tuple[object, ...]:
    spec = job.spec
    return spec.resources.gpus, spec.estimated_batch_size, spec.settings.variables
