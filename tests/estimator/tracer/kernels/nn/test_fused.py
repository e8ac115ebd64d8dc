"""Operators of language models that only a GPU has kernels of, and what is said of those that are not followed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.estimator.tracer.kernels.nn.test_attention import CODE, Found

pytestmark = pytest.mark.paddle

STEP = """
import paddle
import paddle.incubate.nn.functional as fused
class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.before, self.behind = paddle.nn.Linear(64, 64), paddle.nn.Linear(64, 64)
        self.scale = self.create_parameter([64])
        {made}
    def forward(self, x):
        x = self.before(x)
        {called}
        return self.behind(x)
net = Net()
opt = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(3):
    loss = net(paddle.rand([2, 200, 64])).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
ROTATED = (
    "q, k, _ = fused.fused_rotary_position_embedding(x.reshape([2, 200, 4, 16]), x.reshape([2, 200, 4, 16])); "
    "x = (q + k).reshape([2, 200, 64])"
)


def step(called: str, made: str = "pass", target: str = "gpu") -> tuple[str, str]:
    return STEP.format(called=called, made=made), target


PROGRAMS = {
    "rotated": step(ROTATED),
    "normed": step("x, _ = fused.fused_rms_norm_ext(x, self.scale)"),
    "normed sum": step("x = fused.fused_rms_norm(x, self.scale, None, 1e-6, 2, residual=x)[0]"),
    "fused": step("x = self.layer(x)", "self.layer = paddle.incubate.nn.FusedFeedForward(64, 128)"),
    "on a CPU": step("x = self.layer(x)", "self.layer = paddle.incubate.nn.FusedFeedForward(64, 128)", "cpu"),
}


@pytest.fixture(scope="module")
def found(run_code: Callable[[str, object], dict]) -> dict[str, Found]:
    return {name: Found(*kept) for name, kept in run_code(CODE, PROGRAMS).items()}


def test_rotated_queries_and_keys_have_memory_of_their_own(found: dict[str, Found]) -> None:
    one = found["rotated"]
    assert one.made("fused_rotary_position_embedding") == [([2, 200, 4, 16], "float32")] * 2
    assert one.made("fused_rotary_position_embedding_grad") == [([2, 200, 4, 16], "float32")] * 2


def test_a_norm_keeps_a_number_for_each_row(found: dict[str, Found]) -> None:
    one = found["normed"]
    assert one.made("fused_rms_norm_ext") == [([2, 200, 64], "float32"), ([2, 200], "float32")]
    assert one.made("fused_rms_norm_ext_grad")[:2] == [([2, 200, 64], "float32"), ([64], "float32")]
    assert one.operation("fused_rms_norm_ext_grad")[6:] == [16 * 64 * 4] * 2
    assert found["normed sum"].made("fused_rms_norm_quant").count(([2, 200, 64], "float32")) == 2


def test_an_operator_that_only_gpus_have_is_no_fault_of_the_program(found: dict[str, Found]) -> None:
    one = found["fused"]
    assert (one.status, one.stop) == ("needs_input", None)
    assert found["on a CPU"].status == "would_stop"
