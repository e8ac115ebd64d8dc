"""Indices, labels and segments that are views of something larger: whether an operator keeps them or a copy."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.kernels.test_operators import HEAD

pytestmark = pytest.mark.paddle

SCRIPT = """
{head}
m = Holder([4096, 8])
w = paddle.rand([4096, 8])
optimizer = paddle.optimizer.SGD(1e-3, parameters=m.parameters())
def index(high):
    return paddle.randint(0, high, [4096, 3])[:, 1]
def real():
    return paddle.rand([4096, 3])[:, 1]
for step in range(5):
    p = m.p * 1
    loss = ({expression}).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    del loss
"""
EXPRESSIONS = {
    "gather": "paddle.gather(p, index(4096))",
    "gather-columns": "paddle.gather(p.reshape([8, 4096]), index(4096), 1)",
    "gather-found": "paddle.gather(p, paddle.nonzero(w[:, :1] >= 0)[:, 0])",
    "gather_nd": "paddle.gather_nd(p, index(4096).unsqueeze(1))",
    "index_select": "paddle.index_select(p, index(4096))",
    "index_select-columns": "paddle.index_select(p.reshape([8, 4096]), index(4096), 1)",
    "index_sample": "paddle.index_sample(p, paddle.randint(0, 8, [4096, 6])[:, ::2])",
    "scatter": "paddle.scatter(p, index(4096), w)",
    "brackets": "p[index(4096)]",
    "brackets-columns": "p.reshape([8, 4096])[:, index(4096)]",
    "take_along_axis": "paddle.take_along_axis(p, index(8).unsqueeze(1), 1)",
    "put_along_axis": "paddle.put_along_axis(p, index(8).unsqueeze(1), 0.5, 1)",
    "index_add": "paddle.index_add(p, index(4096), 0, w)",
    "embedding": "F.embedding(index(4096), p)",
    "one_hot": "p * F.one_hot(index(8), 8)",
    "where": "paddle.where((index(8) > 3).unsqueeze(1), p, w)",
    "cross_entropy": "F.cross_entropy(p, index(8))",
    "soft-cross_entropy": "F.cross_entropy(p, paddle.rand([8, 4096]).T, soft_label=True)",
    "nll_loss": "F.nll_loss(F.log_softmax(p), index(8))",
    "kl_div": "F.kl_div(p, paddle.rand([8, 4096]).T)",
    "mse_loss": "F.mse_loss(p[:, 0], real())",
    "binary_cross_entropy": "F.binary_cross_entropy_with_logits(p[:, 0], real())",
    "margin_ranking_loss": "F.margin_ranking_loss(p[:, 0], p[:, 1], real())",
    "send_u_recv": "paddle.geometric.send_u_recv(p, index(4096), index(4096))",
    "send_u_recv-mean": "paddle.geometric.send_u_recv(p, index(4096), index(4096), 'mean')",
    "send_u_recv-more": "paddle.geometric.send_u_recv(p, index(4096), index(4096), 'mean', 5000)",
    "send_ue_recv": "paddle.geometric.send_ue_recv(p, p * 2, index(4096), index(4096), 'mul', 'mean')",
    **{
        f"segment_{kind}": f"paddle.geometric.segment_{kind}(p, paddle.sort(index(8)))"
        for kind in ("sum", "mean", "max")
    },
    "segments-of-rows": "paddle.geometric.segment_sum(p, paddle.arange(4096) // 512)",
}
SOURCES = {name: SCRIPT.format(head=HEAD, expression=expression) for name, expression in EXPRESSIONS.items()}


@pytest.mark.parametrize("name", SOURCES)
def test_a_step_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == pytest.approx(peaks[-1], abs=8), traced["questions"]
