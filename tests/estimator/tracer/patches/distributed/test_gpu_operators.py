"""Operators that only a GPU has kernels of, in programs that Paddle divides (`dist.to_static`).

Nothing here can run them. A small Llama without them is held to two real processes; with them its estimate has to be
another one by exactly what their kernels keep for the backward pass.
"""

from __future__ import annotations

import pytest

from tests.estimator.tracer.patches.distributed.test_auto_parallel import CHILD
from tests.estimator.tracer.patches.distributed.test_sharding import run_processes

pytestmark = pytest.mark.paddle

BATCH, TOKENS, WIDTH, HEADS, CLASSES = 4, 32, 64, 4, 512
"""Of one process's part of a batch."""
HEAD = f"""
import time
import numpy as np, paddle, paddle.distributed as dist
import paddle.nn.functional as F
from paddle import nn
from paddle.distributed.auto_parallel.process_mesh import ProcessMesh
from paddle.incubate.nn.functional import fused_rms_norm_ext, fused_rotary_position_embedding
paddle.set_flags({{"FLAGS_new_executor_serial_run": True}})
if "step_ends" not in globals():
    step_ends = lambda: None
def rank_of(mesh, name, process):  # Paddle 3.3's own asks for the number of an array, which numpy 2.4 gives no more
    return int(np.where(mesh._mesh == process)[mesh._dim_names.index(name)][0])
ProcessMesh.get_rank_by_dim_and_process_id = rank_of
mesh = dist.ProcessMesh([0, 1], dim_names=["data"])
def placed(layer):
    for name, parameter in list(layer._parameters.items()):
        setattr(layer, name, dist.shard_tensor(parameter, mesh, [dist.Replicate()]))
    return layer
class Norm(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([{WIDTH}], default_initializer=nn.initializer.Constant(1.0))
    def forward(self, x):
        return norm(x, self.scale)
class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.before, self.behind = placed(Norm()), placed(Norm())
        self.qkv, self.out = placed(nn.Linear({WIDTH}, {3 * WIDTH})), placed(nn.Linear({WIDTH}, {WIDTH}))
        self.up, self.down = placed(nn.Linear({WIDTH}, 128)), placed(nn.Linear(128, {WIDTH}))
    def forward(self, x):
        qkv = self.qkv(self.before(x)).reshape([0, 0, 3, {HEADS}, {WIDTH // HEADS}])
        q, k, v = qkv.unbind(2)
        q, k = turned(q, k)
        x = x + self.out(attention(q, k, v).reshape([0, 0, {WIDTH}]))
        return x + self.down(F.silu(self.up(self.behind(x))))
def angles(dtype):
    return (paddle.arange({TOKENS}, dtype="float32").reshape([1, {TOKENS}, 1, 1]) * paddle.ones([16])).astype(dtype)
"""
PLAIN = """
def norm(x, scale):
    return x * paddle.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * scale
def half(x):
    front, back = x.chunk(2, -1)
    return paddle.concat([-back, front], -1)
def turned(q, k):
    sin, cos = angles(q.dtype).sin(), angles(q.dtype).cos()
    return q * cos + half(q) * sin, k * cos + half(k) * sin
def attention(q, k, v):
    q, k, v = (one.transpose([0, 2, 1, 3]) for one in (q, k, v))
    return (F.softmax(q @ k.transpose([0, 1, 3, 2]) / 4, -1) @ v).transpose([0, 2, 1, 3])
"""
FUSED = """
from paddle.nn.functional.flash_attention import flash_attention
def norm(x, scale):
    return fused_rms_norm_ext(x, scale, 1e-5)[0]
def turned(q, k):
    sin, cos = angles(q.dtype).sin(), angles(q.dtype).cos()
    return fused_rotary_position_embedding(q, k, None, sin=sin, cos=cos, use_neox_rotary_style=False)[:2]
def attention(q, k, v):
    return flash_attention(q, k, v, causal=True)[0]
"""
TWIN = """
def norm(x, scale):
    return F.layer_norm(x, scale.shape, scale, None)
def turned(q, k):
    return q.flip(1), k.flip(1)
def attention(q, k, v):
    return q.flip(1) + k.flip(1) + v.flip(1)
"""
"""Ordinary operators in their places: a normalization that keeps a mean besides, and some that keep nothing."""
NET = f"""
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = placed(nn.Embedding({CLASSES}, {WIDTH}))
        self.blocks = nn.LayerList([Block() for _ in range(BLOCKS)])
        self.last, self.head = placed(Norm()), placed(nn.Linear({WIDTH}, {CLASSES}))
    def forward(self, words):
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x)).astype("float32").reshape([-1, {CLASSES}])
layers = Net()
"""
STACK = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = placed(nn.Embedding({classes}, {width}))
        self.norm = placed(Norm()) if "norm" in "{layer}" else None
    def forward(self, words):
        x = self.words(words).astype("bfloat16"){heads}
        y = x.flip(1)
        for _ in range(BLOCKS):
            {layer}
        return (x + y).astype("float32").reshape([-1, {width}])
