"""Another batch size: where the notebook says it, by a name or as a literal, or where a default stands for it."""

from __future__ import annotations

import ast

import msgspec

from ...domain.messages import Message
from ...domain.what_ifs import EstimateRequest
from ..files.scripts import is_script
from ..training.batches import Batch
from . import settings_files
from .program import Program, RefusedError


def change(program: Program, request: EstimateRequest) -> None:
    """Write the batch size that is asked for, of a step that is accumulated its part.

    What a trace has seen to size the batch comes before what reading finds, but for one of several trainings: the
    trace may have seen the batch of another one.
    """
    steps = request.accumulation or 1
    if program.places and not (program.is_part and _is_read(program)):
        _write_at(program, micro_batch(request.batch_size or _number_at(program), steps))
        return
    found = place(program, request.batch_size or 32)
    if not found.fact.name:
        program.only(program.fits)
    value = found.fact.value
    if isinstance(value, bool) or not isinstance(value, int):
        if request.batch_size is None or not _bind_imported(program, found, micro_batch(request.batch_size, steps)):
            raise RefusedError(_computed(found))
        return
    wanted = micro_batch(request.batch_size or value, steps)
    if value != wanted:
        write(program, found, wanted)
        origins = {_origin(program, found)}
        for one in program.batches.batches_in_step():  # of another size they stay
            if one.fact.value == value and one.given is not None and _origin(program, one) not in origins:
                origins.add(_origin(program, one))
                write(program, one, wanted)


def _origin(program: Program, found: Batch) -> ast.expr | None:
    return program.names.origin(found.given) if found.given is not None else None


def _is_read(program: Program) -> bool:
    found = program.batches.batch()
    return found is not None and isinstance(found.fact.value, int) and found.given is not None


def _number_at(program: Program) -> int:
    """The batch size at the places that the trace found."""
    one = program.places[0]
    if one.value is not None or one.default is not None:
        return one.value or one.default or 0
    text = program.texts[one.cell]
    return int(text.source[text.offset(one.line, one.column) : text.offset(one.line, one.end)])


def _write_at(program: Program, wanted: int) -> None:
    """Put a number where the trace saw that it moves the leading dimension of the step's inputs."""
    for one in program.places:
        if one.file:
            settings_files.write(program, one, wanted)
            continue
        text = program.texts[one.cell]
        start, end = text.offset(one.line, one.column), text.offset(one.line, one.end)
        written = str(wanted) if one.default is None else f" {one.name} {wanted}"
        if one.how == "keyword":
            is_first = text.source[:start].rstrip().endswith("(")
            written = f"{'' if is_first else ', '}{one.name}={wanted}"
        text.put(start, end, written)


def place(program: Program, wanted: int) -> Batch:
    """Where the batch size stands.

    Args:
        wanted: the one that the next step is to name.

    Raises:
        RefusedError: the notebook does not say it in its cells.
    """
    found = program.batches.batch() or program.batches.of_hidden_loop()
    if found is None or (found.given is None and found.call is None):
        message = _NOT_GIVEN if is_script(program.source.path) else _IN_SCRIPT if program.starts_scripts else _NOWHERE
        raise RefusedError(msgspec.structs.replace(message, params={"value": wanted}))
    return found


def micro_batch(batch: int, steps: int) -> int:
    """Samples of each of the steps that an update sums.

    Raises:
        RefusedError: the batch cannot be divided so.
    """
    if batch % steps:
        raise RefusedError(
            Message(
                code="accumulation_divides",
                text="A batch of {batch} samples cannot be divided into {steps} equal steps.",
                hint="Ask for a number of steps that divides the batch size.",
                params={"batch": batch, "steps": steps},
            )
        )
    return batch // steps


def write(program: Program, found: Batch, wanted: int) -> None:
    """Put a number in the batch size's place."""
    if found.given is None:
        assert found.call is not None
        program.add_keyword(found.call, found.keyword, str(wanted))
        return
    origin = program.names.origin(found.given)
    if _is_parameter(program, found, origin):
        program.injected[found.fact.name] = wanted
        return
    if not isinstance(origin, ast.expr) or program.names.evaluate(origin) is None:
        raise RefusedError(_computed(found))
    program.editable(origin)
    program.cell_of(origin).replace(origin, str(wanted))


def _bind_imported(program: Program, found: Batch, wanted: int) -> bool:
    """Bind what a module says (`config.BATCH_SIZE`, `from config import BATCH_SIZE`) behind its import; whether that is
    where it stands. What an object of the module holds may refuse another value.
    """
    origin = program.names.origin(found.given) if found.given is not None else None
    match origin:
        case ast.Attribute(value=ast.Name(id=root)):
            kind: type[ast.Import | ast.ImportFrom] = ast.Import
        case ast.Name(id=root):
            kind = ast.ImportFrom
        case _:
            return False
    statements = [
        one
        for one in program.code.of_type(kind)
        if any((word.asname or word.name) == root for word in one.names) and program.code.scope(one) is None
    ]
    if len(statements) != 1 or program.code.position(statements[0]) > program.code.position(origin):
        return False
    program.lines_alone(statements[0])
    program.cell_of(statements[0]).insert_after(statements[0], [f"{program.text(origin)} = {wanted}"])
    return True


def _is_parameter(program: Program, found: Batch, origin: ast.expr) -> bool:
    """Whether the number is bound in the cell tagged `parameters` (or in the one injected behind it)."""
    cell = program.parameters_cell()
    return (
        cell is not None
        and bool(found.fact.name)
        and program.code.cell(origin) in (cell, cell + 1)
        and (isinstance(program.statement(origin), ast.Assign))
    )


_NOWHERE = Message(
    code="batch_size_unnamed",
    text="The notebook does not say its batch size in its cells, so a job cannot be given another one.",
    hint="Write BATCH_SIZE = {value} in a cell and use that name, or submit without a batch size.",
)

_IN_SCRIPT = Message(
    code="batch_size_unnamed",
    text="The training stands in a script that a cell starts, and a job changes cells alone, so it cannot be given "
    "another batch size.",
    hint="Change it in the script or in the line that starts it, or submit the script itself.",
)
_NOT_GIVEN = Message(
    code="batch_size_unnamed",
    text="Neither the script nor its arguments say the batch size, so a job cannot be given another one.",
    hint="Give it as an argument behind --, as in: --batch_size {value}, or: -o batch_size={value}.",
)


def _computed(found: Batch) -> Message:
    is_held = isinstance(found.given, (ast.Name, ast.Attribute, ast.Subscript))
    return msgspec.structs.replace(_HELD if is_held else _COMPUTED, params={"source": found.fact.source})


_COMPUTED = Message(
    code="batch_size_computed",
    text="The batch size is computed ({source}), so a job cannot be given another one in its place.",
    hint="Write it as a number in a cell, or answer for what it is computed from with --set name=value.",
)
_HELD = Message(
    code="batch_size_computed",
    text="The batch size is what {source} holds as the cells run, so a job cannot be given another one in its place.",
    hint="Write it as a number in a cell, or answer for what it is computed from with --set name=value.",
)
