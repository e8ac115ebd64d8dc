"""Operators on a transposed view: which keep the view until the gradient, which keep a copy of it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
w = paddle.create_parameter([8, 40, 30], 'float32', default_initializer=nn.initializer.Uniform(0.1, 0.9))
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(5):
    v = (w * 1).transpose([0, 2, 1])
    loss = sum(({result}).mean() for _ in range(4))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    del v, loss
"""
VIEWS = {
    "exp": "paddle.exp(v)", "log": "paddle.log(v)", "square": "paddle.square(v)", "silu": "F.silu(v)",
    "softmax": "F.softmax(v)", "product": "v * v", "matmul": "paddle.matmul(v, v.transpose([0, 2, 1]))",
    "convolution": "F.conv1d(v, paddle.ones([4, 30, 3]))", "where": "paddle.where(v > 0.5, v, v * 2)",
    "gather": "paddle.gather(v, paddle.arange(4))", "dropout": "F.dropout(v, 0.3)",
}  # fmt: skip
COPIES = {
    "gelu": "F.gelu(v)", "erf": "paddle.erf(v)", "hardswish": "F.hardswish(v)", "pow": "v ** 3",
    "clip": "v.clip(0.2, 0.5)", "batched": "paddle.bmm(v, paddle.ones([8, 40, 5]))", "cumsum": "v.cumsum(1)",
    "layer-norm": "F.layer_norm(v, 40)",
    "pool": "F.max_pool1d(v, 2)", "logits": "F.binary_cross_entropy_with_logits(v, paddle.ones([8, 30, 40]))",
    "norm": "paddle.norm(v, 2, axis=1)", "logsumexp": "v.logsumexp(1)", "prelu": "F.prelu(v, paddle.ones([1]))",
    "labels": "F.cross_entropy(v, (paddle.arange(1440) % 40).reshape([8, 30, 6])[:, :, 2])",
    "pow-tensor": "paddle.pow(v, paddle.ones([40]))", "transposed": "F.conv1d_transpose(v, paddle.ones([30, 4, 3]))",
}  # fmt: skip
SINGLE = {
    "one-step": "(w * 1)[:, :1].transpose([0, 2, 1]) * 2", "one-batch": "w.unsqueeze(1).transpose([1, 0, 2, 3]) * 2",
    "squeezed": "(w * 1)[:, 1:2].squeeze(1).unsqueeze(1) * 2",
}  # fmt: skip
SOURCES = {name: SCRIPT.format(result=result) for name, result in {**VIEWS, **COPIES, **SINGLE}.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_a_strided_operand_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]
