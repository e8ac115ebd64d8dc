"""`paddle.grad`: of which nodes run, what stays, and gradients of gradients; against real steps, to the byte."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.measuring import steady

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
x = paddle.to_tensor(np.random.rand(64, 200).astype('float32'))
y = paddle.to_tensor(np.random.randint(0, 10, (64,)).astype('int64'))
model = nn.Sequential(nn.Linear(200, 300), nn.{activation}(), nn.Linear(300, 10))
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(6):
{body}
    optimizer.step()
    optimizer.clear_grad()
"""
PENALTY = """
    e = paddle.rand([64, 1])
    z = x * e + (1 - e) * paddle.rand([64, 200])
    z.stop_gradient = False
    d = model(z)
    g = paddle.grad(d.sum(), z, create_graph=True, retain_graph=True)[0]
    penalty = {penalty}
    loss = {loss}
    loss.backward()"""
NORM = "((g.norm(2, axis=1) - 1) ** 2).mean()"
BOTH = "model(x).mean() + 10 * penalty"


def penalty(activation: str, loss: str = BOTH, rule: str = NORM) -> str:
    return HEAD.format(activation=activation, body=PENALTY.format(penalty=rule, loss=loss))


def first(body: str) -> str:
    return HEAD.format(activation="ReLU", body="\n".join("    " + line for line in body.strip().splitlines()))


SOURCES = {
    "of-the-input": first("""
x.stop_gradient = False
h = model(x)
g = paddle.grad(h.sum(), x, retain_graph=True)[0]
F.cross_entropy(h, y).backward()
x.clear_gradient(False)"""),
    "assigned": first("""
h = model(x)
g = paddle.grad(F.cross_entropy(h, y), model.parameters())
for parameter, grad in zip(model.parameters(), g):
    parameter.grad = grad"""),
    "of-one-weight": first("""
h = model(x)
g = paddle.grad(F.cross_entropy(h, y), [model[2].weight])
F.cross_entropy(model(x), y).backward()"""),
    "of-a-hidden-layer": first("""
h = model[1](model[0](x))
g = paddle.grad(F.cross_entropy(model[2](h), y), h)[0]
(F.cross_entropy(model(x), y) + g.mean()).backward()"""),
    **{
        f"penalty-{name}": penalty(name) for name in ("ReLU", "Tanh", "LeakyReLU", "Sigmoid", "Softplus", "Silu", "ELU")
    },
    "penalty-only": penalty("Tanh", "penalty"),
    "penalty-squares": penalty("Tanh", rule="(g * g).sum()"),
}


LAPLACIAN = """
import paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
class Activation(nn.Layer):
    def forward(self, h):
        return {activation}
model = nn.Sequential(
    nn.Linear(2, 100), Activation(), nn.Linear(100, 100), Activation(), nn.Linear(100, 1)
)
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(6):
    t = paddle.rand([500, 2])
    t.stop_gradient = False
    u = model(t)
    du = paddle.grad(u.sum(), t, create_graph=True)[0]
    dd = paddle.grad(du[:, 0].sum(), t, create_graph=True)[0]
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
HEAT = "((du[:, 1] - dd[:, 0]) ** 2).mean()"
ACTIVATIONS = {
    "tanh": "F.tanh(h)", "sin": "paddle.sin(h)", "cos": "paddle.cos(h)", "sigmoid": "F.sigmoid(h)", "silu": "F.silu(h)",
    "power": "h ** 3", "square": "h * h", "exp": "paddle.exp(h * 0.1)",
}  # fmt: skip
SOURCES.update({f"heat-{name}": LAPLACIAN.format(activation=a, loss=HEAT) for name, a in ACTIVATIONS.items()})
SOURCES["poisson"] = LAPLACIAN.format(
    activation="F.tanh(h)",
    loss="((dd[:, 0] + paddle.grad(du[:, 1].sum(), t, create_graph=True)[0][:, 1]) ** 2).mean()",
)
SOURCES["burgers"] = LAPLACIAN.format(
    activation="F.tanh(h)", loss="((du[:, 1:2] + u * du[:, 0:1] - 0.01 * dd[:, 0:1]) ** 2).mean()"
)


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["notes"] == []
    assert traced["peak"] == steady(peaks), traced["questions"]
