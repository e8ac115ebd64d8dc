"""Mixed precision: the casts that eager mode's auto_cast inserts, by the installed Paddle's own lists.

The rules are those of paddle/fluid/eager/amp_utils.h and eager_amp_auto_cast.h: operators of the white list run in the
low type, those of the black list in float32; others run in the low type only if no operand is float32, but for O2 with
`use_promote=False`, where they do in any case. Batch and layer normalisation look at their input alone and cast it
alone: their weights and statistics are float32 in any case.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import paddle
from paddle.amp import amp_lists
from paddle.amp.auto_cast import check_models, check_optimizers, need_keep_fp32, set_excluded_layers
from paddle.base import core

from ..kernels.registry import rule_of
from ..kernels.rules import Amp
from ..memory.arrays import ORIGINAL, allocate, known_state, new_tensor
from ..memory.dtypes import DATA_TYPE, LOW_PRECISION
from ..memory.operators import call
from .tensors import Tensors, current

_TENSORS = (paddle.Tensor, paddle.pir.Value)
_core: Any = core  # whose stubs leave out mixed precision


@dataclass
class Policy:
    """One active auto_cast region."""

    level: str
    dtype: str
    white: set[str] = field(default_factory=set)
    black: set[str] = field(default_factory=set)
    promotes: bool = True
    """Whether a float32 operand keeps an operator of neither list in float32."""


@dataclass
class Precision:
    """The level and the low type that are asked for in place of the program's own, and what was seen in it."""

    level: str | None = None
    dtype: str = "float16"
    seen: str | None = None
    given: str = "float32"
    """The low type of the program's last `auto_cast`, whether it was enabled or not, by which a scaler goes."""
    active: Policy | None = None
    """What `auto_cast` does where the program is; None: nothing."""
    master_grads: list[Any] = field(default_factory=list)
    """Parameters whose gradients become float32 after each backward pass (`decorate(master_grad=True)`)."""

    @property
    def level_of_run(self) -> str:
        """The level that was asked for, or the program's."""
        return self.level or self.seen or "off"


def policy(level: str, dtype: str, white: Any = None, black: Any = None, promotes: bool = True) -> Policy:
    """The lists for a level, with the program's additions."""
    base_white = set(amp_lists.white_list()[dtype][level])
    base_black = set(amp_lists.black_list()[dtype][level])
    if white:
        base_white |= set(white)
        base_black -= set(white)
    if black:
        base_black |= set(black)
        base_white -= set(black)
    return Policy(level, dtype, base_white, base_black, promotes or level != "O2")


def _target(active: Policy, name: str, tensors: list[Any]) -> str:
    name = rule_of(name).amp_name or name
    if name in active.white:
        return active.dtype
    if name in active.black:
        return "float32"
    if not active.promotes:
        return active.dtype
    return "float32" if any(_dtype(t) == "float32" for t in tensors) else active.dtype


def _dtype(tensor: Any) -> str:
    state = known_state(tensor) if isinstance(tensor, paddle.Tensor) else None
    return str(tensor.dtype).rsplit(".", 1)[-1] if state is None else state.array.dtype


