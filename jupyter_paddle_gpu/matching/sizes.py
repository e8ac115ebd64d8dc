"""Bytes and seconds as people read them."""

from __future__ import annotations

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def human(size: float) -> str:
    """A number of bytes in decimal units with one digit: `11.9 GB`; exact figures stay in the JSON beside it."""
    for factor, unit in _UNITS:
        # 999.96 MB would round to "1000.0 MB".
        if abs(size) >= 0.99995 * factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size:.0f} B"
