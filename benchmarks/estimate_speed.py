"""How long an estimate takes, cold, warm and at a terminal, what memory it takes, and how that grows with the model.

`python -m benchmarks estimate_speed`: six minutes of a machine that does nothing else, each row told when it is there
and kept at once in `results/estimate_speed.json`; with names (`python -m benchmarks.estimate_speed warm growth`) those
of `PARTS` alone, beside what was kept before. Everything is shown beside `import paddle` taken in turn with it, and
beside one real CPU step of the same program, since seconds alone mean little elsewhere; parts `warm` and `steps` count
processor time too, which other work on the machine changes little.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService
from jupyter_paddle_gpu.estimator.sources.traces import tracer_request
from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter, forget_probes
from jupyter_paddle_gpu.estimator.workers.outcomes import Outcome

from .measuring import Compared, MemoryMeter, compared, exponent, timed
from .programs import bert, gpt, resnet
from .report import kept, save, show

REPEATS = 5
START_REPEATS = 3
GROWTH_REPEATS = 3
PAUSE = 5.0
"""Seconds in which nobody asks, as between a person's first and next look: the worker gets ready meanwhile."""
MIB = 1 << 20
ON_CPU = EstimateRequest(target="cpu")
Figures = dict[str, Any]
HERE = Path(__file__).parent

# name -> (program for a batch size, batch size of the estimate, batch size of the real step; None: too large for it)
PROGRAMS: dict[str, tuple[Callable[[int], str], int, int | None]] = {
    "ResNet-50, 224 px": (resnet, 64, 8),
    "BERT-base-like, T 128": (bert, 32, 4),
    "GPT-2-small-like, T 1024": (lambda batch: gpt(batch, 12, 768, 12, 1024), 8, 1),
    "GPT 1.3B, 24 layers, T 1024": (lambda batch: gpt(batch, 24, 2048, 16, 1024), 8, None),
}
GROWTH = (12, 24, 48, 96, 192)
METER = """
import sys, time, paddle
_step, _times = paddle.optimizer.AdamW.step, []
def _timed(self):
    _step(self)
    _times.append((time.perf_counter(), time.process_time()))
    if len(_times) == 2:
        print(*(end - begin for begin, end in zip(*_times)))
        sys.exit()
paddle.optimizer.AdamW.step = _timed
"""


class Cost(NamedTuple):
    """Seconds of a call: by the clock, and of processor time."""

    seconds: float
    cpu_seconds: float


def facts(program: str) -> NotebookFacts:
    """A notebook of one cell."""
    return NotebookFacts(
        kernel_name="python3",
        language="python",
        cells=(CodeCell(index=0, id="a", source=program),),
        imports_paddle=True,
        loop="custom",
    )


def estimate(service: EstimateService, program: str) -> Estimate:
    found = service.estimate(facts(program), HERE, ON_CPU)
    if found.evidence != "trace":
        raise RuntimeError([*map(str, found.notes), *map(str, found.questions)])
    return found


def import_paddle() -> None:
    subprocess.run([sys.executable, "-c", "import paddle"], capture_output=True, check=True)


def import_cpu_seconds() -> float:
    """Processor time of one `import paddle`; unlike wall time it does not grow with what else the machine does."""
    code = "import paddle, resource; u = resource.getrusage(0); print(u.ru_utime + u.ru_stime)"
    done = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(REPEATS)]
    return statistics.median(float(one.stdout) for one in done)


def real_step(program: str) -> Cost:
    """One training step on the CPU: from the end of the first to the end of the second."""
    done = subprocess.run([sys.executable, "-c", METER + program], capture_output=True, text=True, check=True)
    return Cost(*map(float, done.stdout.split()[-2:]))


def cold(program: str) -> Compared:
    """Nothing is known and no worker runs: ask the kernel, start, import Paddle, trace, replay, end."""

    def once() -> None:
        forget_probes()
        service = EstimateService()
        estimate(service, program)
        service.close()

    return compared(once, import_paddle, START_REPEATS)


