# ruff: noqa: E501, SIM905 - one operator a line reads as a table
"""Single operators, forward and backward, against real steps: what they save, what they copy, what their kernels take."""

from __future__ import annotations

import pytest

from tests.estimator.tracer.measuring import steady

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
paddle.seed(0)
class Holder(nn.Layer):
    def __init__(self, *shapes):
        super().__init__()
        for name, shape in zip('pqr', shapes):
            setattr(self, name, self.create_parameter(shape, default_initializer=nn.initializer.Uniform(0.1, 0.9)))
"""
TABLE, IMAGES, KERNEL = [64, 512], [4, 16, 24, 24], [32, 16, 3, 3]


def op(expression: str, *shapes: list[int], before: str = "") -> str:
    return f"""{HEAD}
m = Holder({", ".join(map(str, shapes))})
{before}
optimizer = paddle.optimizer.SGD(1e-3, parameters=m.parameters())
p, q, r = (getattr(m, name, None) for name in 'pqr')
for step in range(5):
    y = {expression}
    loss = y.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    del y, loss
"""


LABELS = "t = paddle.randint(0, 512, [64]); z = paddle.rand([64, 512])"
SOURCES = {
    **{n: op(f"paddle.{n}(p)", TABLE) for n in "exp log sqrt rsqrt square tanh sigmoid abs sin erf floor reciprocal sign".split()},
    **{n: op(f"F.{n}(p)", TABLE) for n in "relu gelu silu elu leaky_relu softplus hardswish relu6 mish softmax log_softmax".split()},
    **{n: op(f"paddle.{n}(p, q)", TABLE, TABLE) for n in "add subtract multiply divide maximum pow".split()},
    **{f"{n}-row": op(f"paddle.{n}(p, q)", TABLE, [512]) for n in "add subtract multiply divide maximum".split()},
    **{f"{n}-column": op(f"paddle.{n}(p, q)", TABLE, [64, 1]) for n in "add subtract multiply divide maximum".split()},
    **{f"{n}-channel": op(f"paddle.{n}(p, q)", IMAGES, [1, 16, 1, 1]) for n in "add subtract multiply divide maximum".split()},
    **{f"{n}-axis": op(f"p.{n}({axis})", TABLE) for n, axis in (("sum", 0), ("mean", 1), ("max", 1), ("prod", 1), ("cumsum", 0), ("logsumexp", 1))},
    **{name: op(expression, TABLE) for name, expression in {
        "std": "p.std(1)", "norm": "p.norm()", "clip": "p.clip(0.2, 0.8)", "scale": "p * 3 + 1", "cast": "p.astype('float64')",
        "transposed": "p.T * 2", "concat": "paddle.concat([p, p], 0)", "stack": "paddle.stack([p, p], 0)", "chunk": "sum(paddle.chunk(p, 4, 1))",
        "split": "paddle.split(p, 2, 1)[0]", "tile": "p.tile([2, 1])", "expand": "p.unsqueeze(0).expand([3, 64, 512]) * 1",
        "gather": "paddle.gather(p, paddle.arange(32))", "slice": "p[:32]", "strided": "p[:, ::2]", "indexed": "p[paddle.arange(32)]",
        "where": "paddle.where(p > 0.5, p, p * 2)", "pad": "F.pad(p, [1, 1, 1, 1])", "roll": "paddle.roll(p, 1, 0)", "topk": "paddle.topk(p, 5)[0]",
        "topk-by-tensor": "paddle.topk(p, paddle.to_tensor(3))[0]", "reshape-by-tensor": "p.reshape(paddle.to_tensor([512, 64])) * 1",
        "expand-by-tensor": "p[:1].expand(paddle.to_tensor([9, 512])) * 1", "squeeze-by-tensor": "p.unsqueeze(paddle.to_tensor(0)).squeeze(paddle.to_tensor(0)) * 1",
        **{f"{name}-by-tensor": f"p.{name}(axis=paddle.to_tensor(0)) * 2" for name in ("sum", "mean", "max", "amax", "prod", "logsumexp")},
        "linspace-by-tensor": "p * paddle.linspace(0, 1, paddle.to_tensor(512))", "std-by-tensor": "p.std(axis=paddle.to_tensor(0))",
        "multinomial-by-tensor": "p * paddle.multinomial(p[0].detach(), paddle.to_tensor(64)).astype('float32').reshape([64, 1])",
        "gather-by-tensor": "paddle.gather(p, paddle.arange(32), axis=paddle.to_tensor(1))", "crop-by-tensor": "paddle.crop(p, paddle.to_tensor([32, 512]), [0, 0])",
        "slice-by-tensor": "paddle.slice(p, [0, 1], paddle.to_tensor([0, 2]), paddle.to_tensor([32, 500])) * 2", "true": "p[paddle.to_tensor(True)]",
        "strided-by-tensor": "paddle.strided_slice(p, [0], [0], [paddle.to_tensor(32)], [1])",
        "sort": "paddle.sort(p)", "tril": "paddle.tril(p)", "layer-norm": "F.layer_norm(p, 512)", "normalize": "F.normalize(p)",
        "masked-fill": "paddle.masked_fill(p, p > 0.5, 0.0)", "dropout": "F.dropout(p, 0.3)", "glu": "F.glu(p, 1)",
        "argsort-by-attributes": "paddle._legacy_C_ops.argsort(p, 'axis', 0, 'descending', True)[0]",
    }.items()},
    **{name: op(expression, IMAGES) for name, expression in {
        "max-pool": "F.max_pool2d(p, 2)", "average-pool": "F.avg_pool2d(p, 2)", "adaptive-pool": "F.adaptive_avg_pool2d(p, 4)",
        "nearest": "F.interpolate(p, scale_factor=2)", "bilinear": "F.interpolate(p, scale_factor=2, mode='bilinear')",
        "pixel-shuffle": "F.pixel_shuffle(p, 2)", "unfold": "F.unfold(p, 3)", "group-norm": "F.group_norm(p, 4)",
        "activation-of-old": "paddle._legacy_C_ops.hard_swish(p)",
        "channels-last": "p.transpose([0, 2, 3, 1]) * 2", "flatten": "p.flatten(1) * 2", "reflect": "F.pad(p, [2, 2, 2, 2], mode='reflect')",
    }.items()},
    **{name: op(expression, TABLE, before=LABELS) for name, expression in {
        "cross-entropy": "F.cross_entropy(p, t)", "soft-labels": "F.cross_entropy(p, z, soft_label=True)", "smoothing": "F.cross_entropy(p, t, label_smoothing=0.1)",
        "nll": "F.nll_loss(F.log_softmax(p), t)", "bce": "F.binary_cross_entropy(p, z)", "bce-logits": "F.binary_cross_entropy_with_logits(p, z)",
        "mse": "F.mse_loss(p, z)", "l1": "F.l1_loss(p, z)", "smooth-l1": "F.smooth_l1_loss(p, z)", "kl": "F.kl_div(F.log_softmax(p), z)",
        "focal": "F.sigmoid_focal_loss(p, z)", "cosine": "F.cosine_similarity(p, z)", "triplet": "F.triplet_margin_loss(p, z, z * 2)",
    }.items()},
    "unique": op("p * paddle.unique(paddle.rand([16, 64]), return_index=True, return_inverse=True, return_counts=True)[2].sum().astype('float32')", [16, 64]),
    "unique-rows": op("p * paddle.unique(paddle.rand([64, 512]), axis=0, return_inverse=True)[0].sum()", TABLE),
    "matmul": op("p.matmul(q)", TABLE, [512, 128]), "matmul-t": op("p.matmul(q, transpose_y=True)", TABLE, [128, 512]),
    "bmm": op("paddle.bmm(p, q)", [8, 64, 64], [8, 64, 64]), "addmm": op("paddle.addmm(p, q, r)", [64, 128], [64, 32], [32, 128]),
    "einsum": op("paddle.einsum('bij,bjk->bik', p, q)", [8, 64, 64], [8, 64, 64]),
    "einsum-permuted": op("paddle.einsum('bqhd,bkhd->bhqk', p, q)", [4, 32, 8, 16], [4, 32, 8, 16]),
    "layer-norm-affine": op("F.layer_norm(p, 512, q, r)", TABLE, [512], [512]),
    "batch-norm": op("norm(p)", IMAGES, before="norm = nn.BatchNorm2D(16)"),
    "conv": op("F.conv2d(p, q, padding=1)", IMAGES, KERNEL), "conv-strided": op("F.conv2d(p, q, stride=2, padding=1)", IMAGES, KERNEL),
    "conv-1x1": op("F.conv2d(p, q)", IMAGES, [32, 16, 1, 1]), "conv-groups": op("F.conv2d(p, q, padding=1, groups=4)", IMAGES, [32, 4, 3, 3]),
    "conv-depthwise": op("F.conv2d(p, q, padding=1, groups=16)", IMAGES, [16, 1, 3, 3]),
    "conv-transposed": op("F.conv2d_transpose(p, q, stride=2, padding=1)", IMAGES, [16, 32, 4, 4]),
    "conv-transposed-by-tensor": op("F.conv2d_transpose(p, q, stride=2, output_size=paddle.to_tensor([50, 50]))", IMAGES, [16, 32, 4, 4]),
    "conv-transposed-groups": op("F.conv2d_transpose(p, q, stride=2, groups=4)", IMAGES, [16, 8, 2, 2]),
    "conv1d": op("F.conv1d(p, q, padding=1)", [8, 16, 256], [32, 16, 3]), "conv3d": op("F.conv3d(p, q, padding=1)", [2, 4, 8, 16, 16], [8, 4, 3, 3, 3]),
    "embedding": op("F.embedding(t, p)", [1000, 64], before="t = paddle.randint(0, 1000, [64, 32])"),
    "embedding-strided": op("F.embedding(t[:, 0], p)", [1000, 64], before="t = paddle.randint(0, 1000, [4096, 2])"),
    "relu-strided": op("F.relu(p).transpose([0, 3, 1, 2]).flatten(2) * 2", [8, 16, 16, 32]),
    "attention": op("F.scaled_dot_product_attention(p, p, p)", [4, 32, 8, 16]),
    "causal": op("F.scaled_dot_product_attention(p, p, p, is_causal=True)", [4, 32, 8, 16]),
    "multi-head": op("attention(p, p, p)", [8, 32, 64], before="attention = nn.MultiHeadAttention(64, 4)"),
    "write-slice": op("write(p)", TABLE, before="def write(p):\n    y = paddle.zeros([64, 512])\n    y[:32] = p[:32] * 2\n    return y * y"),
    "write-number": op("write(p)", TABLE, before="def write(p):\n    y = p * 2\n    y[:, :10] = 0\n    return y * y"),
    "ctc": op("F.ctc_loss(p, t, n, k)", [20, 8, 40], before="t = paddle.randint(1, 40, [8, 5]).astype('int32'); n = paddle.full([8], 20, 'int64'); k = paddle.full([8], 5, 'int64')"),
}  # fmt: skip
TOLERANCE = 0.002


@pytest.mark.parametrize("name", SOURCES)
def test_an_operator_takes_what_the_allocator_says(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] is not None, traced["questions"]
    assert traced["peak"] == pytest.approx(steady(peaks), rel=TOLERANCE)
