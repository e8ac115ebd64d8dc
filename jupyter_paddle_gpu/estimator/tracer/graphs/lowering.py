"""From a program to instructions: what Paddle's executor makes of it before it runs the first operator.

Three things are decided there and nowhere else: the order (that of the program), which operators write over an operand
that nothing reads any more (`inplace_pass.cc`), and behind which operator each value is dropped
(`PirInterpreter::CalculateLastLiveOps`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from paddle.base import core

from ..program.reader import Declared, Reader
from ..program.templates import Operand, Step, slots_of
from .low_precision import NO_CAST, OUT_OF_PLACE, retype
from .rebuilding import constant, twin

PLACED = frozenset(("pd_op.data", "pd_op.feed"))
"""Operators that stand for what the program is given."""
_GROUPS = frozenset(("combine", "split", "slice"))
_ANY_SHAPE = frozenset(("reshape", "squeeze", "unsqueeze"))
"""Written over an operand of whatever shape (`IgnoreShapeCheckOps`)."""
_OPEN_SHAPE = frozenset(("reshape_grad", "add_grad"))
"""Compared with open dimensions as they are (`RelaxShapeCheckOps`)."""
_NEVER = frozenset(("transpose",))
_NEVER_ON_CPU = frozenset(("add_grad", "subtract_grad"))
"""Their kernels for CPUs read what they would have written over."""
_LEARNS = "param"
"""The operand of an optimizer's operator that is updated."""


class NotFollowedError(Exception):
    """The program holds something that is not followed here; the text names it."""


@dataclass
class Instruction:
    """One operator that the executor runs.

    Attributes:
        step: what it reads and makes, by slots.
        operation: the operator in Paddle's program.
        writes: result by result the operand that it is written over.
        frees: slots that are dropped behind it.
        phase: of a training step.
        inferred: shapes and types of its results, by those of its operands.
    """

    step: Step
    operation: Any
    writes: dict[int, int]
    frees: tuple[int, ...] = ()
    phase: str = "forward"
    inferred: dict[str, list[Any]] = field(default_factory=dict)


@dataclass
class Lowered:
    """A program as the executor runs it.

    Attributes:
        metas: shape and type of each slot, open dimensions as -1.
        given: name by name the slot of what the program reads: parameters, states, what it is fed with.
        fed: those of them that a run has to be fed with.
        kept: (slot, name, kind) of what it leaves in the scope, behind which instruction.
        passing: slots of what it reads or leaves by name and no other part of a plan reads behind it.
        fetched: slots that are copied for the caller at the end.
        gradients: slots of what optimizers read as gradients.
        learns: names of the parameters that it updates.
        low: what the program was built with float64 in place of.
    """

    instructions: list[Instruction]
    metas: dict[int, Any]
    given: dict[str, int]
    fed: dict[str, Any]
    kept: dict[int, list[tuple[int, str, str]]]
    fetched: list[int]
    gradients: frozenset[int] = frozenset()
    learns: tuple[str, ...] = ()
    passing: frozenset[int] = frozenset()
    low: str | None = None


