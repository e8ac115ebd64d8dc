"""Which number format mixed precision gets: by the card's sheet, or by its maker's word for its compute capability."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.domain.devices import Accelerator
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.services.estimates.copies import settled


def unknown(vendor: Any, capability: tuple[int, int] | None) -> Accelerator:
    """A card that stands in no catalogue."""
    return Accelerator(name="X1", vendor=vendor, memory_bytes=1 << 30, compute_capability=capability)


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        (find("A100 SXM 40GB"), "bfloat16"),
        (find("T4"), "float16"),
        (find("MI100"), "bfloat16"),
        (find("MI50"), "float16"),
        (unknown("nvidia", (12, 1)), "bfloat16"),
        (unknown("nvidia", (7, 5)), "float16"),
        (unknown("nvidia", None), "float16"),
        (unknown("amd", (12, 1)), "float16"),
        (None, "float16"),
    ],
)
def test_bfloat16_only_where_the_card_computes_in_it(card: Accelerator | None, expected: str) -> None:
    assert settled(EstimateRequest(amp="O1"), card).amp_dtype == expected


def test_what_is_said_stays() -> None:
    card = find("T4")
    assert settled(EstimateRequest(amp="O1", amp_dtype="bfloat16"), card).amp_dtype == "bfloat16"
    assert settled(EstimateRequest(amp="off"), card).amp_dtype is None
    assert settled(EstimateRequest(), card).amp_dtype is None
