"""Known accelerators, for what-if and for a place without devices; live figures always come from the device.

The rows stand in `accelerators.json`, in the units of the makers' sheets and each with its source: memory in GiB,
dense tensor rates (without sparsity; consumer cards with FP32 accumulation), rates in TFLOPS, bandwidth in GB/s,
interconnect both directions together. What makers contradict themselves about is left out.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.devices import Accelerator
from .makers.registry import makers

_FILE = Path(__file__).with_name("accelerators.json")
_NOISE = frozenset({"gpu", "hbm", "graphics", "device", "card"})
"""Words that any maker puts around a model's own name; each maker's own stand in its row (`brands`)."""
_MEMORY = re.compile(r"(?<![\w.])(\d+)\s?(?:gb|gib|g)(?![\w.])", re.IGNORECASE)
_SAME_MEMORY = 0.08
"""Memory figures of one model that differ by less mean the same edition (GB and GiB, reserved parts)."""


class _Name(NamedTuple):
    model: frozenset[str]
    form: str
    memory: int | None


@cache
def accelerators() -> tuple[Accelerator, ...]:
    """All rows, in the order of the file: by maker, older before newer."""
    return tuple(_accelerator(row) for row in json.loads(_FILE.read_text(encoding="utf-8")))


def usual() -> tuple[Accelerator, ...]:
    """The rows to show where nobody named a card: what people who train have or rent today."""
    return tuple(row for row in accelerators() if row.usual)


@lru_cache(maxsize=256)
def find(name: str) -> Accelerator | None:
    """The row for a name as a person or a driver writes it (`A100`, `nvidia a100-sxm4-80gb`, `RTX4090`).

    A name that leaves the edition open gives the row that does so too, else the one with the least memory: what fits
    there fits the others.
    A slice (MIG) gives its card. None for a card that is not known, however similar its name.
    """
    wanted = _parse(name.split(" MIG ")[0])
    found = [
        card
        for card in accelerators()
        if (own := _parse(card.name)).model == wanted.model
        and (not wanted.form or not own.form or own.form == wanted.form)
        and (wanted.memory is None or own.memory is None or _same(own.memory, wanted.memory))
    ]
    return min(found, key=lambda card: (bool(_parse(card.name).form != wanted.form), card.memory_bytes), default=None)


@lru_cache(maxsize=1024)
def covers(name: str, card: str) -> bool:
    """Whether a name, as open as it leaves form and memory, means a card by the name that its driver gives it.

    `V100-32GB` means both forms of that size, `A100` every A100; a card that is not known is meant by its own name.
    """
    if name == card:
        return True
    wanted, row = _parse(name), find(card)
    if row is None:
        return False
    own = _parse(row.name)
    return (
        wanted.model == own.model
        and (not wanted.form or not own.form or wanted.form == own.form)
        and (wanted.memory is None or own.memory is None or _same(own.memory, wanted.memory))
    )


def _parse(name: str) -> _Name:
    memory = _MEMORY.search(name)
    rest = _MEMORY.sub(" ", name).lower()
    form = "sxm" if re.search(r"sxm\d?|hbm3e?\b", rest) else "pcie" if re.search(r"pcie?\b", rest) else ""
    rest = re.sub(r"sxm\d?|hbm\d?e?|pcie?\b|\((?:tm|r)\)", " ", rest)
    noise = set(_NOISE)
    for maker in makers().rows.values():
        noise.update(maker.brands)
        if maker.editions and (edition := re.search(maker.editions, rest)):
            form = edition[1]
        for pattern, replacement in maker.spellings:
            rest = re.sub(pattern, replacement, rest)
    words = frozenset(word for word in re.split(r"[^a-z0-9]+", rest) if word)
    return _Name(words - noise, form, int(memory[1]) if memory else None)


def _same(left: int, right: int) -> bool:
    return abs(left - right) <= _SAME_MEMORY * max(left, right)


def _accelerator(row: dict[str, Any]) -> Accelerator:
    def scaled(key: str, factor: float) -> float | None:
        return row[key] * factor if key in row else None

    maker = makers().named(row["vendor"])
    return Accelerator(
        name=row["name"],
        vendor=row["vendor"],
        memory_bytes=row["memory_gib"] * 2**30,
        bandwidth=scaled("bandwidth_gb_s", 1e9),
        fp16=scaled("fp16_tflops", 1e12),
        bf16=scaled("bf16_tflops", 1e12),
        fp32=scaled("fp32_tflops", 1e12),
        tf32=scaled("tf32_tflops", 1e12),
        fp8=scaled("fp8_tflops", 1e12),
        int8=scaled("int8_tops", 1e12),
        interconnect=scaled("interconnect_gb_s", 1e9),
        compute_capability=tuple(row["compute_capability"]) if "compute_capability" in row else None,
        watts=row.get("watts"),
        year=row.get("year"),
        usable_bytes=row["usable_mib"] * 2**20 if "usable_mib" in row else None,
        domestic=row.get("domestic", False),
        usual=row.get("usual", False),
        checked=maker is None or maker.checked,
        source=row["source"],
    )
