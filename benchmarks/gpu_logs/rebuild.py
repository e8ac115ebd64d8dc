"""Rebuilds logged trainings and puts what is estimated for a GPU beside what was logged.

`python -m benchmarks.gpu_logs.rebuild CLONES` takes a folder with clones of the trainers' repositories without data and
estimates every variant of each record of the half that may be looked at; `--half "held back"` is for the end, when the
rules are written. `results/gpu_logs.json` has every row.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..report import save, show
from .collection import Figure, Log, Variant, read

NICE = ("nice", "-n", "10")


def estimated(variant: Variant, clones: Path) -> dict[str, Any]:
    """What `jupyter paddle-gpu estimate tools/train.py` says of it on a GPU."""
    folder = clones / variant.repository.rpartition("/")[2]
    command = [str(Path(sys.executable).with_name("jupyter")), "paddle-gpu", "estimate", "--json", "tools/train.py"]
    done = subprocess.run(
        [*NICE, *command, "--", *variant.arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"status": "no answer", "problem": done.stderr.strip().splitlines()[-1:]}
    names = ("status", "batch_size", "image_size", "amp", "allocated_peak_bytes", "peak_bytes", "low", "high", "inputs")
    return {name: answer.get(name) for name in names} | {"notes": [note["code"] for note in answer["notes"]]}


def error(figure: Figure | None, estimate: int | None) -> float | None:
    """By how much an estimate misses the range that a logged figure means; 0 inside of it."""
    if figure is None or not estimate:
        return None
    nearest = min(max(estimate, figure.low), figure.high)
    return estimate / nearest - 1


def rebuilt(log: Log, clones: Path) -> list[dict[str, Any]]:
    """A row for each variant of a record."""
    rows = []
    for variant in log.variants:
        found = estimated(variant, clones)
        sys.stderr.write(f"{log.thread} {variant.assumes} {found}\n")
        rows.append(
            {
                "thread": log.thread,
                "kind": log.kind,
                "grade": log.grade,
                "half": log.half,
                "assumes": variant.assumes,
                "arguments": variant.arguments,
                "logged": {"allocated": _middle(log.allocated), "reserved": _middle(log.reserved)},
                "estimated": found,
                "error": error(log.allocated, found.get("allocated_peak_bytes")),
            }
        )
    return rows


def _middle(figure: Figure | None) -> int | None:
    return None if figure is None else (figure.low + figure.high) // 2


def main() -> None:
    """Rebuild one half and print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_logs.rebuild", description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--half", default="rules", choices=["rules", "held back"])
    asked = parser.parse_args()
    logs = [log for log in read() if log.half == asked.half]
    rows = [row for log in logs for row in rebuilt(log, asked.clones.absolute())]
    show(
        f"Logged beside estimated, half: {asked.half}; {len(logs)} records, {len(rows)} rebuilt",
        ("Thread", "Assumed", "Logged", "Estimated", "Error", "Reserved"),
        [
            (row["thread"], row["assumes"], f"{(row['logged']['allocated'] or 0) / 2**20:,.0f} MiB",
             f"{(row['estimated'].get('allocated_peak_bytes') or 0) / 2**20:,.0f} MiB",
             "" if row["error"] is None else f"{row['error']:+.1%}",
             f"{(row['logged']['reserved'] or 0) / 2**20:,.0f} MiB")
            for row in rows
        ],
    )  # fmt: skip
    save("gpu_logs", {"half": asked.half, "rows": rows})


if __name__ == "__main__":
    main()
