"""What Optuna asks for is written into a notebook and read by people."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.plans.space import Dimension, parse
from jupyter_paddle_gpu.services.plans.searching import _decoded


@pytest.mark.parametrize(
    ("asked", "value"), [(0.008591315698733486, 0.008591), (0.00010000000000000002, 0.0001), (0.0099999999999, 0.01)]
)
def test_a_value_of_an_open_range_has_few_digits_and_stays_in_it(asked: float, value: float) -> None:
    rate: Dimension = parse("lr", "0.0001:0.01:log")
    found = _decoded(rate, asked)
    assert found == pytest.approx(value, rel=1e-3)
    assert len(repr(found)) <= 8
    assert rate.low <= found <= rate.high
