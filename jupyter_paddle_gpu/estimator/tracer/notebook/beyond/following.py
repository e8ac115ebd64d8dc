"""The answer with what a program takes beside its steady step (`step.beyond`), by one further run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ... import own_faults
from ...undecided.branches import Decisions, peak
from ..sites import Sites
from ..what_ifs import Run, Scenario
from . import code

LITTLE, WORTH = 1024, 0.001
"""Bytes, and the part of a step, from which on it is told that more is alive elsewhere."""
_OTHERWISE = ("training", "accumulation", "image_size", "sequence_length")
"""What is asked for of one training alone, or of steps that are changed on their way."""


def told(
    result: dict[str, Any], request: dict[str, Any], once: Callable[[Scenario], Run], sites: Sites
) -> dict[str, Any]:
    """The result with what is alive elsewhere, if that is more than in a step.

    Args:
        once: a run.
        sites: where the cells train.
    """
    sources = [*(cell["source"] for cell in request["cells"]), *(ast.unparse(one) for one in sites.beside.values())]
    is_plain = not any(request.get(name) for name in _OTHERWISE)
    if result["status"] != "ok" or not is_plain:
        return result
    around = code.is_any(sources, sites)
    behind = code.comes_behind(((cell["index"], cell["source"]) for cell in request["cells"]), sites)
    if not (around or behind):
        return result

    def followed() -> dict[str, Any] | None:
        asked = {"around": around, "behind": behind, "trainings": sum(site.trainings for site in sites.all)}
        scenario = Scenario({**request, "beyond": asked}, decisions=Decisions(alternates=True))
        found: dict[str, Any] | None = once(scenario).result["beyond"]
        return found

    found = own_faults.without(followed, None, _untold)
    steps = max(peak(one, request.get("target") or "gpu") for one in (result, *result.get("others", ())))
    more = 0 if found is None else found["most"] - steps
    if found is not None and more >= max(LITTLE, steps * WORTH):
        result.setdefault("extra", {})["beyond"] = more
        note = {"code": "more_elsewhere", "params": {"size": found["most"], **found["place"]}}
        result["notes"] = [*result["notes"], note]
    if found is not None and found["cut"] is not None:
        result["notes"] = [*result["notes"], {"code": "elsewhere_cut", "params": found["cut"]}]
    return result


def _untold(code: str, **params: Any) -> None:
    """The figure stands without it."""
