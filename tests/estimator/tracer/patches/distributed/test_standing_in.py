"""Half precision behind `dist.to_static`: what is built with float64 in its place, beside what Paddle itself builds.

Where a CPU has the kernels (a perceptron in bfloat16, updated by SGD), Paddle builds the program with its own casts:
both are the same, operator by operator, with shapes, types and what is written over what.
"""

from __future__ import annotations

import pytest

from tests.estimator.tracer.patches.distributed.test_auto_parallel import MLP, WHOLE, script

pytestmark = pytest.mark.paddle

NET = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 10)
    def forward(self, x):
        h = F.relu(self.up(x.astype(self.up.weight.dtype))) * 2 + 1
        with paddle.amp.auto_cast(enable=False):
            h = F.softmax(h.astype("float32")).astype(h.dtype)
        h = h + h.mean() * paddle.ones([256], "float32").astype(h.dtype)
        return self.down(h).astype("float32")
"""
LAYER_NORM = NET.replace("self.up, self.down =", "self.norm = nn.LayerNorm(256)\n        self.up, self.down =").replace(
    "self.down(h)", "self.down(self.norm(h))"
)


def half(net: str, level: str, dtype: str, optimizer: str, *, lowered: bool = True, more: str = "") -> str:
    strategy = f"""
strategy = dist.Strategy()
strategy.amp.enable, strategy.amp.level, strategy.amp.dtype = True, "{level}", "{dtype}"
{more}"""
    source = script(mesh="[0]", optimizer=optimizer, strategy=strategy).replace(MLP.format(up=WHOLE, down=WHOLE), net)
    decorated = f'layers = paddle.amp.decorate(Net(), level="O2", dtype="{dtype}")'
    return source.replace("layers = Net()", decorated) if lowered else source


SGD = "SGD(1e-3, parameters=layers.parameters())"
MASTER = "SGD(1e-3, parameters=layers.parameters(), multi_precision=True)"
ADAMW = "AdamW(1e-3, parameters=layers.parameters(), multi_precision=True)"
GRADIENTS = "strategy.amp.use_master_grad = True"
SAME = {
    "O1": half(NET, "O1", "bfloat16", SGD, lowered=False),
    "O2": half(NET, "O2", "bfloat16", SGD),
    "master weights": half(NET, "O2", "bfloat16", MASTER),
    "O1 of low parameters": half(NET, "O1", "bfloat16", SGD),
}
BOTH = """
import contextlib, importlib, json, sys
sys.path.insert(0, sys.argv[1])
import tracer
importlib.import_module("tracer.patches.table")
executors = sys.modules["tracer.patches.executors"]
standing_in = sys.modules["tracer.patches.distributed.standing_in"]
lowered, building, found = executors.lowered, standing_in.StandIn.building, []
def keep(*args, **kwargs):
    made = lowered(*args, **kwargs)
    found.append([
        (one.step.name, [made.metas[slot] for slots in (*one.step.takes, *one.step.gives) for slot in slots],
         sorted(one.writes.items()), one.frees)
        for one in made.instructions
    ])
    return made
executors.lowered = keep
def trace(source):
    found.clear()
    request = {"cells": [{"index": 0, "source": source}], "answers": {}, "target": "gpu"}
    return tracer.trace_notebook(request)["status"], list(found)
sources = json.load(sys.stdin)
trace(next(iter(sources.values())))  # the first translation of a process computes a constant twice
for name, source in sources.items():
    standing_in.StandIn.building = building
    stood = trace(source)
    standing_in.StandIn.building = lambda self, target: contextlib.nullcontext()
    print(json.dumps([name, [stood, trace(source)]]))
"""


@pytest.fixture(scope="module")
def built(run_code):
    return run_code(BOTH, SAME)


@pytest.mark.parametrize("name", SAME)
def test_the_program_is_paddles_own_where_a_cpu_builds_it(built, name):
    stood, own = built[name]
    assert stood[0] == "ok"
    assert any("bfloat16" in str(one) for one in stood[1][0])
    assert stood == own


MASKED = script(mesh="[0]", optimizer=SGD).replace(
    MLP.format(up=WHOLE, down=WHOLE),
    """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 10)
    def forward(self, x):
        scores = self.up(x).reshape([1, 1, 64, 64]) * 2
        if paddle.is_compiled_with_cuda():
            scores = paddle.incubate.softmax_mask_fuse_upper_triangle(scores)
        else:
            scores = F.softmax(scores + paddle.triu(paddle.ones([64, 64]) * -1e4, 1))
        return self.down(scores.reshape([16, 256]))
""",
)
BUILT = (
    BOTH.partition("for name, source")[0]
    + """
for name, source in sources.items():
    print(json.dumps([name, trace(source)]))
"""
)


def test_a_layer_takes_the_masked_softmax_that_a_gpu_has(run_code):
    """It writes over no operand, as softmax itself would."""
    status, built = run_code(BUILT, {"masked": MASKED})["masked"]
    assert status == "ok"
    (writes,) = [writes for name, _, writes, _ in built[0] if name == "softmax"]
    assert writes == []
    assert not {"triu", "full"} & {name for name, metas, _, _ in built[0] if [[64, 64], "float32"] in metas}


ON_GPU = {
    "float16": half(LAYER_NORM, "O2", "float16", ADAMW, more=GRADIENTS),
    "merged": half(
        LAYER_NORM,
        "O2",
        "float16",
        ADAMW,
        more=GRADIENTS
        + """
strategy.gradient_merge.enable, strategy.gradient_merge.k_steps = True, 2""",
    )
    .replace(
        "paddle.io.DataLoader(Rows(), batch_size=16, drop_last=True)",
        "paddle.io.DataLoader(Rows(), batch_sampler=sampler)",
    )
    .replace(
        "loader =", "sampler = paddle.io.BatchSampler(Rows(), batch_size=16)\nsampler._acc_steps = 2\nloader =", 1
    ),
    "scaled gradients of two types": half(LAYER_NORM, "O2", "float16", ADAMW),
    "float64": half(NET.replace('[256], "float32"', '[256], "float64"'), "O2", "bfloat16", ADAMW),
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", ON_GPU, {name: {"target": "gpu"} for name in ON_GPU})


LOW, WIDE = 2 * (64 * 256 + 256 + 256 * 10 + 10), 4 * 2 * 256
"""Bytes of the linear layers' parameters, and of the normalisation's, which stay in float32."""


@pytest.mark.parametrize("name", ["float16", "merged"])
def test_parameters_are_low_and_their_masters_are_not(traced, name):
    row = traced[name]
    assert row["status"] == "ok", row
    assert row["standing"]["parameters"] == LOW + WIDE
    masters_and_moments, moments = 3 * 2 * LOW, 2 * WIDE
    assert row["standing"].get("gradients", 0) == (2 * LOW + WIDE if name == "merged" else 0)
    kept = row["standing"]["optimizer_state"] - masters_and_moments - moments
    assert 0 <= kept < 256  # powers of both moments, the rate and the scaler's numbers


@pytest.mark.parametrize("name", ["scaled gradients of two types", "float64"])
def test_what_is_not_built_is_told(traced, name):
    row = traced[name]
    assert row["status"] == "static_graph"
    assert row["notes"][-2:] == ["auto_parallel_types", "static_graph"]
