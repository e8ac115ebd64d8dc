"""Automatic parallelism (`shard_tensor`, `shard_optimizer`, `dist.to_static`) in its static form.

Paddle itself completes the program of a layer, divides it and puts the communication into it, down to the dense program
of one process (`auto_parallel/static/engine.py`); it needs no other process for that. What is placed over a mesh is a
tensor of Paddle's own without memory, so that all of this runs unchanged. The program then runs as any other static one
(`executors`). In dynamic mode nothing is divided, and a note says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NoReturn

import paddle
from paddle.base import core
from paddle.base.framework import EagerParamBase
from paddle.distributed.auto_parallel import api, interface
from paddle.distributed.auto_parallel.static import dist_input_spec, engine, process_group

from ...eager.tensors import Tensors
from ...graphs.execution import Variables
from ...graphs.low_precision import STAND_IN, stood_for
from ...graphs.translated import in_memory
from ...memory.arrays import ATTRIBUTE, Array, State, allocate, contiguous_strides, known_state
from ...memory.dtypes import SIZE, VAR_TYPE, name_of
from ...session import Session, paused
from ...step.static_graphs import StaticGraphs
from ...step.steps import StepWatch
from .. import attention
from ..patch import Patch
from ..static_graphs import Fed
from .process_group import Processes
from .standing_in import StandIn, auto_casting

_PLACED = "_traced_placement"
"""(mesh, placements) of a tensor that is a process's own part of a batch."""
_OUTPUT = "skip_sharding3_output_reshard"
"""What Paddle leaves in the environment for the whole process."""
NOTE = "auto_parallel"
_NO_KERNEL = re.compile(r"Check data type error for op: \w+, input: \w+, \w+\.dtype: (\w*float16)")
"""What a Paddle says where it builds a program and has no kernel of a type, which that of a GPU may have."""


class Divided:
    """What automatic parallelism leaves behind in Paddle: each trace begins and ends without it."""

    def __init__(self) -> None:
        self._mesh = interface.get_mesh()
        process_group.clear_all_process_groups()

    def close(self) -> None:
        """Forget groups of processes and the mesh of the program."""
        process_group.clear_all_process_groups()
        interface.set_mesh(self._mesh)
        os.environ.pop(_OUTPUT, None)


def _begin(session: Session, mesh: Any) -> None:
    """Be one of a mesh's processes, where nothing else has said how many there are."""
    session.of(Divided)
    processes = session.of(Processes)
    size = 1 + max(mesh.process_ids)
    if processes.size == 1 and processes.asked is None and size > 1:
        processes.open(size)


def _impl(shape: Sequence[int], dtype: str, mesh: Any, placements: Any) -> Any:
    """A tensor of Paddle's own that is placed over a mesh, without memory."""
    with paused():
        bare = EagerParamBase(list(shape), VAR_TYPE[dtype])
        return core.eager.Tensor(bare, process_mesh=mesh, placements=list(placements))


def _place(parameter: Any, mesh: Any, placements: Any) -> None:
    """Have a parameter placed so, as whole as it was."""
    held = _impl(parameter.shape, name_of(parameter.dtype), mesh, placements)
    with paused():
        parameter._set_impl(held)


def _parameter(session: Tensors, source: Any, mesh: Any, placements: Any) -> Any:
    """A parameter that is placed over a mesh, in the memory of the one that it is made of."""
    shape, dtype = tuple(source.shape), name_of(source.dtype)
    own = {name: value for name, value in vars(source).items() if name != ATTRIBUTE}
    with paused():
        bare = EagerParamBase(list(shape), VAR_TYPE[dtype])
        bare.name = source.name.removesuffix(".dist")
        made = EagerParamBase.from_tensor(bare, process_mesh=mesh, placements=list(placements), **own)
    made.stop_gradient = source.stop_gradient
    if source._init_func is not None:  # made within `LazyGuard`: the program has its memory
        made.set_init_func(lambda *_: None)
    state = known_state(source)
    if state is not None:
        setattr(made, ATTRIBUTE, State(state.array))
    return made


