"""Stops that hang on numbers which the program draws and nobody seeds: another run draws others."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from paddle.base import core

_OF_NUMBERS = re.compile(r"OutOfRange|out of (bounds|range)|Illegal index|>= 0 and <|^KeyError: -?\d")
"""What is said of numbers that are none of those which there are."""
_DRAWS = re.compile(r"\brandom\b|\bdefault_rng\b")
_SEEDED = re.compile(r"\bseed\(|\b(default_rng|RandomState|Random)\(\s*[^)\s]")
OTHERS = 5
"""Other draws that have to be refused as well before it is certain."""


def alike(number: int) -> None:
    """Sizes may hang on numbers that are drawn: two looks at one notebook are to see the same ones.

    Args:
        number: which numbers; 0 but where others are asked for.
    """
    random.seed(number)
    np.random.seed(number)
    core.default_cpu_generator().manual_seed(number)  # `paddle.seed` would look for cards


def certain(result: dict[str, Any], read: Callable[[], str], trace: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    """The result, or where it stops for what only some draws have that of another draw, with a note of the stop.

    Args:
        read: gives all of the code.
        trace: traces the program with another draw.
    """
    stop = result.get("stop")
    if result["status"] != "would_stop" or stop is None or not _OF_NUMBERS.search(stop["error"]):
        return result
    if not _DRAWS.search(code := read()) or _SEEDED.search(code):
        return result
    for number in range(1, OTHERS + 1):
        found = trace(number)
        if found["status"] == "ok" and not found.get("stop"):
            place = {"cell": stop["cell"] + 1, "line": stop["line"]}
            told = {**place, "error": stop["error"], "refused": number, "of": number + 1}
            return {**found, "notes": [*found["notes"], {"code": "refused_by_chance", "params": told}]}
    return result
