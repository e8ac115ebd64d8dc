"""Every delay and limit of the jobs, with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

import msgspec


def default_data_folder() -> Path:
    """Where a user's jobs lie when nothing else is said: Jupyter's data folder."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "paddle_gpu"


class JobPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy file says of jobs.

    Attributes:
        cpu_slots: engine -> how many jobs without a device may run there at once.
    """

    cpu_slots: dict[str, Annotated[int, msgspec.Meta(ge=1)]] = {}


class SchedulerPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy file says of the order of jobs.

    Attributes:
        algorithm: `rules` (the score of `matching.score`), or `learned` from jobs that have run, where that has proven
            itself on the machine's own history.
        timeout: seconds that a job may wait in the queue; None: as long as it takes.
        priorities: user -> the larger the earlier; `*` for everybody who is not named. Of the system's file alone.
        aging: seconds of waiting that count as one step of priority. Of the system's file alone.
        quotas: user -> devices at once; `*` for everybody who is not named.
        quiet_hours: spans of the day (`22:00-06:00`) in which no job is started on a device.
    """

    algorithm: Literal["rules", "learned"] = "rules"
    timeout: Annotated[float, msgspec.Meta(gt=0)] | None = None
    priorities: dict[str, int] = {}
    aging: Annotated[float, msgspec.Meta(gt=0)] = 3600.0
    quotas: dict[str, Annotated[int, msgspec.Meta(ge=0)]] = {}
    quiet_hours: tuple[Annotated[str, msgspec.Meta(pattern=r"^\d{1,2}:\d{2}-\d{1,2}:\d{2}$")], ...] = ()


@dataclass(frozen=True)
class JobSettings:
    """Settings of the job service. Times in seconds.

    Attributes:
        stop_seconds: between SIGTERM and SIGKILL at a cancel. A training needs some of it to save a checkpoint.
        kill_seconds: what the runner gets beyond `stop_seconds` to write its result, before it is killed itself.
        active_seconds: between two looks at the engines while jobs are active or somebody watches.
        idle_seconds: the same while nothing is queued or active and nobody watches.
        engine_seconds: how long an engine may take to say how its jobs are before the others' are looked after.
        order_seconds: how long a job that is ready to start waits for those before it while none of them moves (for a
            pull, a build or a large copy nobody waits).
        progress_seconds: least time between two written progress states of one job.
        cpu_slots: how many jobs without a device may run at once, by engine; `default_cpu_slots` for the others.
            One by default: two trainings on the same cores take longer than one after the other.
        order: quiet hours, devices of one user, longest wait.
        common: the same as the system's file alone has it: the order among users must be one for all.
        follow: asked for both as the files have them now; None: they stay as they are.
        turn_seconds: how long another user's job whose turn it is may take until it is passed by.
        passed_seconds: for how long then that user's jobs hold up nobody.
        told_seconds: most time between two words to others of what this store's jobs have used.
        attempts: how often a job is started at most when the fault is a passing one.
        retry_seconds: wait before the second attempt; doubled for each further one up to `retry_most_seconds`.
        notice_attempts: how often somebody is tried to be told of a job's end.
        time_limit_grace: beyond a job's own time limit, before a runner that did not end itself is stopped.
        busy_seconds: how long a writer waits for another process's transaction.
        wait_seconds: between two looks at the store in `JobService.wait`.
        log_page_lines: most lines in one page of a log; `log_page_bytes` bounds it where they are long.
        statistics_seconds: most time between two looks at what a running job uses, to which it grows from
            `statistics_least_seconds` while the job gets older (`statistics_share` of its age); 0: never.
        statistics_points: points kept of one job; older ones are merged, never cut off.
        standby_seconds: after so long a dispatcher stands by behind a command that looks after the queue itself.
        linger_seconds: how long the detached dispatcher stays after its last job, for the next one.
    """

    stop_seconds: float = 10.0
    kill_seconds: float = 5.0
    active_seconds: float = 0.3
    idle_seconds: float = 2.0
    engine_seconds: float = 2.0
    order_seconds: float = 20.0
    progress_seconds: float = 1.0
    cpu_slots: Mapping[str, int] = field(default_factory=dict)
    default_cpu_slots: int = 1
    order: SchedulerPolicy = field(default_factory=SchedulerPolicy)
    common: SchedulerPolicy = field(default_factory=SchedulerPolicy)
    follow: Callable[[], tuple[SchedulerPolicy, SchedulerPolicy]] | None = None
    turn_seconds: float = 20.0
    passed_seconds: float = 600.0
    told_seconds: float = 30.0
    attempts: int = 3
    retry_seconds: float = 5.0
    retry_most_seconds: float = 60.0
    notice_attempts: int = 6
    time_limit_grace: float = 30.0
    busy_seconds: float = 30.0
    wait_seconds: float = 0.2
    log_page_lines: int = 10_000
    log_page_bytes: int = 1 << 20
    statistics_seconds: float = 5.0
    statistics_least_seconds: float = 0.5
    statistics_share: float = 0.05
    statistics_points: int = 360
    standby_seconds: float = 1.0
    linger_seconds: float = 2.0

    def within(
        self, policy: JobPolicy, order: SchedulerPolicy | None = None, common: SchedulerPolicy | None = None
    ) -> JobSettings:
        """These settings as a policy has them."""
        slots = {**self.cpu_slots, **policy.cpu_slots}
        return replace(self, cpu_slots=slots, order=order or self.order, common=common or self.common)

    def now(self) -> JobSettings:
        """These settings with the rules of the queue as the policy files have them now."""
        order, common = (self.order, self.common) if self.follow is None else self.follow()
        same = order is self.order and common is self.common
        return self if same else replace(self, order=order, common=common)

    def slots(self, engine: str) -> int:
        """How many jobs without a device may run on an engine at once."""
        return self.cpu_slots.get(engine, self.default_cpu_slots)

    def retry_after(self, attempts: int) -> float:
        """Wait before the next attempt after so many."""
        return min(self.retry_most_seconds, self.retry_seconds * float(2 ** max(0, attempts - 1)))

    def statistics_after(self, age: float) -> float:
        """Wait between two looks at what a job uses that runs for so many seconds."""
        return min(self.statistics_seconds, max(self.statistics_least_seconds, self.statistics_share * age))
