"""Plans: a program in parts that run one after the other (`paddle.base.core.Plan`), several times with micro-batches.

Each micro-batch has variables of its own in front of those of the whole, as it has a scope of its own in Paddle's
executor (`standalone_executor.cc`). What a part leaves to a later one of its micro-batch stays
(`set_skip_gc_vars` of passes/pass_utils.py); all else goes behind its last reader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from paddle.distributed.passes import pass_utils

from ..memory.arrays import Array
from ..memory.ledger import Ledger
from .execution import Run
from .lowering import Lowered, lowered


class Part(NamedTuple):
    """One run of a part of the program."""

    lowered: Lowered
    batch: int


class _Job:
    """Stands for a job of Paddle's, which tells nobody what it leaves to others."""

    def __init__(self, job: Any) -> None:
        self.type, self.micro_batch_id = job.type, job.micro_batch_id
        self.stays: frozenset[str] = frozenset()

    def set_skip_gc_vars(self, names: Any) -> None:
        self.stays = frozenset(names)


def parts(plan: Any, fetch: Sequence[Any], target: str, low: str | None = None) -> list[Part]:
    """The parts of a plan in their order; what is fetched is a result of those that it belongs to.

    Raises:
        NotFollowedError: an operator is none that is followed.
    """
    kinds = list(plan.job_types())
    programs = [plan.ir_program(kind) for kind in kinds]
    jobs = [_Job(job) for job in plan.job_list()]
    pass_utils._set_skip_gc_vars_in_pir(plan.micro_batch_num(), kinds, programs, jobs)
    known: dict[tuple[str, frozenset[str]], Lowered] = {}
    constants: dict[str, Any] = {}
    found = []
    for job in jobs:
        key = job.type(), job.stays
        if key not in known:
            program = plan.ir_program(job.type())
            own = [value for value in fetch if _is_of(value, program)]
            known[key] = made = lowered(program, own, target, job.stays, constants, low=low)
            if "backward" in job.type():
                for one in made.instructions:
                    one.phase = "backward"
        found.append(Part(known[key], job.micro_batch_id()))
    return found


def _is_of(value: Any, program: Any) -> bool:
    block = program.global_block()
    return any(value.is_same(result) for operation in block.ops for result in operation.results())


class _Variables(dict[str, Array]):
    """Variables of a micro-batch, in front of those of the whole."""

    def __init__(self, outer: dict[str, Array]) -> None:
        super().__init__()
        self._outer = outer

    def get(self, name: str, default: Any = None) -> Any:
        """The array of a name."""
        return super().get(name) or self._outer.get(name, default)

    def __setitem__(self, name: str, array: Array) -> None:
        if name in self._outer and name not in self:
            self._outer[name] = array
        else:
            super().__setitem__(name, array)


class PlanRun:
    """One run of a plan."""

    def __init__(self, ledger: Ledger, found: Sequence[Part], variables: dict[str, Array], target: str) -> None:
        """`variables`: those of the whole."""
        self._ledger, self._parts, self._variables, self._target = ledger, found, variables, target
        self._batches: dict[int, _Variables] = {}
        self.assumed: set[str] = set()

    def feed(self, batch: int, name: str, array: Array) -> None:
        """What a micro-batch is fed with."""
        dict.__setitem__(self._own(batch), name, array)

    def _own(self, batch: int) -> _Variables:
        return self._batches.setdefault(batch, _Variables(self._variables))

    def run(self, missing: Callable[[str], Exception]) -> list[Array]:
        """Run all parts; what the first of them fetched is the result."""
        fetched: list[Array] = []
        for part in self._parts:
            own = self._own(part.batch)
            run = Run(self._ledger, part.lowered, own, self._target)
            found = run.run(missing)
            self.assumed |= run.assumed
            fetched = fetched or found
        return fetched
