"""Bytes as people read them in sentences."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def human(size: float) -> str:
    """Three significant digits in binary units (`11.1 GiB`), as panel and terminal write the figures beside it."""
    unit = 0
    while abs(size) >= 999.5 and unit < len(_UNITS) - 1:  # 999.5 and more would take four digits
        size /= 1024
        unit += 1
    places = 0 if unit == 0 or abs(size) >= 99.95 else 1 if abs(size) >= 9.995 else 2
    return f"{size:.{places}f} {_UNITS[unit]}"
