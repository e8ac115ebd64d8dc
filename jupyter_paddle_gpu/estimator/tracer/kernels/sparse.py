"""Sparse tensors of known indices: they are made for real, beside the trace, which counts what they hold.

Where the numbers are not zero decides how large each of them is, and the program's own constants say where (`indices`).
So Paddle itself is asked for every result, and for what it refuses. What hangs on numbers that nobody computes, what a
gradient flows through, and kernels of which nobody has measured what they take while they run are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import paddle
from paddle import _C_ops

from ..memory.arrays import ATTRIBUTE, ORIGINAL, Array, State, allocate
from ..memory.dtypes import name_of
from ..memory.values import Known, Sample, is_random
from ..session import NotFollowedError, paused
from .rules import Operator, Rule

_HELD = "_traced_parts"
"""Under which a sparse tensor has the arrays that its parts lie in, by where they lie."""
_DRAWN = "_traced_numbers_are_others"
"""What a sparse tensor has whose numbers stand for others that nobody computes; where they are is known."""
_LIMIT = 1 << 22
"""Elements above which nothing is made for real."""
_OF_CPU = ("for cpu kernel", "Not support CPU kernel", "(Unavailable)", "The kernel with key (CPU", "is not registered")
"""What says nothing of a GPU's kernels."""
_MAKE: dict[str, tuple[int, ...]] = {
    "sparse_sparse_coo_tensor": (1,),
    "sparse_csr_tensor": (0, 1),
    "to_sparse_coo": (0,),
    "to_sparse_csr": (0,),
    "sparse_to_sparse_coo": (0,),
    "sparse_to_sparse_csr": (0,),
}
"""What makes a sparse tensor of dense ones, and the operands whose numbers decide how large it is."""
_UNARY = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "expm1", "isnan", "leaky_relu", "log1p", "pow", "relu",
    "relu6", "scale", "sin", "sinh", "sqrt", "square", "tan", "tanh", "divide_scalar", "cast",
)  # fmt: skip
_READ = ("values", "indices", "to_dense")
_ON_CPU = ("add", "subtract", "transpose", "reshape", "sum", "coalesce", "slice", "softmax")
_MEASURED = frozenset((*_MAKE, *(f"sparse_{name}" for name in (*_UNARY, *_READ)), "values", "indices", "crows", "cols"))
"""Of which it was measured that they hold nothing but their results (`test_sparse_tensors.py`)."""
_MEASURED_ON_CPU = frozenset(f"sparse_{name}" for name in _ON_CPU)
"""The same, of kernels that do it otherwise on a GPU."""
_CONVERSIONS = frozenset(name for name in _MAKE if "to_sparse" in name)
_OF_COO = frozenset(("sparse_add", "sparse_subtract"))
"""Of those of which it holds of this format alone."""


def _is_measured(name: str, args: tuple[Any, ...], target: str) -> bool:
    """Whether it is known what a call takes while it runs."""
    is_plain = not any(map(is_sparse, args[:1]))
    if name in _CONVERSIONS:
        return target == "cpu" and (not is_plain or "coo" in name)
    if name in _OF_COO and not (args and is_sparse(args[0]) and args[0].is_sparse_coo()):
        return False
    return name in _MEASURED or (target == "cpu" and name in _MEASURED_ON_CPU)


def is_sparse(tensor: Any) -> bool:
    """Whether something is a sparse tensor; what a trace has made is none."""
    return isinstance(tensor, paddle.Tensor) and ATTRIBUTE not in tensor.__dict__ and tensor.is_sparse()


def followed(session: Any, original: Any, *args: Any, **named: Any) -> Any:
    """What Paddle makes of a call with sparse tensors.

    Raises:
        NotFollowedError: what it takes is not known.
        Exception: what Paddle refuses.
    """
    name = getattr(original, "__name__", "sparse")
    said = NotFollowedError(name.replace("sparse_sparse_", "sparse_"))
    with paused():
        tensors = [one for one in _tensors((args, named)) if not is_sparse(one)]
    arrays = [session.state(one).array for one in tensors]
    given: dict[int, Any] = {}
    is_known = not any(hasattr(one, _DRAWN) for one in _tensors((args, named)))
    for tensor, array in zip(tensors, arrays, strict=True):
        if array.numel > _LIMIT:
            raise said
        decides = any(place < len(args) and args[place] is tensor for place in _MAKE.get(name, ()))
        given[id(tensor)] = numbers = _numbers(session, array)
        is_sure = array.value is not None and not is_random(array.value)
        if decides and not is_sure and (array.value is None or not numbers.all()):
            raise said
        is_known = is_known and is_sure
    wants = paddle.is_grad_enabled() and any(not one.stop_gradient for one in _tensors((args, named)))
    with paused(), paddle.no_grad():
        try:
            made = original(*_with(args, given), **_with(named, given))
        except Exception as problem:
            if session.target == "gpu" and any(word in str(problem) for word in _OF_CPU):
                raise said from None
            raise session.refused(problem) from None
    if not _is_measured(name, args, session.target) or (wants and name not in _MAKE):
        raise said
    lies = {}
    for tensor, array in zip(tensors, arrays, strict=True):
        with paused():
            lies[given[id(tensor)].data_ptr()] = array
    for one in _tensors((args, named)):
        lies |= getattr(one, _HELD, {})
    operation = session.ledger.begin(name)
    if name == "sparse_to_dense" and args[0].is_sparse_csr():
        _as_coo(session, args[0])
    if name == "sparse_to_dense" and session.target == "gpu":  # where each dimension begins (`sparse_utils_kernel.cu`)
        operation.workspace_high = 8 * len(args[0].shape)
    _remember(session, made, lies, wants=wants, is_known=is_known)
    session.ledger.finish(operation)
    return made


