"""Which members of a list are given a gradient to which none flows, against real steps: those of which eager mode knows
nothing, as they come straight from an operator without a gradient, and all that `add_n` adds."""

import pytest

from tests.estimator.tracer.measuring import steady

pytestmark = pytest.mark.paddle

SOURCE = """
import paddle
paddle.seed(0)
w = paddle.create_parameter([100, 40], "float32")
fixed = paddle.rand([100, 40])
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(5):
    loss = ({expression}).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
EXPRESSIONS = {
    "joined with fixed numbers": "paddle.concat([w, paddle.rand([100, 2000]) * 1], 1)",
    "joined with drawn numbers": "paddle.concat([w, paddle.rand([100, 2000])], 1)",
    "beside ones": "paddle.stack([w, paddle.ones([100, 40]), paddle.ones([100, 40]), paddle.ones([100, 40])], 1)",
    "beside ones and drawn numbers": "paddle.stack([w, paddle.rand([100, 40]), paddle.ones([100, 40])], 1)",
    "summed with drawn numbers": "paddle.einsum('ij,jk->ik', w, paddle.rand([40, 3000]))",
    "summed with fixed numbers": "paddle.einsum('ij,jk->ik', w, paddle.rand([40, 3000]) * 1)",
    "added to fixed numbers": "paddle.add_n([fixed, w * 2, fixed * 2])",
    "added in low precision": "paddle.add_n([fixed.astype('bfloat16'), (w * 2).astype('bfloat16')]).astype('float32')",
    "added twice": "paddle.add_n([paddle.add_n([fixed, w * 2]), fixed])",
}
AGAIN = """
import paddle
from paddle import nn
net = nn.Sequential(nn.Linear(2, 200), nn.Tanh(), nn.Linear(200, 1))
optimizer = paddle.optimizer.SGD(1e-6, parameters=net.parameters())
for step in range(5):
    x, t = paddle.rand([400, 1]), paddle.rand([400, 1])
    x.stop_gradient = False
    u = net(paddle.concat([x, t], 1))
    first = paddle.grad(u, x, create_graph=True)[0]
    second = paddle.grad(first, x, create_graph=True)[0]
    loss = (u + first + second).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SOURCES = {name: SOURCE.format(expression=one) for name, one in EXPRESSIONS.items()}
SOURCES["differentiated twice"] = AGAIN
SOURCES["asked for one"] = SOURCE.format(expression="paddle.add_n([fixed, w * 2, fixed * 2])").replace(
    "    loss.backward()", "    found = paddle.grad(loss, [w])[0]\n    w.grad = found * 1\n    del found"
)


@pytest.mark.parametrize("name", SOURCES)
def test_a_member_without_a_place_in_the_graph_is_given_a_gradient_and_one_with_a_place_is_not(name, measured):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == steady(peaks)