def at_a_terminal(program: str) -> Compared:
    """`jupyter paddle-gpu estimate NOTEBOOK` from the first to the last byte."""
    with tempfile.TemporaryDirectory() as folder:
        cell = nbformat.v4.new_code_cell(program)
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})
        nbformat.write(notebook, Path(folder, "train.ipynb"))
        programs = Path(sys.executable).parent
        environment = {**os.environ, "PADDLE_GPU_DATA": folder, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

        def once() -> None:
            command = [str(programs / "jupyter"), "paddle-gpu", "estimate", "train.ipynb"]
            subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)

        return compared(once, import_paddle, START_REPEATS)


def cost(service: EstimateService, programs: list[str]) -> tuple[Cost, Estimate]:
    """(medians over estimates of programs that differ, so that none is answered from memory; the first estimate)."""
    costs, found = [], []
    for program in programs:
        cpu = time.process_time()
        seconds, answer = timed(lambda program=program: estimate(service, program))  # type: ignore[misc]
        costs.append(Cost(seconds, time.process_time() - cpu))
        found.append(answer)
    return Cost(*(statistics.median(column) for column in zip(*costs, strict=True))), found[0]


def unchanged(service: EstimateService, program: str) -> Cost:
    """After an edit that leaves the training as it is: a comment above it, and a print below it."""
    estimate(service, program)
    return cost(service, [f"# edit {number}\n{program}\nprint({number})" for number in range(REPEATS)])[0]


class Worker:
    """The service's worker, looked at from beside."""

    def __init__(self, service: EstimateService) -> None:
        self._worker = service.traces.worker(find_interpreter("python3"))
        pid = self._worker.process_id
        assert pid is not None
        self.pid = pid

    def outcome(self, program: str, times: int = REPEATS) -> tuple[float, Outcome]:
        """(median of the child's processor seconds, its answer)."""
        request = tracer_request(facts(program), HERE, ON_CPU)
        done = [self._worker.request("trace", request, HERE) for _ in range(times)]
        return statistics.median(one.cpu_seconds for one in done), done[0]

    def memory(self, program: str) -> int:
        """Bytes that worker and child take together at their most."""
        with MemoryMeter(self.pid) as meter:
            self._worker.request("trace", tracer_request(facts(program), HERE, ON_CPU), HERE)
        return meter.peak


def starts(figures: Figures, _service: EstimateService, _worker: Worker) -> None:
    """What a first estimate takes."""
    terminal = at_a_terminal(resnet(64))
    figures |= {
        "import_paddle_seconds": terminal.base_seconds,
        "terminal_seconds": terminal.seconds,
        "terminal_over_import": terminal.ratio,
    }
    print(f"at a terminal: {terminal.seconds:.2f} s, {terminal.ratio:.2f} of import paddle", flush=True)
    figures["cold"] = {}
    for name, (program, batch, _) in PROGRAMS.items():
        first = cold(program(batch))
        figures["cold"][name] = {"seconds": first.seconds, "over_import": first.ratio}
        print(f"cold, {name}: {first.seconds:.2f} s, {first.ratio:.2f} of import paddle", flush=True)


