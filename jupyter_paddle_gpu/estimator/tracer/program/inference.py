"""Builds templates: one operator call in a scratch program gives shapes (InferMeta) and gradient operators, no data.

What was built in the program (`scratch`) is read in `reader`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any

from ..kernels.registry import rule_of
from ..kernels.rules import Asked, Meta
from ..memory.dtypes import FLOATING, LOW_PRECISION
from ..memory.operators import ORIGINAL_OPS
from ..session import running
from .asking import Types, refusal, refused_backward, refused_type
from .patterns import at_origin, is_made_of, pattern_of, pattern_of_draw, redrawn, resized
from .precision import retyped
from .reader import Declared, Reader
from .scratch import Scratch
from .templates import Gradient, Template

_SAFE_ORDER = 2
"""Beyond it, the program builder crashes on gradients of operators with absent operands."""
_SMALL = 1 << 20
"""Numbers that an operator may really make to say what it has against its arguments."""
_OF_SHAPES = "Broadcast dimension mismatch"
"""What builder and eager mode say by the same check (`BroadcastDimsArrays`)."""
_BY_TYPES = {Asked.TYPE_OF_ONE: 1, Asked.TYPES_OF_TWO: 2}
"""With how many tensors those are called of which types are all that eager mode has to be asked."""
_MIXED = 2
"""Types of floating-point numbers from which on a call has operands of different widths."""
_MISSES_A_TENSOR = re.compile(r"must be (Value|Vector)")


class Argument:
    """Stands for a tensor in an encoded call: its number among the tensor arguments."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


_OF_ATTRIBUTES = ("(InvalidArgument)", "(InvalidType)")
"""What Paddle begins with where it refuses an attribute."""


