"""This product's queue in a simulated place: its own order, account, expectations and turns, with a made-up clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult, JobSpec, Resources
from jupyter_paddle_gpu.jobs.scheduling import queue
from jupyter_paddle_gpu.jobs.scheduling.admission import devices as devices_of
from jupyter_paddle_gpu.jobs.scheduling.expected import expected_seconds, predicted_seconds
from jupyter_paddle_gpu.jobs.scheduling.fairness import Line, Place, Rules, ranked
from jupyter_paddle_gpu.jobs.scheduling.ledger import Ledger, Now
from jupyter_paddle_gpu.jobs.scheduling.room import Supply
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.shares import wanted_share

from .workload import SMALLEST, Task

DEPTH = 20
"""First places of the order that one pass looks at."""
RUNS = 5
"""Runs of a notebook that are looked at, as the product does."""


class Start(NamedTuple):
    """A task whose turn it is, on these devices, and its row from now on."""

    task: Task
    job: Job


class Queue:
    """One place's queue for all users; a store each.

    Args:
        devices: as they are when nobody has them.
    """

    def __init__(self, devices: Iterable[Device], policy: Policy) -> None:
        self.devices = tuple(devices)
        self.policy = policy
        self._ledgers: dict[str, Ledger] = defaultdict(Ledger)
        self._runs: dict[str, list[Job]] = defaultdict(list)
        self._expected: dict[str, float | None] = {}
        self.active: dict[str, Job] = {}

    def starts(self, waiting: Iterable[Task], now: float) -> list[Start]:
        """Whose turn it is now."""
        self.count(now)
        tasks = {task.id: task for task in waiting}
        jobs = {task.id: job_of(task, self.devices, self.policy) for task in tasks.values()}
        order = self._order(jobs, now)[:DEPTH]
        seconds = {
            one.id: found for one in (*order, *self.active.values()) if (found := self._seconds(one)) is not None
        }
        turns = queue.turns(
            order,
            tuple(self.active.values()),
            claims={device: one.id for one in self.active.values() if not one.shares for device in one.device_ids},
            supply=lambda engine: Supply(devices=self.devices),
            settings=JobSettings(),
            now=now,
            policy=self.policy,
            known=queue.Known(seconds=seconds),
        )
        found = []
        for turn in turns:
            if turn.start:
                row = msgspec.structs.replace(
                    turn.job, state="running", device_ids=turn.device_ids, shares=turn.shares, started=now
                )
                self.active[row.id] = row
                found.append(Start(tasks[row.id], row))
        self.count(now)
        return found

    def has_room(self) -> bool:
        """Whether there is a card of which the smallest task could have something."""
        left = {one.id: self.policy.allowed(one.memory_total or 0) for one in self.devices}
        for one in self.active.values():
            for at, device in enumerate(one.device_ids):
                left[device] -= one.shares[at].bytes if one.shares else left[device]
        return max(left.values()) >= SMALLEST

    def count(self, now: float) -> None:
        """Charge what was used until now."""
        users = {one.owner for one in self.active.values()} | set(self._ledgers)
        for user in users:
            mine = [one for one in self.active.values() if one.owner == user]
            self._ledgers[user].count(mine, Now(now, "", now))

    def ended(self, name: str, now: float) -> None:
        """A job has ended well; its notebook's next run is expected to take as long."""
        self.count(now)
        row = self.active.pop(name)
        result = JobResult(reason="succeeded", seconds=now - (row.started or now))
        self._runs[row.spec.notebook] = [msgspec.structs.replace(row, result=result), *self._runs[row.spec.notebook]][
            :RUNS
        ]
        self.count(now)

    def _order(self, jobs: Mapping[str, Job], now: float) -> list[Job]:
        by_user: dict[str, list[Job]] = defaultdict(list)
        for one in jobs.values():
            by_user[one.owner].append(one)
        lines = [
            Line(
                user=user,
                name=user,
                places=tuple(Place(job=one.id, devices=devices_of(one), seconds=self._seconds(one)) for one in mine),
                since=tuple(one.created for one in mine),
            )
            for user, mine in by_user.items()
        ]
        usage = {user: ledger.used or 0.0 for user, ledger in self._ledgers.items()}
        return [jobs[one.place.job] for one in ranked(lines, usage, Rules(), now)]

    def _seconds(self, job: Job) -> float | None:
        """How long it is expected to run; asked anew when it has its devices, as the product does."""
        key = f"{job.id} {bool(job.device_ids)} {len(self.policy.experience.runs)}"
        if key not in self._expected:
            self._expected[key] = expected_seconds(job, lambda notebook: self._runs[notebook], self._predicted)
        return self._expected[key]

    def _predicted(self, job: Job) -> float | None:
        names = {one.name for one in self.devices if not job.device_ids or one.id in job.device_ids}
        need = job.spec.need
        return None if need is None else predicted_seconds(need, names, self.policy.experience)


def job_of(task: Task, devices: Iterable[Device], policy: Policy) -> Job:
    """A task as its user submits it: with its limit and its estimate.

    Who asks for a whole card in the trace asks for one here. Who asks for less gets what the policy gives
    (`default_share: estimate`): so much of a card's memory as the estimate says at most.
    """
    whole = task.count > 1 or task.milli >= 1000
    share = None if whole else wanted_share(None, task.need, devices, policy)
    spec = JobSpec(
        name=task.id,
        notebook=f"{task.user}-{task.model}",
        output="o",
        folder="f",
        engine="local",
        resources=Resources(gpus=task.count, seconds=task.limit, share=share),
        need=task.need,
        estimated_batch_size=task.need.batch,
    )
    return Job(id=task.id, spec=spec, state="queued", created=task.arrival, updated=task.arrival, owner=task.user)