def converter(active: Policy) -> Any:
    """A function for `Runtime.convert`."""

    def convert(name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
        runtime = current()
        assert runtime is not None
        if runtime.ledger.phase == "update":
            return args, kwargs
        outer, runtime.convert = runtime.convert, None
        try:
            return cast_by(active, name, args, kwargs)
        finally:
            runtime.convert = outer

    return convert


def cast_by(active: Policy, name: str, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of an operator, cast by the policy."""
    treatment = rule_of(name).amp
    is_first = treatment is Amp.FIRST_OPERAND
    is_in_place = name.endswith("_") and not is_first
    if treatment is Amp.NEVER or is_in_place or name.endswith("_grad"):
        return args, kwargs
    tensors: list[Any] = []
    _collect(args[:1] if is_first else args, tensors)
    target = _target(active, name, tensors)
    if not any(_needs(tensor, target) for tensor in tensors):
        return args, kwargs
    if is_first:
        return (cast_to(target, args[0]), *args[1:]), kwargs
    return cast_to(target, args), kwargs


def _needs(tensor: Any, target: str) -> bool:
    have = _dtype(tensor)
    return have != target and (have == "float32" or have in LOW_PRECISION)


def _collect(node: Any, found: list[Any]) -> None:
    if isinstance(node, _TENSORS):
        found.append(node)
    elif isinstance(node, (list, tuple)):
        for item in node:
            _collect(item, found)


def cast_to(target: str, node: Any) -> Any:
    """Whatever holds tensors, with those of other widths cast."""
    if isinstance(node, _TENSORS):
        return call("cast", node, DATA_TYPE[target]) if _needs(node, target) else node
    if isinstance(node, (list, tuple)):
        return type(node)(cast_to(target, item) for item in node)
    return node


@contextlib.contextmanager
def casting(active: Policy | None) -> Iterator[None]:
    """Operators inside are cast by the policy; None switches casting off."""
    runtime = current()
    if runtime is None:
        yield
        return
    precision = runtime.of(Precision)
    before = runtime.convert, precision.active
    runtime.convert, precision.active = None if active is None else converter(active), active
    try:
        yield
    finally:
        runtime.convert, precision.active = before


def lower(model: Any, dtype: str, runtime: Tensors) -> None:
    """O2: parameters and buffers in the low type, where Paddle's `need_keep_fp32` does not keep them."""
    for layer in (model, *model.sublayers()):
        if need_keep_fp32(layer, dtype):
            continue
        for parameter in (*layer._parameters.values(), *layer._buffers.values()):
            if parameter is None or _dtype(parameter) != "float32":
                continue
            state = runtime.state(parameter)
            with runtime.ledger.allocating("parameters"):
                array = allocate(runtime.ledger, state.array.shape, dtype, "cast")
            ORIGINAL["_share_underline_tensor_to"](new_tensor(array), parameter)
            state.array = array


def decorate(  # noqa: PLR0917 - Paddle's signature
    runtime: Tensors,
    original: Any,
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """`paddle.amp.decorate`; `save_dtype` changes only what is saved."""
    _check(runtime)
    _refuse_decorated(runtime, models, optimizers, level, dtype)
    if _active(runtime, level, dtype) and level == "O2":
        runtime.of(Precision).seen = "O2"
        several = list(models) if isinstance(models, (list, tuple)) else [models]
        set_excluded_layers(several, excluded_layers)
        for model in several:
            lower(model, dtype, runtime)
            runtime.of(Precision).master_grads += model.parameters() if master_grad else []
        for optimizer in optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]:
            if optimizer is not None and master_weight is not False:
                optimizer._multi_precision = True
    return models if optimizers is None else (models, optimizers)


def _refuse_decorated(runtime: Tensors, models: Any, optimizers: Any, level: str, dtype: Any) -> None:
    """As `paddle.amp.amp_decorate` itself, in its words: level and type on a CPU as well."""
    problem: Exception | None = None
    if level not in {"O1", "O2"}:
        problem = ValueError(
            "level should be O1 or O2, O1 represent AMP train mode, O2 represent Pure fp16 train mode."
        )
    elif dtype not in {"float16", "bfloat16"}:
        problem = ValueError("dtype only support float16 or bfloat16.")
    elif level == "O2" and runtime.target == "gpu":
        problem = _no_layers(models) or _no_optimizers(optimizers)
    if problem is not None:
        raise runtime.refused(problem)


def _no_layers(models: Any) -> Exception | None:
    if not isinstance(models, (paddle.nn.Layer, list)):
        return TypeError("models must be either a single model or a list of models.")
    return _said_by(check_models, models if isinstance(models, list) else [models])


def _no_optimizers(optimizers: Any) -> Exception | None:
    if isinstance(optimizers, list):
        return _said_by(check_optimizers, optimizers)
    if optimizers is None or _said_by(check_optimizers, [optimizers]) is None:
        return None
    return TypeError("optimizers must be either a single optimizer or a list of optimizers.")


def _said_by(check: Callable[[list[Any]], None], several: list[Any]) -> Exception | None:
    try:
        check(several)
    except RuntimeError as problem:
        return problem
    return None


def _check(runtime: Tensors) -> None:
    """Mixed precision of a static graph hangs on the device that Paddle finds, which is a CPU here: it is not followed.

    Raises:
        StaticGraphError: in static mode.
    """
    if runtime.builds_graph and runtime.in_graph is not None:
        runtime.in_graph()


def _active(runtime: Tensors, level: str, dtype: str) -> bool:
    """Whether the program's own mixed precision counts: not on a CPU, which ignores it, nor when one was asked for."""
    return runtime.of(Precision).level is None and runtime.target == "gpu" and level not in {"O0", "off"}


def auto_cast(  # noqa: PLR0917 - Paddle's signature
    runtime: Tensors,
    original: Any,
    enable: bool = True,
    custom_white_list: Any = None,
    custom_black_list: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    use_promote: bool = True,
) -> Any:
    """`paddle.amp.auto_cast`."""
    if enable:  # Paddle's own optimizers call it without
        _check(runtime)
    lists = custom_white_list, custom_black_list
    _refuse(runtime, enable, level, dtype)
    _refuse_lists(runtime, level, lists)
    precision, level = runtime.of(Precision), level.upper()
    dtype = dtype.name.lower() if isinstance(dtype, paddle.base.core.DataType) else dtype.lower()
    precision.given = dtype
    if not enable or not _active(runtime, level, dtype):
        return contextlib.nullcontext() if precision.level else casting(None)
    precision.seen = level
    if dtype == "bfloat16" and runtime.target == "gpu":
        runtime.note("bfloat16")
    return casting(policy("O2" if level == "O2" else "O1", dtype, *lists, promotes=use_promote))


def _refuse(runtime: Tensors, enable: bool, level: str, dtype: Any) -> None:
    """As `paddle.amp.auto_cast` itself, also on a CPU, in its words."""
    named = dtype.name if isinstance(dtype, paddle.base.core.DataType) else dtype
    try:
        is_level = level.upper() in {"O0", "OD", "O1", "O2"}
        is_type = not is_level or not enable or named.lower() in {"float16", "bfloat16"}
    except AttributeError as problem:  # what is no text
        raise runtime.refused(problem) from None
    if not is_level:
        raise runtime.refused(ValueError("level should be O0, OD, O1 or O2."))
    if not is_type:
        raise runtime.refused(ValueError("If enable amp, dtype should be 'float16' or 'bfloat16'."))


def _refuse_lists(runtime: Tensors, level: str, lists: tuple[Any, Any]) -> None:
    """As Paddle's own `_update_list`, which looks at the program's lists before it looks at the device."""
    white, black = lists
    try:
        overlap = level.upper() != "O0" and bool(white) and bool(black) and any(name in black for name in white)
        for names in lists if level.upper() != "O0" else ():
            iter(names or ())
    except TypeError as problem:
        raise runtime.refused(problem) from None
    if overlap:
        raise runtime.refused(ValueError("Custom white list overlap custom black list"))


def level_shown(runtime: Tensors, original: Any, tracer: Any) -> Any:
    """`Tracer._amp_level`, by which a recomputation casts as its first forward pass did."""
    active = runtime.of(Precision).active
    return original(tracer) if active is None else getattr(_core.AmpLevel, active.level)


def dtype_shown(runtime: Tensors, original: Any, tracer: Any) -> Any:
    """`Tracer._amp_dtype`."""
    active = runtime.of(Precision).active
    return original(tracer) if active is None else active.dtype


def lists_shown(runtime: Tensors, original: Any, tracer: Any) -> Any:
    """`Tracer._get_amp_op_list`."""
    active = runtime.of(Precision).active
    return original(tracer) if active is None else (set(active.white), set(active.black))


def after_backward(runtime: Tensors) -> None:
    """`core.eager.set_master_grads`: gradients in the low type are cast to float32, one after another."""
    for parameter in runtime.of(Precision).master_grads:
        state = runtime.state(parameter)
        if state.grad is not None and state.grad.dtype in LOW_PRECISION:
            operation = runtime.ledger.begin("cast")
            with runtime.ledger.allocating("gradients"):
                state.grad = allocate(runtime.ledger, state.grad.shape, "float32", "cast")
            runtime.ledger.finish(operation)


def before_sharding(runtime: Tensors, model: Any, optimizer: Any) -> None:
    """O2 asked for: parameters are divided as they will be, in the low type."""
    asked = runtime.of(Precision)
    if asked.level == "O2":
        lower(model, asked.dtype, runtime)
        optimizer._multi_precision = True


def before_model(runtime: Tensors, model: Any) -> None:
    """A model is called from outside: what was asked for takes effect with the first call."""
    asked = runtime.of(Precision)
    if asked.level in {"O1", "O2"} and runtime.convert is None:
        if asked.level == "O2":
            lower(model, asked.dtype, runtime)
        asked.active = policy(asked.level, asked.dtype)
        runtime.convert = converter(asked.active)


def before_update(runtime: Tensors, optimizer: Any) -> None:
    """O2 asked for: the optimizer keeps master weights."""
    if runtime.of(Precision).level == "O2":
        optimizer._multi_precision = True
