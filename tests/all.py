"""`make test`: the tests of the front end, the browser and Python side by side, and at the end what is missing here.

Three lanes, because each waits for something else most of its time; Python's tests take two workers, which keeps two
processors busy. A lane's output comes whole, at its end.
With `--nothing-skipped`, as in continuous integration, a test that is skipped and a part that is missing are failures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from missing import PARTS  # noqa: E402  # beside this file

LANES = {
    "front end": ["jlpm", "test", "--maxWorkers=1"],
    "browser": ["jlpm", "test:ui"],
    "Python": [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup"],
}


def run(name: str, command: list[str]) -> tuple[str, int, float, str]:
    """Run a lane; its name, exit status, seconds and output."""
    begun = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    return name, done.returncode, time.monotonic() - begun, done.stdout


def main(arguments: list[str]) -> int:
    """Run all lanes that can run here; the exit status is the number of those that failed."""
    strict = "--nothing-skipped" in arguments
    missing = {name: part for name, part in PARTS.items() if not part.there()}
    lanes = {name: command for name, command in LANES.items() if not (name == "browser" and "chromium" in missing)}
    lanes["Python"] = [*lanes["Python"], *os.environ.get("PYTEST_FLAGS", "").split()]
    if strict:
        lanes["Python"].append("--nothing-skipped")
    results = []
    with ThreadPoolExecutor(len(lanes)) as pool:
        for done in as_completed([pool.submit(run, name, command) for name, command in lanes.items()]):
            name, status, seconds, text = done.result()
            print(f"\n=== {name}\n{text}", flush=True)
            results.append((name, status, seconds))
    print("\n=== In short")
    for name, status, seconds in results:
        print(f"{name}: {'passed' if status == 0 else f'FAILED ({status})'} in {seconds / 60:.1f} min")
    for name, part in missing.items():
        print(f"Missing: {name}. Not tested: {part.untested}. What brings it: {part.command}")
    failed = sum(status != 0 for _, status, _ in results)
    return failed + (len(missing) if strict else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
