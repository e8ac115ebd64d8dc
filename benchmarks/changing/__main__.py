"""Programs whose batches differ in shape, for real on Paddle's own allocator beside their estimates.

`python -m benchmarks.changing` runs each on a device of memory alone (`real`) and writes `results/changing.json`; of
names behind it those alone are run, the others keep what they took. Beside them stands what the replay of the largest
batch alone gives, and what the estimate says of each without its data (`hidden`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.memory.changing import replay_orders
from jupyter_paddle_gpu.estimator.memory.reserved import replay_reserved
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.trace import Operation, Trace

from ..estimate_speed import facts
from ..report import RESULTS, save, show
from .hidden import PROGRAMS as HIDDEN

PROGRAMS = Path(__file__).with_name("programs")
MARKS = "10,20,40"
"""Steps."""
NO_WORKSPACE = "the device has no kernels, so that none takes memory for itself"


def real(program: Path) -> list[dict[str, Any]]:
    """What Paddle says at each mark."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.changing.real", str(program), MARKS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def nothing(_: Operation) -> int:
    """Transient bytes of a kernel here (`NO_WORKSPACE`)."""
    return 0


def traced(service: EstimateService, text: str, answers: dict[str, str]) -> Trace:
    """The trace behind an estimate for a GPU."""
    ask, traces = service.traces.trace, list[Trace]()

    def kept(*args: Any, **kwargs: Any) -> Any:
        found = ask(*args, **kwargs)
        traces.extend([found.trace] if found.trace else [])
        return found

    service.traces.trace = kept  # type: ignore[method-assign]
    try:
        service.estimate(facts(text), PROGRAMS, EstimateRequest(target="gpu", answers=answers), None)
    finally:
        service.traces.trace = ask  # type: ignore[method-assign]
    return traces[0]


def replayed(trace: Trace) -> dict[str, Any]:
    """What the step allocates, and reserves alone and in orders of its batches."""
    single = replay_reserved(trace, nothing)
    orders = () if trace.batches is None else replay_orders(trace, trace.batches, nothing)
    orders = orders or (single,)
    return {
        "allocated": single.allocated,
        "largest_alone": single.reserved,
        "orders": sorted(one.reserved for one in orders),
    }


def main(names: list[str]) -> None:
    """Run and estimate, print the table and write it."""
    service = EstimateService(EstimateSettings(calibration=PROGRAMS / "no-calibration.json"))
    known = json.loads((RESULTS / "changing.json").read_text())["programs"] if names else []
    before = {row["program"]: row["real"] for row in known}
    rows = []
    for program in sorted(PROGRAMS.glob("*.py")):
        name, text = program.stem, program.read_text()
        here, hidden = replayed(traced(service, text, {})), HIDDEN[name]
        answers = {"loader": hidden.batch} if hidden.batch else {}
        absent = replayed(traced(service, hidden.of(text), answers))
        seen = before[name] if name in before and name not in names else real(program)
        end = seen[-1]["reserved"]
        rows.append(
            {
                "program": name,
                "real": seen,
                **here,
                "inside": here["orders"][0] <= end <= here["orders"][-1],
                "hidden": {**absent, "inside": absent["largest_alone"] <= end <= absent["orders"][-1]},
            }
        )
    service.close()
    save("changing", {"programs": rows, "steps": MARKS})
    show(
        "Reserved over changing shapes, MB",
        ("Program", "Allocated", "Estimated", "Reserved", "Largest alone", "Least", "Middle", "Most", "Hidden", "to"),
        [
            (row["program"], *(f"{size / 1e6:,.1f}" for size in (
                row["real"][-1]["allocated"], row["allocated"], row["real"][-1]["reserved"], row["largest_alone"],
                row["orders"][0], row["orders"][len(row["orders"]) // 2], row["orders"][-1],
                row["hidden"]["largest_alone"], row["hidden"]["orders"][-1],
            )))
            for row in rows
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
