"""Runs of a static program: what it is fed with arrives, its operators run without data, what is fetched is numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np
import paddle
from paddle.base import core
from paddle.base.executor import has_fetch_operations_and_is_startup_program
from paddle.hapi.model import StaticPIRGraphAdapter

from .. import call_stack
from ..eager.amp import Precision
from ..eager.tensors import Tensors
from ..graphs import plans
from ..graphs.execution import Run, Variables
from ..graphs.lowering import Lowered, NotFollowedError, lowered
from ..graphs.plans import Part, PlanRun
from ..memory.arrays import Array, allocate, new_tensor
from ..memory.dtypes import SIZE, name_of
from ..program.dynamic import dynamic
from ..session import Session
from ..step.changes import Changes
from ..step.model_inputs import ModelInputs
from ..step.resizing import Resizing
from ..step.static_graphs import StaticGraphs
from ..step.steps import StepWatch
from ..undecided import absent_feeds, tensor_values
from ..undecided.absent_data import is_unseen
from ..undecided.needs import NeededError
from .distributed.standing_in import StandIn
from .patch import Patch
from .static_graphs import Fed, declared


class Programs:
    """Programs that have run, as the executor has lowered them."""

    def __init__(self) -> None:
        self._lowered: dict[Any, tuple[Any, Lowered]] = {}
        self._parts: dict[int, tuple[Any, list[Part]]] = {}

    def lowered(self, program: Any, fetch: Sequence[Any], target: str, low: str | None) -> Lowered:
        """A program with what is fetched of it; built into since it ran last, it is lowered anew."""
        key = id(program), program.num_ops(), tuple(value.id for value in fetch)
        found = self._lowered.get(key)
        if found is None:
            found = self._lowered[key] = program, lowered(program, fetch, target, low=low)
        return found[1]

    def parts(self, plan: Any, fetch: Sequence[Any], target: str, low: str | None) -> list[Part]:
        """The parts of a plan; what is fetched of it is always the same."""
        found = self._parts.get(id(plan))
        if found is None:
            found = self._parts[id(plan)] = plan, plans.parts(plan, fetch, target, low)
        return found[1]


class Asked(NamedTuple):
    """What `Executor.run` is called with."""

    program: Any
    feed: Any
    fetch: Any
    scope: Any


def _not_followed(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> NoReturn:
    session.of(StaticGraphs).refused()


def _run(  # noqa: PLR0917 - Paddle's signature
    session: Tensors, original: Callable[..., Any], executor: Any, program: Any = None, feed: Any = None,
    fetch_list: Any = None, feed_var_name: str = "feed", fetch_var_name: str = "fetch", scope: Any = None,
    return_numpy: bool = True, *args: Any, **kwargs: Any,
) -> list[Any]:  # fmt: skip
    """`Executor.run`; the result is what was fetched."""
    tensors = run(session, executor, Asked(program, feed, fetch_list, scope))
    return [tensor_values.numbers(session, tensor) for tensor in tensors] if return_numpy else tensors


def run(session: Tensors, executor: Any, asked: Asked) -> list[Any]:
    """Run a program; what was fetched, as tensors."""
    graphs = session.of(StaticGraphs)
    if not graphs.is_on or _is_changed(session):
        graphs.refused()
    program = paddle.static.default_main_program() if asked.program is None else asked.program
    fetch = executor._check_fetch_list(asked.fetch)
    if not isinstance(program, paddle.pir.Program):
        graphs.refused()
    if executor.plan is None:
        _check(session, program, fetch)
    feed = asked.feed[0] if isinstance(asked.feed, (list, tuple)) else asked.feed
    variables = session.of(Variables).of(asked.scope or paddle.static.global_scope())
    low = session.of(StandIn).of(executor)
    try:
        if executor.plan is not None:
            parts = session.of(Programs).parts(executor.plan, fetch, session.target, low)
            run = PlanRun(session.ledger, parts, variables, session.target)
            _feed_parts(session, parts, executor.plan.micro_batch_num(), feed or {}, run)
            found = _train(session, [part.lowered for part in parts], run)
        else:
            plan = session.of(Programs).lowered(program, fetch, session.target, low)
            _feed(session, plan.fed, feed or {}, variables)
            found = _train(session, [plan], Run(session.ledger, plan, variables, session.target))
    except NotFollowedError as problem:
        session.note("static_not_followed", op=str(problem))
        graphs.refused()
    except Exception as problem:
        if session.is_refusal(problem) or isinstance(problem, NeededError):
            raise
        session.ledger.failed("static graph", problem)
        graphs.refused()
    with dynamic():
        return [new_tensor(array) for array in found]


def _check(session: Session, program: Any, fetch: Sequence[Any]) -> None:
    """Raise what Paddle says of a name that is to be fetched: only programs of the old kind know values by name."""
    try:
        has_fetch_operations_and_is_startup_program(program.global_block(), fetch, "fetch")
    except Exception as problem:
        raise session.refused(problem) from None


def _is_changed(session: Tensors) -> bool:
    """Whether another step is asked for than the program's: operators in a graph are not changed."""
    changes, precision = session.of(Changes), session.of(Precision)
    return (
        changes.accumulation > 1
        or bool(changes.recompute)
        or changes.set_to_zero is not None
        or precision.level in {"O1", "O2"}
    )


