"""Attention whose scores never stand in memory: flash attention and CUTLASS's.

Only a GPU has kernels of it, and Paddle's program builder says nothing of an operator that a build for CPUs has no
kernel of: what runs is told here as a whole.

What is kept from the forward pass is the operands, the result, and a float32 number for each head and query. With B
samples, H heads, S queries, K keys and D numbers a head both need 4 B H S K D operations forward and, since the scores
are computed anew, 10 backward; half of that where later keys are masked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from paddle.autograd import PyLayer

from ...memory.dtypes import LOW_PRECISION, SIZE, name_of
from ...memory.operators import ORIGINAL_OPS
from ..rules import Operator, Rule, Traced

_FLASH_ROWS, _FLASH_WIDTH = 128, 32
"""Multiples that queries and numbers a head are rounded up to (`seqlen_q_rounded`, `head_size_rounded`)."""
_ALIGNED, _BLOCK = 32, 64
"""`kAlignLSE`, and the block that CUTLASS's sums are rounded up to."""
_OF_A_PRODUCT, _PRODUCTS, _PRODUCTS_BACK = 2, 2, 5


class _Sizes(NamedTuple):
    """Samples, heads, queries and keys of a sample at most, numbers a head."""

    samples: int
    heads: int
    queries: int
    keys: int
    width: int


class _Attention(NamedTuple):
    """One call.

    Attributes:
        name: of the operator.
        sizes: what it computes.
        rows: queries of a sample, as the numbers that it keeps are rounded up to.
        causal: whether later keys are masked.
        scratch: the least and the most bytes that it takes while it runs, forward and backward.
    """

    name: str
    sizes: _Sizes
    rows: int
    causal: bool
    scratch: tuple[tuple[int, int], tuple[int, int]]

    @property
    def kept(self) -> tuple[int, int, int]:
        """Shape of the logarithms of sums that the gradient reads."""
        return self.sizes.samples, self.sizes.heads, self.rows

    def flops(self, products: int) -> int:
        """Of so many products of matrices."""
        samples, heads, queries, keys, width = self.sizes
        return products * _OF_A_PRODUCT * samples * heads * queries * keys * width // (2 if self.causal else 1)


class _Kernel(PyLayer):  # type: ignore[misc]  # Paddle is untyped here
    """The operator and its gradient's kernel."""

    @staticmethod
    def forward(context: Any, session: Traced, call: _Attention, *operands: Any) -> Any:
        """The result.

        Args:
            operands: queries, keys, values and a mask or None, which has no gradient.
        """
        query, _, value, _ = operands
        shape = (*query.shape[:-1], value.shape[-1])
        reads = [one for one in operands if one is not None]
        metas = [(shape, name_of(query.dtype)), (call.kept, "float32")]
        out, sums = session.run(call.name, metas, reads, flops=call.flops(_PRODUCTS), gpu=call.scratch[0])
        context.save_for_backward(*reads, out, sums)
        context.session, context.call = session, call
        return out

    @staticmethod
    def backward(context: Any, incoming: Any) -> Any:
        """Gradients of queries, keys and values."""
        call, saved = context.call, context.saved_tensor()
        metas = [(tuple(one.shape), name_of(one.dtype)) for one in saved[:3]]
        reads = [*saved, incoming]
        flops = call.flops(_PRODUCTS_BACK)
        return tuple(context.session.run(f"{call.name}_grad", metas, reads, flops=flops, gpu=call.scratch[1]))


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def _sizes(query: Any, key: Any, longest: tuple[int, int] | None = None, samples: int | None = None) -> _Sizes:
    """Of tensors [B, S, H, D], or of [all queries, H, D] with the longest sample's queries and keys."""
    heads, width = query.shape[-2:]
    queries, keys = longest or (query.shape[-3], key.shape[-3])
    return _Sizes(query.shape[0] if samples is None else samples, heads, queries, keys, width)


