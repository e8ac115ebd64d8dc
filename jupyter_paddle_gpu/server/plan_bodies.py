"""What REST clients send of sweeps and schedules."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..domain.notebooks import FactValue
from ..domain.plans.schedules import Source
from ..domain.plans.sweeps import Search
from ..services.plans.wanted import ScheduleRequest, SweepRequest
from .bodies import SubmitBody


class SweepBody(SubmitBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to try, and what every trial has besides: the fields of a submit.

    Attributes:
        job: of a job that was, instead of a notebook: with what that one had.
        space: by the variable's name a list or a range as it is typed (`0.1, 0.01`, `32:128:x2`, `16:64:16`,
            `0.001:0.1:log`), or a list of values.
        search: `grid` goes through all; `random` and `optuna` take `trials` of them.
        at_once: how many wait or run at the same time; as many as there are devices where it is left out.
        metric, direction: by which the best is found; empty: what came out of the runs, an accuracy before a loss.
        skip: run those that fit though others do not.
    """

    path: str = ""
    job: str = ""
    space: dict[str, str | tuple[FactValue, ...]]
    search: Search = "grid"
    trials: Annotated[int, msgspec.Meta(ge=1)] | None = None
    at_once: Annotated[int, msgspec.Meta(ge=1)] | None = None
    metric: Annotated[str, msgspec.Meta(max_length=200)] = ""
    direction: Literal["", "min", "max"] = ""
    seed: int = 0
    skip: bool = False

    def wanted(self) -> SweepRequest:
        """The same for the services."""
        own = {name: getattr(self, name) for name in SweepRequest.__struct_fields__ if name != "submission"}
        return SweepRequest(**own, submission=msgspec.structs.replace(self.submission(), name="", token=""))


class SweepChangeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What of a sweep is to be otherwise from now on; what is left out stays as it is."""

    metric: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    direction: Literal["min", "max"] | None = None
    at_once: Annotated[int, msgspec.Meta(ge=1)] | None = None


class ScheduleBody(SubmitBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When to run it, and the fields of a submit.

    Attributes:
        at: a moment: `22:00`, `2026-11-23 02:00`, `+2h`.
        cron: five fields.
        free: id or index of a device that is to become free.
        below: what an hour of a device may cost at most, in the policy's currency.
        zone: IANA name of the time zone of `at` and `cron`; empty: the server's.
        source: `disk`: each run takes the notebook as it is then; `saved`: as it is now.
    """

    at: str = ""
    cron: str = ""
    free: str = ""
    below: Annotated[float, msgspec.Meta(gt=0)] | None = None
    zone: str = ""
    source: Source = "disk"

    def wanted(self) -> ScheduleRequest:
        """The same for the services."""
        return ScheduleRequest(
            at=self.at,
            cron=self.cron,
            free=self.free,
            below=self.below,
            zone=self.zone,
            source=self.source,
            arguments=self.arguments,
            submission=self.submission(),
        )


class DatesBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A moment or a cron expression as it is being typed."""

    at: str = ""
    cron: str = ""
    zone: str = ""
