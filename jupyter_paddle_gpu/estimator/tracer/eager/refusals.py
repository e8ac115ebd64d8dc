"""What kernels refuse that the program builder does not look at and that eager mode says only of tensors with memory.

Their rules declare it (`Rule.reads_as`, `Rule.refuses`); numbers are looked at where they are known for certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import paddle

from .. import call_stack
from ..kernels.bounds import LikelyError, UncheckedError
from ..kernels.rules import Arrays, Attributes, Rule, Statistics
from ..memory.arrays import Array, State
from ..memory.dtypes import LOW_PRECISION
from ..memory.values import DRAWS, Sample, is_random
from ..program.templates import Template
from ..session import paused
from .tensors import Tensors

LIMIT = 1 << 22
"""Bytes above which numbers are not looked at."""


def check(runtime: Tensors, rule: Rule, attrs: Attributes, operands: Arrays, *, types: bool = True) -> None:
    """Raise what a kernel raises for these operands.

    Args:
        types: whether to look at types and at numbers drawn at random as well: once for a call signature.
    """
    problem = _of_types(rule.reads_as, operands) if types else None
    if problem is None and rule.refuses is not None:
        known = Numbers(runtime, draws=types)
        problem = rule.refuses(attrs, operands, known)
        if known.has_drawn:
            drawn = [problem, *(rule.refuses(attrs, operands, known) for _ in range(DRAWS))]
            problem = _of_all(runtime, drawn)
    if isinstance(problem, LikelyError):
        cell, line = call_stack.place()
        runtime.note("refused_likely", cell=cell + 1, line=line, error=f"ValueError: {problem}", op=problem.maker)
    elif isinstance(problem, UncheckedError):
        cell, line = call_stack.place()
        runtime.note("index_unchecked", cell=cell + 1, line=line, index=problem.index, size=problem.size)
    elif problem is not None:
        raise runtime.refused(problem)


def _of_all(runtime: Tensors, drawn: list[Exception | None]) -> Exception | None:
    """What every draw is refused with. Where only some are, a step may go well, and the training ends by one of the
    next: that is told."""
    refused = [problem for problem in drawn if problem is not None]
    is_unchecked = any(isinstance(problem, UncheckedError) for problem in refused)
    if refused and not is_unchecked and len(refused) < len(drawn):
        cell, line = call_stack.place()
        error = f"{type(refused[0]).__name__}: {refused[0]}"
        runtime.note("refused_by_chance", cell=cell + 1, line=line, error=error, refused=len(refused), of=len(drawn))
        return None
    return refused[0] if refused else None


_LEAF = "(InvalidArgument) Leaf {word} ({name}) that doesn't stop gradient can't use inplace strategy."
OVER_LEAVES = frozenset(("assign_out_", "exponential_"))
"""Operators in place that write over such leaves as well (measured: `paddle.assign` to a parameter)."""


def check_leaves(runtime: Tensors, template: Template, tensors: list[Any], states: list[State], wants: Any) -> None:
    """Raise what eager mode raises where an operator would write over a leaf whose gradient is asked for
    (`EagerUtils::CheckInplace`)."""
    written = (step.operands[place] for step in template.steps for place in step.inplace.values())
    for slot in written:
        if isinstance(slot, int) and slot < len(tensors) and wants[slot] and states[slot].node is None:
            raise runtime.refused(ValueError(_LEAF.format(word="Var", name=_name(tensors[slot]))))


def check_leaf(runtime: Tensors, tensor: Any) -> None:
    """Raise what `tensor[index] = value` says first of all of a leaf whose gradient is asked for
    (`tensor__setitem_dygraph`)."""
    if paddle.is_grad_enabled() and not tensor.stop_gradient and runtime.state(tensor).node is None:
        raise runtime.refused(ValueError(_LEAF.format(word="Tensor", name=_name(tensor))))


def _name(tensor: Any) -> str:
    """What a tensor is called; a number of its own it is given by nobody but who asks for its name."""
    return "" if tensor.name.startswith("eager_tmp_") else str(tensor.name)


_WITHOUT_META = frozenset(
    ("bernoulli", "empty", "eye", "full_like", "gaussian", "linspace", "multinomial", "one_hot", "randint", "randperm",
     "uniform")
)  # fmt: skip
"""Operators without a gradient: eager mode gives their results nothing of autograd's (measured for each)."""
_OF_LEAVES = frozenset(("arange", "data", "full", "parameter", "to_tensor"))
"""What a tensor is made by that eager mode takes for a leaf, although its gradient stops there (measured for each)."""

_TWICE = "(AlreadyExists) {word} contain duplicate tensor , please check {word} carefully."
_NO_META = "(Fatal) Null autograd_meta gotten from unsafe_autograd_meta()"
_NO_NODE = "(Fatal) There is no grad op for {word}:[{place}] or it's stop_gradient=True."