def shard_tensor(  # noqa: PLR0917 - Paddle's signature
    session: Tensors, original: Callable[..., Any], data: Any, mesh: Any, placements: Any, dtype: Any = None,
    place: Any = None, stop_gradient: bool | None = None,
) -> Any:  # fmt: skip
    """`shard_tensor`: a parameter is placed, anything else stays whole."""
    if session.builds_graph:
        return original(data, mesh, placements, dtype, place, stop_gradient)
    _begin(session, mesh)
    session.note(NOTE, name="shard_tensor")
    if isinstance(data, EagerParamBase):
        return _parameter(session, data, mesh, placements)
    return data if isinstance(data, paddle.Tensor) and dtype is None else paddle.to_tensor(data, dtype=dtype)


def reshard(session: Tensors, original: Callable[..., Any], tensor: Any, mesh: Any, placements: Any) -> Any:
    """`reshard`."""
    if session.builds_graph:
        return original(tensor, mesh, placements)
    return shard_tensor(session, original, tensor, mesh, placements)


def from_local(session: Tensors, original: Callable[..., Any], tensor: Any, mesh: Any, placements: Any) -> Any:
    """`dtensor_from_local`: the part that this process has, if it has one."""
    if session.builds_graph:
        return original(tensor, mesh, placements)
    _begin(session, mesh)
    state = session.state(tensor)
    if session.of(Processes).rank not in mesh.process_ids:
        state.array = Array(None, state.array.shape, state.array.strides, state.array.dtype, state.array.value)
    tensor.__dict__[_PLACED] = mesh, tuple(placements)
    return tensor


def _there(session: Tensors, original: Callable[..., Any], tensor: Any, *args: Any, **kwargs: Any) -> Any:
    return original(tensor, *args, **kwargs) if session.builds_graph else tensor


def _shard_parameter(session: Session, original: Callable[..., Any], stage: Any, parameter: Any) -> None:
    """`ShardingStage3._shard_parameter`."""
    mesh = parameter.process_mesh if parameter.is_dist() else stage._mesh
    if mesh is None:
        return
    if not parameter.is_dist():
        _place(parameter, mesh, [paddle.distributed.Replicate()] * len(mesh.shape))
    _place(parameter, mesh, api.get_placement_with_sharding(parameter, stage._sharding_axis))


def shard_optimizer(session: Tensors, original: Callable[..., Any], optimizer: Any, *args: Any, **kwargs: Any) -> Any:
    """`shard_optimizer`."""
    session.note(NOTE, name="shard_optimizer")
    made = original(optimizer, *args, **kwargs)
    session.of(StepWatch).wrapped(made)
    return made


