"""How much is selected by masks of values that are not computed, against real steps that select all, nothing or equal
shares."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.estimator.memory.assemble import cpu_peak
from jupyter_paddle_gpu.estimator.trace import Operation, Storage, Trace

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
TOKENS, WIDTH, CLASSES = 512, 32, 4
data = paddle.to_tensor(np.eye(WIDTH, dtype='float32')[np.arange(TOKENS) % CLASSES])
body, head = nn.Linear(WIDTH, WIDTH), nn.Sequential(nn.Linear(WIDTH, 256), nn.Tanh(), nn.Linear(256, WIDTH))
gate = paddle.to_tensor(np.eye(WIDTH, CLASSES, dtype='float32'))
optimizer = paddle.optimizer.SGD(1e-6, parameters=body.parameters() + head.parameters())
for step in range(6):
    h = body(data)
    chances = F.softmax(paddle.matmul(data + 0 * h, gate))
"""
REST = """
    loss = out.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SELECTED = {
    "index": "    out = head(h[h[:, 0] > {threshold}])",
    "nonzero": "    out = head(paddle.gather(h, paddle.nonzero(h[:, 0] > {threshold}).flatten()))",
    "masked_select": "    out = paddle.tanh(paddle.masked_select(h, h > {threshold})) ** 2",
}
ROUTED = {
    "argmax": "    chosen = chances.argmax(-1)\n"
    "    out = paddle.concat([head(h[chosen == e]) for e in range(CLASSES)])",
    "topk": "    chosen = paddle.topk(chances, 1)[1]\n"
    "    out = paddle.concat([head(paddle.gather(h, paddle.nonzero(chosen == e)[:, 0])) for e in range(CLASSES)])",
    "topk-of-a-square": "    chosen = paddle.topk(chances.reshape([-1, CLASSES, CLASSES]), 1)[1].flatten()\n"
    "    out = paddle.concat([head(paddle.gather(h, paddle.nonzero(chosen == e)[:, 0])) for e in range(CLASSES)])",
    "one_hot": "    routes = F.one_hot(chances.argmax(-1), CLASSES)\n"
    "    out = paddle.concat([head(h[routes[:, e].astype('bool')]) for e in range(CLASSES)])",
}
ALL = {name: HEAD + text.format(threshold="-1e9") + REST for name, text in SELECTED.items()}
SHARED = {name: HEAD + text + REST for name, text in ROUTED.items()}
FEWEST = {f"{name}-none": HEAD + text.format(threshold="1e9") + REST for name, text in SELECTED.items()}
LABELS = (
    HEAD
    + """
    labels = (chances.sum(-1) * 0).astype("int64")
    chosen = F.one_hot(labels, CLASSES).unsqueeze(2).expand_as(chances.unsqueeze(2))
    picked = paddle.gather_nd(chances.unsqueeze(2), paddle.nonzero(chosen))
    out = paddle.tanh(head(h) * paddle.reshape(picked, [TOKENS, 1]))
"""
    + REST
)
ROWS = (
    HEAD
    + """
    chosen = (h[:, :1] > -1e9).expand_as(h)
    out = head(paddle.masked_select(h, chosen).reshape([-1, WIDTH]))
