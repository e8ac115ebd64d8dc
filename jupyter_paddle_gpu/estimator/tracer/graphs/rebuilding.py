"""An operator of a program built again: with other shapes, to see what it makes of them, or as its in-place twin.

Paddle works shapes out where an operator is built. A program that leaves the batch open (`[-1, 784]`) is built once;
its operators are built again, each for itself, in the scratch program with the shapes that a run really has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import paddle
from paddle import _C_ops
from paddle.base import core

from ..kernels.rules import Meta
from ..memory.dtypes import name_of
from ..program.dynamic import dynamic
from ..program.scratch import Scratch
from ..session import paused

_scratch = Scratch()
_MIXED = {
    "slice": "oaooaa", "strided_slice": "oaooo", "uniform": "oaooaa", "randint": "aaoaa", "pad": "oao",
    "split_with_num": "oao",
    "conv2d_transpose": "ooaaaoaaaa", "depthwise_conv2d_transpose": "ooaaaoaaaa", "unpool": "ooaaaoa",
}  # fmt: skip
"""Operators that take an attribute (a) before one that may be a tensor, and so is an operand (o), as `ops.yaml` has
them. All others take their operands first; a wrong order may end the process."""
_twins: dict[str, dict[int, int]] = {}


class CannotRebuildError(Exception):
    """The operator could not be built again as it is; the text names it."""


def results(operation: Any, metas: Sequence[Any]) -> list[Any]:
    """Shape and type of each result; of a list of tensors a list; None for one that is not made.

    Args:
        metas: of its operands, in their order; a list for a list of tensors, None for one that is absent, and what
            stands in no tensor (a shape, a number) as a tuple ("value", it).
    """
    return _scratch.build(lambda block: _built(block, operation, metas, operation.name().partition(".")[2], _results))


def computed(operation: Any, values: Sequence[Any]) -> list[Any]:
    """The numbers that an operator makes of small known ones, in an array of numpy for each result.

    Args:
        values: an array of numpy for each operand, or a list of them; ("value", it) of what stands in no tensor.
    """
    name = operation.name().partition(".")[2]
    attrs = [operation.attrs().get(one) for one in operation.get_attr_names()]
    with paused(), dynamic():
        everything = [*(_tensor(value) for value in values), *attrs]
        try:
            order = _order(name, len(values), len(attrs))
            made = getattr(_C_ops, name)(*(everything[place] for place in order))
        except (AttributeError, TypeError, ValueError, RuntimeError, IndexError, SystemError) as problem:
            raise CannotRebuildError(name) from problem
        return [one.numpy() for one in (made if isinstance(made, (list, tuple)) else [made])]


def _tensor(value: Any) -> Any:
    if value is None or (isinstance(value, tuple) and value[0] == "value"):
        return None if value is None else value[1]
    return [_tensor(one) for one in value] if isinstance(value, list) else paddle.to_tensor(value)


def twin(operation: Any) -> dict[int, int]:
    """{result: operand} of what the in-place twin of an operator writes over."""
    name = operation.name().partition(".")[2]
    found = _twins.get(name)
    if found is None:
        metas = [_meta(operation.operand_source(i)) for i in range(operation.num_operands())]
        try:
            found = _scratch.build(lambda block: _built(block, operation, metas, name + "_", _overwritten))
        except CannotRebuildError:
            found = {}
        _twins[name] = found
    return found


def _meta(value: Any) -> Any:
    """As which an operand of the program is built again."""
    if value is None or not value.initialized():
        return None
    source = value.get_defining_op()
    name = "" if source is None else source.name()  # what a part of a plan takes has none
    if name in {"pd_op.full_int_array", "pd_op.full"} and "cpu" in str(source.attrs()["place"]):
        return ("value", constant(source))
    if name == "builtin.combine":
        return [_meta(one) for one in source.operands_source()]
    if value.is_combine():
        return [(tuple(map(int, one.shape)), name_of(one.dtype)) for one in value.type().as_vec_type().as_list()]
    return tuple(map(int, value.shape)), name_of(value.dtype)


def constant(operation: Any) -> Any:
    """What an operator of a program makes that stands for an attribute of another one."""
    attrs = operation.attrs()
    value = attrs.get("value")
    return int(value) if isinstance(value, float) and "int" in name_of(attrs["dtype"]) else value


def _built(block: Any, operation: Any, metas: Sequence[Any], name: str, read: Callable[[Any], Any]) -> Any:
    function = getattr(core.pir.ops, name, None)
    if function is None:
        raise CannotRebuildError(name)
    operands = [_operand(meta) for meta in metas]
    names = operation.get_attr_names()
    given = operation.attrs()
    attrs = [given.get(one) for one in names]
    tries = [[*operands, *attrs]]
    if any(isinstance(meta, tuple) and meta[0] == "value" for meta in metas):  # some take nothing but tensors there
        tries.append([*map(_as_tensor, operands), *attrs])
    order = _order(name, len(operands), len(attrs))
    for everything in tries:
        before = block.num_ops()
        try:
            function(*(everything[place] for place in order))
        except (TypeError, ValueError, RuntimeError, IndexError):
            continue
        made = next((one for one in reversed(block.ops[before:]) if one.name() == f"pd_op.{name}"), None)
        if made is not None and all(made.attrs().get(one) == given.get(one) for one in names):
            return read(made)
    raise CannotRebuildError(name)


def _order(name: str, operands: int, attrs: int) -> tuple[int, ...]:
    """In which order the function takes operands (the first numbers) and attributes (those behind)."""
    mixed = _MIXED.get(name.rstrip("_"))
    if mixed is None or len(mixed) != operands + attrs:
        return tuple(range(operands + attrs))
    first, second = iter(range(operands)), iter(range(operands, operands + attrs))
    return tuple(next(first if one == "o" else second) for one in mixed)


def _operand(meta: Any) -> Any:
    if meta is None:
        return None
    if isinstance(meta, list):
        return [_operand(one) for one in meta]
    if meta[0] == "value":
        return meta[1]
    shape, dtype = meta
    return _scratch.place(shape, dtype, want=False)


def _as_tensor(operand: Any) -> Any:
    """What stands for an attribute as the builder makes it."""
    if isinstance(operand, (list, tuple)) and operand and isinstance(operand[0], int):
        return core.pir.ops.full_int_array(list(operand), paddle.int64, core.CPUPlace())
    if isinstance(operand, (bool, int, float)):
        return core.pir.ops.full([1], operand, paddle.float32, core.CPUPlace())
    return operand


def _results(operation: Any) -> list[Any]:
    found: list[Any] = []
    for value in operation.results():
        if not value.initialized():
            found.append(None)
        elif value.is_combine():
            kinds = value.type().as_vec_type().as_list()
            found.append([(tuple(map(int, one.shape)), name_of(one.dtype)) for one in kinds])
        else:
            meta: Meta = tuple(map(int, value.shape)), name_of(value.dtype)
            found.append(meta)
    return found


def _overwritten(operation: Any) -> dict[int, int]:
    return dict(core.pir.get_op_inplace_info(operation))
