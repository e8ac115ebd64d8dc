"""Without stride kernels, as before Paddle 2.6, views are copies; reshapes share memory either way."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
from paddle import nn
paddle.set_flags({{"FLAGS_use_stride_kernel": False}})
paddle.seed(0)
w = paddle.create_parameter([8, 40, 30], 'float32', default_initializer=nn.initializer.Uniform(0.1, 0.9))
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(5):
    x = w * 1
    loss = sum((({result}) * 2).exp().mean() for _ in range(4))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    del x, loss
"""
RESULTS = {
    "transposed": "x.transpose([0, 2, 1])", "row": "x[3]", "rows": "x[:4]", "steps": "x[:, ::2]",
    "unbound": "paddle.unbind(x, 0)[2]", "diagonal": "paddle.diagonal(x)", "reshaped": "x.reshape([-1, 30])",
    "flattened": "x.flatten()", "longer": "x.unsqueeze(1)", "shorter": "x.reshape([1, 8, 40, 30]).squeeze(0)",
    "both": "x.transpose([2, 0, 1]).reshape([30, -1])", "product": "paddle.matmul(x, x.transpose([0, 2, 1]))",
    "split": "paddle.split(x, 2, 1)[0]", "frozen": "x.detach().transpose([0, 2, 1]) + x[:, 0].sum()",
}  # fmt: skip
SOURCES = {name: SCRIPT.format(result=result) for name, result in RESULTS.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_without_views_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]