class _Whole(Reader):
    """Reads a whole program instead of one call."""

    def __init__(self, stays: frozenset[str] | None, constants: dict[str, Any] | None) -> None:
        super().__init__([], None, Declared())
        self._known = {} if constants is None else constants
        self._stays = stays
        self.passing: set[int] = set()
        """Slots of what a job gives on to none behind it: no operator writes over them, and the last one drops them."""
        self.given: dict[str, int] = {}
        self.fed: dict[str, Any] = {}
        self.kept: dict[int, list[tuple[int, str, str]]] = {}
        self.persistent: set[int] = set()
        self.placed: set[int] = set()
        self.grouped: list[tuple[int, tuple[int, ...]]] = []
        """(how many instructions were there, slots that only regroup there)."""

    def read(self, operation: Any) -> None:
        """Add one operator of the program.

        Raises:
            NotFollowedError: it is none that is followed.
        """
        dialect, _, name = operation.name().partition(".")
        if operation.num_regions() or dialect not in {"builtin", "pd_op"}:
            raise NotFollowedError(operation.name())
        if operation.name() in PLACED:
            self._place(operation, operation.attrs()["name"])
        elif dialect == "builtin":
            self._read_builtin(name, operation)
        elif _is_constant(name, operation):
            value = operation.results()[0]
            self._constants[value.id] = constant(operation)
            self._slots[value.id] = None
        elif operation.has_attr(NO_CAST):
            self._slots[operation.results()[0].id] = self._operand(operation.operand_source(0))
        else:
            self._read_operator(name, operation)

    def _read_builtin(self, name: str, operation: Any) -> None:
        if name == "parameter":
            self._place(operation, operation.attrs()["parameter_name"])
        elif name in {"set_parameter", "shadow_output"}:
            attrs = operation.attrs()
            slot = self._operand(operation.operand_source(0))
            if isinstance(slot, int):
                kind = "parameters" if name == "set_parameter" else "optimizer_state"
                if self._stays is not None and not operation.operand_source(0).persistable:
                    kind = ""
                label = attrs.get("parameter_name") or attrs.get("output_name")
                self.kept.setdefault(len(self.steps) - 1, []).append((slot, label, kind))
                self.persistent.add(slot)
                if self._stays is not None and label not in self._stays:
                    self.passing.add(slot)
            elif operation.operand_source(0).id in self._constants:
                self._known[attrs.get("output_name")] = self._constants[operation.operand_source(0).id]
        elif name in _GROUPS:
            operands = [operation.operand_source(i) for i in range(operation.num_operands())]
            self.grouped.append((len(self.steps), tuple(s for v in operands for s in slots_of(self._operand(v)))))
            self._regroup(name, operation, operands)
        else:
            raise NotFollowedError(operation.name())

    def _place(self, operation: Any, name: str) -> None:
        value = operation.results()[0]
        slot = self._result(value)
        if not isinstance(slot, int):
            raise NotFollowedError(operation.name())
        self.given[name] = slot
        if value.persistable:
            self.persistent.add(slot)
        else:
            self.fed[name] = value
            self.placed.add(slot)
            if self._stays is not None:
                (self.persistent if name in self._stays else self.passing).add(slot)

    def receive(self, arguments: dict[str, Any]) -> None:
        """What the program takes by name: of a plan's job what the ones before it give on."""
        for name, value in arguments.items():
            if name in self._known:
                self._constants[value.id], self._slots[value.id] = self._known[name], None
                continue
            slot = self._result(value)
            if not isinstance(slot, int):
                raise NotFollowedError(name)
            self.given[name] = slot
            self.persistent.add(slot)
            if not value.persistable and self._stays is not None and name not in self._stays:
                self.passing.add(slot)

    def _read_operator(self, name: str, operation: Any) -> None:
        operands = [operation.operand_source(i) for i in range(operation.num_operands())]
        names = tuple(operation.get_input_names())
        attrs = dict(operation.attrs())
        attrs.pop("op_callstack", None)
        for operand_name, value in zip(names, operands, strict=False):
            if value is not None and value.initialized() and value.id in self._constants:
                attrs[operand_name] = self._constants[value.id]
        results: list[Operand] = [self._result(value) for value in operation.results()]
        for value, slot in zip(operation.results(), results, strict=True):
            if value.initialized() and slot is None:
                raise NotFollowedError(operation.name())
            if value.initialized() and value.is_selected_row_type():
                raise NotFollowedError(operation.name())
            if isinstance(slot, int) and value.persistable:
                self.persistent.add(slot)
        written = dict(core.pir.get_op_inplace_info(operation)) if name.endswith("_") else {}
        written = {result: operand for result, operand in written.items() if results[result] is not None}
        takes = tuple(self._operand(value) for value in operands)
        self.steps.append(Step(name, takes, names, tuple(results), attrs, written))
        self._operations.append(operation)

    def pairs(self) -> list[tuple[Step, Any]]:
        """The steps with their operators."""
        return list(zip(self.steps, self._operations, strict=True))

    def slot_of(self, value: Any) -> int | None:
        """The slot of a value of the program."""
        slot = self._slots.get(value.id)
        return slot if isinstance(slot, int) else None


