"""Attention whose scores never stand in memory: flash attention and CUTLASS's.

What is kept from the forward pass is the operands, the result, and a float32 number for each head and query. With B
samples, H heads, S queries, K keys and D numbers a head both need 4 B H S K D operations forward and, since the scores
are computed anew, 10 backward; half of that where later keys are masked.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ...memory.dtypes import LOW_PRECISION, SIZE, name_of
from ..rules import Operator, Traced
from ..told import Form, Told, Transient, only_on_gpu, run

_FLASH_ROWS, _FLASH_WIDTH = 128, 32
"""Multiples that queries and numbers a head are rounded up to (`seqlen_q_rounded`, `head_size_rounded`)."""
_ALIGNED, _BLOCK = 32, 64
"""`kAlignLSE`, and the block that CUTLASS's sums are rounded up to."""
_PRODUCTS, _PRODUCTS_BACK = 2, 5
"""Products of matrices, forward and backward."""


class _Sizes(NamedTuple):
    """Samples, heads, queries and keys of a sample at most, numbers a head."""

    samples: int
    heads: int
    queries: int
    keys: int
    width: int


def _told(
    name: str,
    operands: tuple[Any, ...],
    sizes: _Sizes,
    *,
    rows: int,
    causal: bool,
    transient: tuple[Transient, Transient],
) -> Told:
    """One call of a kernel.

    Args:
        operands: queries, keys, values, and a mask where there is one, which has no gradient.
        rows: queries of a sample, as the numbers that are kept of them are rounded up to.
        causal: whether later keys are masked.
    """
    samples, heads, queries, keys, width = sizes
    product = 2 * samples * heads * queries * keys * width // (2 if causal else 1)
    shape = (*operands[0].shape[:-1], operands[2].shape[-1])
    results = ((shape, name_of(operands[0].dtype)), ((samples, heads, rows), "float32"))
    flops = (_PRODUCTS * product, _PRODUCTS_BACK * product)
    places = tuple(range(len(operands)))
    return Told(name, results, 1, 3, kept=places, keeps_result=True, flops=flops, transient=transient)


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def _sizes(query: Any, key: Any, longest: tuple[int, int] | None = None, samples: int | None = None) -> _Sizes:
    """Of tensors [B, S, H, D], or of [all queries, H, D] with the longest sample's queries and keys."""
    heads, width = query.shape[-2:]
    queries, keys = longest or (query.shape[-3], key.shape[-3])
    return _Sizes(query.shape[0] if samples is None else samples, heads, queries, keys, width)


def _flash(name: str, operands: tuple[Any, ...], sizes: _Sizes, causal: bool) -> Told:
    """`FlashAttnBwdParamsV2` has sums and the queries' gradient in float32; keys and values that several heads share
    have gradients for each of them first."""
    query, key, value = operands[:3]
    rows = _up(sizes.queries, _FLASH_ROWS)
    each = 4 * sizes.samples * sizes.heads * rows
    shared = query.shape[-2] // key.shape[-2]
    apart = shared * (prod(key.shape) + prod(value.shape)) * SIZE[name_of(key.dtype)] if shared > 1 else 0
    back = each * (1 + _up(sizes.width, _FLASH_WIDTH)) + apart
    return _told(name, operands, sizes, rows=rows, causal=causal, transient=((0, 0), (back, back)))


def _cutlass(operands: tuple[Any, ...], sizes: _Sizes, causal: bool) -> Told:
    """The gradient has a sum for each query. In low precision the queries' gradient is summed in float32, and the
    result and the gradients of keys and values are, too, where a row of them is wider than a block."""
    heads = sizes.samples * sizes.heads
    forth, back = 0, 4 * heads * sizes.queries
    if name_of(operands[0].dtype) in LOW_PRECISION:
        width = _up(sizes.width, _BLOCK)
        is_wide = sizes.width > _BLOCK
        forth = 4 * heads * sizes.queries * sizes.width * is_wide
        back += 4 * heads * width * (_up(sizes.queries, _BLOCK) + 2 * is_wide * _up(sizes.keys, _BLOCK))
    rows, transient = _up(sizes.queries, _ALIGNED), ((forth, forth), (back, back))
    return _told("memory_efficient_attention", operands, sizes, rows=rows, causal=causal, transient=transient)


def _refused(session: Traced, name: str, tensor: Any) -> Exception:
    dtype = name_of(tensor.dtype)
    return session.refused(
        RuntimeError(
            f"(NotFound) The kernel with key (GPU, Undefined(AnyLayout), {dtype}) of kernel `{name}` is not "
            f"registered. Selected wrong DataType `{dtype}`. Paddle support following DataTypes: bfloat16, float16."
        )
    )


