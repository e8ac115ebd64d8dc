"""Mixed precision's casts and lifetimes, with float64 and float32 in the places of float32 and bfloat16.

Paddle casts on no CPU (auto_cast leaves tensors there alone) and its CPU kernels know bfloat16 for few operators. Steps
written with their casts by hand in types of twice the size run everywhere: their peaks, halved, are those of the trace.
"""

from __future__ import annotations

import pytest

from tests.estimator.tracer.measuring import Measured, steady

pytestmark = pytest.mark.paddle

HEAD = """
import paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
paddle.set_default_dtype("{high}")
low, high = "{low}", "{high}"
mm, mean, plus = paddle.matmul, paddle.mean, lambda a, b: a + b
def cast(function, dtype, *tensors):
    return function(*[t if t.dtype == getattr(paddle, dtype) else t.astype(dtype) for t in tensors])
def down(function, *tensors):
    return cast(function, low, *tensors)
def up(function, *tensors):
    return cast(function, high, *tensors)
{layers}
optimizer = paddle.optimizer.{optimizer}(1e-3, parameters=model.parameters())
x = paddle.rand({shape})
for step in range(6):
    loss = forward(x)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
MODEL = """
class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        {init}
    def forward(self, x):
        {body}
model = Model()
forward = lambda x: model(x)
"""
CASES = {
    # (layers, as it is written, with the casts of O1, the shape of x)
    "mlp": (
        "self.a, self.b = nn.Linear(100, 300, bias_attr=False), nn.Linear(300, 50, bias_attr=False)",
        ["h = self.a(x)", "k = F.relu(h)", "o = self.b(k)", "return (o * o).mean()"],
        ["h = down(mm, x, self.a.weight)", "k = F.relu(h)", "o = down(mm, k, self.b.weight)", "return up(mean, o * o)"],
        "[64, 100]",
    ),
    "bias": (  # an operator of neither list with a float32 operand: in float32
        "self.a = nn.Linear(100, 300)",
        ["h = mm(x, self.a.weight) + self.a.bias", "return F.tanh(h).mean()"],
        ["h = up(plus, down(mm, x, self.a.weight), self.a.bias)", "return F.tanh(h).mean()"],
        "[64, 100]",
    ),
    "softmax": (
        "self.a, self.b = nn.Linear(64, 64, bias_attr=False), nn.Linear(64, 64, bias_attr=False)",
        ["q, k = self.a(x), self.b(x)", "s = F.softmax(mm(q, k, transpose_y=True))", "return mm(s, k).mean()"],
        [
            "q, k = down(mm, x, self.a.weight), down(mm, x, self.b.weight)",
            "s = up(F.softmax, mm(q, k, transpose_y=True))",
            "return up(mean, down(mm, s, k))",
        ],
        "[4, 32, 64]",
    ),
    "norm": (
        "self.a, self.n = nn.Linear(64, 128, bias_attr=False), nn.LayerNorm(128)",
        ["h = self.n(self.a(x))", "return F.gelu(h).mean()"],
        ["h = up(self.n, down(mm, x, self.a.weight))", "return F.gelu(h).mean()"],
        "[32, 64]",
    ),
    "convolution": (
        "self.a, self.b = nn.Conv2D(3, 16, 3, bias_attr=False), nn.Conv2D(16, 8, 1, bias_attr=False)",
        ["h = F.max_pool2d(F.relu(self.a(x)), 2)", "return self.b(h).mean()"],
        [
            "h = F.max_pool2d(F.relu(down(F.conv2d, x, self.a.weight)), 2)",
            "return up(mean, down(F.conv2d, h, self.b.weight))",
        ],
        "[4, 3, 20, 20]",
    ),
    "residual": (
        "self.a, self.b = (nn.Linear(128, 128, bias_attr=False) for _ in range(2))",
        ["h = x + self.a(x)", "h = h + self.b(F.sigmoid(h))", "return h.sum()"],
        [
            "h = up(plus, x, down(mm, x, self.a.weight))",
            "h = up(plus, h, down(mm, F.sigmoid(h), self.b.weight))",
            "return h.sum()",
        ],
        "[64, 128]",
    ),
    "black": (
        "self.a = nn.Linear(100, 300, bias_attr=False)",
        ["h = self.a(x)", "return (h * h).exp().mean()"],
        ["h = down(mm, x, self.a.weight)", "return up(mean, up(paddle.exp, h * h))"],
        "[64, 100]",
    ),
}


NORMALISED = """
import paddle, paddle.nn.functional as F
from paddle import nn
conv, norm = nn.Conv2D(3, 16, 3, bias_attr=False), nn.{kind}
optimizer = paddle.optimizer.Momentum(1e-3, parameters=[*conv.parameters(), *norm.parameters()])
x = paddle.rand([8, 3, 64, 64])
for step in range(6):
    {forward}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
