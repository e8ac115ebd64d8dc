"""Programs whose batches differ in shape, for real on Paddle's own allocator beside their estimates.

`python -m benchmarks.changing` runs each on a device of memory alone (`real`) and writes `results/changing.json`.
Beside them stands what the replay of the largest batch alone gives.
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
from ..report import save, show

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


def main() -> None:
    """Run and estimate all, print the table and write it."""
    service = EstimateService(EstimateSettings(calibration=PROGRAMS / "no-calibration.json"))
    rows, traces = [], list[Trace]()
    ask = service.traces.trace

    def kept(*args: Any, **kwargs: Any) -> Any:
        traced = ask(*args, **kwargs)
        traces.extend([traced.trace] if traced.trace else [])
        return traced

    service.traces.trace = kept  # type: ignore[method-assign]
    for program in sorted(PROGRAMS.glob("*.py")):
        traces.clear()
        service.estimate(facts(program.read_text()), PROGRAMS, EstimateRequest(target="gpu"), None)
        trace = traces[0]
        assert trace.batches is not None, program
        orders = [one.reserved for one in replay_orders(trace, trace.batches, nothing)]
        single = replay_reserved(trace, nothing)
        seen = real(program)
        rows.append(
            {
                "program": program.stem,
                "real": seen,
                "allocated": single.allocated,
                "largest_alone": single.reserved,
                "orders": sorted(orders),
                "inside": min(orders) <= seen[-1]["reserved"] <= max(orders),
            }
        )
    save("changing", {"programs": rows, "steps": MARKS})
    show(
        "Reserved over changing shapes, MB",
        ("Program", "Allocated", "Estimated", "Reserved", "Largest alone", "Least", "Middle", "Most"),
        [
            (row["program"], *(f"{size / 1e6:,.1f}" for size in (
                row["real"][-1]["allocated"], row["allocated"], row["real"][-1]["reserved"], row["largest_alone"],
                row["orders"][0], row["orders"][len(row["orders"]) // 2], row["orders"][-1],
            )))
            for row in rows
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
