"""What a GPU keeps, and in which type, where a CPU does otherwise or has no kernel."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SIZE = 256 * 64 * 4
HEAD = """
import paddle
from paddle import nn, _C_ops
layers = nn.LayerList([nn.Linear(64, 64) for _ in range(6)])
optimizer = paddle.optimizer.SGD(0.1, parameters=layers.parameters())
x = paddle.rand([256, 64])
mask = paddle.rand([256, 64])
low = paddle.zeros([256, 64]).astype("{low}")
"""
MASKED = (
    HEAD
    + """
mask.stop_gradient = {stops}
for step in range(4):
    h = x
    for layer in layers:
        h = {product}
    h.sum().backward()
    optimizer.step()
    optimizer.clear_grad()
    mask.clear_grad()
"""
)
PRODUCTS = {
    "left": "mask * layer(h)",
    "right": "layer(h) * mask",
    "broadcast": "layer(h) * mask[:, :1]",
    "both": "layer(h) * layer(h)",
    "itself": "layer(h).square() * 1.0",
}
MADE = (
    HEAD
    + """
kept = {made}
for step in range(4):
    layers[0](x).sum().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
)
NAMED = (
    "paddle.zeros_like(low, dtype='float32')", "paddle.full_like(low, 2.0, dtype='float32')",
    "paddle.ones_like(low, dtype=paddle.float32)", "paddle.sum(low.unsqueeze(0), axis=0, dtype='float32')",
)  # fmt: skip
UNNAMED = ("paddle.zeros_like(low)", "paddle.sum(low.unsqueeze(0), axis=0)")
MOMENTS = (
    HEAD
    + """
first, second = paddle.zeros_like(low, dtype="{first}"), paddle.zeros_like(low, dtype="float32")
powers = [paddle.to_tensor([0.9]), paddle.to_tensor([0.99])]
for step in range(4):
    layers[0](x).sum().backward()
    _C_ops.adamw_(low, paddle.zeros_like(low), paddle.to_tensor([0.1]), first, second, None, *powers, None, None,
                  0.9, 0.99, 1e-8, 1.0, 0.0, False, False, 1000, False, False, False)
    optimizer.step()
    optimizer.clear_grad()
"""
)


@pytest.fixture(scope="module")
def peaks(run_child):
    sources, requests = {}, {}
    for name, product in PRODUCTS.items():
        for stops in (True, False):
            for target in ("gpu", "cpu"):
                sources[f"{name} {stops} {target}"] = MASKED.format(low="float16", stops=stops, product=product)
                requests[f"{name} {stops} {target}"] = {"target": target}
        sources[f"{name} both kept"] = MASKED.format(low="float16", stops=True, product=product)
        requests[f"{name} both kept"] = {"target": "gpu", "keeps_factors": True}
    for low in ("float16", "bfloat16"):
        for made in ("None", *NAMED, *UNNAMED):
            sources[f"{low} {made}"] = MADE.format(low=low, made=made)
            requests[f"{low} {made}"] = {"target": "gpu"}
    for first in ("float16", "float32"):
        sources[f"moments {first}"] = MOMENTS.format(low="float16", first=first)
        requests[f"moments {first}"] = {"target": "gpu"}
    return {name: found["peak"] for name, found in run_child("trace", sources, requests).items()}


@pytest.mark.parametrize("name", ["left", "right", "broadcast"])
def test_a_gpu_does_not_keep_what_is_multiplied_by_a_tensor_without_gradient(peaks, name):
    """`multiply_fwd_func.cc`: only the other operand is read. A CPU keeps both, in each of six layers."""
    dropped, kept = peaks[f"{name} True gpu"], peaks[f"{name} True cpu"]
    assert kept - dropped == pytest.approx(6 * SIZE, rel=0.05)
    assert peaks[f"{name} False gpu"] - dropped >= 5 * SIZE
    assert peaks[f"{name} both kept"] == kept, "as the plugins' and Kunlun's builds do"


@pytest.mark.parametrize("name", ["both", "itself"])
def test_where_both_want_gradients_both_are_kept(peaks, name):
    assert peaks[f"{name} True gpu"] == pytest.approx(peaks[f"{name} True cpu"], rel=0.03)


@pytest.mark.parametrize("low", ["float16", "bfloat16"])
@pytest.mark.parametrize(("made", "size"), [*((one, SIZE) for one in NAMED), *((one, SIZE // 2) for one in UNNAMED)])
def test_a_call_that_names_float32_gives_it_beside_low_precision(peaks, low, made, size):
    """As real Paddle does on a CPU, too."""
    assert peaks[f"{low} {made}"] - peaks[f"{low} None"] == size


def test_adamw_makes_both_moments_float32(peaks):
    """`adamw_kernel.cu` allocates them so, whatever they were given as."""
    assert peaks["moments float16"] == peaks["moments float32"]
