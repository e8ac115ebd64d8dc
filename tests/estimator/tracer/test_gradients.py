"""`paddle.grad`: of which nodes run, what stays, and gradients of gradients; against real steps, to the byte."""

from __future__ import annotations

from collections import Counter

import pytest

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
    **{f"penalty-{name}": penalty(name) for name in ("ReLU", "Tanh", "LeakyReLU", "Sigmoid", "Softplus")},
    "penalty-only": penalty("Tanh", "penalty"),
    "penalty-squares": penalty("Tanh", rule="(g * g).sum()"),
}


LAPLACIAN = """
import paddle
from paddle import nn
paddle.seed(0)
model = nn.Sequential(nn.Linear(2, 100), nn.Tanh(), nn.Linear(100, 100), nn.Tanh(), nn.Linear(100, 1))
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(6):
    t = paddle.rand([500, 2])
    t.stop_gradient = False
    u = model(t)
    du = paddle.grad(u.sum(), t, create_graph=True)[0]
    dd = paddle.grad(du[:, 0].sum(), t, create_graph=True)[0]
    loss = ((du[:, 1] - dd[:, 0]) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
THIRD = {"laplacian": LAPLACIAN}


@pytest.fixture(scope="module")
def measured(run_child):
    scripts = {**THIRD, **SOURCES}
    return run_child("real", scripts), run_child("trace", scripts)


def test_the_third_order_is_near_and_noted(measured):
    real, traced = measured[0]["laplacian"], measured[1]["laplacian"]
    assert traced["notes"] == ["create_graph"]
    assert 0.8 * real["peaks"][-1] < traced["peak"] <= real["peaks"][-1]


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    real, traced = measured[0][name], measured[1][name]
    assert real["failure"] is None
    assert traced["notes"] == []
    assert traced["peak"] == Counter(real["peaks"][1:]).most_common(1)[0][0], traced["questions"]
