"""Which gradient kernels work in place.

Eager mode's generated gradient functions check, where the operator has an in-place twin (`matmul_grad_` beside
`matmul_grad`), whether nothing else holds the incoming tensor and then write the first result over it.
"""

from __future__ import annotations

from dataclasses import replace

from paddle import _C_ops

from .templates import GradStep, slots_of

_TWINS = frozenset(name[:-1] for name in dir(_C_ops) if name.endswith("_grad_"))
_SECOND = {
    **{f"{name}_double_grad": 0 for name in ("relu", "leaky_relu")},
    **{f"{name}_double_grad": 1 for name in (
        "sigmoid", "elu", "celu", "softplus", "tanh", "sin", "cos", "sqrt", "rsqrt", "square")},
}  # fmt: skip
"""Second gradients in place, with the result that overwrites the gradient of the gradient (measured)."""
_SOURCE = {"cross_entropy_with_softmax_grad": "softmax", "group_norm_grad": "y_grad"}
"""The operand that the first result overwrites, where it is not `out_grad`."""


def inplace_twin(name: str, operand_names: tuple[str, ...]) -> dict[int, int]:
    """{result index: operand index} of the in-place variant of a gradient operator; empty where there is none."""
    if name in _SECOND and "grad_x_grad" in operand_names:
        return {_SECOND[name]: operand_names.index("grad_x_grad")}
    if name not in _TWINS:
        return {}
    source = _SOURCE.get(name, "out_grad")
    return {0: operand_names.index(source)} if source in operand_names else {}


FILLS_ZEROS = frozenset({
    "split_grad", "split_with_num_grad", "concat", "stack", "rnn_grad", "matmul_double_grad", "matmul_triple_grad",
    "sigmoid_double_grad", "sigmoid_triple_grad", "add_double_grad", "add_triple_grad", "multiply_grad",
    "multiply_double_grad", "multiply_triple_grad", "conv2d_grad_grad", "conv2d_transpose_double_grad",
    "batch_norm_double_grad", "tanh_grad", "tanh_double_grad", "tanh_triple_grad", "sin_double_grad",
    "sin_triple_grad", "cos_double_grad", "cos_triple_grad", "subtract_double_grad", "divide_double_grad",
    "log_double_grad", "elu_double_grad", "leaky_relu_double_grad", "sqrt_double_grad", "rsqrt_double_grad",
    "square_double_grad", "celu_double_grad", "pad_double_grad", "pad3d_double_grad", "squeeze_double_grad",
    "unsqueeze_double_grad", "instance_norm_double_grad", "conv3d_double_grad", "depthwise_conv2d_grad_grad",
    "concat_double_grad", "expand_grad", "argsort_grad", "eigh_grad", "add_grad", "subtract_grad", "divide_grad",
    "matmul_grad", "unbind_grad",
})  # fmt: skip
"""`ops_to_fill_zero_for_empty_grads` of eager_gen.py; all others are called without the gradients that are absent.

The program builder has `concat` for the gradient of a split and `stack` for that of an unbind."""
_OF_VOLUMES = {0: "grad_filter_grad", 1: "grad_input_grad"}
_OF_CONVOLUTIONS = {**_OF_VOLUMES, 2: "grad_input_grad"}
_RESTS_ON = {
    "matmul_double_grad": {0: "grad_y_grad", 1: "grad_x_grad"},
    **dict.fromkeys(("conv2d_grad_grad", "depthwise_conv2d_double_grad"), _OF_CONVOLUTIONS),
    "conv3d_double_grad": _OF_VOLUMES,
}
"""Results that are not computed where an operand is absent (measured)."""


def without_absent(step: GradStep) -> GradStep:
    """A gradient operator without the results that rest on an absent operand."""
    needs = _RESTS_ON.get(step.name, {})
    present = {name for name, operand in zip(step.operand_names, step.operands, strict=False) if operand is not None}
    absent = set(needs.values()) - present
    if not absent:
        return step
    results = tuple(None if needs.get(i) in absent else result for i, result in enumerate(step.results))
    return replace(step, results=results)


def awaited(steps: list[GradStep], incoming: dict[int, int], outgoing: dict[int, int]) -> dict[int, int]:
    """Which operands' gradients are waited for: of those without a result only conv3d's (measured)."""
    if any(step.name == "conv3d_double_grad" for step in steps):
        return outgoing
    made = {slot for step in steps for operand in step.results for slot in slots_of(operand)} | set(incoming.values())
    return {operand: slot for operand, slot in outgoing.items() if slot in made}
