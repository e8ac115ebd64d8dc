"""Low precision in a program that a Paddle for CPUs builds: float64 stands for it, of which a CPU has every kernel.

Paddle refuses an operator of a type that its build has no kernel of, and its CPU kernels know little of float16 and
bfloat16. What builds the program goes on to read the low type of its values, so that master weights, scalers and
promotions are decided as on a GPU; the casts of `auto_cast` are put in by the lists that Paddle has set.
What is lowered has the low type again (`lowering`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import paddle
from paddle import _C_ops
from paddle.amp.auto_cast import AMP_LEVEL, _update_list, amp_global_state
from paddle.base import core

from ...eager import amp
from ...graphs import gpu_operators
from ...graphs.low_precision import NO_CAST, OUT_OF_PLACE, STAND_IN
from ...kernels.registry import rule_of
from ...memory.dtypes import DATA_TYPE, LOW_PRECISION, VAR_TYPE, name_of
from ..patch import modules

_core: Any = core  # whose stubs leave out mixed precision
_VALUE = paddle.pir.Value
_TYPED: tuple[Any, ...] = tuple(
    kind for kind in vars(core.pir).values() if isinstance(kind, type) and "dtype" in vars(kind)
)
"""Values, and their types."""
_LEVELS = {AMP_LEVEL.O1: "O1", AMP_LEVEL.O2: "O2", AMP_LEVEL.OD: "OD"}
_TYPES: tuple[type, ...] = (core.DataType, core.VarDesc.VarType, str)
_SYMBOLS = {
    **{f"__{side}{sign}__": name for side in ("", "r") for sign, name in (
        ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("pow", "elementwise_pow"),
        ("floordiv", "floor_divide"),
    )},
    "__mod__": "remainder", "__matmul__": "matmul", "__eq__": "equal", "__ne__": "not_equal", "__lt__": "less_than",
    "__le__": "less_equal", "__gt__": "greater_than", "__ge__": "greater_equal",
}  # fmt: skip
"""Methods of values that hold their operators in closures."""
_NAMES = frozenset({*LOW_PRECISION, STAND_IN})
_softmax: Callable[..., Any] = _C_ops.softmax


def _masked_softmax(x: Any) -> Any:
    """On a GPU it keeps and returns what softmax does."""
    made = _softmax(x, -1)
    made.get_defining_op().set_bool_attr(OUT_OF_PLACE, True)
    return made


_ON_GPUS: dict[str, Callable[..., Any]] = {"fused_softmax_mask_upper_triangle": _masked_softmax}
"""Stand for operators that a CPU has no kernel of."""


class StandIn:
    """What stands for what in the programs that one session builds.

    Attributes:
        low: the low type that float64 stands for; None where none was met.
        is_clear: whether nothing else is float64 and there is one low type alone.
        executors: those that run such programs.
    """

    def __init__(self) -> None:
        self.low: str | None = None
        self.is_clear = True
        self.executors: list[Any] = []
        self._met: set[str] = set()

    def of(self, executor: Any) -> str | None:
        """The low type that float64 stands for in the programs of an executor."""
        return self.low if any(one is executor for one in self.executors) else None

    def meet(self, name: str) -> None:
        """A type is asked for: it stands for itself, unless it is low."""
        self._met.add(name)
        low = self._met & LOW_PRECISION
        self.low = self.low or next(iter(low), None)
        self.is_clear = not low or len(self._met) == 1

    @contextmanager
    def building(self, target: str) -> Iterator[None]:
        """What is built inside is built so, for a GPU: on a CPU a program has what its kernels have."""
        if target != "gpu":
            yield
            return
        shown = {kind: vars(kind)["dtype"] for kind in _TYPED}
        replaced = {id(one): self._operator(name, one) for name, one in _operators()}
        symbols, vjp = [(sign, getattr(_VALUE, sign)) for sign in _SYMBOLS], _core.call_vjp
        places = [
            (owner, name, value)
            for owner in (*modules(), _VALUE)
            for name, value in list(vars(owner).items())
            if id(value) in replaced
        ]

        try:
            for owner, name, value in places:
                setattr(owner, name, replaced[id(value)])
            for sign, own in symbols:
                setattr(_VALUE, sign, self._symbol(_SYMBOLS[sign], own))
            for kind, own in shown.items():
                kind.dtype = property(self._shown(own))
            _core.call_vjp = partial(self._gradient, vjp)
            yield
        finally:
            _core.call_vjp = vjp
            for kind, own in shown.items():
                kind.dtype = own
            for owner, name, value in (*places, *((_VALUE, sign, own) for sign, own in symbols)):
                setattr(owner, name, value)

    def _shown(self, own: Any) -> Callable[[Any], Any]:
        def dtype(one: Any) -> Any:
            found = own.__get__(one, type(one))
            return DATA_TYPE[self.low] if self.low and found == paddle.float64 else found

        return dtype

    def _operator(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        if gpu_operators.form_of(name) is not None:
            original = self._built(name, original)
        original = _ON_GPUS.get(name, original)

        def operator(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = self._meant(args), self._meant(kwargs)
            active = _core._get_amp_attrs()
            level = active._amp_level
            if level == AMP_LEVEL.O0:
                return original(*self._promoted(name, args), **kwargs)
            policy = _policy(_LEVELS[level], active)
            active._amp_level = AMP_LEVEL.O0  # casts are no calls of the program
            try:
                args, kwargs = amp.cast_by(policy, name, args, kwargs)
                return original(*self._promoted(name, args), **kwargs)
            finally:
                active._amp_level = level

        return operator

    def _built(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """What only a GPU has a kernel of, put into the program without Paddle's builder."""

        def built(*args: Any) -> Any:
            try:
                return gpu_operators.build(name, args, self._low_to)
            except NotImplementedError:
                return original(*args)  # which says that it has no kernel

        return built

    def _gradient(self, original: Callable[..., Any], operation: Any, *args: Any) -> Any:
        """`call_vjp`."""
        if gpu_operators.form_of(operation.name().partition(".")[2]) is None:
            return original(operation, *args)
        return gpu_operators.gradient(self._low_to, operation, *args)

    def _low_to(self, dtype: str) -> str:
        return STAND_IN if dtype == self.low else dtype

    def _symbol(self, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        cast = self._operator(name, own)

        def symbol(value: Any, other: Any) -> Any:
            return (cast if isinstance(other, _VALUE) else own)(value, other)

        return symbol

    def _promoted(self, name: str, args: Any) -> Any:
        """Two types of numbers meet: the low one is cast, as the narrower one."""
        if self.low is None or (promotion := rule_of(name.rstrip("_")).promotes) is None:
            return args
        types = [name_of(one.dtype) for one in args if isinstance(one, _VALUE) and one.initialized()]
        if not {self.low, "float32"} <= set(types):
            return args
        cast = amp.cast_to("float32", args)
        if promotion.takes_low and types == ["float32", self.low]:
            made, source = cast[1].get_defining_op(), args[1].get_defining_op()
            made.set_bool_attr(NO_CAST, True)
            made.op_role = source.op_role
        return cast

    def _meant(self, node: Any) -> Any:
        if isinstance(node, _TYPES):
            name = name_of(node) if not isinstance(node, str) else node.removeprefix("paddle.")
            if name not in _NAMES:
                return node
            self.meet(name)
            kinds = VAR_TYPE if isinstance(node, core.VarDesc.VarType) else DATA_TYPE
            return STAND_IN if isinstance(node, str) else kinds[STAND_IN]
        if isinstance(node, dict):
            return {name: self._meant(one) for name, one in node.items()}
        return tuple(map(self._meant, node)) if type(node) is tuple else node


def _operators() -> Iterator[tuple[str, Any]]:
    for name in dir(_C_ops):
        value = getattr(_C_ops, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, type):
            yield name, value


def _policy(level: str, active: Any) -> amp.Policy:
    white, black = _core._get_amp_op_list()
    return amp.Policy(level, active._amp_dtype, set(white), set(black), active._use_promote or level != "O2")


@contextmanager
def auto_casting(asked: Any) -> Iterator[None]:
    """`auto_cast` of an engine's strategy, as a Paddle for GPUs has it while the program of a layer is built."""
    if not asked.enable:
        yield
        return
    level, active = asked.level.upper(), _core._get_amp_attrs()
    before = active._amp_level, active._amp_dtype, active._use_promote, _core._get_amp_op_list()
    lists = _update_list(asked.custom_white_list, asked.custom_black_list, level, asked.dtype)
    active._amp_level = getattr(AMP_LEVEL, level)
    active._amp_dtype, active._use_promote = asked.dtype, asked.use_promote
    _core._set_amp_op_list(*lists)
    amp_global_state().amp_dtype = asked.dtype
    try:
        yield
    finally:
        active._amp_level, active._amp_dtype, active._use_promote = before[:3]
        _core._set_amp_op_list(*before[3])
