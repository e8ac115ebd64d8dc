"""What a place allows and prefers when a device is chosen."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

DEFAULT_THRESHOLD = 0.9
"""Share of a card's memory that may be planned for: the rest is fragmentation and what an estimate cannot see."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a place.

    Attributes:
        memory_threshold: share of a card's total memory that may be in use once the job runs.
        plan_for: which end of an estimate must find room before a job starts: `low` starts one that may just fit,
            `high` only one that fits in any case.
        prefer: among devices that fit, `most_free` (room to be wrong), `least_free` (keeps large cards for large
            jobs) or `fastest` (lowest bound of the step time, where figures exist).
        excluded: ids, indices (as text) or names of devices that are never chosen by themselves.
    """

    memory_threshold: Annotated[float, msgspec.Meta(gt=0, le=1)] = DEFAULT_THRESHOLD
    plan_for: Literal["low", "high"] = "low"
    prefer: Literal["most_free", "least_free", "fastest"] = "most_free"
    excluded: tuple[str, ...] = ()

    def allowed(self, total: int) -> int:
        """How many bytes of an empty card with `total` bytes may be planned for."""
        return int(total * self.memory_threshold)
