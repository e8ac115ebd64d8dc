"""Bytes as people read them in sentences."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def human(size: float) -> str:
    """Three significant digits in binary units (`11.1 GiB`), as panel and terminal write the figures beside it."""
    unit = 0
    while abs(size) >= 999.5 and unit < len(_UNITS) - 1:  # 999.5 and more would take four digits
        size /= 1024
        unit += 1
    places = 0 if unit == 0 or abs(size) >= 99.95 else 1 if abs(size) >= 9.995 else 2
    # Sizes are often whole halves of a unit; a browser rounds those up, where Python's own formatting rounds to even.
    rounded = Decimal(size).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"{rounded} {_UNITS[unit]}"
