"""The rows of `docs/gpu-logs.md` as `results/gpu_logs.json` has them: logged beside estimated, for each reading.

`python -m benchmarks.gpu_logs.tables` prints them; `tests/test_gpu_logs.py` holds the page equal to them.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

from .collection import read
from .rebuild import kept

MIB = 1 << 20
OF_TESTS = "PASSL "
"""How the names of a trainer's own tests begin, which hold what was allocated alone and have a table of their own."""


def figures(row: dict[str, Any]) -> str:
    """Allocated, its error, reserved, its error; a dash where nothing was logged."""
    pairs = (("allocated", "error"), ("reserved", "reserved_error"))
    told = pairs[:1] if row["thread"].startswith(OF_TESTS) else pairs
    return " | ".join(_pair(row, name, error) for name, error in told)


def driver(row: dict[str, Any]) -> str:
    """Of what the driver showed: estimated, the range that is shown, error."""
    found = row["estimated"]
    missed = row["device_error"]
    shown = f"{_mib(found['low'])} to {_mib(found['high'])}"
    return f"{_mib(found['peak_bytes'])} | {shown} | {percent(missed) if missed else 'inside'}"


def summed_up(half: str) -> tuple[int, float, float]:
    """Of a trainer's own tests of one half: how many, the median of the errors' sizes, the largest."""
    errors = [abs(row["error"]) for row in kept() if row["thread"].startswith(OF_TESTS) and row["half"] == half]
    return len(errors), statistics.median(errors), max(errors)


@dataclass(frozen=True)
class Reached:
    """What was asked of the logs that nobody had looked at, and how far it goes. Of a log that may be read in several
    ways the first one counts, its likeliest.

    Attributes:
        errors: sizes of the errors of `allocated`, the least first.
        inside: of how many `reserved` lies inside the range that is shown, and of how many it was logged.
    """

    errors: tuple[float, ...]
    inside: tuple[int, int]

    @property
    def middle(self) -> float:
        """The median."""
        return statistics.median(self.errors)

    @property
    def most(self) -> float:
        """The 90th percentile: nine of ten errors are at most as large."""
        return self.errors[math.ceil(0.9 * len(self.errors)) - 1]


def reached(*, assumed: bool, half: str = "held back") -> Reached:
    """Of the logs that were held back, or those of the blind test; a trainer's own tests left out. Those alone of which
    nothing had to be assumed, or all."""
    rows = [row for row in likeliest() if row["half"] == half and (assumed or not row["assumes"])]
    return _reached(rows)


def unseen(*, assumed: bool) -> Reached:
    """Of the logs with which in view no rule was written: the blind ones, and what was held back throughout."""
    names = {log.name for log in read() if log.unseen}
    return _reached([row for row in likeliest() if row["thread"] in names and (assumed or not row["assumes"])])


def likeliest() -> list[dict[str, Any]]:
    """Of each log the first reading; a trainer's own tests left out."""
    return list({row["thread"]: row for row in reversed(kept()) if not row["thread"].startswith(OF_TESTS)}.values())


def _reached(rows: list[dict[str, Any]]) -> Reached:
    held = [row["reserved_inside"] for row in rows if row["reserved_inside"] is not None]
    errors = sorted(abs(row["error"]) for row in rows if row["error"] is not None)
    return Reached(tuple(errors), (sum(held), len(held)))


def percent(share: float) -> str:
    """With a sign, but for what rounds to nothing."""
    text = f"{share * 100:+.1f} %".replace("-", "−")
    return text if text[1:] != "0.0 %" else "0.0 %"


def _pair(row: dict[str, Any], name: str, error: str) -> str:
    logged = row["logged"][name]
    if logged is None:
        return "– | –"
    return f"{_mib(logged)}, {_mib(row['estimated'][f'{name}_peak_bytes'])} | {percent(row[error])}"


def _mib(size: int) -> str:
    """Floored, as trainers log it; two decimals of what is small."""
    return f"{size // MIB:,}" if size >= 100 * MIB else f"{size / MIB:.2f}"


def main() -> None:
    """Print a line for each row."""
    for row in kept():
        print(f"{row['thread']} | {row['half']} | {row['assumes']} | {figures(row)}")
        if row["logged"]["device"]:
            print(f"{row['thread']} | {row['half']} | {row['assumes']} | {driver(row)}")
    for half in ("rules", "held back"):
        print(half, *summed_up(half))
    for half in ("held back", "blind"):
        for assumed in (False, True):
            found = reached(assumed=assumed, half=half)
            print(f"{half}, assumed: {assumed}", len(found.errors), found.middle, found.most, found.inside)
    for assumed in (False, True):
        found = unseen(assumed=assumed)
        print(f"never in view, assumed: {assumed}", len(found.errors), found.middle, found.most, found.inside)


if __name__ == "__main__":
    main()
