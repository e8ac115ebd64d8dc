"""Operators of language models that only a GPU has kernels of: rotary embeddings and root-mean-square norms."""

from __future__ import annotations

from math import prod
from typing import Any

from ...memory.dtypes import SIZE
from ..rules import Operator, Traced
from ..told import Form, Told, meta, only_on_gpu, run

_ROTATIONS, _NORM = 6, 6
"""Operations an element."""
_ROWS_AT_ONCE = 16
"""`part_size` of the norm's gradient: so many rows of partial sums in float32."""


def _rotary(session: Traced, *args: Any) -> Any:
    """`fused_rotary_position_embedding`: of queries, keys and values those that are given, each in memory of its own;
    sines, cosines and places are kept."""
    name = "fused_rotary_position_embedding"
    turned, angles = [one for one in args[:3] if one is not None], [one for one in args[3:6] if one is not None]
    metas = tuple(meta(one) for one in turned)
    places = tuple(range(len(turned), len(turned) + len(angles)))
    flops = _ROTATIONS * sum(prod(shape) for shape, _ in metas)
    told = Told(name, metas, 0, len(turned), kept=places, keeps_result=False, flops=(flops, flops))
    made = iter(run(session, told, [*turned, *angles]))
    return tuple(None if one is None else next(made) for one in args[:3])


def _norm(session: Traced, name: str, axis: int, x: Any, scale: Any, *beside: Any) -> Any:
    """(the result, the rows' inverse deviations in float32); the operand, its scale and those are kept."""
    rows, columns = prod(x.shape[:axis]), prod(x.shape[axis:])
    results = (meta(x), (tuple(x.shape[:axis]), "float32"))
    scratch = _ROWS_AT_ONCE * columns * SIZE["float32"]
    flops = _NORM * rows * columns
    transient = ((0, 0), (scratch, scratch))
    told = Told(name, results, 1, 2, kept=(0, 1), keeps_result=False, flops=(flops, 2 * flops), transient=transient)
    return run(session, told, [x, scale, *beside])


def _plain_norm(session: Traced, x: Any, scale: Any, epsilon: float) -> Any:
    """`fused_rms_norm_ext`, over the last axis."""
    return _norm(session, "fused_rms_norm_ext", len(x.shape) - 1, x, scale)


def _norm_of_sum(  # noqa: PLR0917 - Paddle's signature
    session: Traced, x: Any, bias: Any, residual: Any, norm_weight: Any, norm_bias: Any, epsilon: float,
    begin_norm_axis: int, *quantised: Any,
) -> Any:  # fmt: skip
    """`fused_rms_norm_quant`: (the result, the sum with a residual, the rows' inverse deviations)."""
    beside = [one for one in (bias, residual, norm_bias) if one is not None]
    out, deviations = _norm(session, "fused_rms_norm_quant", begin_norm_axis, x, norm_weight, *beside)
    total = None if residual is None else session.create("fused_rms_norm_quant", *meta(x))
    return out, total, deviations


_TURNED = {"out_q": ("q", None), "out_k": ("k", None), "out_v": ("v", None)}
_TABLE = (
    (
        "fused_rotary_position_embedding",
        "fusion/gpu/fused_rope_kernel.cu`, `fusion/gpu/fused_rope_grad_kernel.cu",
        _rotary,
        Form(_rotary, _TURNED, whole=(1, -1)),
    ),
    (
        "fused_rms_norm_ext",
        "gpu/rms_norm_cuda_kernel.h",
        _plain_norm,
        Form(_plain_norm, {"y": ("x", None), "invvar": ("x", None)}),
    ),
    ("fused_rms_norm_quant", "gpu/rms_norm_kernel.cu`, `gpu/rms_norm_grad_kernel.cu", _norm_of_sum, None),
)
OPERATORS = tuple(
    Operator(name, f"`{source}`; no log of one", only_on_gpu(name, kernel, form))
    for name, source, kernel, form in _TABLE
)
