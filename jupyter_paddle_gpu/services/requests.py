"""What a face asks of `Services` beyond an estimate, and what it gets back."""

from __future__ import annotations

from typing import Any

import msgspec

from ..domain.changes import CellDifference
from ..domain.decisions import Decision
from ..domain.estimates import Estimate
from ..domain.jobs.job import Resources, WantedResources
from ..domain.messages import Message
from ..domain.notebooks import FactValue, NotebookFacts
from ..domain.placements import Placement
from ..domain.variables import Difference
from ..domain.what_ifs import EstimateRequest


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """What a person chose for a job; everything left out takes the policy's or the notebook's own value.

    Attributes:
        engine: name of an engine; empty: the policy's.
        request: answers are bound in the notebook before it runs; what-ifs of jobs change the job's copy of it.
        environment: beside that of the request.
        resources: limits and devices. None, and a `WantedResources` that says nothing of devices: one where the engine
            and the machine have one, else the CPU.
        image: container image; empty: the matched one.
        name: shown in lists; empty: the notebook's name.
        token: idempotency token: a second submit with the same one returns the first job.
        estimate: attach an estimate: True computes it where none was shown yet, False never does, None uses the one
            that was shown before and computes one only for a job that wants a device.
        anyway: accept it though it can never fit what is here.
        notify: who is told when it has ended: names of receivers or mail addresses. None: the policy's.
        plan, trial: the sweep or the schedule that submits it, and which trial it is.
        priority: among one's own jobs the larger the earlier; below 0 others pass as well.
    """

    engine: str = ""
    request: EstimateRequest = EstimateRequest()
    resources: Resources | None = None
    image: str = ""
    name: str = ""
    token: str = ""
    environment: dict[str, str] = {}
    options: dict[str, Any] = {}
    estimate: bool | None = None
    anyway: bool = False
    notify: tuple[str, ...] | None = None
    plan: str = ""
    trial: int | None = None
    priority: int = 0

    def whole(self) -> Submission:
        """The same with one environment: the job has it, and its estimate is made for it."""
        environment = {**self.request.environment, **self.environment}
        request = msgspec.structs.replace(self.request, environment=environment)
        return msgspec.structs.replace(self, request=request, environment=environment)


class Rerun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a job is to have otherwise when it is run again; what is left out is as it was.

    Attributes:
        values: of the notebook's variables, by name.
        request: what-ifs of jobs, for what has no variable: a batch size that stands in a call, mixed precision.
        resources: limits and devices.
        environment: all of it, where it is given.
        anyway: accept it though it can never fit what is here.
    """

    values: dict[str, FactValue] = {}
    request: EstimateRequest = EstimateRequest()
    engine: str = ""
    resources: WantedResources | None = None
    environment: dict[str, str] | None = None
    name: str = ""
    token: str = ""
    anyway: bool = False


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two jobs side by side.

    Attributes:
        differs: what the second has otherwise: variables, devices, image, engine.
        code: the code cells that differ, as they were submitted.
    """

    differs: tuple[Difference, ...] = ()
    code: tuple[CellDifference, ...] = ()


class Matched(msgspec.Struct, frozen=True, kw_only=True):
    """A notebook read, estimated and matched against the devices."""

    facts: NotebookFacts
    estimate: Estimate
    placement: Placement


class Preflight(msgspec.Struct, frozen=True, kw_only=True):
    """What a submit would lead to.

    Attributes:
        problems: what it would be refused with; empty where it would be accepted.
        notes: what it would not be refused with and should be known: a registry that asks to wait, data that the job's
            user cannot read, a question that is open and what the job does about it.
        decision: what becomes of the job as it will run; None where it cannot even be read.
    """

    problems: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()
    decision: Decision | None = None


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `doctor`.

    Attributes:
        name: what was looked at, as a stable identifier.
        ok: False: something is missing; `needed` tells whether work is possible without it.
        finding: what was found, and the next step.
    """

    name: str
    ok: bool
    finding: Message
    needed: bool = True
