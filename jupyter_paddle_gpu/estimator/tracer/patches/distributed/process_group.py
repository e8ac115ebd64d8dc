"""Several processes that train together, as one of them sees it: groups whose communication moves nothing.

Paddle's own Python (DataParallel, fleet, group_sharded_parallel) runs on top, so that what each process holds follows
from it. Collective operations work in place on tensors that are there; `devices.contexts` has NCCL's own buffers.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import paddle
from paddle.distributed import collective, fleet, parallel, parallel_helper
from paddle.distributed.communication import group as groups
from paddle.distributed.fleet.base import topology
from paddle.distributed.fleet.layers.mpu.random import get_rng_state_tracker

from ...session import Session
from ..patch import Patch

_RANKS = ("PADDLE_TRAINER_ID", "PADDLE_GLOBAL_RANK", "PADDLE_LOCAL_RANK", "PADDLE_RANK_IN_NODE")
_SIZES = ("PADDLE_TRAINERS_NUM", "PADDLE_GLOBAL_SIZE", "PADDLE_LOCAL_SIZE")
_ENDS = ("PADDLE_TRAINER_ENDPOINTS", "PADDLE_CURRENT_ENDPOINT")
"""What `paddle.distributed.launch` sets on one machine (`launch/controllers/collective.py`)."""
_SHARED = (("data", "dp"), ("pipe", "pp"), ("model", "mp"), ("sep", "sep"))
"""Axes of a topology, and what their groups are called in it; of sharding's the process is another one."""
_DEFAULT_GROUP = "_default_pg"


Sent = list[list[Any]]


class Task:
    """A communication that is over at once."""

    def wait(self, *_: Any) -> bool:
        """Nothing to wait for."""
        return True

    synchronize = is_completed = wait


class ProcessGroup:
    """Stands for NCCL's process group: every communication is accepted and changes no size."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size

    def name(self) -> str:
        """The backend's name."""
        return "NCCL"

    def rank(self) -> int:
        """This process among the group's."""
        return self._rank

    def size(self) -> int:
        """Processes of the group."""
        return self._size

    def __getattr__(self, name: str) -> Callable[..., Task]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: Task()


class Processes:
    """The processes of the running trace.

    Attributes:
        asked: how many were asked for; None leaves what the notebook says.
        size: how many there are; 1 until something says otherwise.
        kind: how the notebook distributes: `data_parallel`, `sharding_1` to `sharding_3`, `tensor_parallel`,
            `pipeline`; None where it does not.
        rank: which of them this one is.
        sent: what this stage of a pipeline gives on: of each tensor shape, Paddle's number of its type, whether it
            wants no gradient, and its key.
        received: the same of what the stage before gives on; None at the first.
        stage: which stage of a pipeline this one is, from 0.
        made: of each stage its layers, as the program describes them.
    """

    def __init__(
        self,
        asked: int | None = None,
        written: int | None = None,
        received: Sent | None = None,
        stage: int | None = None,
    ) -> None:
        """`asked` and `written`: the number that is asked for, and the one that the notebook's text gives."""
        self.asked = asked
        self.size = 1
        self.kind: str | None = None
        self.rank = 0
        self.sent: Sent | None = None
        self.received, self.stage = received, stage or 0
        self.made: list[list[str]] = []
        self._role = fleet.fleet._role_maker
        """Of Paddle's fleet, before the program says more to it."""
        self._seeds = {name: held.copy() for name, held in vars(get_rng_state_tracker()).items()}
        if (asked or written or 1) > 1:
            self.open(asked or written or 1)

    def open(self, size: int) -> None:
        """Be one of `size` processes, which the program has yet to bring together: a launcher sets the environment."""
        self.size = size
        ends = [f"127.0.0.1:{6170 + rank}" for rank in range(size)]  # named, never opened
        os.environ.update(dict.fromkeys(_SIZES, str(size)) | {_ENDS[0]: ",".join(ends)})
        self.stand(0)

    def stand(self, rank: int) -> None:
        """Be that one of them, before they are brought together."""
        self.rank = rank
        parallel._global_parallel_env = collective._global_env = None
        os.environ.update(dict.fromkeys(_RANKS, str(rank)))
        os.environ[_ENDS[1]] = os.environ[_ENDS[0]].split(",")[rank]

    def initialize(self) -> None:
        """`init_parallel_env`: the environment and the group of all processes."""
        if self.size == 1 or collective.is_initialized():
            return
        parallel._global_parallel_env = collective._global_env = parallel.ParallelEnv()
        parallel_helper._set_parallel_ctx(True)
        everyone = groups.Group(
            self.rank, 0, list(range(self.size)), ProcessGroup(self.rank, self.size), _DEFAULT_GROUP
        )
        collective._set_group_map_by_name(_DEFAULT_GROUP, everyone)
        collective._group_map[0] = everyone
        collective._set_group_map_backend(everyone, "gloo")
        groups._add_new_group(everyone)
        collective._default_backend, collective._default_store = "gloo", object()  # asks for no NCCL settings

    def become(self, rank: int) -> None:
        """Be another of the processes: the one that holds most is not always the first."""
        env = parallel._global_parallel_env
        if env is None or self.size == 1:
            return
        os.environ.update(dict.fromkeys(_RANKS, str(rank)))
        env._rank = rank
        everyone = collective._get_default_group()
        everyone._rank_in_group = rank
        shared = topology._HYBRID_PARALLEL_GROUP
        if shared is not None and shared._sharding_degree > 1:
            topo = shared._topo
            ours = {"sharding": rank, "pipe": shared.get_stage_id()}
            place = {name: ours.get(name, 0) for name in topo.get_hybrid_group_names()}
            everyone._rank_in_group = env._rank = shared.global_rank = topo.get_rank(**place)
            for name, group in ((name, getattr(shared, f"_{short}_comm_group", None)) for name, short in _SHARED):
                if group is not None and name in place:  # those that this process shares layers with
                    group._ranks = [topo.get_rank(**place | {name: one}) for one in range(topo.get_dim(name))]
            stages = shared.get_pipe_parallel_group()
            if stages is not None and stages.nranks > 1:
                ranks, stage = stages.ranks, shared.get_stage_id()
                shared.prev_rank, shared.next_rank = ranks[stage - 1], ranks[(stage + 1) % len(ranks)]
            shared._sharding_parallel_id = rank
            shared._sharding_comm_group._rank_in_group = rank

    def close(self) -> None:
        """Forget the processes: what comes behind the trace is alone again."""
        fleet.fleet._role_maker = self._role
        vars(get_rng_state_tracker()).update(self._seeds)
        if self.size == 1 and topology._HYBRID_PARALLEL_GROUP is None:
            return
        for name in (*_RANKS, *_SIZES, *_ENDS):
            os.environ.pop(name, None)
        parallel._global_parallel_env = collective._global_env = None
        parallel_helper.__dict__["__parallel_ctx__clz__"] = None
        for table in (
            collective._group_map, collective._group_map_by_name, collective._group_map_backend,
            groups._GroupManager.group_map_by_id,
        ):  # fmt: skip
            table.clear()
        topology._HYBRID_PARALLEL_GROUP = None
        self.size = 1


