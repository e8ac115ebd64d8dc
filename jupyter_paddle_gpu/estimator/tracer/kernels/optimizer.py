"""Updates of optimizers: what their kernels take beside parameter and state, and of a sparse gradient."""

from __future__ import annotations

from ..memory.dtypes import SIZE
from ..memory.rows import merged
from .rules import Amount, Amp, Arrays, Asked, Attributes, Meta, Operator, Place, Rule, Sparse, per_element


def _of_rows(copies: int, *, may_be_sorted: bool = False) -> Amount:
    """So many tensors of the merged rows; none where the kernel first looks whether they are sorted, and they are."""

    def rule(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
        for group in operands:
            for array in group:
                if array.rows is not None:
                    if may_be_sorted and array.rows.is_sorted:
                        return 0
                    width = array.numel // max(array.shape[0], 1)
                    return copies * merged([array.rows]).count * width * SIZE[array.dtype]
        return 0

    unless = " unless they ascend" if may_be_sorted else ""
    rule.__doc__ = f"Of a sparse gradient {copies} of its merged rows' size{unless}."
    return rule


_merged_once = _of_rows(1, may_be_sorted=True)


def _trust_ratio(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """The update before it is scaled, of the parameter's size, and the two norms of their ratio (measured)."""
    return _merged_once(attrs, operands, results) + operands[0][0].nbytes + 2 * SIZE[operands[0][0].dtype]


def _moments(attrs: Attributes, operands: Arrays, place: Place) -> Meta | None:
    """Moments that were given in float16 are allocated in float32 (`Alloc<MPDType>`)."""
    is_moment = place.result in (1, 2)
    return (place.meta[0], "float32") if is_moment and place.meta[1] == "float16" else None


def _sign_changes(attrs: Attributes, operands: Arrays, results: Arrays) -> int:
    """Gradient, its product with the one before, learning rates and their factors (cpu/rprop_kernel.cc)."""
    return 4 * operands[0][0].nbytes


_SPARSE = "`phi/kernels/selected_rows`; 162 steps, each within 8 bytes (`test_sparse_gradients.py`)"
_FORMULA = "operations counted in its formula"

OPERATORS = (
    Operator(
        "sgd_",
        f"{_SPARSE}; {_FORMULA}",
        Rule(flops=per_element(2), amp=Amp.NEVER, sparse=Sparse.USUAL, keeps_sizes=True),
    ),
    Operator(
        "momentum_",
        f"{_SPARSE}; {_FORMULA}",
        Rule(flops=per_element(4), workspace=_of_rows(1), amp=Amp.NEVER, sparse=Sparse.USUAL, keeps_sizes=True),
    ),
    Operator(
        "adam_",
        f"{_SPARSE}; {_FORMULA}; `gpu/adam_kernel.cu`",
        Rule(
            result=_moments,
            flops=per_element(12),
            workspace=_merged_once,
            amp=Amp.NEVER,
            sparse=Sparse.USUAL,
            keeps_sizes=True,
        ),
    ),
    Operator(
        "adamw_",
        f"{_FORMULA}; `gpu/adamw_kernel.cu`, PASSL's ViT (`gpu-logs.md`)",
        Rule(result=_moments, flops=per_element(14), amp=Amp.NEVER, keeps_sizes=True),
    ),
    Operator("adagrad_", f"{_SPARSE}: the rows and their squares", Rule(workspace=_of_rows(2), sparse=Sparse.USUAL)),
    Operator("rmsprop_", _SPARSE, Rule(workspace=_of_rows(1), sparse=Sparse.USUAL, keeps_sizes=True)),
    Operator(
        "lamb_", f"measured to the byte; {_SPARSE}", Rule(workspace=_trust_ratio, amp=Amp.NEVER, sparse=Sparse.USUAL)
    ),
    Operator("rprop_", "`cpu/rprop_kernel.cc`", Rule(workspace=_sign_changes)),
    Operator("clip_by_norm", _SPARSE, Rule(sparse=Sparse.SCALED, asked=Asked.EACH_CALL)),
    Operator("merge_selected_rows", "`selected_rows_functor.cc`", Rule(sparse=Sparse.MERGED)),
    Operator("get_tensor_from_selected_rows", "`phi/kernels/selected_rows`", Rule(sparse=Sparse.VALUES)),
)
