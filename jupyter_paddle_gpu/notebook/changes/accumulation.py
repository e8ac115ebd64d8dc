"""Gradients summed over several steps of a smaller batch: an update sees as many samples, a step holds fewer."""

from __future__ import annotations

import ast

from ...domain.messages import Message
from ...domain.what_ifs import EstimateRequest
from .counted_loop import lengthen
from .program import Program, RefusedError
from .training_step import Step, step_of


def change(program: Program, request: EstimateRequest) -> None:
    """Update every so many steps, with the mean of their gradients; `batch_size` makes the batches smaller."""
    steps = request.accumulation or 1
    if steps == 1:
        return
    if program.reader.training.kind == "fit":
        _of_fit(program, steps)
    else:
        _by_hand(program, steps)


def _of_fit(program: Program, steps: int) -> None:
    """`fit` sums gradients as they are, so that each loss gives its share; its value stays what it prints."""
    program.only(program.prepares, program.fits)
    fit, prepare = program.reader.training.call, program.reader.training.prepare
    loss = program.names.argument(prepare, "loss", 1) if prepare is not None else None
    if fit is None or prepare is None or loss is None:
        raise RefusedError(_NO_LOSS)
    if program.names.argument(fit, "accumulate_grad_batches", 13) is not None:
        raise RefusedError(_OWN_OF_FIT)
    statement = program.statement(prepare)
    program.lines_alone(statement)
    program.editable(loss)
    program.add_keyword(fit, "accumulate_grad_batches", str(steps))
    whole, share = program.fresh("whole_loss"), program.fresh("share_of_loss")
    cell = program.cell_of(prepare)
    cell.insert_before(
        statement,
        [
            f"{whole} = {program.text(loss)}",
            "",
            "",
            f"def {share}(*given):",
            f"    # The value of the whole loss, and a gradient of {steps} that are summed.",
            f"    value = {whole}(*given)",
            f"    return value / {steps} + value.detach() * (1 - 1 / {steps})",
            "",
            "",
        ],
    )
    cell.replace(loss, share)


def _by_hand(program: Program, steps: int) -> None:
    step = step_of(program)
    block = program.block(step.backward)
    if any(program.block(one) is not block for one in (step.update, *step.clears)) or _is_conditional(program, step):
        raise RefusedError(_OWN)
    last = block.index(step.update)
    if last < block.index(step.backward):
        raise RefusedError(_ORDER)
    between = range(block.index(step.backward) + 1, last)
    first = next((number for number in between if _reads_gradients(block[number])), last)
    while last + 1 < len(block) and _goes_with_update(program, block[last + 1], step):
        last += 1
    updated = block[first : last + 1]
    program.lines_alone(*updated, *step.clears, step.backward)
    top = program.top(step.backward)
    program.lines_alone(top)
    counter = program.fresh("micro_batches")
    itertools = next((name for name, path in program.code.imports.items() if path == "itertools"), None)
    program.put_above(
        top,
        [*(["import itertools"] if itertools is None else []), f"{counter} = {itertools or 'itertools'}.count(1)"],
    )
    cell = program.cell_of(step.backward)
    loss = program.text(step.loss)
    cell.replace(step.loss, f"({loss} / {steps})", with_parentheses=True)
    before = [one for one in step.clears if one not in updated]
    if before and not any(one in updated for one in step.clears):
        # Cleared before the pass: now behind the update, so that the steps between find what was summed.
        cell.insert_after(updated[-1], [f"    {program.text(before[0])}"])
    for one in before:
        cell.delete(one)
    cell.wrap(updated, f"if next({counter}) % {steps} == 0:")
    lengthen(program, step.backward, steps)


def _goes_with_update(program: Program, statement: ast.stmt, step: Step) -> bool:
    """Whether a statement behind the update is one of it: clearing, or a scheduler's or a scaler's turn."""
    if statement in step.clears:
        return True
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="step" | "update", value=receiver))):
            name = program.text(receiver).lower()
            return any(word in name for word in ("sched", "lr", "scaler", "ema"))
    return False


def _reads_gradients(statement: ast.stmt) -> bool:
    """Whether a statement before the update is about the gradients that it takes: clipping, `p.grad`, `unscale_`."""
    names = (getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(statement))
    return any("grad" in name or name == "unscale_" for name in names)


def _is_conditional(program: Program, step: Step) -> bool:
    """Whether the notebook has an accumulation of its own: the update stands under an `if`."""
    return any(isinstance(one, ast.If) for one in program.code.parents(step.update))


_NO_LOSS = Message(
    code="accumulation_no_loss",
    text="No model.prepare(…) with a loss stands in the cells, so that the sum of gradients would be larger than "
    "before.",
    hint="Call model.prepare(optimizer, loss) in a cell.",
)
_OWN = Message(
    code="accumulation_own",
    text="The update depends on a condition of the notebook's own, so it may sum gradients already.",
    hint="Change the number of steps there.",
)
_OWN_OF_FIT = Message(
    code="accumulation_in_fit",
    text="model.fit is told accumulate_grad_batches= already, so it may sum gradients as it is.",
    hint="Change the number of steps there.",
)
_ORDER = Message(
    code="accumulation_order",
    text="The update stands before the backward pass, so the steps of one update cannot be told apart.",
    hint="Put optimizer.step() and optimizer.clear_grad() behind loss.backward().",
)
