"""Singular values, eigenvalues and their gradients: what each result that is used adds, to the byte."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import paddle
paddle.seed(0)
w = paddle.create_parameter([{shape}], 'float32')
optimizer = paddle.optimizer.SGD(1e-6, parameters=[w])
for step in range(6):
    a = w * 0.01 + paddle.eye(w.shape[-2], w.shape[-1]) * 9
    {result}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SVD = "u, s, v = paddle.linalg.svd(a{options}); loss = {used}"
OF_ANY = {
    **{f"svd-{used}": SVD.format(options="", used=" + ".join(f"{one}.mean()" for one in used))
       for used in ("s", "u", "v", "us", "uv", "usv")},
    "svd-whole-s": SVD.format(options=", full_matrices=True", used="s.mean()"),
    "svd-whole": SVD.format(options=", full_matrices=True", used="u.mean() + s.mean() + v.mean()"),
    "pinv": "loss = paddle.linalg.pinv(a).mean()",
    "nuclear": "loss = paddle.linalg.norm(a, p='nuc', axis=[-2, -1]).mean()",
    "spectral": "loss = paddle.linalg.matrix_norm(a, p=2).mean()",
    "condition": "loss = paddle.linalg.cond(a).mean()",
    "svdvals": "loss = paddle.linalg.svdvals(a).mean()",
}  # fmt: skip
OF_SQUARE = {
    "eigvals": "loss = w.mean() + paddle.linalg.eigvals(a).abs().mean()",
    "eig-values": "loss = paddle.linalg.eig(a)[0].abs().mean()",
    "eig-vectors": "loss = paddle.linalg.eig(a)[1].abs().mean()",
    "eig-both": "loss = sum(part.abs().mean() for part in paddle.linalg.eig(a))",
}
REFUSED = {"svdvals": "2, 3, 20, 20"}
"""What Paddle's gradient of singular values cannot: more than one dimension of matrices."""
SOURCES = {
    f"{name}-{shape.replace(', ', 'x')}": SCRIPT.format(shape=shape, result=result)
    for cases, shapes in (
        (OF_ANY, ("60, 60", "60, 40", "40, 60", "3, 40, 20", "3, 20, 40", "2, 3, 20, 20")),
        (OF_SQUARE, ("60, 60", "10, 10", "4, 40, 40", "160, 160")),
    )
    for name, result in cases.items()
    for shape in shapes
    if REFUSED.get(name) != shape
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_peak_is_the_allocators(measured, name):
    peaks, traced = measured.pair(name)
    assert traced["peak"] == peaks[-1], traced["questions"]