WRITTEN = """with paddle.amp.auto_cast(dtype="bfloat16"):
        loss = F.relu(norm(conv(x))).mean()"""
BY_HAND = """low = conv.weight.astype("bfloat16")
    loss = F.relu(norm(F.conv2d(x.astype("bfloat16"), low){cast})).astype("float32").mean()
    del low"""
NORMS = {  # what is called, and what its input is cast to before
    "batch": ("BatchNorm2D(16)", ""),
    "over cards": ("SyncBatchNorm(16)", ""),
    "instance": ("InstanceNorm2D(16)", '.astype("float32")'),  # its weights are float32, and all operands count
}
LOW, TWICE = ("bfloat16", "float32"), ("float32", "float64")
"""The types of mixed precision, and those that stand for them."""


def script(name: str, *, by_hand: bool, types: tuple[str, str], optimizer: str = "Adam") -> str:
    init, plain, cast, shape = CASES[name]
    layers = MODEL.format(init=init, body="\n        ".join(cast if by_hand else plain))
    low, high = types
    return HEAD.format(low=low, high=high, layers=layers, optimizer=optimizer, shape=shape)


@pytest.fixture(scope="module")
def measured(run_child):
    refused = {"refused": script("bias", by_hand=True, types=LOW)}
    real = run_child("real", {name: script(name, by_hand=True, types=TWICE) for name in CASES} | refused)
    asked = {name: {"amp": "O1", "amp_dtype": "bfloat16"} for name in CASES}
    programs = {name: script(name, by_hand=False, types=LOW) for name in CASES}
    return Measured(real, run_child("trace", programs | refused, asked))


@pytest.mark.parametrize("name", CASES)
def test_casts_live_as_long_as_by_hand(measured, name):
    peaks, traced = measured.pair(name)
    assert 2 * traced["peak"] == pytest.approx(steady(peaks), rel=0.001), traced["questions"]


@pytest.fixture(scope="module")
def normalised(run_child):
    sources = {}
    for name, (kind, cast) in NORMS.items():
        sources[name] = NORMALISED.format(kind=kind, forward=WRITTEN)
        sources[f"{name} by hand"] = NORMALISED.format(kind=kind, forward=BY_HAND.format(cast=cast))
    return run_child("trace", sources, {name: {"target": "gpu"} for name in sources})


@pytest.mark.parametrize("name", NORMS)
def test_batch_normalisation_looks_at_its_input_alone(normalised, name):
    found, by_hand = normalised[name], normalised[f"{name} by hand"]
    assert (found["status"], found["peak"]) == ("ok", by_hand["peak"])


def test_a_cpu_refuses_casts_by_hand_also_behind_a_trace_that_was_asked_for_them(measured):
    assert "bfloat16" in measured.real["refused"]["failure"]
    traced = measured.traced["refused"]
    assert traced["status"] == "would_stop" and "bfloat16" in traced["stop"]["error"]


DECORATED = """
import paddle
from paddle import nn
model = nn.Sequential(nn.Linear(100, 300), nn.LayerNorm(300), nn.ReLU(), nn.Linear(300, 50), nn.BatchNorm1D(50))
optimizer = paddle.optimizer.{optimizer}(learning_rate=1e-3, parameters=model.parameters())
model, optimizer = paddle.amp.decorate(model, optimizer, level="O2", dtype="{dtype}"{options})
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
x = paddle.rand([64, 100])
for step in range(6):
    with paddle.amp.auto_cast(level="O2", dtype="{dtype}"{lists}):
        loss = model(x).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()
"""
LINEAR, LAYER_NORM, BATCH_NORM = 100 * 300 + 300 + 300 * 50 + 50, 2 * 300, 2 * 50
MOMENTS = {
    "SGD": 0,
    "Momentum": 1,
    "Adam": 2,
    "AdamW": 2,
    "Adamax": 2,
    "Adagrad": 1,
    "Adadelta": 2,
    "Lamb": 2,
    "RMSProp": 3,
}
O2 = {
    **{name: {"optimizer": name} for name in MOMENTS},
    "float16": {"dtype": "float16"},
    "no-master-weight": {"options": ", master_weight=False"},
    "master-grad": {"options": ", master_grad=True"},
    "excluded": {"options": ", excluded_layers=[nn.Linear]"},
    "save-dtype": {"options": ", save_dtype='float32'"},
    "black-list": {"lists": ", custom_black_list=['linear_v2']"},
    "no-promotion": {"lists": ", use_promote=False"},
}


