"""One gradient kernel of a backward pass: what it reads, what it allocates, what it writes in place."""

from __future__ import annotations

import sys
from math import prod

from ..kernels.arithmetic import is_common
from ..kernels.rules import Arrays, Meta, Place
from ..memory.arrays import Array, allocate, contiguous_strides, lay_out
from ..memory.dtypes import SIZE
from ..memory.ledger import Ledger
from ..program.templates import Gradient, GradStep
from . import costs
from .refusals import Numbers
from .sparse_gradients import looked_up
from .tensors import running

Environment = dict[int, "Array | None"]
_INCOMING = ("out_grad", "grad_x_grad")
"""Names of what a gradient kernel gets; one that is a forward operator (as_real for as_complex) has it first."""
_REFERENCES = 5
"""References to an incoming gradient that nothing else holds: the node's buffers, the environment, the operand list,
the local name, `getrefcount`'s argument. One more, and eager mode does not write over it."""

_EMPTY = "(Fatal) Unable to fill empty grad inputs due to empty GradSlotMeta"
"""What eager mode says of a gradient of a gradient that was never made (`FillZeroForEmptyGradInput`)."""


def run_gradient(ledger: Ledger, step: GradStep, environment: Environment, gradient: Gradient, layer: str) -> None:
    """Run one gradient kernel: reads `environment`, adds its results to it.

    Raises:
        ValueError: what Paddle refuses, in its words.
    """
    rule = step.rule
    is_short = None in step.results[: None if rule.refused_any else 1] or _lacks_member(step, gradient)
    if is_short and (said := _refused(step, environment)):
        raise running().refused(ValueError(said))
    outer, ledger.layer = ledger.layer, layer
    operation = ledger.begin(step.name)
    if rule.fills_zeros:
        _fill_zeros(ledger, step, environment, gradient)
    operands = [_present(slots, environment) for slots in step.takes]
    if rule.refuses is not None:
        _check(step, operands)
    for index, position in step.inplace.items():
        first = next((gradient.metas[slot] for slot in step.gives[index]), None)
        if first is not None and _is_overwritable(step, index, environment, first):
            lay_out(ledger, operands[position][0])
    results: list[list[Array]] = []
    for index, slots in enumerate(step.gives):
        made = []
        for position, slot in enumerate(slots):
            if rule.only_wanted and slot not in gradient.outgoing.values():
                continue
            meta = gradient.metas[slot]
            array = None if rule.view is None else _view(ledger, step, environment, meta)
            if array is None:
                if rule.result is not None:
                    meta = _meta(ledger, step, operands, Place(index, position, meta))
                array = _overwrite(step, index, environment, meta)
                if array is None:
                    array = allocate(ledger, *meta, step.name)
                    if rule.gives_rows:
                        array.rows = looked_up(step, gradient.metas[slot], operands)
            environment[slot] = array
            made.append(array)
        results.append(made)
    costs.account(ledger, operation, step, operands, results)
    del operands, results
    ledger.finish(operation)
    ledger.layer = outer


def _check(step: GradStep, operands: Arrays) -> None:
    """Raise what a kernel says of its operands."""
    assert step.rule.refuses is not None
    problem = step.rule.refuses(step.attrs, operands, Numbers(running(), draws=False))
    if problem is not None:
        raise running().refused(problem)


def _lacks_member(step: GradStep, gradient: Gradient) -> bool:
    """Whether a member of its list is left out."""
    return bool(gradient.absent) and len(step.gives[0]) < len(step.takes[0])


def _refused(step: GradStep, environment: Environment) -> str:
    """What Paddle says where a result is not wanted that its kernel fills."""
    if step.rule.refused or not step.rule.refused_empty:
        return step.rule.refused
    is_empty = any(array.numel == 0 for array in _present(step.takes[0], environment))
    return step.rule.refused_empty if is_empty else ""


def _present(slots: tuple[int, ...], environment: Environment) -> list[Array]:
    return [array for slot in slots if (array := environment.get(slot)) is not None]


def _fill_zeros(ledger: Ledger, step: GradStep, environment: Environment, gradient: Gradient) -> None:
    """EagerUtils::FillZeroForEmptyGradInput: absent incoming gradients become zeros for some kernels."""
    for slots in step.takes:
        for slot in slots:
            if environment.get(slot) is None and slot in gradient.metas:
                if slot in gradient.empty:
                    raise running().refused(SystemError(_EMPTY))
                shape, dtype = gradient.metas[slot]
                environment[slot] = allocate(ledger, shape, dtype, "full")


def _view(ledger: Ledger, step: GradStep, environment: Environment, meta: Meta) -> Array | None:
    name = next((name for name in _INCOMING if name in step.operand_names), step.operand_names[0])
    operand = step.operands[step.operand_names.index(name)]
    source = environment.get(operand) if isinstance(operand, int) else None
    try:
        return None if source is None else step.rule.view_over(source, meta, step.attrs)
    except Exception as problem:
        ledger.failed(step.name, problem)
        return None


def _meta(ledger: Ledger, step: GradStep, operands: Arrays, place: Place) -> Meta:
    """Shape and type of a result, by the kernel's rule; where that fails, as the program builder says."""
    assert step.rule.result is not None
    try:
        return step.rule.result(step.attrs, operands, place) or place.meta
    except Exception as problem:
        ledger.failed(step.name, problem)
        return place.meta


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
    if not step.rule.takes_larger:
        return False
    operand = step.operands[1]
    other = environment.get(operand) if isinstance(operand, int) else None
    return other is not None and len(meta[0]) < len(other.shape) and not is_common(meta[0], other.shape)


def _overwrite(step: GradStep, index: int, environment: Environment, meta: Meta) -> Array | None:
    """The memory that the in-place twin writes over; None where it allocates."""
    if not _is_overwritable(step, index, environment, meta):
        return None
    held = environment[step.operands[step.inplace[index]]]  # type: ignore[index]
    if held is None or not held.is_contiguous or not held.fills_storage:
        return None
    return held if held.shape == meta[0] else held.view(meta[0], contiguous_strides(meta[0]))
