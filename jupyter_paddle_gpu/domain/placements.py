"""Where a training would run and why: one verdict per device, and the choice."""

from __future__ import annotations

from typing import Literal

import msgspec

from .decisions import Decision
from .learned import StepSource
from .messages import Message

Fit = Literal["fits", "tight", "short", "never", "unknown"]


class ImageChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A container image with the reasons for it and what was ruled out. `digest` once a registry or daemon told it."""

    reference: str
    local: bool = False
    digest: str | None = None
    reasons: tuple[Message, ...] = ()
    ruled_out: tuple[Message, ...] = ()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Does the estimate fit this device now?

    Attributes:
        fit: `fits`, `tight` (only within the estimate's range), `short` (not now; `missing_bytes` lack),
            `never` (not even on the empty card), `unknown` (no estimate or no figures).
        free_bytes: memory to be had now under the threshold; `needed_bytes` the estimate's upper bound.
        device_title: what it is called on this machine, `GPU 0`; empty: it is not here.
        seconds_per_step: lower bound by roofline (FLOPs over peak rate, bytes over bandwidth), where figures exist.
        checked: False: what is known of such devices was not checked on hardware.
    """

    device_id: str
    device_name: str
    device_title: str = ""
    fit: Fit
    reason: Message
    free_bytes: int | None = None
    needed_bytes: int | None = None
    missing_bytes: int | None = None
    largest_batch: int | None = None
    seconds_per_step: float | None = None
    simulated: bool = False
    checked: bool = True


AimName = Literal["cost", "time", "balance", "packing", "preference", "home_grown"]
"""What a policy may aim at with a device; how several are joined is an aim of their group."""


class Aim(msgspec.Struct, frozen=True, kw_only=True):
    """How well a device serves one aim: 0 to 1. `known`: whether that could be told."""

    name: AimName
    weight: float
    value: float
    known: bool = True


Standing = Literal["chosen", "possible", "ruled_out"]


class DeviceScore(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the match's table.

    Attributes:
        state: `chosen`, `possible`, or `ruled_out` by the sentence in `ruled_out`.
        score: 0 to 1, the mean of its aims by their weights; None for one that is ruled out, and where the policy does
            not choose by it.
        seconds_per_step: how long a step is expected to take, from `seconds_low` to `seconds_high`; `seconds_from`
            where that is from (`roofline`: a bound). `price` of an hour. None where nobody knows.
        run_seconds, run_cost: the same for the whole run, where its steps are known; price and cost in `currency`.
        device_title, checked: as for `Verdict`.
    """

    device_id: str
    device_name: str
    device_title: str = ""
    state: Standing
    ruled_out: Message | None = None
    score: float | None = None
    aims: tuple[Aim, ...] = ()
    seconds_per_step: float | None = None
    seconds_low: float | None = None
    seconds_high: float | None = None
    seconds_from: StepSource | None = None
    price: float | None = None
    run_seconds: float | None = None
    run_cost: float | None = None
    currency: str = ""
    checked: bool = True


class DeviceFigure(msgspec.Struct, frozen=True, kw_only=True):
    """What the driver would show for the training on a GPU, of which maker and model whatever; bytes."""

    peak_bytes: int
    low: int | None
    high: int | None
    training: str | None = None
    """Which of several trainings of the notebook it is of, by its `id`: the one that needs most, whichever is shown."""


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """The match: chosen device ids (empty: run on the CPU), engine, image, and every device's verdict.

    `decision` says what becomes of a submit here and now; `device_ids` and `reasons` are its own.
    """

    engine: str
    decision: Decision
    device_ids: tuple[str, ...] = ()
    image: ImageChoice | None = None
    verdicts: tuple[Verdict, ...] = ()
    catalogue: tuple[Verdict, ...] = ()
    """Verdicts against known accelerators that are not here, for a place without devices."""
    table: tuple[DeviceScore, ...] = ()
    """Every device of this machine: chosen, possible with its score, or ruled out by what."""
    reasons: tuple[Message, ...] = ()
    on_device: DeviceFigure | None = None
    """Beside an estimate for the CPU: the figure by which devices are judged."""