@pytest.fixture(scope="module")
def decorated(run_child):
    basic = {"optimizer": "Adam", "dtype": "bfloat16", "options": "", "lists": ""}
    sources = {name: DECORATED.format(**{**basic, **options}) for name, options in O2.items()}
    return run_child("trace", sources, {name: {"target": "gpu"} for name in O2})


@pytest.mark.parametrize("name", MOMENTS)
def test_master_weights_stand_beside_the_state(decorated, name):
    low, high = LINEAR + LAYER_NORM, BATCH_NORM
    assert decorated[name]["standing"]["parameters"] == 2 * low + 4 * (high + 2 * 50)  # running mean and variance
    moments = MOMENTS[name] * 4 * (low + high)
    assert decorated[name]["standing"]["optimizer_state"] == pytest.approx(4 * low + moments, abs=100)


def test_what_decorate_is_asked_for(decorated):
    statistics, adam = 4 * 2 * 50, 2 * 4 * (LINEAR + LAYER_NORM + BATCH_NORM)
    standing = {name: decorated[name]["standing"] for name in O2}
    kept = 2 * LINEAR + 4 * (LAYER_NORM + BATCH_NORM)  # float16 keeps layer_norm in float32
    assert standing["float16"]["parameters"] == kept + statistics
    assert standing["no-master-weight"]["optimizer_state"] == pytest.approx(adam, abs=100)
    assert standing["excluded"]["parameters"] == 4 * LINEAR + 2 * LAYER_NORM + 4 * BATCH_NORM + statistics
    assert standing["save-dtype"] == standing["Adam"]
    peaks = {name: decorated[name]["peak"] for name in O2}
    assert peaks["master-grad"] > peaks["Adam"]
    assert peaks["black-list"] > peaks["Adam"]
    assert peaks["no-promotion"] <= peaks["Adam"]


EIGHT_LAYERS = """
import paddle
{flag}
model = paddle.nn.Sequential(*[paddle.nn.Linear(64, 64) for _ in range(8)])
optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
for step in range(4):
    with paddle.amp.auto_cast(level="O1"):
        loss = model(paddle.rand([4096, 64])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def test_a_linear_layer_was_a_product_and_a_float32_sum_before_3_3(run_child):
    """PASSL's logs of 2023 are of these; one operator of the white list gives float16."""
    asked = 'paddle.set_flags({"FLAGS_use_legacy_linear": True})'
    programs = {name: EIGHT_LAYERS.format(flag=flag) for name, flag in (("one", ""), ("two", asked))}
    found = run_child("trace", programs, {name: {"target": "gpu"} for name in programs})
    assert found["two"]["peak"] > 1.4 * found["one"]["peak"]


RECOMPUTED = """
import contextlib
import paddle
from paddle import nn
from paddle.distributed.fleet.utils import recompute
blocks = nn.LayerList(
    [nn.Sequential(nn.Linear(64, 256), nn.LayerNorm(256), nn.Softmax(), nn.Linear(256, 64)) for _ in range(3)]
)
head = nn.Linear(64, 64)
optimizer = paddle.optimizer.SGD(0.1, parameters=[*blocks.parameters(), *head.parameters()])
if "{level}" == "O2":
    blocks, optimizer = paddle.amp.decorate(blocks, optimizer, level="O2", dtype="{dtype}")
def cast():
    return paddle.amp.auto_cast(level="{level}", dtype="{dtype}", {lists})
def again(block, h):
    with {inside}:
        return block(h)
for step in range(4):
    with cast():
        h = head(paddle.rand([4096, 64]))
        for block in blocks:
            h = recompute(again, block, h, use_reentrant={reentrant})
        loss = h.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SETTINGS = {
    "O1": {"level": "O1", "dtype": "bfloat16", "lists": ""},
    "O2": {"level": "O2", "dtype": "float16", "lists": ""},
    "lists": {
        "level": "O1",
        "dtype": "float16",
        "lists": "custom_black_list={'linear_v2'}, custom_white_list={'softmax'}",
    },
}


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_recomputation_casts_as_the_first_forward_pass_did(run_child, reentrant):
    """As it does where the region is within what is recomputed."""
    sources = {
        f"{name}, {inside}": RECOMPUTED.format(**options, inside=inside, reentrant=reentrant)
        for name, options in SETTINGS.items()
        for inside in ("contextlib.nullcontext()", "cast()")
    }
    found = run_child("trace", sources, {name: {"target": "gpu"} for name in sources})
    peaks = {name: one["peak"] for name, one in found.items()}
    for name in SETTINGS:
        assert peaks[f"{name}, contextlib.nullcontext()"] == peaks[f"{name}, cast()"] is not None
