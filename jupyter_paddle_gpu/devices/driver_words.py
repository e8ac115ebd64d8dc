"""What a process prints when a maker's runtime or driver fails: the only trace that many of its failures leave.

Paddle's own words (`Out of memory error on GPU 0`, `Mismatched GPU Architecture`) are the same for all makers and stand
where they are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Fault = Literal["memory", "lost", "driver", "architecture"]


@dataclass(frozen=True, kw_only=True)
class DriverWords:
    """Patterns (`re`, without regard to case) of one maker's words; empty: none are known.

    Attributes:
        memory: there is no more device memory.
        lost: the card itself failed.
        driver: the driver is too old for the runtime that the program was built with.
        architecture: the program has no code for this card.
    """

    memory: str = ""
    lost: str = ""
    driver: str = ""
    architecture: str = ""


HIP = DriverWords(
    memory=r"Hip error\(2\)|hipErrorOutOfMemory",
    lost=r"Hip error\((46|214|719)\)",
    driver=r"Hip error\(35\)|hipErrorInsufficientDriver",
    architecture=r"Hip error\(209\)|hipErrorNoBinaryForGpu",
)
"""Of makers whose runtime is HIP: the numbers are those of `hipError_t`, written as Paddle does
(`paddle/phi/core/enforce.h`). From documents; nobody has seen them here."""

UNKNOWN_WORDS = DriverWords()
"""Of a maker whose words nobody has written down: Paddle's own are all there is."""