def check_asked(runtime: Tensors, outputs: list[Any], inputs: list[Any], without: list[Any]) -> None:
    """Raise what `paddle.grad` says of tensors that stand there twice, and of ones that no gradient flows through
    (`general_grad.h`: DuplicateCheck, `GetNoGradNodes`, `GetGraphInfoBetweenTargets`).

    Raises:
        RuntimeError: one of them stands there twice.
        SystemError: one of them was never told to want a gradient.
    """
    for word, tensors in (("inputs", inputs), ("outputs", outputs)):
        if len({id(tensor) for tensor in tensors}) < len(tensors):
            raise runtime.refused(RuntimeError(_TWICE.format(word=word)))
        if any(_maker(runtime, tensor) in _WITHOUT_META for tensor in tensors):
            raise runtime.refused(SystemError(_NO_META))
    for word, tensors in (("no_grad_vars", without), ("inputs", inputs)):
        for place, tensor in enumerate(tensors):
            maker = _maker(runtime, tensor)
            if maker in _WITHOUT_META:
                raise runtime.refused(SystemError(_NO_META))
            if maker:
                raise runtime.refused(SystemError(_NO_NODE.format(word=word, place=place)))


def has_place(runtime: Tensors, tensor: Any) -> bool:
    """Whether eager mode knows of a tensor that no gradient flows to it. What comes straight from an operator without
    a gradient has nothing of autograd's, and as a member of a list is given a gradient like the others
    (`GradNodeBase::SetGradOutMeta`)."""
    return _maker(runtime, tensor) not in _WITHOUT_META


def _maker(runtime: Tensors, tensor: Any) -> str:
    """What made a tensor whose gradient stops there; empty for one that has a place in the graph."""
    state = runtime.state(tensor)
    record = None if state.array.storage is None else state.array.storage.record
    if state.node is not None or not tensor.stop_gradient or tensor.persistable or record is None:
        return ""
    if record.op in _OF_LEAVES and not state.is_read:
        return ""
    return record.op if record.shape == state.array.shape else "a view"


def check_used(runtime: Tensors, outputs: list[tuple[Any, int]], inputs: list[tuple[Any, int]]) -> None:
    """Raise what `paddle.grad` raises where an input has no part in the outputs (`general_grad.h`)."""
    seen, queue = set(), [node for node, _ in outputs]
    while queue:
        node = queue.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        queue += [target for target, _ in getattr(node, "edges", {}).values()]
    unused = next((place for place, (node, _) in enumerate(inputs) if node is not None and node not in seen), None)
    if unused is not None:
        raise runtime.refused(
            ValueError(
                f"(InvalidArgument) The {unused}-th input does not appear in the backward graph. Please check the "
                "input tensor or set allow_unused=True to get None result."
            )
        )


def _of_types(reads_as: Mapping[int, int | str | Statistics], operands: Arrays) -> Exception | None:
    for place, wanted in reads_as.items():
        if place >= len(operands):
            continue
        dtype = _type_of(wanted, operands)
        for array in operands[place]:
            mixed = isinstance(wanted, Statistics) and not LOW_PRECISION.isdisjoint((dtype, array.dtype))
            if dtype and array.dtype != dtype and not mixed:
                return ValueError(
                    f"(InvalidArgument) The type of data we are trying to retrieve ({dtype}) does not match the type "
                    f"of data ({array.dtype}) currently contained in the container."
                )
    return None


def _type_of(wanted: int | str | Statistics, operands: Arrays) -> str:
    """The type that is meant, empty where the operand that has it is absent."""
    if isinstance(wanted, str):
        return wanted
    of = operands[wanted.place if isinstance(wanted, Statistics) else wanted]
    return of[0].dtype if of else ""


class Numbers:
    """Gives an array's numbers as one row of numpy, None where they are not known.

    Attributes:
        has_drawn: some of them were drawn at random, for this look alone.
    """

    def __init__(self, runtime: Tensors, *, draws: bool) -> None:
        self._runtime, self._draws = runtime, draws
        self.has_drawn = False

    def __call__(self, array: Array) -> Any:
        """The numbers of one."""
        value, evaluate = array.value, self._runtime.evaluate
        if value is None or evaluate is None or array.nbytes > LIMIT:
            return None
        if is_random(value):
            if not self._draws:
                return None
            value, self.has_drawn = Sample(value), True
        try:
            with paused():  # looked at inside the run, they would count as data that arrives there
                return evaluate(value).numpy().reshape(-1)
        except Exception:
            return None


def external(runtime: Tensors, problem: Exception, begin: str = "") -> OSError:
    """What Paddle makes of an exception in a hook (`PyTensorHook`, pybind/eager_utils.cc) or in a `PyLayer`
    (`py_layer_node.cc`).

    A call that cannot be, and what Paddle itself refuses inside, are refusals; the rest is judged by its cause
    (`notebook/stops.py`).
    """
    outer = OSError(f"(External) {begin}{type(problem).__name__}: {problem}")
    is_refusal = runtime.is_refusal(problem) or not call_stack.was_entered(problem)
    return runtime.refused(outer) if is_refusal else outer


def no_gradient(state: State, value: Any) -> Exception | None:
    """What is said of a gradient that is none, or of a tensor that has none of its own (tensor_properties_set_grad)."""
    if state.node is not None:
        return SystemError("(Fatal) Only leaf Tensor can be set grad.")
    if value is None or isinstance(value, paddle.Tensor):
        return None
    name = f"numpy.{type(value).__name__}" if type(value).__module__ == "numpy" else type(value).__name__
    return ValueError(f"(InvalidArgument) argument (position 1) must be Tensor, but got {name}")
