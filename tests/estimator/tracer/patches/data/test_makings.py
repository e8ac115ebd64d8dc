"""What functions of the program gave is made up once, and never taken for what another one gives."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

MADE = """
import functools, json, operator, sys
sys.path.insert(0, sys.argv[1])
from tracer.patches.data.makings import Making
from tracer.session import Session, entered
from tracer.undecided.variants import PAIRS, Variants
session = Session()
with entered(session), session.of(Variants).within(PAIRS[0][0]):
    found = [Making(functools.partial(operator.mul, number, 1), ())() for number in range(40)]
    counted = iter(range(9))
    making = Making(functools.partial(next, counted), ())
    again = [making(), making()]
print(json.dumps(["found", [found, again]]))
"""


def test_a_function_that_is_gone_lends_its_number_to_none(run_code):
    """Python gives the number of an object that is gone to the next one: which batch came of it hung on memory."""
    found, again = run_code(MADE, None)["found"]
    assert found == list(range(40))
    assert again == [0, 0]
