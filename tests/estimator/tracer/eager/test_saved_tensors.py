"""Steps that no plain loop makes: hooks on saved tensors, an optimizer that calls the model itself."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
x, y = paddle.randn([256, 64]), paddle.randn([256, 64])
blocks = nn.LayerList([nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)) for _ in range(4)])
"""
STEP = """
    loss = F.mse_loss(h, y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
OWN = """
class Squared(paddle.autograd.PyLayer):
    @staticmethod
    def forward(context, x):
        y = x * x
        context.save_for_backward(x, (x + x, y))
        return y
    @staticmethod
    def backward(context, gradient):
        x, (twice, y) = context.saved_tensor()
        return twice * gradient
optimizer = paddle.optimizer.SGD(1e-3, parameters=blocks.parameters())
"""
LBFGS = """
optimizer = paddle.optimizer.LBFGS(0.1, max_iter=4, history_size=MOST, parameters=blocks.parameters())
def closure():
    optimizer.clear_grad()
    loss = F.mse_loss(blocks[1](blocks[0](x)) + blocks[3](blocks[2](x)), y)
    loss.backward()
    return loss
for step in range(6):
    optimizer.step(closure)
"""
SOURCES = {
    "recompute-by-hooks": HEAD + """
from paddle.distributed.fleet.utils import recompute
optimizer = paddle.optimizer.Adam(1e-3, parameters=blocks.parameters())
for step in range(6):
    h = x
    for i, block in enumerate(blocks):
        h = block(h) if i % 2 else recompute(block, h, use_reentrant=False)
""" + STEP,
    "hooks-that-halve": HEAD + """
optimizer = paddle.optimizer.SGD(1e-3, parameters=blocks.parameters())
for step in range(6):
    with paddle.autograd.saved_tensors_hooks(lambda t: t.detach().astype('float16'), lambda t: t.astype('float32')):
        h = blocks[1](blocks[0](x))
""" + STEP,
    "a-layer-of-its-own-recomputed": HEAD + OWN + """
from paddle.distributed.fleet.utils import recompute
def squared(block, h):
    return Squared.apply(block(h))
for step in range(6):
    h = x
    for block in blocks:
        h = recompute(squared, block, h, use_reentrant=False)
""" + STEP,
    "hooks-that-halve-what-a-layer-of-its-own-saves": HEAD + OWN + """
for step in range(6):
    with paddle.autograd.saved_tensors_hooks(lambda t: t.detach().astype('float16'), lambda t: t.astype('float32')):
        h = blocks[0](x)
        for _ in range(12):
            h = Squared.apply(h)
""" + STEP,
    "lbfgs": HEAD + LBFGS.replace("MOST", "6"),
    "lbfgs-of-a-long-history": HEAD + LBFGS.replace("MOST", "12"),
    "quantization-aware": HEAD + """
from paddle.quantization import QAT, QuantConfig
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver
quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
blocks = QAT(QuantConfig(activation=quanter, weight=quanter)).quantize(blocks)
optimizer = paddle.optimizer.Adam(1e-3, parameters=blocks.parameters())
for step in range(6):
    h = blocks[1](blocks[0](x))
""" + STEP,
    "second-derivatives": HEAD + """
model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(6):
    a, t = paddle.rand([500, 1]), paddle.rand([500, 1])
    a.stop_gradient = t.stop_gradient = False
    u = model(paddle.concat([a, t], axis=1))
    slope = paddle.grad(u, a, create_graph=True)[0]
    bend = paddle.grad(slope, a, create_graph=True)[0]
    h, y = bend - paddle.grad(u, t, create_graph=True)[0], paddle.zeros([500, 1])
""" + STEP,
    "chosen-by-a-mask": HEAD + """
optimizer = paddle.optimizer.SGD(1e-3, parameters=blocks.parameters())
mask = paddle.arange(256) % 4 == 0
for step in range(6):
    chosen = paddle.masked_select(blocks[0](x), mask.unsqueeze(1).expand_as(x)).reshape([-1, 64])
    h, y = blocks[1](chosen), paddle.zeros([64, 64])
""" + STEP,
    "lengths": HEAD + """
lstm, gru = nn.LSTM(16, 24, direction="bidirect"), nn.GRU(48, 32)
optimizer = paddle.optimizer.SGD(1e-3, parameters=lstm.parameters() + gru.parameters())
lengths = paddle.full([40], 20, "int64")
for step in range(6):
    h = gru(lstm(paddle.randn([40, 20, 16]), sequence_length=lengths)[0], sequence_length=lengths)[0].sum(1)
    y = paddle.zeros([40, 32])
""" + STEP,
    "asgd": HEAD + """
optimizer = paddle.optimizer.ASGD(1e-3, batch_num=2, parameters=blocks.parameters())
for step in range(6):
    h = blocks[1](blocks[0](x)) + blocks[3](blocks[2](x))
""" + STEP,
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] is not None, traced["questions"]
    assert traced["peak"] == pytest.approx(peaks[-1], abs=8)