def init_parallel_env(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`paddle.distributed.init_parallel_env`."""
    processes = session.of(Processes)
    processes.initialize()
    return collective._get_default_group() if processes.size > 1 else None


def init_fleet(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`fleet.init`: the degrees of the strategy give the number of processes where none was asked for."""
    strategy = kwargs.get("strategy", args[2] if len(args) > 2 else None)
    degrees: Any = strategy.hybrid_configs if strategy is not None else {}
    others = 1
    for name in ("mp_degree", "pp_degree", "sep_degree"):
        others *= max(1, degrees.get(name, 1) if degrees else 1)
    data, sharded = (max(1, degrees[name]) if degrees else 1 for name in ("dp_degree", "sharding_degree"))
    processes = session.of(Processes)
    if processes.size == 1 and processes.asked is None and data * sharded * others > 1:
        processes.open(data * sharded * others)
    if degrees and data * sharded * others != processes.size:
        rest = max(1, processes.size // others)
        strategy.hybrid_configs = (  # type: ignore[union-attr]
            {"sharding_degree": max(1, rest // data), "dp_degree": data if rest % data == 0 else 1}
            if sharded > 1
            else {"dp_degree": rest}
        )
    if processes.stage and strategy is not None:
        processes.stand(_of_stage(strategy, processes.stage))
    with contextlib.suppress(SystemExit):
        return original(*args, **kwargs)
    return None


def _of_stage(strategy: Any, stage: int) -> int:
    """The first process of a pipeline's stage: an axis counts on with each round of those behind it
    (`CommunicateTopology`)."""
    degrees = [max(1, strategy.hybrid_configs.get(f"{name}_degree", 1)) for name in strategy.hybrid_parallel_order]
    place = strategy.hybrid_parallel_order.index("pp")
    return int(stage * prod(degrees[place + 1 :]))


def spawn(
    session: Session,
    original: Callable[..., Any],
    function: Callable[..., Any],
    args: Any = (),
    nprocs: int = -1,
    *_: Any,
    **__: Any,
) -> None:
    """`paddle.distributed.spawn`: one of the processes, in this one."""
    processes = session.of(Processes)
    if processes.size == 1 and processes.asked is None and nprocs > 1:
        processes.open(nprocs)
    function(*args)


def process_group(  # noqa: PLR0917 - Paddle's signature
    session: Session, original: Callable[..., Any], backend: Any, store: Any, rank: int, size: int, *_: Any, **__: Any
) -> ProcessGroup:
    """`collective._new_process_group_impl`."""
    return ProcessGroup(rank, size)


def patches() -> Iterator[Patch]:
    """Where groups of processes are made."""
    yield Patch(paddle.distributed, "init_parallel_env", init_parallel_env)
    yield Patch(paddle.distributed, "spawn", spawn)
    yield Patch(paddle.distributed.fleet, "init", init_fleet)
    yield Patch(collective, "_new_process_group_impl", process_group)
