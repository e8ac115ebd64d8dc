"""Low precision in a program that was built with float64 in its place (`patches/distributed/standing_in.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import paddle

from ..memory.dtypes import DATA_TYPE, LOW_PRECISION
from ..program.templates import Step, slots_of

STAND_IN = "float64"
NO_CAST = "stands_for_no_cast"
"""Marks a cast that only a CPU's kernels need."""
OUT_OF_PLACE = "stands_for_one_out_of_place"
"""Marks what stands for an operator that a CPU has no kernel of, and that writes over no operand."""


def retype(steps: Sequence[Step], metas: dict[int, Any], low: str | None) -> None:
    """Give a program its low type again: operators' results as those of a GPU's kernels are."""
    if low is None:
        return
    for slot, (shape, dtype) in metas.items():
        metas[slot] = shape, low if dtype == STAND_IN else dtype
    for step in steps:
        step.attrs.update({name: DATA_TYPE[low] for name, one in step.attrs.items() if _stands_in(one)})
        if not any(metas[slot][1] in LOW_PRECISION for slots in step.takes for slot in slots):
            continue
        for index in step.rule.float32_results:
            for slot in slots_of(step.results[index]) if index < len(step.results) else ():
                if metas[slot][1] == low:
                    metas[slot] = metas[slot][0], "float32"


def _stands_in(attribute: Any) -> bool:
    return isinstance(attribute, paddle.base.core.DataType) and attribute == paddle.float64


def stood_for(metas: Sequence[Any], low: str | None, back: bool = False) -> list[Any]:
    """Shapes and types as the program was built with them, or back again."""
    have, want = (STAND_IN, low) if back else (low, STAND_IN)

    def one(meta: Any) -> Any:
        if isinstance(meta, list):
            return [one(each) for each in meta]
        return (meta[0], want) if meta is not None and meta[1] == have and meta[0] != "value" else meta

    return list(metas) if low is None else [one(meta) for meta in metas]
