"""What becomes of a training here and now (it runs, waits, goes to the CPU, is refused), and what would change that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from .devices import DeviceShare
from .errors import PaddleGpuError
from .estimates import Estimate
from .messages import Message
from .notebooks import FactValue
from .what_ifs import AmpLevel

Outcome = Literal["run", "wait", "cpu", "refuse"]
"""`run`: it starts on `Decision.device_ids`; `wait`: it starts when others leave room; `cpu`: it needs no device, or
there is none; `refuse`: it could never start on what is here."""


class Need(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one training step takes of each of its devices, as far as a decision asks.

    Attributes:
        low, high: bytes that the driver will show for the process, at least and at most.
        flops, bytes_moved: of a step, for its least time on a card; None: not known.
        matrix_flops: those of products of matrices and convolutions, which tensor cores compute.
        operations: how many operations a step is made of; `batch`: its samples.
        steps: updates of the whole run, where epochs and batches are known.
    """

    low: int
    high: int
    flops: int | None = None
    bytes_moved: int | None = None
    amp: AmpLevel | None = None
    matrix_flops: int | None = None
    operations: int | None = None
    batch: int | None = None
    steps: int | None = None


def need_of(estimate: Estimate | None) -> Need | None:
    """What an estimate says of a device; None where it says nothing: it is for the CPU, or a question is open."""
    if estimate is None or estimate.status != "ok" or estimate.target == "cpu":
        return None
    high = estimate.peak_bytes if estimate.high is None else estimate.high
    if high is None:
        return None
    low = high if estimate.low is None else min(high, estimate.low)
    return Need(
        low=low,
        high=high,
        flops=estimate.flops_per_step,
        bytes_moved=estimate.bytes_moved,
        amp=estimate.amp,
        matrix_flops=estimate.matrix_flops,
        operations=estimate.operations,
        batch=estimate.batch_size,
        steps=estimate.steps,
    )


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What a person chose.

    Attributes:
        gpus: how many devices; None: one where one is here; 0: the CPU.
        device_ids: these devices and no others, by the identity under which they are claimed.
        names: what they were called when they were chosen, by id, for when one is not here.
        anyway: to be started though it will not fit: the person was told and insists.
        share: of each device's memory, as `Resources.share` says it; None: whole devices.
        gives_none: nobody chose the CPU: the engine gives its jobs no device.
    """

    gpus: int | None = None
    device_ids: tuple[str, ...] = ()
    names: Mapping[str, Message] = {}
    share: float | None = None
    anyway: bool = False
    gives_none: bool = False


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """A way out for a training that does not fit, computed and not guessed.

    Attributes:
        change: name of the what-if that makes it fit; `gpus` where another number of devices does.
        request: what has to be asked for.
        gpus: how many devices have to be asked for; None: as many as before.
        device_ids: devices that have to be named, to be waited for.
        message: the change in a sentence: `with batch size 252`.
        label: the change on a button: `Batch 252`.
    """

    change: str
    message: Message
    label: Message
    request: dict[str, FactValue] = {}
    gpus: int | None = None
    device_ids: tuple[str, ...] = ()


LimitSource = Literal["job", "estimate", "policy"]
"""Who set a limit: the job's own figure, the estimate, or policy (all that a job may have)."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a job may take of the machine, settled when it is submitted.

    Attributes:
        memory_bytes: None: nothing limits it.
        most_memory_bytes: what policy gives a job at most.
        cpus: None: all.
        why: where each limit comes from, a sentence each.
    """

    memory_bytes: int | None = None
    memory_from: LimitSource = "policy"
    most_memory_bytes: int | None = None
    cpus: float | None = None
    why: tuple[Message, ...] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The one answer that panel, preflight, placement, submit and queue give.

    Attributes:
        device_ids: on which it starts, or for which it waits; empty where the engine gives out its devices itself.
        shares: of the memory of each of `device_ids`; empty: they are the job's as a whole.
        reason: why, and what next: the sentence that all faces say.
        notes: what else is worth knowing.
        ways: what would make it fit, the nearest to what was asked first.
        searched: whether ways out were looked for: where not, an estimate with details finds them.
        final: who insists is refused as well: the place's rules say so.
        limits: what the job may take of the machine; None: nothing limits it, or that is not known yet.
        shared_memory_bytes: of its /dev/shm; None: what every job gets.
    """

    outcome: Outcome
    reason: Message
    device_ids: tuple[str, ...] = ()
    shares: tuple[DeviceShare, ...] = ()
    notes: tuple[Message, ...] = ()
    ways: tuple[Way, ...] = ()
    searched: bool = False
    final: bool = False
    limits: Limits | None = None
    shared_memory_bytes: int | None = None


class Placed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How a submission was decided: the outcome and its reason's code, by which placements are counted."""

    outcome: Outcome
    reason: str


class RefusedError(PaddleGpuError):
    """A job that could never start on what is here, so that it is not accepted; `decision` has the ways out."""

    def __init__(self, decision: Decision, *, status: int = 409) -> None:
        reason = decision.reason
        super().__init__(reason.code, reason.text, status=status)
        self.message = reason
        self.args = (reason.render(),)
        self.decision = decision

    @classmethod
    def whoever_insists(cls, reason: Message, *, status: int) -> RefusedError:
        """A job that is not accepted as it was asked for, whatever is here."""
        return cls(Decision(outcome="refuse", reason=reason, searched=True, final=True), status=status)
