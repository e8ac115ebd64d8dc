"""Replays programs of Paddle's old kind, as its executor of 2023 ran them, beside what was logged of them.

`python -m benchmarks.gpu_logs.old_programs PYTHON TRAINER` has each program of `CASES` built by
`programs/old_kind.py`, with a Python that has Paddle 2.6.2 and in the trainer's folder, and replays it: a variable is
there from its first operator to its last one, or stays, as Paddle's own passes say, and Paddle's allocator is the one
of the estimate. Nothing is added for kernels. `results/gpu_logs_old_programs.json` keeps the rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_paddle_gpu.domain.measurements.gpu_logs import MIB
from jupyter_paddle_gpu.estimator.memory.allocator import AutoGrowthBestFit, Block

from ..report import RESULTS, save, show

BUILDER = Path(__file__).with_name("programs") / "old_kind.py"
CONFIG = "ppfleetx/configs/nlp/gpt/auto/pretrain_gpt_345M_single_card.yaml"
STEPS = 2
"""The second finds what the first left in the pool."""
_SHARES = "share_buffer"
"""What Paddle's own pass puts in front of an operator that writes over an operand."""
_ALWAYS = (
    "Model.hidden_dropout_prob=0", "Model.attention_probs_dropout_prob=0", "Model.use_recompute=True",
    "Global.global_batch_size=16", "Distributed.pipeline.schedule_mode=1F1B", "Engine.mix_precision.level=o2",
    "Engine.max_steps=30", "Engine.eval_freq=100000", "Engine.logging_freq=10", "Global.device=cpu",
)  # fmt: skip
"""The arguments of the trainer's tests (`ci_case_auto.sh` of November 2023); a program is the same on a CPU."""


class Case(NamedTuple):
    """One of the trainer's tests: sequences a process and a micro-batch, how it is divided, and MiB reserved."""

    local: int
    micro: int
    data: int
    layers: int
    stages: int
    sharding: int
    level: int
    logged: float
    half: bool = True

    @property
    def arguments(self) -> list[str]:
        """Beside those that all have."""
        return [
            f"Global.local_batch_size={self.local}", f"Global.micro_batch_size={self.micro}",
            f"Distributed.dp_degree={self.data}", f"Distributed.mp_degree={self.layers}",
            f"Distributed.pp_degree={self.stages}", f"Distributed.sharding.sharding_degree={self.sharding}",
            f"Distributed.sharding.sharding_stage={self.level}", f"Engine.mix_precision.enable={self.half}",
        ]  # fmt: skip


CASES = {
    "1 card": Case(16, 16, 1, 1, 1, 1, 1, 11750.6, half=False),
    "DP1-MP1-PP8": Case(16, 2, 1, 1, 8, 1, 1, 1988.9),
    "DP1-MP2-PP4": Case(16, 4, 1, 2, 4, 1, 1, 1535.7),
    "DP2-MP2-PP2": Case(8, 4, 2, 2, 2, 1, 1, 2135.7),
    "DP4-MP2-Sharding4 stage 1": Case(4, 4, 4, 2, 1, 4, 1, 1999.2),
    "DP4-MP2-Sharding4 stage 2": Case(4, 4, 4, 2, 1, 4, 2, 1999.2),
    "DP4-MP2-Sharding4 stage 3": Case(4, 4, 4, 2, 1, 4, 3, 1747.6),
    "DP2-MP1-PP4-Sharding2 stage 1": Case(8, 2, 2, 1, 4, 2, 1, 1709.8),
    "DP2-MP1-PP4-Sharding2 stage 3": Case(8, 2, 2, 1, 4, 2, 3, 1591.6),
    "DP2-MP2-PP2-Sharding2 stage 1": Case(8, 4, 2, 2, 2, 2, 1, 1384.7),
    "DP2-MP2-PP2-Sharding2 stage 3": Case(8, 4, 2, 2, 2, 2, 3, 1280.5),
}


class Replayed(NamedTuple):
    """Bytes: what stays between steps, the peak of both figures, and the peak's terms."""

    stays: int
    allocated: int
    reserved: int
    terms: dict[str, int]


class _Buffer:
    """The memory of one or more variables."""

    def __init__(self, block: Block, term: str) -> None:
        self.block, self.term, self.users = block, term, 1


