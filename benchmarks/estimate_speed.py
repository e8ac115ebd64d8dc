"""How long an estimate takes, cold and warm, and how that grows with the model.

`python -m benchmarks estimate_speed`. Everything is measured in one run on one machine and shown as ratios to
`import paddle` and to one real CPU step of the same program, since seconds alone mean little elsewhere.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import psutil

from jupyter_paddle_gpu.domain.estimates import Estimate, EstimateRequest
from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.estimator.interpreters import Interpreter, find_interpreter
from jupyter_paddle_gpu.estimator.service import EstimateService
from jupyter_paddle_gpu.estimator.traces import tracer_request
from jupyter_paddle_gpu.estimator.worker import Outcome

from .programs import bert, gpt, resnet
from .report import save, show

REPEATS = 3
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
GROWTH = (12, 24, 48, 96)
METER = """
import time, paddle
_step, _times = paddle.optimizer.AdamW.step, []
def _timed(self):
    _step(self)
    _times.append(time.perf_counter())
paddle.optimizer.AdamW.step = _timed
"""

T = TypeVar("T")


def facts(program: str) -> NotebookFacts:
    """A notebook of one cell."""
    return NotebookFacts(
        kernel_name="python3",
        language="python",
        cells=(CodeCell(index=0, id="a", source=program),),
        imports_paddle=True,
        loop="custom",
    )


def timed(call: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


def estimate(service: EstimateService, program: str) -> Estimate:
    found = service.estimate(facts(program), HERE, ON_CPU)
    if found.evidence != "trace":
        raise RuntimeError([*map(str, found.notes), *map(str, found.questions)])
    return found


def import_seconds() -> float:
    command = [sys.executable, "-c", "import paddle"]
    return statistics.median(
        timed(lambda: subprocess.run(command, capture_output=True, check=True))[0] for _ in range(REPEATS)
    )


def import_cpu_seconds() -> float:
    """Processor time of one `import paddle`; unlike wall time it does not grow with what else the machine does."""
    code = "import paddle, resource; u = resource.getrusage(0); print(u.ru_utime + u.ru_stime)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def real_step_seconds(program: str) -> float:
    """One steady training step on the CPU: the third."""
    code = METER + program + "\nprint(_times[2] - _times[1])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def cold_seconds(program: str) -> float:
    """No worker runs yet: starting one, importing Paddle, tracing, replaying."""

    def once() -> None:
        service = EstimateService()
        estimate(service, program)
        service.close()

    return statistics.median(timed(once)[0] for _ in range(REPEATS))


def warm_seconds(service: EstimateService, programs: list[str]) -> tuple[float, Estimate]:
    """The median over programs that differ in their batch, so that none is answered from memory."""
    runs = [timed(lambda program=program: estimate(service, program)) for program in programs]  # type: ignore[misc]
    return statistics.median(seconds for seconds, _ in runs), runs[0][1]


def outcome(service: EstimateService, interpreter: Interpreter, program: str) -> Outcome:
    """The child's own answer, with its resident memory."""
    return service.traces.worker(interpreter).request("trace", tracer_request(facts(program), HERE, ON_CPU), HERE)


def main() -> None:
    """Print the tables and write `results/estimate_speed.json`."""
    paddle_seconds = import_seconds()
    import_cpu = import_cpu_seconds()
    interpreter = find_interpreter("python3")
    service = EstimateService()
    service.warm("python3")
    zygote = psutil.Process(service.traces.worker(interpreter).process_id).memory_info().rss
    rows: list[dict[str, Any]] = []
    for name, (program, batch, small) in PROGRAMS.items():
        step = real_step_seconds(program(small)) if small else None
        warm, found = warm_seconds(service, [program(batch + extra) for extra in range(REPEATS)])
        child = outcome(service, interpreter, program(batch))
        cold = cold_seconds(program(batch))
        rows.append(
            {
                "program": name,
                "batch": batch,
                "operations": len(child.value["operations"]),
                "peak_bytes": found.peak_bytes,
                "cold_seconds": cold,
                "cold_over_import": cold / paddle_seconds,
                "warm_seconds": warm,
                "warm_over_import": warm / paddle_seconds,
                "trace_cpu_seconds": child.cpu_seconds,
                "trace_cpu_over_import_cpu": child.cpu_seconds / import_cpu,
                "real_step_batch": small,
                "real_step_seconds": step,
                "warm_over_real_step": warm / step if step else None,
                "resident_bytes": child.resident,
            }
        )
    show(
        f"Estimates (import paddle: {paddle_seconds:.2f} s; idle worker: {zygote / MIB:.0f} MiB)",
        [
            *("program", "batch", "cold s", "/import", "warm s", "/import", "CPU s", "/import"),
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
                row["trace_cpu_seconds"],
                row["trace_cpu_over_import_cpu"],
                f"{row['real_step_seconds']:.2f} (b {row['real_step_batch']})" if row["real_step_batch"] else "-",
                row["warm_over_real_step"] or "-",
                f"{row['resident_bytes'] / MIB:.0f}",
                f"{row['peak_bytes'] / 1e9:.2f}",
            ]
            for row in rows
        ],
    )
    growth: list[dict[str, Any]] = []
    for layers in GROWTH:
        programs = [gpt(1 + extra, layers, 256, 4, 128) for extra in range(REPEATS)]
        warm, _ = warm_seconds(service, programs)
        child = outcome(service, interpreter, programs[0])
        growth.append(
            {
                "layers": layers,
                "operations": len(child.value["operations"]),
                "warm_seconds": warm,
                "trace_cpu_seconds": child.cpu_seconds,
                "resident_bytes": child.resident,
            }
        )
    show(
        "Growth with the model: GPT, width 256, T 128",
        ["layers", "operations", "warm s", "CPU s", "CPU ms a layer", "MiB"],
        [
            [
                str(row["layers"]),
                str(row["operations"]),
                row["warm_seconds"],
                row["trace_cpu_seconds"],
                1000 * row["trace_cpu_seconds"] / row["layers"],
                f"{row['resident_bytes'] / MIB:.0f}",
            ]
            for row in growth
        ],
    )
    service.close()
    save(
        "estimate_speed",
        {
            "import_paddle_seconds": paddle_seconds,
            "import_paddle_cpu_seconds": import_cpu,
            "idle_worker_resident_bytes": zygote,
            "programs": rows,
            "growth": growth,
        },
    )