def _as_coo(session: Any, tensor: Any) -> None:
    """Count what a kernel takes for a while that has the other format made first."""
    with paused():
        count, values = int(tensor.nnz()), tensor.values()
    held = [allocate(session.ledger, shape, dtype, "sparse") for shape, dtype in (
        ((2, count), "int64"), (tuple(values.shape), name_of(values.dtype)),
    )]  # fmt: skip
    del held


def _remember(session: Any, made: Any, lies: dict[int, Array], *, wants: bool, is_known: bool) -> None:
    """Count what a result holds that none of the operands does."""
    for one in _tensors(made):
        with paused():
            is_whole = not one.is_sparse()
            parts = {part.data_ptr(): part for part in ([one] if is_whole else _parts(one)) if part.size}
        held = {}
        for place, part in parts.items():
            shape, dtype = tuple(part.shape), name_of(part.dtype)
            array = lies.get(place) or allocate(session.ledger, shape, dtype, "sparse")
            held[place] = array
            if is_whole:
                seen = Array(array.storage, shape, array.strides if array.shape == shape else part.strides, dtype)
                if is_known:
                    with paused():
                        seen.value = Known(ORIGINAL["detach"](one))
                setattr(one, ATTRIBUTE, State(seen))
        if not is_whole:
            setattr(one, _HELD, held)
            if not is_known:
                setattr(one, _DRAWN, True)
        one.stop_gradient = not wants


def _numbers(session: Any, array: Array) -> Any:
    """A real tensor for one of the trace: with its numbers, a draw of them, or ones."""
    with paused():
        if array.value is None:
            return paddle.ones(array.shape, array.dtype)
        return session.evaluate(Sample(array.value) if is_random(array.value) else array.value)


def _parts(tensor: Any) -> list[Any]:
    if tensor.is_sparse_coo():
        return [tensor.indices(), tensor.values()]
    return [tensor.crows(), tensor.cols(), tensor.values()]


def _tensors(node: Any) -> Iterable[Any]:
    if isinstance(node, paddle.Tensor):
        yield node
    elif isinstance(node, (list, tuple)):
        for one in node:
            yield from _tensors(one)
    elif isinstance(node, dict):
        yield from _tensors(list(node.values()))


def _with(node: Any, given: dict[int, Any]) -> Any:
    """Arguments with real tensors for those of the trace."""
    if isinstance(node, paddle.Tensor):
        return given.get(id(node), node)
    if isinstance(node, (list, tuple)):
        return type(node)(_with(one, given) for one in node)
    if isinstance(node, dict):
        return {key: _with(one, given) for key, one in node.items()}
    return node


def by_itself(traced: Any) -> Any:
    """A method of tensors which sparse ones have as Paddle has it."""

    def method(session: Any, original: Any, tensor: Any, *args: Any, **named: Any) -> Any:
        if not is_sparse(tensor):
            return traced(session, original, tensor, *args, **named)
        if hasattr(tensor, _DRAWN):
            raise NotFollowedError("sparse_to_dense")
        with paused():
            return original(tensor, *args, **named)

    return method


_OTHERS = (
    "addmm", "attention", "batch_norm_", "conv3d", "conv3d_implicit_gemm", "divide", "full_like", "fused_attention",
    "mask_as", "masked_matmul", "matmul", "maxpool", "multiply", "mv", "sync_batch_norm_",
)  # fmt: skip
_CREATE = ("sparse_coo_tensor", "to_sparse_coo", "to_sparse_csr")


def _declared(names: Iterable[str], source: str) -> Operator:
    """Those of them that this Paddle has."""
    known = (f"sparse_{name}" for name in names if hasattr(_C_ops, f"sparse_{name}"))
    return Operator(" ".join(known), source, Rule(instead=followed))


OPERATORS = (
    _declared((*_CREATE, *_UNARY, *_READ), "`phi/kernels/sparse`; measured to the byte on a CPU"),
    _declared(_ON_CPU, "`phi/kernels/sparse`; measured to the byte on a CPU, not followed on a GPU"),
    _declared(_OTHERS, "`phi/kernels/sparse`: what it refuses; what it takes while it runs is not known"),
)
