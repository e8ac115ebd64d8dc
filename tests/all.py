"""`make test`: the tests of the front end, the browser and Python side by side, and at the end what is missing here.

Three lanes, because each waits for something else most of its time. Python's tests, too, wait for processes and daemons
half of theirs: two workers a processor keep it busy. A lane's lines come as they are written, behind its name; at the
end stands each runner's own summary.
With `--nothing-skipped`, as in continuous integration, a test that is skipped and a part that is missing are failures.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from missing import PARTS  # noqa: E402  # beside this file

WORKERS = min(8, 2 * (os.cpu_count() or 1))
"""Of Python's tests. More would only wait for the longest file."""
LANES = {
    "front end": ["jlpm", "test", "--maxWorkers=1"],
    "browser": ["jlpm", "test:ui"],
    "Python": [sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS), "--reruns", "1", "-raR"],
}
"""A test that fails in the browser or in Python is tried once more: daemons, kernels and browsers share few processors.
Who needed that is named at the end (`flaky`, `RERUN`), and is a fault to be mended: the test's, or the product's."""
SUMMARY = re.compile(r"\b\d+ (passed|failed)\b")
"""What the summaries of pytest, Jest and Playwright have in common."""


class Lane(NamedTuple):
    """How a lane ended: its exit status, how long it took, and the last line with a count, its runner's summary."""

    name: str
    status: int
    seconds: float
    summary: str


def run(name: str, command: list[str]) -> Lane:
    """Run a lane to its end and show what it prints meanwhile."""
    begun, summary = time.monotonic(), ""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    ) as process:
        for line in process.stdout or ():
            print(f"{name:<9} | {line}", end="", flush=True)
            if SUMMARY.search(line):
                summary = line.strip()
    return Lane(name, process.returncode, time.monotonic() - begun, summary)


def main(arguments: list[str]) -> int:
    """Run all lanes that can run here; the exit status is the number of those that failed."""
    strict = "--nothing-skipped" in arguments
    missing = {name: part for name, part in PARTS.items() if not part.there()}
    lanes = {name: command for name, command in LANES.items() if not (name == "browser" and "chromium" in missing)}
    lanes["Python"] = [*lanes["Python"], *os.environ.get("PYTEST_FLAGS", "").split()]
    if strict:
        lanes["Python"].append("--nothing-skipped")
    with ThreadPoolExecutor(len(lanes)) as pool:
        results = list(pool.map(run, lanes, lanes.values()))
    print("\n=== In short")
    for lane in results:
        print(f"{lane.name}: {'passed' if lane.status == 0 else f'FAILED ({lane.status})'}", end="")
        print(f" in {lane.seconds / 60:.1f} min\n{lane.summary}")
    for name, part in missing.items():
        print(f"Missing: {name}. Not tested: {part.untested}. What brings it: {part.command}")
    failed = sum(lane.status != 0 for lane in results)
    return failed + (len(missing) if strict else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
