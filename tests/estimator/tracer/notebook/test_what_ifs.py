"""What-ifs of the tracer beside their declarations."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_paddle_gpu.domain.what_ifs import WHAT_IFS

pytestmark = pytest.mark.paddle

FIRST_RUNS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tracer.notebook import what_ifs

class First(Exception):
    pass

def traced(scenario):
    raise First(scenario.probe is not None)

for name, value in json.load(sys.stdin).items():
    try:
        what_ifs.applied({"cells": [], name: value}, traced)
    except First as first:
        print(json.dumps([name, *first.args]))
"""
ASKED = {"count": 2, "switch": True, "flag": True, "text": "1"}
"""A value of each kind."""


def test_the_program_is_looked_at_before_those_that_say_so(run_code: Callable[[str, object], dict]) -> None:
    asked = {row.name: ASKED.get(row.kind, row.choices[0] if row.choices else None) for row in WHAT_IFS if row.traced}
    assert run_code(FIRST_RUNS, asked) == {row.name: row.looks_first for row in WHAT_IFS if row.traced}