def _inner(name: str) -> Callable[..., Any]:
    """A method of the wrapped optimizer, which dynamic mode is followed with."""

    def call(session: Tensors, original: Callable[..., Any], wrapper: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(wrapper._inner_opt, name)(*args, **kwargs)

    return call


def _spec(session: Tensors, original: Callable[..., Any], kind: type, tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """`DistributedInputSpec.from_dtensor`, of the part that this process has."""
    placed = tensor.__dict__.get(_PLACED)
    if placed is None:
        return original(kind, tensor, *args, **kwargs)
    (mesh, placements), shape = placed, list(tensor.shape)
    for size, placement in zip(mesh.shape, placements, strict=False):
        if placement.is_shard():
            shape[placement.get_dim()] *= size
    return dist_input_spec.DistributedInputSpec(
        shape, tensor.dtype, *args[:1], stop_gradient=tensor.stop_gradient, mesh=mesh, placements=list(placements),
        local_shape=list(tensor.shape),
    )  # fmt: skip


def _feeds(session: Tensors, original: Callable[..., Any], model: Any, given: list[Any]) -> dict[str, Any]:
    """`DistModel._make_feeds`: what other processes are fed with is left out."""
    names = model._engine.get_feed_name_list()
    if len(names) != len(given):
        return original(model, given)  # type: ignore[no-any-return]  # which says so
    rank, fed = session.of(Processes).rank, {}
    for name, one in zip(names, given, strict=True):
        mesh, _ = one.__dict__.get(_PLACED, (None, ())) if isinstance(one, paddle.Tensor) else (None, ())
        if mesh is None or rank in mesh.process_ids:
            fed[name] = Fed(session, session.state(one).array) if isinstance(one, paddle.Tensor) else one
    return fed


# The engine


@contextmanager
def _graph(session: Tensors) -> Iterator[None]:
    """What is inside builds or runs a program."""
    graphs = session.of(StaticGraphs)
    before = graphs.is_on, session.builds_graph
    graphs.is_on = session.builds_graph = True
    try:
        yield
    finally:
        graphs.is_on, session.builds_graph = before


def _make(session: Tensors, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """`Engine.__init__`, which keeps a copy of the optimizer that takes no memory once the program is there."""
    session.of(Divided)
    held, engine.copy = engine.copy, SimpleNamespace(deepcopy=lambda one, *_: one)
    try:
        with paused():
            original(*args, **kwargs)
    finally:
        engine.copy = held


def _build(session: Tensors, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """`Engine._build`, which builds the program of the layer."""
    asked = self._strategy.amp
    if asked.enable and session.target != "gpu":  # a CPU casts nothing
        session.note("auto_parallel_types", dtype=asked.dtype)
        _refuse(session)
    with auto_casting(asked), attention.asked_by_layers(session):
        return _for_real(session, original, self, *args, **kwargs)


def _parallel(session: Tensors, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """`Engine._parallel_pir`, which adds gradients and the update, and divides the program."""
    asked, stand_in = self._strategy.amp, session.of(StandIn)
    kinds = {name_of(value.dtype) for value in _values(self) if not value.stop_gradient}
    if asked.enable and asked.dtype == "float16" and not asked.use_master_grad and kinds >= {"float32", STAND_IN}:
        # Paddle ends there: what its scaler found in gradients of two types is no shape that `adamw_` is divided by.
        session.note("auto_parallel_types", dtype=stand_in.low)
        _refuse(session)
    return _for_real(session, original, self, *args, **kwargs)


def _for_real(session: Tensors, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """A part of the engine that builds the program or divides it, without data."""
    if not self._in_pir_mode:
        _refuse(session)
    stand_in = session.of(StandIn)
    try:
        with paused(), in_memory(), attention.chosen_for(session), stand_in.building(session.target):
            made = original(self, *args, **kwargs)
    except TypeError as problem:
        if (found := _NO_KERNEL.search(str(problem))) is None:
            raise
        session.note("auto_parallel_types", dtype=found[1])
        _refuse(session)
    if not stand_in.is_clear:
        session.note("auto_parallel_types", dtype=stand_in.low)
        _refuse(session)
    return made


def _refuse(session: Session) -> NoReturn:
    """There is no program: what comes behind it ends for that reason."""
    graphs = session.of(StaticGraphs)
    graphs.is_on = True
    session.notes.pop(NOTE, None)
    graphs.refused()


def _nothing(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    return None


def _initialize(
    session: Tensors, original: Callable[..., Any], self: Any, mode: str, init_parameters: bool = True
) -> None:
    """`Engine._initialize`: what the program of this process reads is there from now on, in its own size."""
    self._place = core.CPUPlace()
    self._executor = self._executor or paddle.static.Executor(self._place)
    session.of(StandIn).executors.append(self._executor)
    low = session.of(StandIn).low
    if mode != "train":
        return
    variables = session.of(Variables).of(paddle.static.global_scope())
    sources = dict(zip((one.name for one in _values(self)), self.concrete_program.parameters[0], strict=True))
    given = {name: value for name, value in _read(self._pir_dense_main_progs[mode]) if value.persistable}
    for name in sources.keys() - given.keys():
        _divide(session, sources[name], None)
    for name, value in given.items():
        if name in variables:
            continue
        shape, dtype = stood_for([(tuple(map(int, value.shape)), name_of(value.dtype))], low, back=True)[0]
        held = _divide(session, sources[name], (shape, dtype)) if name in sources else None
        if held is None:
            operation = session.ledger.begin("full")
            with session.ledger.allocating("parameters" if name in sources else "optimizer_state"):
                held = allocate(session.ledger, shape, dtype, "full")
            session.ledger.finish(operation)
        variables[name] = held
    graphs = session.of(StaticGraphs)
    inner = getattr(self._optimizer, "_optimizer", self._optimizer)
    inner = getattr(inner, "_inner_opt", inner)
    graphs.optimizers.update(dict.fromkeys(given, inner))
    if self._job_plan is not None:
        self._executor._set_plan(self._job_plan)
    processes = session.of(Processes)
    session.notes.pop(NOTE, None)
    if processes.size > 1:
        processes.kind = NOTE
        session.note("auto_parallel_program", devices=processes.size, rank=processes.rank)


def _values(self: Any) -> list[Any]:
    return list(self.concrete_program.parameters[1])


def _read(program: Any) -> Iterator[tuple[str, Any]]:
    """What a program reads, by name."""
    yield from program.global_block().kwargs().items()
    for operation in program.global_block().ops:
        if operation.name() == "builtin.parameter":
            yield operation.attrs()["parameter_name"], operation.results()[0]
        elif operation.name() == "pd_op.data":
            yield operation.attrs()["name"], operation.results()[0]


def _divide(session: Tensors, parameter: Any, meta: tuple[tuple[int, ...], str] | None) -> Array | None:
    """Give a parameter's memory to the program, as this process's part: it was placed so when it was made."""
    state = known_state(parameter)
    if state is None or state.array.storage is None:
        return None
    storage, record = state.array.storage, state.array.storage.record
    state.array = Array(None, state.array.shape, state.array.strides, state.array.dtype)
    if meta is None:
        record.bytes = 0
        return None
    shape, dtype = meta
    record.bytes, record.shape, record.dtype, size = SIZE[dtype], shape, dtype, 1
    for length in shape:
        size *= length
    record.bytes *= size
    return Array(storage, shape, contiguous_strides(shape), dtype)


def _run(session: Tensors, original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """`Engine.run`."""
    graphs = session.of(StaticGraphs)
    with _graph(session):
        graphs.model = type(self._model).__name__
        return original(self, *args, **kwargs)


_ENGINE = engine.Engine
_REPLACED: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
    (_ENGINE, "__init__", _make), (_ENGINE, "_build", _build), (_ENGINE, "_parallel_pir", _parallel),
    (_ENGINE, "_init_comm", _nothing), (_ENGINE, "_initialize", _initialize), (_ENGINE, "run", _run),
    (dist_input_spec.DistributedInputSpec, "from_dtensor", _spec), (api.DistModel, "_make_feeds", _feeds),
    (api.ShardingStage3, "_shard_parameter", _shard_parameter), (api.ShardingStage3, "_unshard_parameter", _nothing),
    *((kind, "_register_hook_for_param_grad", _nothing) for kind in (api.ShardingStage2, api.ShardingStage3)),
    *((api._ShardOptimizer, name, _inner(name)) for name in ("step", "minimize", "clear_grad")),
)  # fmt: skip
_EVERYWHERE: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("shard_tensor", shard_tensor), ("reshard", reshard), ("dtensor_from_local", from_local),
    ("dtensor_to_local", _there), ("unshard_dtensor", _there), ("shard_scaler", _there),
    ("shard_optimizer", shard_optimizer),
)  # fmt: skip


def patches() -> Iterator[Patch]:
    """What places tensors, and what builds and runs the divided program."""
    yield from (Patch(owner, name, replacement) for owner, name, replacement in _REPLACED)
    yield from (Patch(api, name, replacement, everywhere=True) for name, replacement in _EVERYWHERE)