def _attend(
    session: Traced, name: str, operands: tuple[Any, ...], sizes: _Sizes, *, mask: Any, causal: bool, scores: bool
) -> tuple[Any, Any]:
    """Flash attention: (the result, the scores where they are asked for)."""
    operands = session.cast(name, operands)
    if name_of(operands[0].dtype) not in LOW_PRECISION:
        raise _refused(session, name, operands[0])
    told = _flash(name, operands if mask is None else (*operands, mask), sizes, causal)
    shown = None
    if scores:  # a program may ask for them to test dropout
        shape = (*told.results[1][0], _up(sizes.keys, _FLASH_ROWS))
        shown = session.create(name, shape, name_of(operands[0].dtype))
    return run(session, told, operands if mask is None else (*operands, mask))[0], shown


def _padded(  # noqa: PLR0917 - Paddle's signature
    session: Traced, query: Any, key: Any, value: Any, fixed_seed_offset: Any, attn_mask: Any, dropout: float,
    causal: bool, return_softmax: bool, is_test: bool, rng_name: str,
) -> Any:  # fmt: skip
    """`flash_attn`: operands [B, S, H, D]."""
    sizes = _sizes(query, key)
    found = _attend(
        session, "flash_attn", (query, key, value), sizes, mask=attn_mask, causal=causal, scores=return_softmax
    )
    return *found, None, None


def _ranges(  # noqa: PLR0917 - Paddle's signature
    session: Traced, query: Any, key: Any, value: Any, startend_row_indices: Any, fixed_seed_offset: Any,
    dropout: float, causal: bool, return_softmax: bool, is_test: bool, rng_name: str,
) -> Any:  # fmt: skip
    """`flashmask_attention`: the mask is where each key's queries begin and end."""
    name, sizes = "flashmask_attention", _sizes(query, key)
    found = _attend(
        session, name, (query, key, value), sizes, mask=startend_row_indices, causal=causal, scores=return_softmax
    )
    return *found, None, None


def _unpadded(  # noqa: PLR0917 - Paddle's signature
    session: Traced, query: Any, key: Any, value: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, fixed_seed_offset: Any,
    attn_mask: Any, max_seqlen_q: Any, max_seqlen_k: Any, scale: float, dropout: float, causal: bool,
    return_softmax: bool, is_test: bool, rng_name: str,
) -> Any:  # fmt: skip
    """`flash_attn_unpadded`: operands [all queries, H, D], cut into samples at `cu_seqlens_q`."""
    longest = int(max_seqlen_q), int(max_seqlen_k)
    sizes = _sizes(query, key, longest, samples=cu_seqlens_q.shape[0] - 1)
    return _attend(
        session, "flash_attn_unpadded", (query, key, value), sizes, mask=attn_mask, causal=causal, scores=return_softmax
    )


def _memory_efficient(  # noqa: PLR0917 - Paddle's signature
    session: Traced, query: Any, key: Any, value: Any, bias: Any, cu_seqlens_q: Any, cu_seqlens_k: Any,
    causal_diagonal: Any, seqlen_k: Any, max_seqlen_q: Any, max_seqlen_k: Any, causal: bool, dropout_p: float,
    scale: float, is_test: bool,
) -> Any:  # fmt: skip
    """`memory_efficient_attention`: operands [B, S, H, D], or one row of samples that are cut at `cu_seqlens_q`."""
    operands = session.cast("memory_efficient_attention", (query, key, value))
    sizes = _sizes(query, key)
    if cu_seqlens_q is not None:
        sizes = _sizes(query, key, (int(max_seqlen_q), int(max_seqlen_k)), samples=cu_seqlens_q.shape[0] - 1)
    operands = operands if bias is None else (*operands, bias)
    return run(session, _cutlass(operands, sizes, causal), operands)[0], None, None


_FLASH = "`gpu/flash_attn_utils.h`, `gpu/flash_attn_grad_kernel.cu`; no log of one"
_CUTLASS = "`fusion/cutlass/memory_efficient_attention.cu`, `memory_efficient_attention_grad.cu`; no log of one"
_SUMS = {"out": ("q", None), "softmax_lse": ("q", (0, 2, None))}
_ROWS = {"output": ("query", None), "logsumexp": ("query", (0, 2, None))}
_WHOLE = (1, -1)
"""Axes of queries, keys and values that the kernel needs whole: tokens and numbers a head."""
OPERATORS = tuple(
    Operator(name, source, only_on_gpu(name, kernel, form))
    for name, source, kernel, form in (
        ("flash_attn", _FLASH, _padded, Form(_padded, _SUMS, _WHOLE)),
        ("flashmask_attention", _FLASH, _ranges, Form(_ranges, _SUMS, _WHOLE)),
        ("flash_attn_unpadded", _FLASH, _unpadded, None),
        ("memory_efficient_attention", _CUTLASS, _memory_efficient, Form(_memory_efficient, _ROWS, _WHOLE)),
    )
)
