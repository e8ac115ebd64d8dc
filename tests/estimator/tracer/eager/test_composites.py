"""Gradients of gradients of single operators, as penalties ask for them: against real steps, to the byte."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
w = paddle.create_parameter([64, 100], 'float32', default_initializer=nn.initializer.Uniform(0.2, 0.8))
u = paddle.create_parameter([64, 100], 'float32', default_initializer=nn.initializer.Uniform(0.2, 0.8))
norm = {norm}
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w, u])
for step in range(6):
    h, v = w * 1.5, u * 1.5
    y = {operator}
    gradients = paddle.grad(y.sum(), {of}, create_graph=True, retain_graph=True)
    loss = sum((g * g).sum() for g in gradients) + u.mean() + w.mean(){more}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
IMAGES = "h.reshape([4, 10, 16, 10])"
OF_ONE = {
    **{name: f"F.{name}(h)" for name in
       ("relu", "silu", "softplus", "sigmoid", "elu", "leaky_relu", "tanh", "celu")},
    **{name: f"paddle.{name}(h)" for name in ("exp", "sqrt", "sin", "cos", "square", "abs", "rsqrt", "log")},
    "power": "h ** 3", "itself": "h * h", "gated": "h * F.sigmoid(h)", "reciprocal": "1 / h", "scaled": "(h * 3) ** 2",
    "softmax": "h.exp() / h.exp().sum(1, keepdim=True)", "centred": "(h - h.mean(1, keepdim=True)) ** 2",
    "rms": "h * paddle.rsqrt((h * h).mean(-1, keepdim=True) + 1e-6)", "part": "h[:3] * h[:3]",
    "gather": "paddle.gather(h, paddle.arange(3)) ** 2", "index": "h[paddle.arange(3)] ** 2",
    "clip": "h.clip(0.3, 0.6) ** 2", "cast": "h.astype('float64') ** 2", "split": "paddle.split(h, 2, 1)[0] ** 2",
    "pad": "F.pad(h, [1, 1]) ** 2", "tile": "h.tile([2, 1]) ** 2", "stack": "paddle.stack([h, h]) ** 2",
    "concat": "paddle.concat([h, h * h]) ** 2", "transposed": "h.t() * h.t()", "reshape": "h.reshape([-1]) ** 2",
    "pool": "F.avg_pool2d(h.reshape([1, 2, 32, 100]), 2) ** 2", "expand": "h[:, :1].expand([64, 100]) * h",
    "instance-norm": f"F.instance_norm({IMAGES})",
    "acos": "paddle.acos(h)", "take": "paddle.take_along_axis(h, paddle.arange(64).reshape([64, 1]), 1) ** 2",
    "index-add": "paddle.index_add(h, paddle.arange(3), 0, h[:3] * 2) ** 2",
    "masked-fill": "h.masked_fill(paddle.arange(100) > 50, 0.) ** 2",
    "masked-select": "paddle.masked_select(h, (paddle.arange(100) > 50)[None, :].expand([64, 100])) ** 2",
    "index-put": "paddle.index_put(h, (paddle.arange(3),), paddle.ones([3, 100])) ** 2",
    "index-put-itself": "paddle.index_put(h * 1, (paddle.arange(3),), h[:3] * 2) ** 2",
    "rows-by-mask": "h[paddle.arange(64) > 30] ** 2", "list": "h[[1, 2, 3]] ** 2",
}  # fmt: skip
OF_NORMS = {
    "rows": ("norm(h)", "nn.BatchNorm1D(100)"), "images": (f"norm({IMAGES})", "nn.BatchNorm2D(10)"),
    "last": ("norm(h.reshape([4, 16, 10, 10]))", "nn.BatchNorm2D(10, data_format='NHWC')"),
    "instances": (f"norm({IMAGES})", "nn.InstanceNorm2D(10)"),
}  # fmt: skip
OF_TWO = {
    "multiply": "h * v", "multiply-row": "h * v[0]", "multiply-column": "h * v[:, :1]", "divide": "h / v",
    "divide-row": "h / v[0]", "add": "(h + v) ** 2", "add-row": "(h + v[0]) ** 2", "subtract": "(h - v) ** 2",
    "subtract-row": "(h - v[0]) ** 2", "maximum": "paddle.maximum(h, v) ** 2", "minimum": "paddle.minimum(h, v) ** 2",
    "where": "paddle.where(h > 0.5, h, v) ** 2", "concat-two": "paddle.concat([h, v]) ** 2",
    "matmul": "paddle.matmul(h, v, transpose_y=True)", "matmul-turned": "paddle.matmul(h, v.t())",
    "matmul-first": "paddle.matmul(h, v, transpose_x=True)",
    "matmul-batches": "paddle.matmul(h.reshape([4, 16, 100]), v.reshape([4, 100, 16]))",
    "matmul-matrix": "paddle.matmul(h.reshape([4, 16, 100]), v.t())",
    "bmm": "paddle.bmm(h.reshape([4, 16, 100]), v.reshape([4, 100, 16]))",
    "linear": "F.linear(h, v.t(), v[0, :64])",
    "conv": "F.conv2d(h.reshape([1, 4, 16, 100]), v[:9, :4].reshape([3, 4, 3, 1]) * 1)",
    "conv-groups": "F.conv2d(h.reshape([1, 4, 16, 100]), v[:9, :4].reshape([2, 2, 3, 3]) * 1, groups=2)",
    "conv-last": "F.conv2d(h.reshape([4, 20, 20, 4]), v[:8, :36].reshape([8, 4, 3, 3]) * 1, data_format='NHWC')",
    "matmul-vector": "paddle.matmul(h, v[0])", "dot": "paddle.matmul(h[0], v[0])", "row": "paddle.matmul(h[0], v.t())",
    "batches-vector": "paddle.matmul(h.reshape([4, 16, 100]), v[0])",
    "conv-rows": "F.conv1d(h.reshape([2, 32, 100]), v[:, :96].reshape([64, 32, 3]) * 1)",
}  # fmt: skip
VOLUME = "F.conv3d(h.reshape([2, 4, 8, 10, 10]), v[:54, :16].reshape([8, 4, 3, 3, 3]) * 1, padding={padding})"
OF_BROADCASTS = "paddle.matmul(h.reshape([4, 1, 16, 100]), v.reshape([1, 4, 100, 16]))"
REFUSED = {
    name: SCRIPT.format(operator=operator, of="[h]", more="", norm="None")
    for name, operator in {
        "atan": "paddle.atan(h)", "gelu": "F.gelu(h)", "log1p": "paddle.log1p(h)", "softmax": "F.softmax(h)",
        "layer-norm": "F.layer_norm(h, 100)", "norm": "h.norm(2, 1)", "cumsum": "paddle.cumsum(h, 1)",
    }.items()
}  # fmt: skip
SOURCES = {
    f"{name}{'-beside' * bool(more)}{asked}": SCRIPT.format(operator=operator, of=of, more=more, norm=norm)
    for cases, asks in (
        ({name: (one, "None") for name, one in OF_ONE.items()}, {"": "[h]"}),
        (OF_NORMS, {"": "[h]"}),
        ({name: (two, "None") for name, two in OF_TWO.items()}, {"-first": "[h]", "-second": "[v]", "-both": "[h, v]"}),
    )
    for name, (operator, norm) in cases.items()
    for asked, of in asks.items()
    for more in ("", " + y.mean()")
}
SOURCES |= {  # Paddle crashes on others of their gradients
    f"volume-{padding}-{of}": SCRIPT.format(
        operator=VOLUME.format(padding=padding), of=of, more=" + y.mean()", norm="None"
    )
    for padding in (0, 1)
    for of in ("[h]", "[v]", "[h, v]")
}
SOURCES |= {
    f"broadcasts{more}": SCRIPT.format(operator=OF_BROADCASTS, of="[h, v]", more=more, norm="None")
    for more in ("", " + y.mean()")
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == pytest.approx(peaks[-1], abs=8), traced["questions"]


def test_what_paddle_refuses_is_refused_in_its_words(run_child):
    real, traced = run_child("real", REFUSED), run_child("trace", REFUSED)
    for name in REFUSED:
        told = traced[name]["stop"]["error"].removeprefix("RuntimeError: ")
        assert traced[name]["peak"] is None
        assert "doesn't have any grad op" in told
        assert told in real[name]["failure"].replace("\n", " ")
