"""The traced runtime: what eager mode does with the user's operator calls, without data."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import paddle
from paddle.base import framework

from ..kernels.registry import rule_of
from ..kernels.rules import Number
from ..memory.arrays import Array, State, allocate
from ..memory.values import Computed
from . import promotions, sparse_gradients, whole_numbers
from .autograd import Backward
from .calls import Call, encode, overwritten_too, values_of
from .refusals import OVER_LEAVES, check_leaves
from .tensors import Tensors

_MOST_SIZES = 32
"""More numbers are no shape."""


class Runtime(Tensors):
    """Executes operator calls of the user's program on arrays that have storages and no data."""

    def call(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """One operator call, `function` being Paddle's own."""
        if self.convert is not None:
            args, kwargs = self.convert(name, args, kwargs)
        if self.resize is not None:
            args = self.resize(name, args)
        args = promotions.promoted(self, name, args)
        numbers = rule_of(name).numbers
        if numbers:
            args, kwargs = scalars(args, kwargs, numbers)
        tensors: list[Any] = []
        encoded, key = encode(args, tensors)
        encoded_kwargs, kwargs_key = encode(kwargs, tensors) if kwargs else ({}, ())
        if self.before_call is not None:
            self.before_call()
        states = [self.state(tensor) for tensor in tensors]
        may_be_sizes = len(tensors) > 1 and (numbers or tuple in map(type, key))  # as which a list is encoded
        if may_be_sizes and (plain := self._sizes(name, args, kwargs, numbers)) is not None:
            return self.call(name, function, *plain)
        metas = [(state.array.shape, state.array.dtype) for state in states]
        are_sparse = [state.array.rows is not None for state in states]
        if True in are_sparse:
            made = sparse_gradients.answer(self.ledger, name, args, tensors, states)
            if made is not None:
                return made
            metas = [(sparse_gradients.whole(state.array), state.array.dtype) for state in states]
        recording = framework.global_var._dygraph_tracer_._has_grad
        wants = [recording and not tensor.stop_gradient for tensor in tensors]
        flows = True in wants
        signature = (name, key, kwargs_key, tuple(metas), tuple(wants))
        try:
            template = self.inference.template(signature, (function, encoded, encoded_kwargs), metas, wants)
        except (TypeError, ValueError, RuntimeError) as problem:
            call = function, encoded, encoded_kwargs
            if flows and (made := whole_numbers.taken(self, signature, call, (tensors, states))) is not None:
                return made
            return self._otherwise(name, function, (args, kwargs), (tensors, states), problem)
        if flows and name.endswith("_") and wants != (more := overwritten_too(template, wants)):
            signature = (name, key, kwargs_key, tuple(metas), tuple(more))
            template = self.inference.template(signature, (function, encoded, encoded_kwargs), metas, more)
        if flows and name.endswith("_") and name not in OVER_LEAVES:
            check_leaves(self, template, tensors, states, wants)
        values = None
        if not flows and all(state.array.value is not None for state in states):
            given = values_of(encoded, states), values_of(encoded_kwargs, states)
            values = Computed(function, *given, draws=rule_of(name).draws)
        made = Call(self, template, tensors, states).run(name, values)
        return made if self.counted is None else self.counted.made(name, states, made)

    def _otherwise(
        self,
        name: str,
        function: Callable[..., Any],
        given: tuple[Any, Any],
        operands: tuple[list[Any], list[State]],
        problem: Exception,
    ) -> Any:
        """A call that was refused, with its operands as they may be meant; raises what refused it where there is no
        such way."""
        (args, kwargs), (tensors, states) = given, operands
        _without_frames(problem)
        if self.counted is not None and self.counted.followed(tensors, states):
            return self.call(name, function, args, kwargs)
        if (cast := promotions.alike(self, args, problem)) is not None:
            return self.call(name, function, cast, kwargs)
        plain = self._plain_numbers(args, tensors, states, is_alone=isinstance(problem, TypeError))
        if plain is None:
            raise problem
        return self._with_numbers(name, function, plain, kwargs, problem)

    def _sizes(self, name: str, args: Any, kwargs: Any, numbers: Mapping[int, Number]) -> tuple[Any, Any] | None:
        """The arguments with known tensors as numbers: those of a list of sizes, which are beside numbers there, and
        those that stand for an attribute.

        The program builder gives such a dimension the size that it has before (`paddle.expand(x, [batch, 26, 512])`).
        """
        if self.evaluate is None:
            return None
        changed, named = list(args), kwargs
        for place, arg in enumerate(args):
            if place in numbers:
                changed[place] = self._attribute(name, arg, place, numbers[place])
            elif place and isinstance(arg, (list, tuple)) and any(isinstance(one, int) for one in arg):
                changed[place] = self._each(arg)
        for place, number in numbers.items() if kwargs else ():
            if number.name in kwargs:
                named = {**named, number.name: self._attribute(name, kwargs[number.name], place, number)}
        is_same = all(map(operator.is_, changed, args)) and all(named[key] is kwargs[key] for key in kwargs)
        return None if is_same else (tuple(changed), named)

    def _attribute(self, name: str, given: Any, place: int, number: Number) -> Any:
        """What eager mode reads as an attribute (`CastPyArg2...`, pybind/eager_utils.cc, op_function_common.cc).

        Raises:
            SystemError, TypeError: it takes no such tensor.
        """
        if number.kind in {list, tuple} and isinstance(given, (list, tuple)):
            return self._each(given)
        if not isinstance(given, paddle.Tensor):
            return given
        array = self.state(given).array
        if number.kind is tuple and array.numel != 1:
            said = f"argument (position {place + 1}) must be list or tuple, but got Tensor"
            raise self.refused(TypeError(f"(InvalidType) {name}(): {said}"))
        if array.value is None or array.numel > _MOST_SIZES or (number.kind in {int, float} and array.numel != 1):
            return given
        known = self.evaluate(array.value) if self.evaluate is not None else None
        if known is None:
            return given
        if number.kind in {int, float}:
            if number.is_alone:
                self._as_number(name, known)
            return number.kind(known.item())
        found = known.reshape([-1]).tolist()
        if len(found) == 1 and not number.in_row:
            self._as_number(name, known)
        return [int(one) for one in found]

    def _as_number(self, name: str, known: Any) -> None:
        """Raise what eager mode comes to that asks numpy for a number: newer ones of numpy have none for a row."""
        try:
            int(known.numpy())
        except TypeError as problem:
            said = f"<built-in function {name}> returned a result with an exception set"
            raise self.refused(SystemError(said)) from problem

    def _each(self, sizes: Any) -> Any:
        plain = [self._plain_number(one) for one in sizes]
        return sizes if all(map(operator.is_, plain, sizes)) else plain

    def _plain_number(self, one: Any) -> Any:
        if not isinstance(one, paddle.Tensor) or self.evaluate is None:
            return one
        array = self.state(one).array
        return one if array.value is None or array.numel != 1 else self.evaluate(array.value).item()

    def _plain_numbers(self, args: Any, tensors: list[Any], states: list[State], *, is_alone: bool) -> Any:
        """Known one-element tensors as numbers: eager mode takes those for scalars, the program builder does not. The
        first tensor is an operand, unless there is no other (`paddle.randperm(count)`).

        Args:
            is_alone: whether they may be arguments of their own, and not only entries of a list of sizes.
        """
        operands = len(tensors) > 1
        known = {
            id(tensor): state.array.value
            for tensor, state in zip(tensors[operands:], states[operands:], strict=True)
            if state.array.value is not None and state.array.numel == 1
        }
        if not known or self.evaluate is None:
            return None
        evaluate, used = self.evaluate, []

        def plain(arg: Any) -> Any:
            if id(arg) not in known:
                return arg
            used.append(arg)
            return evaluate(known[id(arg)]).item()

        changed = []
        for place, arg in enumerate(args):
            if place and isinstance(arg, (list, tuple)):
                changed.append([plain(one) for one in arg])
            else:
                changed.append(plain(arg) if is_alone else arg)
        return tuple(changed) if used else None

    def _with_numbers(self, name: str, function: Callable[..., Any], args: Any, kwargs: Any, problem: Exception) -> Any:
        """The call with numbers for tensors, which was refused without. Where Paddle refuses it still, it said so of
        what the program wrote."""
        try:
            return self.call(name, function, args, kwargs)
        except (TypeError, ValueError, RuntimeError):
            if self.is_refusal(problem):
                raise problem from None
            raise

    def backward(self, tensors: list[Any], grads: list[Any], retain_graph: bool) -> None:
        """`tensor.backward()`, `paddle.autograd.backward`."""
        with self.ledger.during("backward"):
            Backward(self, retain_graph=retain_graph).run(self.roots(tensors, grads))

    def roots(self, tensors: list[Any], grads: list[Any]) -> list[tuple[State, Any, Array]]:
        """(state, tensor, gradient) for each tensor that a backward pass starts from.

        The gradient is new in any case: ones, or a copy of the given one (GradTensorHolder::CopyValueFromTensor).
        """
        found = []
        for tensor in tensors:
            state = self.state(tensor)
            if state.node is None and tensor.stop_gradient:
                continue
            operation = self.ledger.begin("full_like")
            array = allocate(self.ledger, state.array.shape, state.array.dtype, "full_like")
            self.ledger.finish(operation)
            found.append((state, tensor, array))
        return found


def scalars(args: Any, kwargs: Any, numbers: Mapping[int, Number]) -> tuple[Any, Any]:
    """The arguments with numbers of the kind that a Scalar is where a call gives another one, or text: eager mode cuts
    what is no whole number, and takes of text the number that it begins with, or 0 (`CastPyArg2Scalar`); the program
    builder takes neither."""
    wanted = {place: number for place, number in numbers.items() if number.kind in _SCALARS and not number.is_alone}
    places = [place for place in wanted if place < len(args) and type(args[place]) in _SCALARS[wanted[place].kind]]
    names = [one for one in wanted.values() if type(kwargs.get(one.name)) in _SCALARS[one.kind]]
    if places:
        args = tuple(_cut(arg, wanted[place].kind) if place in places else arg for place, arg in enumerate(args))
    if names:
        kwargs = {**kwargs, **{one.name: _cut(kwargs[one.name], one.kind) for one in names}}
    return args, kwargs


_SCALARS = {int: (float, str), float: (str,)}
"""What a Scalar of a kind is cut from."""


def _cut(given: float | str, kind: type) -> Any:
    if isinstance(given, str):
        found = _BEGINS.match(given)
        given = float(found[0]) if found else 0.0
    return kind(given) if math.isfinite(given) else given


_BEGINS = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def _without_frames(problem: BaseException) -> None:
    """Let go of the frames that a refusal came through: one of them has it in a variable, so that they, their callers
    and all that these hold would stay until Python looks for circles, and the call may well go on."""
    told: BaseException | None = problem
    while told is not None:
        told.__traceback__, told = None, told.__context__
