"""What is told of a training whose batches differ in shape: the shapes in their order, and a step with another one."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ..eager.tensors import Tensors
from .report import rows
from .sizes import Shapes
from .steps import StepWatch


def of_loop(runtime: Tensors, window: tuple[int, int], path: Callable[[str], str]) -> dict[str, Any] | None:
    """Of a loop that makes its batches itself: its own steps; None where they take in the same, or on a CPU, where the
    largest decides.

    Args:
        window: the step that stands for all.
    """
    shapes, windows = runtime.of(StepWatch).sizes.others()
    traced = next((one for one, found in windows.items() if found == window), None)
    if runtime.target == "cpu" or traced is None or len(windows) < 2:
        return None
    if len({tuple(map(len, one)) for one in shapes}) > 1:
        return None
    other = max(windows, key=lambda one: unlike(one, traced))
    storages, operations = rows(runtime.ledger, windows[other], path)
    return {
        "sides": shapes,
        "traced": traced,
        "other": {"sides": other, "operations": operations, "storages": storages},
    }


def unlike(shapes: Shapes, traced: Shapes) -> tuple[int, int]:
    """How much another batch tells beside the traced one: sides that go their own ways, then how small it is."""
    pairs = {pair for one, two in zip(shapes, traced, strict=True) for pair in zip(one, two, strict=True)}
    return sum(one != two for one, two in pairs), -sum(map(prod, shapes))


def notes(batches: dict[str, Any] | None) -> list[dict[str, Any]]:
    """What is told where the batches of a loader differ."""
    if batches is None:
        return []
    shapes = batches["sides"]
    if assumed := batches.get("assumed"):
        return [{"code": f"shapes_assumed_{assumed}", "params": {"batches": len(shapes)}}]
    return [{"code": "shapes_differ", "params": {"batches": len(shapes), "shapes": len(set(shapes))}}]