class Inference:
    """Templates by call signature, each built once."""

    def __init__(self) -> None:
        self._cache: dict[Any, Template] = {}
        self._taken: set[Any] = set()
        """Functions of which types tell whether eager mode takes them, with those that it has taken."""
        self._by_pattern: dict[Any, tuple[Template, tuple[int, ...]]] = {}
        """Of operators that keep sizes what was built first, with the sizes that it was built for."""
        self._declared = Declared()
        self._scratch = Scratch()

    def template(
        self,
        key: Any,
        call: tuple[Callable[..., Any], Any, Any],
        metas: list[Meta],
        wants: list[bool],
    ) -> Template:
        """The template of a call (function, args, kwargs) where `Argument(i)` stands for a tensor of `metas[i]`.

        `wants[i]` tells whether a gradient flows to tensor i. Raises what Paddle raises for wrong arguments.
        """
        name = key[0]
        if moved := at_origin(name, call[1], metas):
            given, known = list(call[1]), list(key[1])
            for place, numbers in moved.items():
                given[place], known[place] = numbers, tuple(numbers)
            call, key = (call[0], tuple(given), call[2]), (name, tuple(known), *key[2:])
        key = (running().of(Types).key, key)
        try:
            found = self._cache.get(key)
        except TypeError:  # an unhashable argument: not cached
            return self._new(name, call, metas, wants)
        if found is None:
            keeps_sizes = rule_of(name).keeps_sizes
            made = self._of_pattern(key, call, metas, wants) if keeps_sizes else self._new(name, call, metas, wants)
            found = self._cache[key] = made
        return found

    def _of_pattern(
        self, key: Any, call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], wants: list[bool]
    ) -> Template:
        """The template of a call whose sizes are equal where those of another one are."""
        is_low, (name, args, kwargs, _, wanted) = key
        alike: Any
        keeps = rule_of(name).keeps_sizes
        fixed = keeps(args, metas) if callable(keeps) else frozenset()
        if metas:
            found = None if fixed is None else pattern_of(metas, fixed)
            if found is None:
                return self._new(name, call, metas, wants)
            pattern, sizes = found
            alike = is_low, name, args, kwargs, pattern, wanted
        elif (drawn := pattern_of_draw(args)) is not None:
            sizes, alike = args[0], (is_low, name, drawn, kwargs)
        else:
            return self._new(name, call, metas, wants)
        if alike in self._by_pattern:
            template, before = self._by_pattern[alike]
            if not metas:
                return redrawn(template, sizes)
            return resized(template, dict(zip(before, sizes, strict=True)), (call, metas, wants))
        template = self._new(name, call, metas, wants)
        own = (metas[operand][0][place] for operand, place in fixed or ())
        if is_made_of(template, (*sizes, *own)):
            self._by_pattern[alike] = template, sizes
        return template

    def _new(
        self, name: str, call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], wants: list[bool]
    ) -> Template:
        """A template, where neither eager mode nor the program builder refuses the call."""
        _check_known(name, call)
        asked = rule_of(name).asked
        is_exported = running().of(Types).is_exported
        is_asked = bool(metas) and asked not in {Asked.IF_REFUSED, Asked.TYPES_ALONE} and not is_exported
        by_type = _BY_TYPES.get(asked) == len(metas)
        kind = (name, tuple(dtype for _, dtype in metas), running().of(Types).low_as_float32) if by_type else None
        if is_asked and kind not in self._taken:
            self._ask(name, call, metas)
            if kind is not None:
                self._taken.add(kind)
        try:
            function, args, kwargs = call
            template = self._typed((function, (*args, *rule_of(name).builder_reads), kwargs), metas, wants)
        except Exception as problem:
            if is_exported:
                raise running().refused(problem) from None
            # The builder may refuse what eager mode takes; where it misses a tensor, eager mode runs nothing either.
            if metas or _MISSES_A_TENSOR.search(str(problem)) or _is_small(*call[1:]):
                self._ask(name, call, metas, problem)
            raise
        if not is_exported:
            self._ask_of_types(name, call, metas)
        return template

    def _ask_of_types(self, name: str, call: tuple[Callable[..., Any], Any, Any], metas: list[Meta]) -> None:
        """Raise what a kernel has against numbers of different widths: most look at the first operand's type and find
        out about the others when they read them, which is behind everything that tensors without memory are asked. So
        too against low precision that a CPU really meets, for which few kernels are registered there. Not of operands
        that a rule says how to read: `refusals.check` tells of those, and `warpctc` of one label ends the process."""
        read = rule_of(name).reads_as
        widths = {dtype for place, (_, dtype) in enumerate(metas) if dtype in FLOATING and place not in read}
        is_low = not running().of(Types).low_as_float32 and not LOW_PRECISION.isdisjoint(widths)
        types = ("types", name, tuple(dtype for _, dtype in metas), running().of(Types).low_as_float32)
        if (len(widths) < _MIXED and not is_low) or types in self._taken:
            return
        function, args, kwargs = call
        problem = refused_type((ORIGINAL_OPS.get(name, function), args, kwargs), metas, _fill)
        if problem is not None:
            raise running().refused(problem)
        self._taken.add(types)

    def _ask(
        self, name: str, call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], built: Exception | None = None
    ) -> None:
        """Raise what eager mode has against a call. `built`: what the program builder said already."""
        function, args, kwargs = call
        asked = (ORIGINAL_OPS.get(name, function), args, kwargs)
        if (
            metas and rule_of(name).asked is Asked.TYPES_ALONE
        ):  # of those the builder checks shapes and attributes as eager mode does
            problem = refused_type(asked, metas, _fill)
            if problem is None and built is not None and str(built).startswith(_OF_ATTRIBUTES):
                problem = built
        else:
            one = _first_entry(metas) if rule_of(name).asked is Asked.FIRST_ENTRY else metas
            problem = refusal(asked, one, _fill)
            if problem is not None and one is not metas:  # the sentence names shapes
                problem = refusal(asked, metas, _fill)
            if problem is None and built is not None and metas:
                problem = refused_type(asked, metas, _fill)
                if problem is None and _OF_SHAPES in str(built):  # behind what a kernel of truths reads
                    problem = built
        if problem is not None:
            raise running().refused(problem)

    @staticmethod
    def refused_backward(
        call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], wants: list[bool]
    ) -> Exception | None:
        """What Paddle says of a backward pass through a call."""
        return refused_backward(call, metas, wants, _fill)

    def _typed(self, call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], wants: list[bool]) -> Template:
        """Low precision types are stood for by float32 while building: a CPU wheel knows few kernels for them."""
        if not any(dtype in LOW_PRECISION for _, dtype in metas):
            return self._build(call, metas, wants)
        substitutes = [(shape, "float32" if dtype in LOW_PRECISION else dtype) for shape, dtype in metas]
        return retyped(self._build(call, substitutes, wants), metas)

    def _build(self, call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], wants: list[bool]) -> Template:
        return self._scratch.build(lambda block: self._read(block, call, metas, wants))

    def _read(
        self, block: Any, call: tuple[Callable[..., Any], Any, Any], metas: list[Meta], wants: list[bool]
    ) -> Template:
        values = [self._scratch.place(shape, dtype, want) for (shape, dtype), want in zip(metas, wants, strict=False)]
        first = block.num_ops()
        function, args, kwargs = call
        returned = function(*_fill(args, values), **_fill(kwargs, values))
        reader = Reader(values, returned, self._declared)
        for operation in block.ops[first:]:
            reader.read(operation)
        for step, operation in reader.differentiable(wants):
            step.gradient = reader.differentiate(step, operation, block, self._scratch.place)
            if step.gradient is not None:
                step.gradient.origin = (call, metas, wants, ((reader.steps.index(step), None),))
        fixed = all(step.rule.sized_here for step in reader.steps)
        dynamic = not fixed and any(size < 0 for shape, _ in reader.metas.values() for size in shape)
        return Template(len(metas), reader.steps, reader.metas, reader.structure(returned), dynamic)

    def deeper(self, gradient: Gradient, index: int, wanted: frozenset[int]) -> Gradient | None:
        """The gradient of one of a gradient's operators, for gradients of gradients; None where it has none.

        Args:
            gradient: of a step, or a deeper one.
            index: of the operator among its steps.
            wanted: operands of the step whose gradients it computes.
        """
        if gradient.origin is None or gradient.steps[index].rule.crashes:
            return None
        if (index, wanted) not in gradient.deeper:
            call, metas, wants, path = gradient.origin
            found = self._scratch.build(
                lambda block: self._follow(block, (call, metas, wants), (*path, (index, wanted)))
            )
            if found is not None:
                found.origin = (call, metas, wants, (*path, (index, wanted)))
                found.empty = frozenset(slot for made, slot in found.incoming.items() if made in gradient.absent)
            gradient.deeper[index, wanted] = found
        return gradient.deeper[index, wanted]

    def _follow(self, block: Any, call: Any, path: Any) -> Gradient | None:
        (function, args, kwargs), metas, wants = call
        values = [self._scratch.place(shape, dtype, want) for (shape, dtype), want in zip(metas, wants, strict=False)]
        first = block.num_ops()
        returned = function(*_fill(args, values), **_fill(kwargs, values))
        reader = Reader(values, returned, self._declared)
        for operation in block.ops[first:]:
            reader.read(operation)
        found: Gradient | None = None
        pairs: dict[int, Any] = {
            reader.steps.index(step): (step, operation) for step, operation in reader.differentiable(wants)
        }
        for index, wanted in path:
            if wanted is not None:
                assert found is not None
                pairs = dict(enumerate(zip(found.only(wanted).steps, reader.gradient_operations, strict=True)))
            step, operation = pairs[index]
            if len(path) > _SAFE_ORDER and any(operand is None for operand in step.operands):
                return None
            found = reader.differentiate(step, operation, block, self._scratch.place)
            if found is None:
                return None
        return found


