"""The whole job at a terminal: estimate a notebook, submit it, follow its log, hold the estimate against the truth.

`make demo` runs this. It uses nothing but the command line that every user has, and ends with exit status 0 only when
the executed notebook has outputs and the estimate differs from the measured peak by less than two per cent.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent
TOLERANCE = 0.02


def paddle_gpu(*arguments: str) -> Any:
    """Run `jupyter paddle-gpu … --json` and return what it printed."""
    command = ["jupyter", "paddle-gpu", *arguments, "--json"]
    print(f"\n$ {' '.join(command)}", flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"exit status {done.returncode}: {done.stdout}")
    return json.loads(done.stdout)


def follow(job_id: str) -> None:
    """Stream the job's log to this terminal until the job ends."""
    command = ["jupyter", "paddle-gpu", "logs", job_id, "--follow"]
    print(f"\n$ {' '.join(command)}", flush=True)
    subprocess.run(command, check=True)


def cells_with_outputs(notebook: Path) -> tuple[int, int]:
    """How many code cells of an executed notebook have outputs, and how many there are."""
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    return sum(bool(cell["outputs"]) for cell in cells), len(cells)


def main() -> int:
    notebook = EXAMPLES / (sys.argv[1] if len(sys.argv) > 1 else "digits_fit.ipynb")
    estimate = paddle_gpu("estimate", str(notebook), "--target", "cpu")
    print(
        f"  {estimate['model']}, {estimate['parameters']:,} parameters, batch {estimate['batch_size']},"
        f" {estimate['optimizer']}: {estimate['peak_bytes']:,} bytes ({estimate['evidence']}, {estimate['seconds']:.1f} s)"
    )
    job = paddle_gpu("submit", str(notebook), "--engine", "local")
    print(f"  job {job['id']}")
    follow(job["id"])
    job = paddle_gpu("jobs", job["id"])

    result, output = job["result"] or {}, Path(job["spec"]["output"])
    with_outputs, cells = cells_with_outputs(output) if output.exists() else (0, 0)
    # The estimate is of a steady training step; the whole run's peak may lie in another cell (data, evaluation).
    estimated, whole_run = estimate["allocated_peak_bytes"], result.get("host_allocated_bytes") or 0
    measured = result.get("step_allocated_bytes") or whole_run
    error = abs(estimated - measured) / measured if measured else 1.0
    print(f"\n  state               {job['state']}")
    print(f"  executed notebook   {output} ({with_outputs} of {cells} code cells have outputs)")
    print(f"  estimated peak      {estimated:>14,} bytes of a training step")
    print(f"  measured peak       {measured:>14,} bytes of a training step")
    print(f"                      {whole_run:>14,} bytes of the whole run")
    print(f"  difference          {error:>14.2%}")
    good = job["state"] == "succeeded" and with_outputs > 0 and error < TOLERANCE
    print("\nDone." if good else "\nNot as it should be.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
