"""How long an estimate takes, cold, warm and at a terminal, what memory it takes, and how that grows with the model.

`python -m benchmarks estimate_speed`, on a machine that does nothing else; three minutes. Everything is shown beside
`import paddle` taken in turn with it, and beside one real CPU step of the same program, since seconds alone mean
little elsewhere.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from .report import save, show

REPEATS = 5
GROWTH_REPEATS = 3
MIB = 1 << 20
ON_CPU = EstimateRequest(target="cpu")
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
    _times.append(time.perf_counter())
    if len(_times) == 2:
        print(_times[1] - _times[0])
        sys.exit()
paddle.optimizer.AdamW.step = _timed
"""


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


def real_step_seconds(program: str) -> float:
    """One training step on the CPU: from the end of the first to the end of the second."""
    done = subprocess.run([sys.executable, "-c", METER + program], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def cold(program: str) -> Compared:
    """Nothing is known and no worker runs: ask the kernel, start, import Paddle, trace, replay, end."""

    def once() -> None:
        forget_probes()
        service = EstimateService()
        estimate(service, program)
        service.close()

    return compared(once, import_paddle, REPEATS)


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

        return compared(once, import_paddle, REPEATS)


def warm_seconds(service: EstimateService, programs: list[str]) -> tuple[float, Estimate]:
    """The median over programs that differ in their batch, so that none is answered from memory."""
    runs = [timed(lambda program=program: estimate(service, program)) for program in programs]  # type: ignore[misc]
    return statistics.median(seconds for seconds, _ in runs), runs[0][1]


def unchanged_seconds(service: EstimateService, program: str) -> float:
    """The median after an edit that leaves the training as it is: a comment above it, and a print below it."""
    estimate(service, program)
    edited = [f"# edit {number}\n{program}\nprint({number})" for number in range(REPEATS)]
    return statistics.median(timed(lambda one=one: estimate(service, one))[0] for one in edited)  # type: ignore[misc]


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


def measured(service: EstimateService, worker: Worker, import_cpu: float) -> list[dict[str, Any]]:
    """A row for each program."""
    rows = []
    for name, (program, batch, small) in PROGRAMS.items():
        first = cold(program(batch))
        warm, found = warm_seconds(service, [program(batch + extra) for extra in range(REPEATS)])
        cpu, child = worker.outcome(program(batch))
        step = real_step_seconds(program(small)) if small else None
        rows.append(
            {
                "program": name,
                "batch": batch,
                "operations": len(child.value["operations"]),
                "peak_bytes": found.peak_bytes,
                "cold_seconds": first.seconds,
                "cold_over_import": first.ratio,
                "warm_seconds": warm,
                "warm_over_import": warm / first.base_seconds,
                "unchanged_seconds": unchanged_seconds(service, program(batch)),
                "trace_cpu_seconds": cpu,
                "trace_cpu_over_import_cpu": cpu / import_cpu,
                "real_step_batch": small,
                "real_step_seconds": step,
                "warm_over_real_step": warm / step if step else None,
                "resident_bytes": child.resident,
                "memory_bytes": worker.memory(program(batch)),
            }
        )
    return rows


def grown(service: EstimateService, worker: Worker) -> list[dict[str, Any]]:
    """A row for each number of layers."""
    rows = []
    for layers in GROWTH:
        programs = [gpt(1 + extra, layers, 256, 4, 128) for extra in range(GROWTH_REPEATS)]
        warm, _ = warm_seconds(service, programs)
        cpu, child = worker.outcome(programs[0], GROWTH_REPEATS)
        rows.append(
            {
                "layers": layers,
                "operations": len(child.value["operations"]),
                "warm_seconds": warm,
                "trace_cpu_seconds": cpu,
                "memory_bytes": worker.memory(programs[0]),
            }
        )
    return rows


def main() -> None:
    """Print the tables and write `results/estimate_speed.json`."""
    import_cpu = import_cpu_seconds()
    terminal = at_a_terminal(resnet(64))
    service = EstimateService()
    service.warm("python3")
    worker = Worker(service)
    idle = MemoryMeter(worker.pid).now()
    rows = measured(service, worker, import_cpu)
    growth = grown(service, worker)
    service.close()
    paddle = terminal.base_seconds
    show(
        f"Estimates (import paddle: {paddle:.2f} s; `jupyter paddle-gpu estimate` of the first: "
        f"{terminal.seconds:.2f} s, {terminal.ratio:.2f} of that; idle worker: {idle / MIB:.0f} MiB)",
        [
            *("program", "batch", "cold s", "/import", "warm s", "/import", "unchanged ms", "CPU s", "/import"),
            *("real step s", "warm/step", "MiB", "peak GB"),
        ],
        [
            [
                row["program"],
                str(row["batch"]),
                row["cold_seconds"],
                row["cold_over_import"],
                row["warm_seconds"],
                row["warm_over_import"],
                1000 * row["unchanged_seconds"],
                row["trace_cpu_seconds"],
                row["trace_cpu_over_import_cpu"],
                f"{row['real_step_seconds']:.2f} (b {row['real_step_batch']})" if row["real_step_batch"] else "-",
                row["warm_over_real_step"] or "-",
                f"{row['memory_bytes'] / MIB:.0f}",
                f"{row['peak_bytes'] / 1e9:.2f}",
            ]
            for row in rows
        ],
    )
    exponents = {
        cost: exponent([row["operations"] for row in growth], [row[cost] for row in growth])
        for cost in ("warm_seconds", "trace_cpu_seconds")
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
            for row in growth
        ],
    )
    save(
        "estimate_speed",
        {
            "import_paddle_seconds": paddle,
            "import_paddle_cpu_seconds": import_cpu,
            "idle_worker_bytes": idle,
            "terminal_seconds": terminal.seconds,
            "terminal_over_import": terminal.ratio,
            "programs": rows,
            "growth": growth,
            "growth_exponents": exponents,
        },
    )