class _Run:
    def __init__(self, program: dict[str, Any]) -> None:
        self._program, self._variables = program, program["variables"]
        self._pool = AutoGrowthBestFit()
        self._terms: Counter[str] = Counter()
        self._kept: dict[str, _Buffer] = {}
        self.peak, self.terms = 0, dict[str, int]()

    @property
    def reserved(self) -> int:
        return self._pool.reserved

    @property
    def allocated(self) -> int:
        return self._pool.allocated

    def start(self) -> None:
        """What the program keeps, in the order in which it is filled for the first time."""
        read = {name for part in self._program["parts"].values() for name in _names(part)}
        for row in self._program["starts"]:
            for name in row["gives"]:
                if name in read and name not in self._kept and self._variables[name][1]:
                    self._kept[name] = self._born(name)

    def step(self) -> None:
        """All jobs, each micro-batch with variables of its own."""
        scopes: dict[int, dict[str, _Buffer]] = {}
        for kind, batch, stays in self._program["jobs"]:
            self._run(self._program["parts"][kind], scopes.setdefault(batch, {}), frozenset(stays))
        for scope in scopes.values():
            for name in list(scope):
                self._drop(scope, name)

    def _run(self, rows: list[dict[str, Any]], scope: dict[str, _Buffer], stays: frozenset[str]) -> None:
        last = {name: index for index, row in enumerate(rows) for name in (*row["takes"], *row["gives"])}
        for index, row in enumerate(rows):
            if row["name"] == _SHARES:
                self._share(scope, row["takes"][0], row["gives"][0])
            elif "inner" in row:
                self._run(row["inner"], scope, frozenset(scope))
            else:
                for name in (*row["takes"], *row["gives"]):
                    if name not in scope and name not in self._kept and self._variables.get(name, (0,))[0]:
                        scope[name] = self._born(name)
                if self._pool.allocated > self.peak:
                    self.peak, self.terms = self._pool.allocated, dict(self._terms)
            for name in {*row["takes"], *row["gives"]}:
                if last[name] == index and name in scope and name not in stays:
                    self._drop(scope, name)

    def _share(self, scope: dict[str, _Buffer], source: str, target: str) -> None:
        buffer = scope.get(source) or self._kept.get(source)
        if buffer is None or target in self._kept:
            return
        if target in scope:
            self._drop(scope, target)
        scope[target] = buffer
        buffer.users += 1

    def _born(self, name: str) -> _Buffer:
        size, stays, is_parameter = self._variables[name]
        buffer = _Buffer(self._pool.allocate(size), _term(name, stays, is_parameter))
        self._terms[buffer.term] += buffer.block.size
        return buffer

    def _drop(self, scope: dict[str, _Buffer], name: str) -> None:
        buffer = scope.pop(name)
        buffer.users -= 1
        if not buffer.users:
            self._terms[buffer.term] -= buffer.block.size
            self._pool.release(buffer.block)


def _names(rows: list[dict[str, Any]]) -> set[str]:
    found = {name for row in rows for name in (*row["takes"], *row["gives"])}
    return found.union(*(_names(row["inner"]) for row in rows if "inner" in row))


def _term(name: str, stays: bool, is_parameter: bool) -> str:
    if not stays:
        return "gradients" if "@GRAD" in name else "activations"
    if "@GRAD" in name:
        return "summed gradients"
    return "parameters" if is_parameter else "optimizer's state"


def replayed(program: dict[str, Any]) -> Replayed:
    """What a program takes in steps that follow one another."""
    run = _Run(program)
    run.start()
    stays = run.allocated
    for _ in range(STEPS):
        run.step()
    return Replayed(stays, run.peak, run.reserved, {term: size for term, size in run.terms.items() if size})


def built(python: str, trainer: Path, case: Case) -> dict[str, Any]:
    """The program of a case's first process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.json"
        paths = os.pathsep.join((str(trainer.parents[1]), os.environ.get("PYTHONPATH", "")))
        command = [python, str(BUILDER), str(file), CONFIG, *_ALWAYS, *case.arguments]
        subprocess.run(command, cwd=trainer, env={**os.environ, "PYTHONPATH": paths}, check=True)
        program: dict[str, Any] = json.loads(file.read_text())
        return program


def row(name: str, found: Replayed) -> dict[str, Any]:
    """A row of the results."""
    logged = CASES[name].logged
    return {"case": name, "logged_mib": logged, **found._asdict(), "error": found.reserved / MIB / logged - 1}


def kept() -> list[dict[str, Any]]:
    """The rows of earlier runs."""
    file = RESULTS / "gpu_logs_old_programs.json"
    rows: list[dict[str, Any]] = json.loads(file.read_text())["rows"] if file.exists() else []
    return rows


def main() -> None:
    """Build, replay and keep all cases."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_logs.old_programs", description=__doc__)
    parser.add_argument("python", help="a Python with Paddle 2.6.2")
    parser.add_argument("trainer", type=Path, help="model_zoo/gpt-3 of PaddleNLP, November 2023")
    parser.add_argument("--only", default="", help="cases whose name has this")
    asked = parser.parse_args()
    found = {one["case"]: one for one in kept()}
    for name, case in CASES.items():
        if asked.only in name:
            found[name] = row(name, replayed(built(asked.python, asked.trainer.absolute(), case)))
            save("gpu_logs_old_programs", {"rows": [found[one] for one in CASES if one in found]})
    rows = [found[one] for one in CASES if one in found]
    show(
        "Reserved, as logged and replayed",
        ("Case", "Logged", "Replayed", "Error"),
        [
            (one["case"], f"{one['logged_mib']:,.1f}", f"{one['reserved'] / MIB:,.1f}", f"{one['error']:+.1%}")
            for one in rows
        ],
    )


if __name__ == "__main__":
    main()
