"""Sizes are written alike by Python and in the browser: both read one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_paddle_gpu.commands.speech import size
from jupyter_paddle_gpu.domain.sizes import human

CASES = json.loads(Path(__file__).with_name("sizes.json").read_text())


@pytest.mark.parametrize(("count", "text"), CASES)
def test_a_size_is_written_as_in_the_browser(count: int, text: str) -> None:
    assert human(count) == text
    assert size(count) == text


def test_what_is_not_known_is_a_dash() -> None:
    assert size(None) == "–"