def _check_known(name: str, call: tuple[Callable[..., Any], Any, Any]) -> None:
    """Paddle's reading of a type (`label.astype(logit.dtype)` below its own Python) does not come back with an
    exception from a value that only says that it is not known: it ends the process."""
    for given in (*call[1], *call[2].values()):
        if getattr(type(given), "is_not_known", False):
            given.__array__()  # raises what is to be known
            raise TypeError(f"{name}() was given {given!r} for an attribute")


def _is_small(args: Any, kwargs: Any) -> bool:
    """Whether an operator without tensors, called with these arguments, makes no more than a few numbers: as many as
    a shape among them says, or one of them."""
    return all(_product(one) <= _SMALL for one in (*args, *kwargs.values()))


def _product(node: Any) -> int:
    if isinstance(node, (list, tuple)):
        return prod(map(_product, node))
    return max(abs(node), 1) if isinstance(node, int) else 1


def _first_entry(metas: list[Meta]) -> list[Meta]:
    """The first operand with one entry along its leading dimension; the same list where it has no more."""
    shape, dtype = metas[0]
    return [((1, *shape[1:]), dtype), *metas[1:]] if shape and shape[0] > 1 else metas


def _fill(node: Any, values: list[Any]) -> Any:
    if isinstance(node, Argument):
        return values[node.index]
    if isinstance(node, (list, tuple)):
        return type(node)(_fill(item, values) for item in node)
    if isinstance(node, dict):
        return {key: _fill(item, values) for key, item in node.items()}
    return node
