"""What is said of a number format that not every card has."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.estimator.precision import told
from jupyter_paddle_gpu.estimator.trace import TracedNote


@pytest.mark.parametrize(
    ("card", "codes"),
    [
        ("Tesla T4", ["bfloat16_lacking"]),
        ("Tesla V100-SXM2-16GB", ["bfloat16_lacking"]),
        ("NVIDIA A100-SXM4-80GB", []),
        ("NVIDIA GeForce RTX 4090", []),
        (None, ["bfloat16_cards"]),
    ],
)
def test_a_card_without_bfloat16_is_told_apart(card: str | None, codes: list[str]) -> None:
    """On a T4 the job trains in float32: the figure of bfloat16 was shown for it without a word."""
    accelerator = find(card) if card else None
    assert (accelerator is None) == (card is None)
    notes = (TracedNote("bfloat16"), TracedNote("shapes_alternate"))
    assert [one.code for one in told(notes, accelerator)] == [*codes, "shapes_alternate"]