def _is_constant(name: str, operation: Any) -> bool:
    """Whether it is an attribute of another operator: numbers that the builder puts beside it, on the host."""
    if name == "full_int_array":
        return True
    if name != "full":
        return False
    attrs = operation.attrs()
    return "cpu" in str(attrs["place"]) and list(attrs["shape"]) == [1]


def lowered(
    program: Any, fetch: Sequence[Any], target: str, stays: frozenset[str] | None = None,
    constants: dict[str, Any] | None = None, *, low: str | None = None,
) -> Lowered:  # fmt: skip
    """What the executor makes of a program.

    Args:
        fetch: values of it that are fetched.
        target: cpu or gpu: kernels differ in what they may write over.
        stays: names of what a job of a plan leaves to others; None for a program that runs by itself.
        constants: numbers that jobs leave to others by name, on the host; those of this one are put into it.
        low: the low type that it was built with float64 in place of.

    Raises:
        NotFollowedError: an operator is none that is followed.
    """
    whole = _Whole(stays, constants)
    whole.receive(program.global_block().kwargs())
    for operation in program.global_block().ops:
        whole.read(operation)
    retype(whole.steps, whole.metas, low)
    fetched = [slot for value in fetch if (slot := whole.slot_of(value)) is not None]
    if len(fetched) < len(fetch):
        raise NotFollowedError("fetch")
    instructions = [Instruction(step, operation, dict(step.inplace)) for step, operation in whole.pairs()]
    _overwrite(whole, instructions, fetched, target)
    _tell_phases(instructions)
    _free(whole, instructions, fetched)
    names = {slot: name for name, slot in whole.given.items()}
    updates = [one.step for one in instructions if _LEARNS in one.step.operand_names]
    made = {slot: one.step for one in instructions for slots in one.step.gives for slot in slots}
    learnt = [_origin(slot, names, made) for step in updates for slot in _named(step, _LEARNS)]
    return Lowered(
        instructions,
        whole.metas,
        whole.given,
        whole.fed,
        whole.kept,
        fetched,
        frozenset(slot for step in updates for slot in _named(step, "grad")),
        tuple(names[slot] for slot in learnt if slot in names),
        frozenset(whole.passing),
        low,
    )


def _origin(slot: int, names: dict[int, str], made: dict[int, Step]) -> int:
    """What the program was given that a slot is a part of: a process may update its part of a parameter alone."""
    while slot not in names and (step := made.get(slot)) is not None and step.takes and step.takes[0]:
        slot = step.takes[0][0]
    return slot


def _named(step: Step, name: str) -> tuple[int, ...]:
    return step.takes[step.operand_names.index(name)] if name in step.operand_names else ()


@dataclass
class _Reuse:
    """What `inplace_pass` knows and remembers from operator to operator.

    Attributes:
        metas: shape and type of each slot.
        kept: slots that are never dropped.
        last: where each of the others is dropped.
    """

    metas: dict[int, Any]
    kept: set[int]
    last: dict[int, int]
    visited: set[int] = field(default_factory=set)
    inputs: set[int] = field(default_factory=set)
    outputs: set[int] = field(default_factory=set)