"""
    + REST
)
SOURCES = {**ALL, **SHARED, **FEWEST, "labels": LABELS, "rows": ROWS}


@pytest.mark.parametrize("name", ALL)
def test_the_largest_is_everything(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == pytest.approx(peaks[-1], rel=0.001)
    assert traced["extents"]["high"] == traced["peak"]
    assert traced["notes"] == ["unknown_shape_line"]


@pytest.mark.parametrize("name", ALL)
def test_the_low_end_is_next_to_nothing(measured, name):
    peaks, _ = measured.pair(f"{name}-none")
    traced = measured.traced[name]
    assert traced["extents"]["low"] == pytest.approx(peaks[-1], rel=0.03)
    assert traced["extents"]["low"] < 0.9 * traced["extents"]["high"]


@pytest.mark.parametrize("name", SHARED)
def test_classes_take_equal_shares(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == pytest.approx(peaks[-1], rel=0.005)
    assert traced["extents"]["low"] < traced["peak"] < traced["extents"]["high"]
    assert traced["notes"] == ["unknown_shape_share"]


def test_labels_choose_one_class_each(measured):
    peaks, traced = measured.pair("labels")
    assert traced["peak"] == pytest.approx(peaks[-1], rel=0.001)
    assert traced["notes"] == ["unknown_shape_share"]


def test_the_least_of_a_mask_of_rows_is_a_row(measured):
    peaks, traced = measured.pair("rows")
    assert traced["peak"] == pytest.approx(peaks[-1], rel=0.001)
    assert traced["extents"]["low"] < 0.9 * traced["extents"]["high"]


def test_the_ends_become_the_estimates():
    step = Trace(
        status="ok",
        operations=(Operation("matmul", "forward"),),
        storages=(Storage(1000, 0, 0, "activations"),),
        extra={"extents": {"low": 600, "likely": 1000, "high": 1700}},
    )
    found = cpu_peak(step)
    assert (found.low, found.likely, found.high) == (600, 1000, 1700)


DRAWN = {
    name: f"""
import paddle, paddle.nn.functional as F
paddle.seed({seed})
w = paddle.create_parameter([2000, 40], 'float32')
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(6):
    chosen = paddle.rand([2000]) < 0.2
    out = {selected}
    loss = (out ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
    for name, seed, selected in (
        ("drawn-rows", 1, "paddle.matmul(paddle.gather(w, paddle.nonzero(chosen)[:, 0]), paddle.ones([40, 400]))"),
        ("drawn-rows-again", 2, "paddle.matmul(w[chosen], paddle.ones([40, 400]))"),
        ("drawn-elements", 3, "paddle.masked_select(w, chosen.unsqueeze(-1).expand_as(w))"),
    )
}


@pytest.fixture(scope="module")
def drawn(measure):
    return measure(DRAWN)


@pytest.mark.parametrize("name", DRAWN)
def test_of_sizes_drawn_at_random_a_large_one_is_taken(drawn, name):
    """A training draws in each of its steps: the figure is to hold for more of them than the one in the middle."""
    peaks, traced = drawn.pair(name)
    later = sorted(peaks[1:])
    assert len(set(later)) > 1
    assert later[len(later) // 2] < traced["peak"] < 1.1 * later[-1]


def test_two_looks_at_a_program_draw_alike(run_child):
    program = DRAWN["drawn-elements"].replace("paddle.seed(3)", "rows = __import__('numpy').random.randint(1, 99)")
    program = program.replace("(out ** 2)", "(out ** 2).sum() + paddle.exp(w[:rows])")
    found = run_child("trace", dict.fromkeys("abc", program))
    assert len({row["peak"] for row in found.values()}) == 1, found


LEVELS = """
import paddle
from paddle.vision.ops import distribute_fpn_proposals, roi_align
paddle.seed(0)
model = paddle.nn.Conv2D(3, 4, 3, padding=1)
optimizer = paddle.optimizer.SGD(1e-6, parameters=model.parameters())
pictures = paddle.rand([1, 3, 64, 64])
corners = paddle.rand([48, 2]) * 8
boxes = paddle.concat([corners, corners + {sides}], 1)
for step in range(6):
    features = model(pictures)
    few = paddle.randperm(boxes.shape[0] + paddle.zeros([], 'int64').numel() - 1)[:48]
    given = paddle.gather(boxes, few)
    count = paddle.to_tensor([48], dtype='int32')
    levels, places, counts = distribute_fpn_proposals(given, 2, 5, 4, 224, rois_num=count)
    parts = [roi_align(features, level, number, 7) for level, number in zip(levels, counts)]
    loss = paddle.gather(paddle.concat(parts), places).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
""".format(sides="paddle.tile(paddle.to_tensor([20.0, 150.0, 300.0, 600.0]), [12]).unsqueeze(1)")


def test_boxes_of_all_levels_are_as_many_as_there_are(measure):
    peaks, traced = measure({"levels": LEVELS}).pair("levels")
    assert traced["peak"] == pytest.approx(peaks[-1], rel=0.0001)  # shares of levels are not equal for real
    assert "unknown_shape_line" not in traced["notes"]
