"""What a face asks of a sweep, and how a submission is kept until it is needed."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from ...domain.decisions import Outcome
from ...domain.decoding import convert
from ...domain.jobs.job import WantedResources
from ...domain.messages import Message
from ...domain.notebooks import FactValue
from ...domain.plans.schedules import Source
from ...domain.plans.space import Dimension
from ...domain.plans.sweeps import Search
from ..requests import Submission


class Kept(Submission, frozen=True, kw_only=True):
    """A submission as a row keeps it: what it says of devices comes back as it was asked for."""

    resources: WantedResources | None = None


def kept(submission: Submission) -> dict[str, Any]:
    """As JSON."""
    plain: dict[str, Any] = msgspec.to_builtins(submission)
    return plain


def unkept(plain: dict[str, Any]) -> Submission:
    """The submission again."""
    return convert(plain, Kept)


class SweepRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants to try.

    Attributes:
        space: by the variable's name a list or a range as it is typed (`domain.plans.space`), or a list of values.
        search: `grid` goes through all; `random` and `optuna` take `trials` of them.
        trials: how many; None: all of a grid, else 20.
        at_once: how many wait or run at the same time; None: as many as there are devices.
        metric, direction: by which the best is found; empty: what came out of the runs, an accuracy before a loss.
        skip: run those that fit though others do not.
        submission: what every trial has besides its values.
    """

    space: dict[str, str | tuple[FactValue, ...]]
    search: Search = "grid"
    trials: int | None = None
    at_once: int | None = None
    metric: str = ""
    direction: Literal["", "min", "max"] = ""
    name: str = ""
    seed: int = 0
    skip: bool = False
    submission: Submission = Submission()


class ScheduleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """When a notebook is to run; one of `at`, `cron`, `free` and `below`.

    Attributes:
        at: a moment as it is typed: `22:00`, `2026-11-23 02:00`, `+2h`.
        cron: five fields.
        free: id or index of a device that is to become free.
        below: what an hour of a device may cost at most, in the policy's currency.
        zone: IANA name of the time zone of `at` and `cron`; empty: this machine's.
        source: `disk`: each run takes the notebook as it is then; `saved`: as it is now.
        arguments: of a script.
    """

    at: str = ""
    cron: str = ""
    free: str = ""
    below: float | None = None
    zone: str = ""
    source: Source = "disk"
    arguments: tuple[str, ...] = ()
    submission: Submission = Submission()


class CheckedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """What would become of a trial now.

    Attributes:
        outcome: as of a job: `run`, `wait`, `cpu` or `refuse`.
        why: why it is refused or has to wait.
        placed: the estimate's peak in bytes; None: not known.
    """

    number: int
    values: dict[str, FactValue]
    outcome: Outcome
    why: Message | None = None
    placed: int | None = None


class SweepCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep would be.

    Attributes:
        trials: each that is known beforehand; of a search that decides as it goes, the corners of its space.
        wanted: how many trials there would be.
        refused: how many of `trials` fit nowhere.
    """

    dimensions: tuple[Dimension, ...]
    search: Search
    wanted: int
    at_once: int
    trials: tuple[CheckedTrial, ...]
    refused: int


class Prepared(NamedTuple):
    """A sweep before it is made: what it goes through, and the values of its trials as far as they are known."""

    dimensions: tuple[Dimension, ...]
    values: list[dict[str, FactValue]]
    wanted: int
    corners: bool
