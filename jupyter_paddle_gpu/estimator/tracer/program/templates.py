"""What one call of a Paddle operator does, worked out once from Paddle's own program builder and then reused.

A template is a tiny program over numbered slots: the tensor arguments first, then every result. Steps are the operators
that Paddle builds for the call (a type promotion adds a cast); each step knows its gradient operators.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field, replace
from typing import Any

from ..kernels.registry import rule_of
from ..kernels.rules import Meta, Rule

Operand = int | tuple[int, ...] | None
"""A slot, the slots of a list of tensors, or nothing (absent, or an attribute that Paddle passes as a constant)."""


def slots_of(operand: Operand) -> tuple[int, ...]:
    """The slots of an operand as a tuple."""
    if operand is None:
        return ()
    return (operand,) if isinstance(operand, int) else operand


@dataclass
class _Operator:
    """What a step and a gradient operator have in common.

    `operands` and `results` are slots; `inplace` maps a result's index to the operand whose memory it takes: a step's
    overwrites it, a gradient operator's where nothing else holds it.
    """

    name: str
    operands: tuple[Operand, ...]
    operand_names: tuple[str, ...]
    results: tuple[Operand, ...]
    attrs: dict[str, Any]
    inplace: dict[int, int]
    rule: Rule = field(init=False, repr=False, compare=False)
    """What is known of the kernel."""
    takes: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    """The slots of each operand."""
    gives: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    """The slots of each result."""

    def __post_init__(self) -> None:
        self.rule = rule_of(self.name)
        self.takes, self.gives = tuple(map(slots_of, self.operands)), tuple(map(slots_of, self.results))


@dataclass
class GradStep(_Operator):
    """One gradient operator; `needed` tells for each operand whether its data (not only its shape) is used."""

    needed: tuple[bool, ...] = field(kw_only=True)


@dataclass
class Gradient:
    """The gradient of one step.

    `incoming` maps the slot of a result to the slot of its gradient; `outgoing` maps the slot of an operand to the slot
    of the gradient computed for it; `saved` are forward slots whose data is kept until then.
    """

    steps: list[GradStep]
    incoming: dict[int, int]
    outgoing: dict[int, int]
    saved: frozenset[int]
    metas: dict[int, Meta]
    parts: dict[frozenset[int], Gradient] = field(default_factory=dict)
    """What `only` made of it."""
    lists: dict[frozenset[int], Gradient] = field(default_factory=dict)
    """What `without` made of it."""
    origin: Any = None
    """The call that it belongs to and the way from there, for gradients of it (`Inference.deeper`)."""
    deeper: dict[Any, Gradient | None] = field(default_factory=dict)
    """Gradients of its operators that were asked for."""
    beside: dict[int, int] = field(default_factory=dict)
    """What an operator that takes a list (`concat`) makes for members to which no gradient flows: {slot of the member:
    slot of its gradient}. Eager mode leaves it out where the member has a place in the graph (`without`)."""
    absent: frozenset[int] = frozenset()
    """The slots of those that are left out."""
    gives_all: bool = False
    """Whether each of its operators runs, also where its result is wanted by nobody."""
    empty: frozenset[int] = frozenset()
    """Gradients that come in for what was left out: there is nothing of which zeros could be made."""
    taken: set[int] = field(init=False, repr=False, compare=False)
    """The slots that one of the gradient operators takes."""
    reads: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Those but for the gradients that come in."""
    passed: set[int] = field(init=False, repr=False, compare=False)
    """Those and the slots that are handed on as they came (`assign_out_` has no gradient operator)."""

    def __post_init__(self) -> None:
        self.taken = {slot for step in self.steps for slots in step.takes for slot in slots}
        self.reads = tuple(slot for slot in self.taken if slot not in self.incoming.values())
        self.passed = self.taken.union(self.outgoing.values())

    def only(self, wanted: frozenset[int]) -> Gradient:
        """The gradient without what flows to other operands than the wanted ones: their results are not computed."""
        found = self.parts.get(wanted)
        if found is None:
            others = set() if self.gives_all else self.outgoing.keys() - wanted
            idle = {self.outgoing[operand] for operand in others} - self.taken
            steps = [
                replace(step, results=tuple(_without(operand, idle) for operand in step.results)) for step in self.steps
            ]
            outgoing = {operand: slot for operand, slot in self.outgoing.items() if operand in wanted}
            found = self.parts[wanted] = replace(self, steps=steps, outgoing=outgoing, parts={}, deeper={}, lists={})
        return found

    def without(self, members: frozenset[int]) -> Gradient:
        """The gradient without what it has for these members of a list, to which no gradient flows."""
        found = self.lists.get(members)
        if found is None:
            absent = frozenset(self.beside[member] for member in members)
            steps = [
                replace(step, results=tuple(_without(operand, absent) for operand in step.results))
                for step in self.steps
            ]
            found = self.lists[members] = replace(self, steps=steps, absent=absent, parts={}, deeper={}, lists={})
        return found


@dataclass
class Step(_Operator):
    """One operator of the call."""

    gradient: Gradient | None = field(default=None, kw_only=True)


@dataclass
class Template:
    """The program of a call. `returned` has the structure of the call's result with slots in place of tensors."""

    arguments: int
    steps: list[Step]
    metas: dict[int, Meta]
    returned: Any
    is_dynamic: bool = False
    """Whether a result's shape hangs on values."""
    is_checked: bool = False
    """Whether a call went through: what kernels refuse is looked at once."""
    number: Any = field(init=False, repr=False, compare=False)
    """What a step fills its result with, or leaves at least; None where none does."""
    _written: dict[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = (step.attrs[key] for step in self.steps for key in ("value", "min") if key in step.attrs)
        self.number = next(given, None)
        over = (
            (step.results[index], step.operands[operand])
            for step in reversed(self.steps)
            for index, operand in reversed(step.inplace.items())
        )
        self._written = {
            result: source
            for result, source in over
            if isinstance(result, int) and isinstance(source, int) and source < self.arguments
        }

    def overwritten(self, slot: int) -> int | None:
        """The argument whose tensor object a returned slot is, for an operator that works in place."""
        return slot if slot < self.arguments else self._written.get(slot)


def _without(operand: Operand, idle: Set[int]) -> Operand:
    if isinstance(operand, tuple):
        return tuple(slot for slot in operand if slot not in idle)
    return None if operand in idle else operand