def warm(figures: Figures, service: EstimateService, worker: Worker) -> None:
    """What an estimate takes where the worker runs: of another program, of one whose training did not change."""
    import_cpu = figures["import_paddle_cpu_seconds"] = import_cpu_seconds()
    rows = figures["programs"] = []
    worker.outcome(resnet(1))
    estimate(service, resnet(1))
    time.sleep(PAUSE)
    for name, (program, batch, _) in PROGRAMS.items():
        wall, found = cost(service, [program(batch + extra) for extra in range(REPEATS)])
        cpu, child = worker.outcome(program(batch))
        same = unchanged(service, program(batch))
        rows.append(
            {
                "program": name,
                "batch": batch,
                "operations": len(child.value["operations"]),
                "peak_bytes": found.peak_bytes,
                "warm_seconds": wall.seconds,
                "warm_cpu_seconds": wall.cpu_seconds + cpu,
                "trace_cpu_seconds": cpu,
                "trace_cpu_over_import_cpu": cpu / import_cpu,
                "unchanged_seconds": same.seconds,
                "unchanged_cpu_seconds": same.cpu_seconds,
                "resident_bytes": child.resident,
                "memory_bytes": worker.memory(program(batch)),
            }
        )
        print(f"warm, {name}: {wall.seconds:.2f} s, unchanged {1000 * same.seconds:.0f} ms", flush=True)
    show(
        f"Estimates where the worker runs (import paddle: {import_cpu:.2f} CPU s)",
        [
            *("program", "batch", "warm s", "CPU s", "trace CPU s", "/import", "unchanged ms", "CPU ms", "MiB"),
            "peak GB",
        ],
        [
            [
                row["program"],
                str(row["batch"]),
                row["warm_seconds"],
                row["warm_cpu_seconds"],
                row["trace_cpu_seconds"],
                row["trace_cpu_over_import_cpu"],
                1000 * row["unchanged_seconds"],
                1000 * row["unchanged_cpu_seconds"],
                f"{row['memory_bytes'] / MIB:.0f}",
                f"{row['peak_bytes'] / 1e9:.2f}",
            ]
            for row in rows
        ],
    )


def steps(figures: Figures, _service: EstimateService, _worker: Worker) -> None:
    """One real step of each program, to hold the estimate's seconds beside."""
    rows = figures["real_steps"] = {}
    for name, (program, _, small) in PROGRAMS.items():
        if small:
            taken = real_step(program(small))
            rows[name] = {"batch": small, "seconds": taken.seconds, "cpu_seconds": taken.cpu_seconds}
            print(f"real step, {name}, batch {small}: {taken.seconds:.2f} s, {taken.cpu_seconds:.2f} CPU s", flush=True)


def growth(figures: Figures, service: EstimateService, worker: Worker) -> None:
    """How the cost grows with the number of layers."""
    rows = figures["growth"] = []
    for layers in GROWTH:
        programs = [gpt(1 + extra, layers, 256, 4, 128) for extra in range(GROWTH_REPEATS)]
        wall, _ = cost(service, programs)
        cpu, child = worker.outcome(programs[0], GROWTH_REPEATS)
        rows.append(
            {
                "layers": layers,
                "operations": len(child.value["operations"]),
                "warm_seconds": wall.seconds,
                "trace_cpu_seconds": cpu,
                "memory_bytes": worker.memory(programs[0]),
            }
        )
        print(f"growth, {layers} layers: {cpu:.2f} CPU s", flush=True)
    exponents = figures["growth_exponents"] = {
        name: exponent([row["operations"] for row in rows], [row[name] for row in rows])
        for name in ("warm_seconds", "trace_cpu_seconds")
    }
    show(
        "Growth with the model: GPT, width 256, T 128; seconds grow with operations to the power of "
        f"{exponents['warm_seconds']:.2f}, CPU seconds {exponents['trace_cpu_seconds']:.2f} (1: linear)",
        ["layers", "operations", "warm s", "CPU s", "CPU ms a layer", "MiB"],
        [
            [
                str(row["layers"]),
                str(row["operations"]),
                row["warm_seconds"],
                row["trace_cpu_seconds"],
                1000 * row["trace_cpu_seconds"] / row["layers"],
                f"{row['memory_bytes'] / MIB:.0f}",
            ]
            for row in rows
        ],
    )


PARTS = {"starts": starts, "warm": warm, "steps": steps, "growth": growth}


def main(*names: str) -> None:
    """Run the parts of some names, all without names; `results/estimate_speed.json` is written after each."""
    figures = kept("estimate_speed")
    service = EstimateService()
    try:
        service.warm("python3")
        worker = Worker(service)
        figures["idle_worker_bytes"] = MemoryMeter(worker.pid).now()
        for name in names or PARTS:
            PARTS[name](figures, service, worker)
            save("estimate_speed", figures)
    finally:
        service.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