def _overwrite(whole: _Whole, instructions: list[Instruction], fetched: list[int], target: str) -> None:
    """Decide which operators become their in-place twins (`GetInplaceOps`)."""
    kept = whole.persistent | whole.placed | set(fetched)
    last: dict[int, int] = {}
    groups = dict[int, list[int]]()
    for index, slots in whole.grouped:
        groups.setdefault(index, []).extend(slots)
    for index, one in enumerate(instructions):
        for slot in groups.get(index, ()):
            last[slot] = -1  # dropped behind an operator that only regroups, which never writes over it
        for slot in _needed(one):
            if slot not in kept:
                last[slot] = index
    ends = set(last.values())
    seen = _Reuse(whole.metas, kept, last)
    for index, one in enumerate(instructions):
        step = one.step
        seen.visited.update(slot for operand in step.operands for slot in slots_of(operand))
        if not _is_decided(one, seen, target) and index in ends:
            pairs = _pairs(one, index, seen)
            if pairs:
                one.writes = pairs
                seen.inputs.update(s for i in pairs.values() for s in step.takes[i])
                seen.outputs.update(s for i in pairs for s in step.gives[i])
        seen.visited.update(slot for operand in step.results for slot in slots_of(operand))


def _is_decided(one: Instruction, seen: _Reuse, target: str) -> bool:
    name = one.step.name
    if name in _NEVER_ON_CPU and target == "cpu":
        return True
    if one.writes or name.endswith("_"):
        seen.inputs.update(slot for slots in one.step.takes for slot in slots)
        seen.outputs.update(slot for slots in one.step.gives for slot in slots)
        return True
    return name in _NEVER or one.operation.has_attr(OUT_OF_PLACE) or not hasattr(core.pir.ops, name + "_")


def _pairs(one: Instruction, index: int, seen: _Reuse) -> dict[int, int]:
    """{result: operand} where every result of the twin may be written over its operand; else nothing."""
    found = twin(one.operation)
    step = one.step
    for result, operand in found.items():
        if operand >= len(step.operands) or result >= len(step.results):
            return {}
        source, target = step.operands[operand], step.results[result]
        if not isinstance(source, int) or not isinstance(target, int):
            return {}
        (before, kind), (behind, made) = seen.metas[source], seen.metas[target]
        if kind != made or seen.last.get(source) != index:
            return {}
        if step.name not in _ANY_SHAPE and not _is_as_large(step.name, before, behind):
            return {}
        if target in seen.visited or target in seen.kept or source in seen.inputs or target in seen.outputs:
            return {}
    return found


def _is_as_large(name: str, source: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether both have as many elements, as far as the pass can tell: open dimensions count as -1, in the first place
    alone, unless it is the only one."""
    sizes = []
    for shape in (source, target):
        is_open = (-1 in shape[1:]) or shape == (-1,)
        if is_open and name not in _OPEN_SHAPE:
            return False
        product = 1
        for size in shape:
            product *= size
        sizes.append(product)
    return sizes[0] == sizes[1]


def _free(whole: _Whole, instructions: list[Instruction], fetched: list[int]) -> None:
    """Behind which instruction each value is dropped: the last one that needs its numbers, not only its shape."""
    last: dict[int, int] = {}
    for index, one in enumerate(instructions):
        last.update(dict.fromkeys(_needed(one), index))
    for slot in (*(whole.persistent - whole.passing), *fetched):
        last.pop(slot, None)
    for slot, index in last.items():
        instructions[index].frees += (slot,)


def _needed(one: Instruction) -> list[int]:
    """Slots whose numbers an operator reads or makes; of others it needs the shape alone (`no_need_buffer`)."""
    step, found = one.step, list[int]()
    for place, slots in enumerate(step.takes):
        if slots and not one.operation.is_no_need_buffer(one.operation.operand_source(place)):
            found += slots
    return [*found, *(slot for slots in step.gives for slot in slots)]


def _tell_phases(instructions: list[Instruction]) -> None:
    """Which part of a step each belongs to: gradients begin at the first of their operators, an update behind the last
    one before an optimizer's."""
    updates = [index for index, one in enumerate(instructions) if _LEARNS in one.step.operand_names]
    gradients = [index for index, one in enumerate(instructions) if one.step.name.rstrip("_").endswith("_grad")]
    if not updates:
        return
    first = gradients[0] if gradients else updates[0]
    behind = max((index for index in gradients if index < updates[0]), default=updates[0] - 1)
    for index, one in enumerate(instructions):
        one.phase = "forward" if index < first else "backward" if index <= behind else "update"
