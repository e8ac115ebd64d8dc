"""What a place allows and prefers when a device is chosen."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from .learned.experience import Experience

DEFAULT_THRESHOLD = 0.85
"""Share of a card's memory that may be planned for: the rest is fragmentation and what an estimate cannot see."""
Positive = Annotated[float, msgspec.Meta(gt=0)]
Weight = Annotated[float, msgspec.Meta(ge=0)]


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """How much each aim counts where devices are scored (`matching.score`); 0: not at all."""

    cost: Weight = 1.0
    time: Weight = 1.0
    balance: Weight = 0.5
    packing: Weight = 0.0
    topology: Weight = 0.5
    preference: Weight = 2.0
    home_grown: Weight = 2.0


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a place.

    Attributes:
        memory_threshold: share of a card's memory that may be in use once the job runs; what its driver keeps is not
            counted.
        plan_for: which end of an estimate must find room before a job starts: `low` starts one that may just fit,
            `high` only one that fits in any case.
        prefer: among devices that fit, `most_free` (room to be wrong), `least_free` (keeps large cards for large
            jobs), `fastest` (lowest bound of the step time, where figures exist) or `score` (all aims by their
            weights; also where one of the fields below is given).
        excluded: ids, indices (as text) or names of devices that are never chosen by themselves.
        allow_mixed_precision: whether lower precision may be offered.
        distributed_strategy: how several devices train together: `ddp` (each holds the whole model), or `auto`.
        preferred_devices: names of cards, the most wanted first.
        home_grown_first: cards made in China before others.
        price_ceiling: devices that cost more an hour are not chosen by themselves; those without a price may be.
        power_ceiling: cards whose limit or board power is more (watts) are not chosen by themselves.
        heat_ceiling: nor those that are hotter now (degrees Celsius).
        sharing: `exclusive`: nor those on which a process of somebody else runs, and nobody has a share of a device.
        default_share: what a job has that asks for no share: `whole` devices, or so much of their memory as its
            `estimate` says at most.
        prices: an hour of a card by its name, in `currency`.
        weights: how much each aim counts.
        market, market_date: prices of the cards that `prices` does not name, as a catalogue had them at a date; no
            field of a file.
        experience: what the jobs that have run here say of steps on cards; no field of a file.
    """

    memory_threshold: Annotated[float, msgspec.Meta(gt=0, le=1)] = DEFAULT_THRESHOLD
    plan_for: Literal["low", "high"] = "high"
    prefer: Literal["most_free", "least_free", "fastest", "score"] = "most_free"
    excluded: tuple[str, ...] = ()
    allow_mixed_precision: bool = True
    distributed_strategy: Literal["auto", "ddp"] = "auto"
    preferred_devices: tuple[str, ...] = ()
    home_grown_first: bool = False
    price_ceiling: Positive | None = None
    power_ceiling: Positive | None = None
    heat_ceiling: Positive | None = None
    sharing: Literal["shared", "exclusive"] = "shared"
    default_share: Literal["whole", "estimate"] = "whole"
    prices: dict[str, Weight] = {}
    currency: str = "USD"
    weights: Weights = Weights()
    market: dict[str, float] = {}
    market_date: str = ""
    experience: Experience = Experience()

    @property
    def sparing(self) -> bool:
        """Whether a device may be better where less of it is left."""
        return self.weights.packing > 0 if self.scored else self.prefer == "least_free"

    @property
    def scored(self) -> bool:
        """Whether devices are ordered by their score; always where what was learned decides."""
        if self.experience.active:
            return True
        aims = self.preferred_devices or self.home_grown_first or self.prices or self.weights != Weights()
        return self.prefer == "score" or (self.prefer == "most_free" and bool(aims))

    def allowed(self, total: int) -> int:
        """How many bytes of an empty card with `total` bytes may be planned for."""
        return int(total * self.memory_threshold)
