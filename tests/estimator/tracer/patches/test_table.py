"""The one table of what a trace replaces: this Paddle has all of it, each place once, and runs as ever without it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.paddle
CODE = """
import json, sys
from collections import Counter
sys.path.insert(0, sys.argv[1])
json.load(sys.stdin)
import paddle
from paddle import nn

def step():
    paddle.seed(1)
    model = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))
    optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters())
    for _ in range(3):
        with paddle.amp.auto_cast(enable=False):
            x = paddle.rand([2, 3, 8, 8])
            loss = nn.functional.cross_entropy(model(x), paddle.randint(0, 5, [2]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    index = paddle.to_tensor([1, 0])
    return [float(loss), x[index][0, 0].numpy().tolist(), str(loss.place), isinstance(loss.place, paddle.CPUPlace)]

before = step()
import tracer
from tracer.patches.table import table
from tracer.patches.patch import Awaited
held = list(table())  # an owner that nobody holds leaves its number to the next one
rows = [(str(row) if isinstance(row.owner, Awaited) else (id(row.owner), row.name), str(row)) for row in held]
counts = Counter(place for place, _ in rows)
print(json.dumps(["rows", len(rows)]))
print(json.dumps(["twice", [name for place, name in rows if counts[place] > 1]]))
print(json.dumps(["missing", tracer.prepare()]))
print(json.dumps(["same", step() == before]))
"""


@pytest.fixture(scope="module")
def seen(run_code: Callable[[str, object], dict]) -> dict:
    return run_code(CODE, None)


def test_every_row_has_its_place_in_this_paddle(seen: dict) -> None:
    assert seen["rows"] > 500
    assert seen["missing"] == []


def test_no_place_is_replaced_twice(seen: dict) -> None:
    assert seen["twice"] == []


def test_a_real_training_is_the_same_with_the_patches(seen: dict) -> None:
    assert seen["same"]
