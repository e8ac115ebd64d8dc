"""One gradient kernel of a backward pass: what it reads, what it allocates, what it writes in place."""

from __future__ import annotations

import sys
from math import prod

from ..kernels import broadcasts, costs
from ..kernels.gradient_kernels import FILLS_ZEROS
from ..kernels.odd_results import ONLY_WANTED, REFUSED, gradient_meta
from ..kernels.selected_rows import looked_up
from ..kernels.templates import Gradient, GradStep, Meta, Operand, slots_of
from ..kernels.views import RULES as VIEWS
from ..kernels.views import view_of
from ..memory.arrays import Array, allocate, contiguous_strides, lay_out
from ..memory.dtypes import SIZE
from ..memory.ledger import Ledger

Environment = dict[int, "Array | None"]
_INCOMING = ("out_grad", "grad_x_grad")
"""Names of what a gradient kernel gets; one that is a forward operator (as_real for as_complex) has it first."""
_REFERENCES = 5
"""References to an incoming gradient that nothing else holds: the node's buffers, the environment, the operand list,
the local name, `getrefcount`'s argument. One more, and eager mode does not write over it."""


def run_gradient(ledger: Ledger, step: GradStep, environment: Environment, gradient: Gradient, layer: str) -> None:
    """Run one gradient kernel: reads `environment`, adds its results to it.

    Raises:
        ValueError: what Paddle refuses, in its words.
    """
    if step.name in REFUSED and step.results[0] is None:
        raise ValueError(REFUSED[step.name])
    outer, ledger.layer = ledger.layer, layer
    operation = ledger.begin(step.name)
    _fill_zeros(ledger, step, environment, gradient)
    operands = [_present(operand, environment) for operand in step.operands]
    for index, position in step.inplace.items():
        meta = next((gradient.metas[slot] for slot in slots_of(step.results[index])), None)
        if meta is not None and _is_overwritable(step, index, environment, meta):
            lay_out(ledger, operands[position][0])
    results: list[list[Array]] = []
    for index, operand in enumerate(step.results):
        made = []
        for slot in slots_of(operand):
            if step.name in ONLY_WANTED and slot not in gradient.outgoing.values():
                continue
            array = _view(step, slot, environment, gradient)
            if array is None:
                shape, dtype = gradient_meta(step, index, operands, gradient.metas[slot])
                array = _overwrite(step, index, environment, (shape, dtype))
                if array is None:
                    array = allocate(ledger, shape, dtype, step.name)
                    array.rows = looked_up(step, gradient.metas[slot], operands)
            environment[slot] = array
            made.append(array)
        results.append(made)
    costs.account(operation, step, operands, results)
    del operands, results
    ledger.finish(operation)
    ledger.layer = outer


def _present(operand: Operand, environment: Environment) -> list[Array]:
    arrays = (environment.get(slot) for slot in slots_of(operand))
    return [array for array in arrays if array is not None]


def _fill_zeros(ledger: Ledger, step: GradStep, environment: Environment, gradient: Gradient) -> None:
    """EagerUtils::FillZeroForEmptyGradInput: absent incoming gradients become zeros for some kernels."""
    if step.name not in FILLS_ZEROS:
        return
    for operand in step.operands:
        for slot in slots_of(operand):
            if environment.get(slot) is None and slot in gradient.metas:
                shape, dtype = gradient.metas[slot]
                environment[slot] = allocate(ledger, shape, dtype, "full")


def _view(step: GradStep, slot: int, environment: Environment, gradient: Gradient) -> Array | None:
    if step.name not in VIEWS:
        return None
    name = next((name for name in _INCOMING if name in step.operand_names), step.operand_names[0])
    operand = step.operands[step.operand_names.index(name)]
    source = environment.get(operand) if isinstance(operand, int) else None
    return None if source is None else view_of(step.name, source, gradient.metas[slot], step.attrs)


def _is_overwritable(step: GradStep, index: int, environment: Environment, meta: Meta) -> bool:
    """Whether the kernel's in-place twin is taken: its operand can hold the result and nothing else refers to it."""
    overwritten = step.inplace.get(index)
    operand = None if overwritten is None else step.operands[overwritten]
    held = environment.get(operand) if isinstance(operand, int) else None
    if held is None or held.storage is None:
        return False
    if prod(meta[0]) * SIZE[meta[1]] != held.nbytes and not _is_row(step, environment, meta):
        return False
    return sys.getrefcount(held) <= _REFERENCES


def _is_row(step: GradStep, environment: Environment, meta: Meta) -> bool:
    """Whether the result is a row's gradient that keeps the whole incoming one's memory (measured)."""
    if step.name not in broadcasts.IN_PLACE:
        return False
    operand = step.operands[1]
    other = environment.get(operand) if isinstance(operand, int) else None
    return other is not None and len(meta[0]) < len(other.shape) and not broadcasts.is_common(meta[0], other.shape)


def _overwrite(step: GradStep, index: int, environment: Environment, meta: Meta) -> Array | None:
    """The memory that the in-place twin writes over; None where it allocates."""
    if not _is_overwritable(step, index, environment, meta):
        return None
    held = environment[step.operands[step.inplace[index]]]  # type: ignore[index]
    if held is None or not held.is_contiguous or not held.fills_storage:
        return None
    return held if held.shape == meta[0] else held.view(meta[0], contiguous_strides(meta[0]))
