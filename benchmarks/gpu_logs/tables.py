"""The rows of `docs/gpu-logs.md` as `results/gpu_logs.json` has them: logged beside estimated, for each reading.

`python -m benchmarks.gpu_logs.tables` prints them; `tests/test_gpu_logs.py` holds the page equal to them.
"""

from __future__ import annotations

import statistics
from typing import Any

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


if __name__ == "__main__":
    main()