layers = Net()
"""
TRAIN = f"""
LOW
optimizer = paddle.optimizer.SGD(1e-3, parameters=layers.parameters())
class Rows(paddle.io.Dataset):
    def __len__(self):
        return 640
    def __getitem__(self, index):
        return np.ones([{TOKENS}], "int64"), np.ones([{TOKENS}], "int64")
loader = paddle.io.DataLoader(Rows(), batch_size={2 * BATCH}, drop_last=True)
loader = dist.shard_dataloader(loader, mesh, shard_dims="data")
strategy = dist.Strategy()
AMP
loss = lambda scores, labels: F.cross_entropy(scores, labels.reshape([-1]))
model = dist.to_static(layers, loader, loss, optimizer, strategy)
model.train()
x, y = next(iter(loader))
loader.iter = None
for step in range(14):
    model(x, y)
    step_ends()
"""
LOW = 'layers = paddle.amp.decorate(layers, level="O2", dtype="bfloat16")'
AMP = 'strategy.amp.enable, strategy.amp.level, strategy.amp.dtype = True, "O2", "bfloat16"'


def script(operators: str, net: str = NET, blocks: int = 2, *, low: bool = True) -> str:
    source = HEAD + operators + net + TRAIN
    source = source.replace("LOW", LOW if low else "").replace("AMP", AMP if low else "")
    return source.replace("BLOCKS", str(blocks))


LAYERS = {
    "fused_rms_norm_ext": "x = self.norm(x)",
    "fused_rotary_position_embedding": "x, y = turned(x, y)",
    "flash_attn": "x = attention(x, x, x)",
}
IN_HEADS = f".reshape([0, 0, {HEADS}, -1])"
SMALL = {
    name: STACK.format(classes=16, width=WIDTH, heads="" if "norm" in layer else IN_HEADS, layer=layer)
    for name, layer in LAYERS.items()
}
SOURCES = {
    **{f"{name} {blocks}": script(FUSED, net, blocks) for name, net in SMALL.items() for blocks in (8, 12)},
    "fused": script(FUSED),
    "twin": script(TWIN),
    "whole types": script(FUSED.partition("def attention")[0] + PLAIN[PLAIN.index("def attention") :], low=False),
    "scores": script(FUSED.replace("causal=True)", "causal=True, return_softmax=True)")),
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", SOURCES, {name: {"target": "gpu"} for name in SOURCES})


ROWS, ELEMENTS = BATCH * TOKENS, BATCH * TOKENS * WIDTH
SUMS = 4 * BATCH * HEADS * 128
"""A float32 number for each head and query, of which 128 is the least."""
KEPT = {
    "fused_rms_norm_ext": 2 * ELEMENTS + 4 * ROWS,
    "fused_rotary_position_embedding": 2 * 2 * TOKENS * 16,
    "flash_attn": 2 * ELEMENTS + SUMS,
}
"""Bytes in bfloat16 that one more layer keeps: operand and deviations, sines and cosines, operand and sums."""


@pytest.mark.parametrize("name", KEPT)
def test_a_layer_keeps_what_the_kernel_of_a_gpu_keeps(traced, name):
    few, many = traced[f"{name} 8"], traced[f"{name} 12"]
    assert few["status"] == many["status"] == "ok", many
    assert many["peak"] - few["peak"] == 4 * KEPT[name]


def test_a_llama_differs_by_exactly_those_terms(traced):
    fused, twin = traced["fused"], traced["twin"]
    assert fused["notes"] == twin["notes"] == ["bfloat16", "auto_parallel_program", "static_graph_on_gpu"]
    attention = 3 * 2 * ELEMENTS + SUMS + KEPT["fused_rotary_position_embedding"]
    means, scales = 5 * 4 * ROWS, 5 * 4 * WIDTH  # of five normalizations; `layer_norm` alone takes a scale uncast
    assert fused["peak"] - twin["peak"] == 2 * attention - means + scales
    assert fused["standing"] == twin["standing"]


def test_they_are_built_without_half_precision_too(traced):
    assert traced["whole types"]["status"] == "ok", traced["whole types"]


def test_what_is_not_told_of_them_is_refused(traced):
    assert traced["scores"]["status"] != "ok"
    assert "flash_attn" in str(traced["scores"])


def test_the_llama_without_them_is_that_of_two_real_processes(run_child, paddle_python):
    # Of a few steps the executor's threads may free something late in each.
    source = {"llama": script(PLAIN, low=False).replace("range(14)", "range(150)")}
    real = run_processes(paddle_python, source, child=CHILD)
    assert [one["llama"]["failure"] for one in real] == [None, None]
    least = max(min(one["llama"]["peaks"][2:]) for one in real)
    row = run_child("trace", source)["llama"]
    assert row["status"] == "ok", row
    assert row["peak"] == pytest.approx(least, abs=2048), real
