"""Operators that only a GPU has kernels of, in a program that a Paddle for CPUs builds.

Paddle's builder refuses an operator of which its build has no kernel in any type. What reads a stored program looks for
none: such an operator is read so, by itself, and copied into the program, with the results that are told of it
(`kernels/told.py`), its attributes, and, where tensors are placed over a mesh, with placements as Paddle's own rules
give them. Operands and results have the names that Paddle has for them, which tell what a gradient's operator reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import paddle
from paddle.base import core

from ..kernels.registry import rule_of
from ..kernels.rules import Arrays, Meta
from ..kernels.told import Form, Telling, Told, meta
from ..memory.operators import ORIGINAL_OPS
from ..program.templates import Step

_core: Any = core  # whose stubs leave out what reads stored programs
_pir: Any = core.pir
_VALUE = paddle.pir.Value
_FORMAT = 4
"""Version of stored programs in which the names below stand."""
_TYPES = {"float32": "0.t_f32", "float64": "0.t_f64", "float16": "0.t_f16", "bfloat16": "0.t_bf16", "int64": "0.t_i64"}
_ATTRIBUTES = {bool: "0.a_bool", int: "0.a_i32", float: "0.a_f32", str: "0.a_str"}
_DATA = {
    "name": "x",
    "shape": {"#": "1.a_intarray", "D": [1]},
    "dtype": {"#": "1.a_dtype", "D": "float32"},
    "place": {"#": "1.a_place", "D": [0, 0, ""]},
}
"""Attributes of what stands for an operand."""
_GRADIENT = "_grad"
_EMPTY = (0,), "float32"
"""What is made on the host, or not at all (flash attention's seed and scores): a result nevertheless."""


class _Names(NamedTuple):
    """As Paddle calls an operator's operands, attributes and results, in their order."""

    operands: list[str]
    attributes: list[str]
    results: list[str]


class _Result(NamedTuple):
    """A result to be.

    Attributes:
        divided: along which axis of the mesh each of its own is divided; None where nothing is placed.
        sums: whether it is the sum over what other operands are divided along.
    """

    meta: Meta
    divided: list[int] | None
    sums: bool = False
    stop_gradient: bool = False


def form_of(name: str) -> Form | None:
    """How a program has the operator; None for one that Paddle builds by itself."""
    form: Form | None = rule_of(name).form
    return form


# Reading


def _read(name: str, attrs: Mapping[str, Any], operands: Sequence[bool], results: Sequence[Meta | None]) -> Any:
    """A program that ends with the operator, behind an operator for each operand that is there."""
    numbers = [1 + place if is_there else 0 for place, is_there in enumerate(operands)]
    stored = [_operator("data", _DATA, (), [(number, _type((1,), "float32"))]) for number in numbers if number]
    made = [
        (0, {"#": "NULL"}) if one is None else (1 + len(numbers) + place, _type(*one))
        for place, one in enumerate(results)
    ]
    block = {"#": "block_0", "args": [], "ops": [*stored, _operator(name, attrs, numbers, made)]}
    whole = {
        "base_code": {"magic": "pir", "trainable": True, "version": _FORMAT},
        "program": {"regions": [{"#": "region_0", "blocks": [block]}]},
    }
    program = paddle.static.Program()
    file = os.memfd_create(name)
    try:
        os.write(file, json.dumps(whole).encode())
        _core.deserialize_pir_program(f"/proc/self/fd/{file}", program)
    finally:
        os.close(file)
    return program


def _operator(name: str, attrs: Mapping[str, Any], takes: Sequence[int], gives: Sequence[Any]) -> dict[str, Any]:
    return {
        "#": f"1.{name}",
        "A": [{"N": one, "AT": _attribute(value)} for one, value in attrs.items()],
        "I": [{"%": number} for number in takes],
        "O": [{"%": number, "TT": kind} for number, kind in gives],
        "OA": [{"N": "stop_gradient", "AT": {"#": "0.a_array", "D": [_attribute(False) for _ in gives]}}],
    }


def _attribute(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"#": _ATTRIBUTES[type(value)], "D": value}


def _type(shape: Sequence[int], dtype: str) -> dict[str, Any]:
    return {"#": "0.t_dtensor", "D": [{"#": _TYPES[dtype]}, list(shape), "NCHW", [], 0]}


@cache
def _names(name: str) -> _Names:
    program = _read(name, {}, (), ())
    operation = program.global_block().ops[-1]
    return _Names(operation.get_input_names(), operation.get_attr_names(), operation.get_output_names())


# Telling


def _tell(form: Form, args: Sequence[Any]) -> Told:
    teller = Telling()
    form.kernel(teller, *args)
    assert teller.told is not None
    return teller.told


def _results(form: Form, told: Told, given: Mapping[str, Any]) -> dict[str, tuple[Meta, str, Sequence[int | None]]]:
    """(what it is, the operand that it is placed as, that operand's axes) by the name of a result."""
    names = [name for name, (like, _) in form.results.items() if given.get(like) is not None]
    found: dict[str, tuple[Meta, str, Sequence[int | None]]] = {}
    for name, one in zip(names, told.results, strict=True):
        like, axes = form.results[name]
        found[name] = one, like, range(len(one[0])) if axes is None else axes
    return found


def costs(step: Step, operation: Any, operands: Arrays, results: Arrays) -> tuple[int, tuple[int, int]] | None:
    """Operations of such an operator in a program, and the bytes that its kernel takes while it runs; None for any
    other operator."""
    name = step.name.removesuffix(_GRADIENT)
    form = form_of(name)
    if form is None:
        return None
    names = _names(name)
    known = {one: arrays[0] for one, arrays in zip(step.operand_names, operands, strict=False) if arrays}
    if step.name != name:
        made = zip(operation.get_output_names(), results, strict=False)
        known = {one.removesuffix(_GRADIENT): arrays[0] for one, arrays in made if arrays} | known
    args = [*(known.get(one) for one in names.operands), *(step.attrs.get(one, 0) for one in names.attributes)]
    told = _tell(form, args)
    place = int(step.name != name)
    return told.flops[place], told.transient[place]


# Building


def build(name: str, args: Sequence[Any], low_to: Callable[[str], str]) -> Any:
    """What `_C_ops` gives back for a call of such an operator, which the program has at its end then.

    Args:
        low_to: the type that stands for one in the program.

    Raises:
        NotImplementedError: more is asked of it than is told.
    """
    form, names = rule_of(name).form, _names(name)
    args = [one if not isinstance(one, _VALUE) or one.initialized() else None for one in args]
    operands = dict(zip(names.operands, args, strict=False))
    attrs = dict(zip(names.attributes, args[len(names.operands) :], strict=True))
    divided = _placed(operands, form)
    if divided and any(one is not None and not _is_value(one) for one in operands.values()):
        raise NotImplementedError(name)  # how a number on the host is placed over a mesh is not followed
    told = _tell(form, args)
    flows = any(one is not None and not one.stop_gradient for one in list(operands.values())[: told.differentiated])
    made: dict[str, _Result] = {}
    for place, (result, ((shape, dtype), like, axes)) in enumerate(_results(form, told, operands).items()):
        is_hidden = place >= len(told.results) - told.hidden
        own = divided.get(like)
        along = None if own is None else [-1 if axis is None else own[axis] for axis in axes]
        made[result] = _Result((shape, low_to(dtype)), along, stop_gradient=is_hidden or not flows)
    empty = _Result(_EMPTY, [-1] if divided else None, stop_gradient=True)
    every = [made.get(one, None if one in form.results else empty) for one in names.results]
    operands = {one: value if value is None or _is_value(value) else _full(value) for one, value in operands.items()}
    results = _append(name, operands, attrs, every, divided)
    return results[0] if len(results) == 1 else tuple(results)


def _full(number: float) -> Any:
    """A number where the program has an operand: on the host, as Paddle's builder makes it."""
    return ORIGINAL_OPS["full"]([1], number, core.DataType.FLOAT32, core.CPUPlace())


def gradient(  # noqa: PLR0917 - Paddle's signature
    low_to: Callable[[str], str], operation: Any, inputs: Any, outputs: Any, incoming: Any, stops: Any
) -> list[list[Any]]:
    """What `call_vjp` gives back for such an operator."""
    name = operation.name().partition(".")[2]
    form, forward, names = rule_of(name).form, _names(name), _names(name + _GRADIENT)
    known = dict(zip((*forward.operands, *forward.results), (values[0] for values in (*inputs, *outputs)), strict=True))
    known.update(zip((one + _GRADIENT for one in forward.results), (values[0] for values in incoming), strict=True))
    known = {one: value for one, value in known.items() if value.initialized() and not _pir.is_fake_value(value)}
    divided = _placed({one: known.get(one) for one in forward.operands}, form)
    for one in forward.results:  # a gradient is placed as what it is the gradient of
        if one in known and (attr := known[one].dist_attr()) is not None:
            divided[one] = divided[one + _GRADIENT] = list(attr.dims_mapping)
    made: list[_Result | None] = []
    for one in (result.removesuffix(_GRADIENT) for result in names.results):
        source = known.get(one)
        shape, dtype = ((), "") if source is None else meta(source)
        made.append(None if source is None else _Result((shape, low_to(dtype)), divided.get(one), sums=True))
    operands = {one: known.get(one) for one in names.operands}
    attrs = {one: operation.attrs()[one] for one in names.attributes}
    results = dict(zip(names.results, _append(name + _GRADIENT, operands, attrs, made, divided), strict=True))
    asked = [one for one, does in zip(forward.operands, operation.get_input_grad_semantics(), strict=True) if does]
    found = [results[one + _GRADIENT] for one in asked]
    return [[_VALUE() if one is None or stop[0] else one] for one, stop in zip(found, stops, strict=True)]


def _append(
    name: str, operands: Mapping[str, Any], attrs: Mapping[str, Any], results: Sequence[_Result | None],
    divided: Mapping[str, list[int]],
) -> list[Any]:  # fmt: skip
    """Put the operator at the end of the program; None for a result that is not made."""
    given = list(operands.values())
    metas = [None if one is None else one.meta for one in results]
    stored = _read(name, attrs, [one is not None for one in given], metas)
    source = stored.global_block().ops[-1]
    mapping = _pir.IrMapping()
    for place, value in enumerate(given):
        if value is not None:
            mapping.add(source.operand_source(place), value)
    made = source.clone(mapping, _pir.CloneOptions(False, True, True))
    for attribute, value in (("op_role", _pir.get_op_role()), ("chunk_id", _pir.get_chunk_id())):
        if value >= 0:  # one that is there counts before the placement's
            setattr(made, attribute, value)
    found: list[Any] = []
    for value, result in zip(made.results(), results, strict=True):
        if result is not None:
            value.stop_gradient = result.stop_gradient
        found.append(None if result is None else value)
    mesh = next((one.dist_attr().process_mesh for one in given if one is not None and one.is_dist()), None)
    if mesh is not None:
        _place(made, mesh, [divided.get(one) for one in operands], results)
    return found


# Placing


def _placed(operands: Mapping[str, Any], form: Form) -> dict[str, list[int]]:
    """Along which axis of the mesh each axis of an operand is divided, as far as the kernel works part by part.

    As soon as one operand is placed over a mesh, all are: what was not is whole on each process.
    """
    mesh = next((one.dist_attr().process_mesh for one in operands.values() if _is_value(one) and one.is_dist()), None)
    if mesh is None:
        return {}
    found = {}
    for name, value in operands.items():
        if not _is_value(value):
            continue
        if not value.is_dist():
            value.set_type(_pir.cvt_to_dist_type(value.type(), _attr(mesh, [-1] * len(value.shape))))
        along = list(value.dist_attr().dims_mapping)
        found[name] = [axis if form.divides(place, len(along)) else -1 for place, axis in enumerate(along)]
    return found


def _is_value(one: Any) -> bool:
    return isinstance(one, _VALUE)


def _place(operation: Any, mesh: Any, takes: Sequence[Any], results: Sequence[_Result | None]) -> None:
    """Tell how operands are wanted and results are placed; the engine lays out anew what is placed otherwise."""
    divides = {axis for along in takes for axis in along or () if axis >= 0}
    attrs = []
    for value, result in zip(operation.results(), results, strict=True):
        if result is None or result.divided is None:
            attrs.append(_pir.Attribute())
            continue
        attrs.append(_attr(mesh, result.divided, divides.difference(result.divided) if result.sums else ()))
        value.set_type(_pir.cvt_to_dist_type(value.type(), attrs[-1]))
    wanted = [_pir.Attribute() if along is None else _attr(mesh, along) for along in takes]
    operation.dist_attr = _pir.create_op_dist_attribute(mesh, wanted, attrs, _pir.get_chunk_id())


def _attr(mesh: Any, along: Sequence[int], sums: Any = ()) -> Any:
    return _pir.create_tensor_dist_attribute(mesh, list(along), dict.fromkeys(sums, _core.ReduceType.kRedSum))