def _train(session: Tensors, programs: Sequence[Lowered], run: Run | PlanRun) -> list[Any]:
    def missing(name: str) -> Exception:
        said = f"(NotFound) Variable {name} is not in the scope: its startup program has not run."
        return session.refused(RuntimeError(said))

    graphs, watch = session.of(StaticGraphs), session.of(StepWatch)
    metas = {name: plan.metas[plan.given[name]][0] for plan in programs for name in plan.learns}
    owners = [graphs.optimizers.get(name) for name in metas]
    optimizers = list({id(one): one for one in owners if one is not None}.values())
    if not optimizers:
        return run.run(missing)
    found: list[Any] = []

    def step() -> None:
        found.extend(run.run(missing))
        for name in sorted(run.assumed):
            session.note("unknown_shape", op=name)
        session.note(f"static_graph_on_{session.target}", **call_stack.told())

    with graphs.running():
        watch.backward_begins([])
        graphs.elements = {hash(name): prod(shape) for name, shape in metas.items()}
        watch.update(optimizers[0], step)
        for optimizer in optimizers[1:]:
            watch.update(optimizer, lambda: None)
    return found


def _feed_parts(session: Tensors, parts: Sequence[Part], batches: int, feed: dict[str, Any], run: PlanRun) -> None:
    """What a plan is given is cut into micro-batches, which share its memory."""
    fed = {name: value for part in parts for name, value in part.lowered.fed.items()}
    whole: dict[str, Array] = {}
    _feed(session, fed, feed, whole)
    for name, array in whole.items():
        shape = (array.shape[0] // batches, *array.shape[1:])
        for batch in range(batches):
            run.feed(batch, name, array.view(shape, array.strides))


def _feed(session: Tensors, fed: dict[str, Any], feed: dict[str, Any], variables: dict[str, Any]) -> None:
    """What the program is given arrives in the scope, in the place of what was there before."""
    arrays: list[Array] = []
    for name, value in fed.items():
        if name not in feed:
            raise session.refused(KeyError(name))
        given = feed[name]
        if isinstance(given, Fed):
            variables[name] = given.array
        else:
            if is_unseen(given):
                rows = [array.shape[0] for array in arrays if array.shape]
                given = absent_feeds.array_of(session, name, given, declared(value), rows)
            shape, dtype = _meta(given, value)
            shape, _ = session.of(Resizing).arriving(shape, dtype, None)
            operation = session.ledger.begin("feed")
            with session.ledger.allocating("inputs"):
                variables[name] = allocate(session.ledger, shape, dtype, "to_tensor")
            operation.bytes_moved = variables[name].nbytes
            session.ledger.finish(operation)
        arrays.append(variables[name])
    session.of(StaticGraphs).fed = tuple((array.shape, array.dtype) for array in arrays)
    with dynamic():
        tensors = [new_tensor(Array(None, array.shape, array.strides, array.dtype)) for array in arrays]
    session.of(ModelInputs).called(paddle.nn.Layer(), tensors)


def _meta(given: Any, value: Any) -> tuple[tuple[int, ...], str]:
    """Shape and type of what is fed; Python's own numbers take the type that the program names."""
    if isinstance(given, core.DenseTensor):
        return tuple(given.shape()), name_of(given._dtype())
    if isinstance(given, paddle.Tensor):
        return tuple(given.shape), name_of(given.dtype)
    array = np.asarray(given)
    dtype = str(array.dtype) if isinstance(given, np.ndarray) else name_of(value.dtype)
    return tuple(array.shape), dtype if dtype in SIZE else name_of(value.dtype)


def _make_program(session: Session, original: Callable[..., Any], adapter: Any, *args: Any) -> Any:
    """`paddle.Model` builds its programs; it calls the network's `forward` itself."""
    graphs, network = session.of(StaticGraphs), adapter.model.network
    with graphs.building(network):
        graphs.model = type(network).__name__
        return original(adapter, *args)


def _unwritten(session: Tensors, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What writes a program's parameters to a file: nothing is in them here."""
    return None if session.builds_graph else original(*args, **kwargs)


def _unread(session: Tensors, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What reads a program's parameters from a file: the program keeps its own."""
    if not session.builds_graph:
        return original(*args, **kwargs)
    session.note("weights_absent")
    return None


def patches() -> Iterator[Patch]:
    """What runs a program, and what it is not built with here."""
    yield Patch(paddle.static.Executor, "run", _run)
    for name in ("train_from_dataset", "infer_from_dataset"):
        yield Patch(paddle.static.Executor, name, _not_followed)
    yield Patch(paddle.static, "load_inference_model", _not_followed)
    yield Patch(StaticPIRGraphAdapter, "_make_program", _make_program)
    for name in ("save", "save_inference_model"):
        yield Patch(paddle.static, name, _unwritten)
    for name in ("load", "set_program_state"):
        yield Patch(paddle.static, name, _unread)