def _flash(name: str, operands: tuple[Any, ...], sizes: _Sizes, causal: bool) -> _Attention:
    """`FlashAttnBwdParamsV2` has sums and the queries' gradient in float32; keys and values that several heads share
    have gradients for each of them first."""
    query, key, value = operands
    rows = _up(sizes.queries, _FLASH_ROWS)
    each = 4 * sizes.samples * sizes.heads * rows
    shared = query.shape[-2] // key.shape[-2]
    apart = shared * (_numel(key) + _numel(value)) * SIZE[name_of(key.dtype)] if shared > 1 else 0
    back = each * (1 + _up(sizes.width, _FLASH_WIDTH)) + apart
    return _Attention(name, sizes, rows, causal, ((0, 0), (back, back)))


def _numel(tensor: Any) -> int:
    count = 1
    for size in tensor.shape:
        count *= size
    return count


def _cutlass(operands: tuple[Any, ...], sizes: _Sizes, causal: bool) -> _Attention:
    """The gradient has a sum for each query, and the kept ones once more where they are not aligned; of low precision
    sums of the gradients in float32, hanging on which of its kernels fits the card."""
    rows = _up(sizes.queries, _ALIGNED)
    heads = sizes.samples * sizes.heads
    delta = 4 * heads * sizes.queries
    forth, back = 0, 4 * heads * rows
    if name_of(operands[0].dtype) in LOW_PRECISION:
        width = _up(sizes.width, _BLOCK)
        forth = 4 * heads * sizes.queries * sizes.width
        back += 4 * heads * width * (_up(sizes.queries, _BLOCK) + 2 * _up(sizes.keys, _BLOCK))
    return _Attention("memory_efficient_attention", sizes, rows, causal, ((0, forth), (delta, delta + back)))


def _refused(session: Traced, name: str, tensor: Any) -> Exception:
    dtype = name_of(tensor.dtype)
    return session.refused(
        RuntimeError(
            f"(NotFound) The kernel with key (GPU, Undefined(AnyLayout), {dtype}) of kernel `{name}` is not "
            f"registered. Selected wrong DataType `{dtype}`. Paddle support following DataTypes: bfloat16, float16."
        )
    )


def _scores(session: Traced, call: _Attention, query: Any) -> Any:
    """The scores themselves, which a program may ask for to test dropout."""
    shape = (*call.kept, _up(call.sizes.keys, _FLASH_ROWS))
    return session.run(call.name, [(shape, name_of(query.dtype))], [], flops=0, gpu=(0, 0))[0]


def _attend(
    session: Traced, name: str, operands: tuple[Any, ...], sizes: _Sizes, *, mask: Any, causal: bool, scores: bool
) -> tuple[Any, Any]:
    """Flash attention: (the result, the scores where they are asked for)."""
    operands = session.cast(name, operands)
    if name_of(operands[0].dtype) not in LOW_PRECISION:
        raise _refused(session, name, operands[0])
    call = _flash(name, operands, sizes, causal)
    kept = _scores(session, call, operands[0]) if scores else None
    return _Kernel.apply(session, call, *operands, mask), kept


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
    return _Kernel.apply(session, _cutlass(operands, sizes, causal), *operands, bias), None, None


def _only_on_gpu(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """What stands for an operator: what a GPU does for a GPU, else what Paddle says where it has no kernel."""

    def instead(session: Traced, original: Any, *args: Any) -> Any:
        if session.target == "gpu":
            return kernel(session, *args)
        return session.call(name, ORIGINAL_OPS[name], args, {})

    instead.__doc__ = kernel.__doc__
    return instead


_FLASH = "`gpu/flash_attn_utils.h`, `gpu/flash_attn_grad_kernel.cu`; no log of one"
_CUTLASS = "`fusion/cutlass/memory_efficient_attention.cu`, `memory_efficient_attention_grad.cu`; no log of one"
OPERATORS = tuple(
    Operator(name, source, Rule(instead=_only_on_gpu(name, kernel)))
    for name, source, kernel in (
        ("flash_attn", _FLASH, _padded),
        ("flashmask_attention", _FLASH, _ranges),
        ("flash_attn_unpadded", _FLASH, _unpadded),
        ("memory_efficient_attention", _CUTLASS, _memory_efficient),
    )
)
