# ruff: noqa: E501 - one program a line reads as a table
"""Gradients that are views: sums, reshapes and broadcasts of them; and norms of inputs without a gradient."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
w = paddle.create_parameter([16, 10, 24], 'float32', default_initializer=nn.initializer.Uniform(0.1, 0.9))
v = paddle.create_parameter([24], 'float32')
net = nn.LayerList([nn.LayerNorm(24), nn.InstanceNorm1D(10), nn.Conv1D(10, 10, 3, padding=1), nn.Linear(24, 24), nn.LayerNorm([10, 24])])
{before}
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w, v] + net.parameters())
for step in range(6):
    h = w * 2
    loss = ({result}).mean()
    del h
    big = paddle.zeros([150000])
    loss.backward(retain_graph={retain})
    del big
    optimizer.step()
    optimizer.clear_grad()
"""
"""The large tensor makes the backward pass the peak."""
SUMMED = {
    "bmm": "paddle.bmm(h, h.transpose([0, 2, 1]))", "matmul": "paddle.matmul(h, h.transpose([0, 2, 1]))",
    "exp": "h.transpose([0, 2, 1]).exp() + h.reshape([16, 24, 10])", "first": "h.transpose([0, 2, 1]) * 2 + h.exp().reshape([16, 24, 10])",
    "three": "h.transpose([0, 2, 1]).tanh() + h.reshape([16, 24, 10]) + h.transpose([0, 2, 1]).exp()",
}  # fmt: skip
RESHAPED = {
    "squeeze": "h.reshape([16, 1, 10, 24]).exp().squeeze(1)", "unsqueeze": "h.unsqueeze(1)", "both": "F.gelu(h.unsqueeze(1)).squeeze(1)",
    "flatten": "h.exp().reshape([2, 8, 10, 24]).flatten(0, 1)", "pool": "nn.MaxPool1D(2, 2)(h)", "average": "nn.AvgPool1D(2, 2)(h)",
    "convolution": "net[2](h)", "padding": "F.pad(h, [1, 1], data_format='NCL')", "stack": "paddle.stack([h, h * 2], 1).reshape([16, 20, 24])",
    "expand": "h.unsqueeze(1).expand([16, 2, 10, 24]).reshape([16, 20, 24])",
}  # fmt: skip
BROADCAST = {
    "row": "h + v", "row-first": "v + h", "minus": "h - v", "from-row": "v - h", "block": "h + v.reshape([1, 1, 24])",
    "column": "h + v[:10].unsqueeze(1)", "number": "h + v[:1]", "leading": "h + w[:1]", "constant": "h + v.detach()", "linear": "net[3](h)",
}  # fmt: skip
SLICED = {
    "slice": "h[:, 1:].transpose([0, 2, 1]) * 2", "slices": "h[:, 1:].transpose([0, 2, 1]).exp() + h[:, :-1].transpose([0, 2, 1])",
    "every-second": "h[:, ::2].transpose([0, 2, 1]) * 2", "diagonal": "h.diagonal(axis1=1, axis2=2).transpose([1, 0]) * 2",
    "as-strided": "h.as_strided([16, 10, 12], [240, 24, 2]).transpose([0, 2, 1]) * 2",
    "overlapping": "h.as_strided([16, 10, 7, 6], [240, 24, 3, 1]) * 2", "unfold": "h.unfold(2, 4, 4).transpose([0, 2, 1, 3]) * 2",
    "windows": "h.transpose([0, 2, 1]).unfold(1, 6, 3).exp()",
    "cross": "h[:, :, :3].cross(h[:, :, 3:6], 2) * 2",
}  # fmt: skip
SOURCES = {
    f"{name}-{retain}": SCRIPT.format(before="", result=result, retain=retain)
    for name, result in (SUMMED | SLICED).items()
    for retain in (False, True)
}
SOURCES |= {
    f"{name}-{order}": SCRIPT.format(before="", result=f"({result}){view} * 2", retain=False)
    for name, result in (RESHAPED | BROADCAST).items()
    for order, view in {
        "strided": ".transpose([0, 2, 1])" if name != "unsqueeze" else ".transpose([0, 1, 3, 2])",
        "plain": "",
    }.items()
}
FROZEN = {"all": "pass", "scale": "net[{i}].bias.stop_gradient = True", "bias": "net[{i}].weight.stop_gradient = True"}
SOURCES |= {
    f"layer-norm-{i}-{name}": SCRIPT.format(before=before.format(i=i), result=f"net[{i}](h.detach()) * 2", retain=False)
    for i in (0, 4)
    for name, before in FROZEN.items()
}
SOURCES["instance-norm"] = SCRIPT.format(before="", result="F.instance_norm(h)", retain=False)
REFUSED = SCRIPT.format(before="", result="net[1](h.detach())", retain=False)


@pytest.fixture(scope="module")
def measured(measure):
    return measure(SOURCES | {"refused": REFUSED})


@pytest.mark.parametrize("name", SOURCES)
def test_a_backward_pass_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == pytest.approx(peaks[-1], abs=8), traced["questions"]


def test_an_instance_norm_of_a_constant_is_refused_in_paddles_words(measured):
    assert measured.traced["refused"]["stop"]["error"] in measured.real["refused"]["failure"]
