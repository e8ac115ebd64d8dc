"""Runs the accuracy benchmark: truth of each case in its own process, estimates in one warm process, one table.

Options: `--split rules|held_out|fresh|unseen`, `--case NAME` (repeatable), `--cache FILE` keeps measured truths between
runs, `--at-once N` measures so many truths at the same time (2), `--output FILE` writes the JSON there; without it a
run over all cases is written, and with `--merge` a run over some, beside the other rows of the last one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from .cases import CASES, Case
from .estimates import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "accuracy.json"
FIRST_RUNS = {
    "held_out, first run": RESULTS.with_name("accuracy_held_out_first_run.json"),
    "fresh, first run": RESULTS.with_name("accuracy_fresh_first_run.json"),
    "unseen, first run": RESULTS.with_name("accuracy_unseen_first_run.json"),
}
TIMEOUT = 600.0
"""Seconds for the real steps of one case."""
NICE = ("nice", "-n", "10")


def _steady(peaks: list[int]) -> int:
    """The peak that the steps settle on: the commonest after the first; the middle one where sizes hang on random
    data and no two are equal."""
    counts = Counter(peaks[1:])
    if len(counts) > 2 and max(counts.values()) == 1:
        return sorted(counts)[len(counts) // 2]
    return max(counts, key=lambda peak: (counts[peak], peak))


def _measure(case: Case) -> dict[str, Any]:
    command = [*NICE, sys.executable, "-W", "ignore", "-m", "benchmarks.accuracy.truth", case.name]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return {"error": "no steady step in time"}
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1:]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def _key(case: Case) -> str:
    return hashlib.sha256(f"{case.updates} {case.source}".encode()).hexdigest()[:16]


def _truths(cases: list[Case], at_once: int, file: Path | None) -> dict[str, dict[str, Any]]:
    """Truth by the case's name. Bytes of Paddle's allocator do not hang on what else the machine does."""
    kept = json.loads(file.read_text()) if file and file.exists() else {}
    missing = [case for case in cases if _key(case) not in kept]
    failed: dict[str, dict[str, Any]] = {}
    with ThreadPoolExecutor(at_once) as pool:
        for case, found in zip(missing, pool.map(_measure, missing), strict=True):
            if "error" in found:
                failed[case.name] = found
                continue
            kept[_key(case)] = found
            if file:
                file.write_text(json.dumps(kept))
    return {case.name: failed.get(case.name) or kept[_key(case)] for case in cases}


def _estimates(names: list[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    while missing := [name for name in names if name not in found]:
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.accuracy.estimates", *missing]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                row = json.loads(line)
                found[row["name"]] = row
        if done.returncode != 0:  # the case after the last one answered took the process with it
            crashed = next(name for name in missing if name not in found)
            found[crashed] = {"name": crashed, "status": "crashed", "notes": [], "seconds": 0.0, "rss": 0}
    return found


def figures(errors: list[float]) -> dict[str, float]:
    """Median, 95th percentile and extremes of relative errors."""
    sizes = sorted(abs(error) for error in errors)
    return {
        "cases": len(sizes),
        "median": median(sizes),
        "p95": sizes[min(len(sizes) - 1, round(0.95 * (len(sizes) - 1)))],
        "max": sizes[-1],
        "most_too_low": min(errors),
    }


def main() -> None:
    """Measure, compare, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--split", choices=["rules", "held_out", "fresh", "unseen"])
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--merge", action="store_true")
    chosen = parser.parse_args()
    cases = [
        c for c in CASES if (not chosen.split or c.split == chosen.split) and (not chosen.case or c.name in chosen.case)
    ]
    truths = _truths(cases, chosen.at_once, chosen.cache)
    estimates = _estimates([case.name for case in cases])
    heads = f"{'case':28s} {'split':8s} {'truth MB':>10s} {'estimate':>10s} {'error %':>9s} {'summary %':>10s}"
    print(f"{heads} {'s':>6s} {'RSS MB':>7s}")
    results: list[dict[str, Any]] = []
    for case in cases:
        truth, row = truths[case.name], estimates[case.name]
        result: dict[str, Any] = {
            "name": case.name,
            "split": case.split,
            "model": case.model,
            "batch": case.batch,
            "optimizer": case.optimizer,
            "feature": case.feature,
            "seconds": row["seconds"],
            "rss": row["rss"],
            "notes": row["notes"],
        }
        results.append(result)
        if "peak" not in row or "error" in truth:
            result["problem"] = truth.get("error") or row.get("problem") or row["status"]
            print(f"{case.name:28s} {case.split:8s} {json.dumps(result['problem'])[:180]}")
            continue
        result.update(truth=_steady(truth["peaks"]), estimate=row["peak"], step_seconds=truth["seconds"])
        result["error"] = row["peak"] / result["truth"] - 1
        shown = "-"
        if truth.get("summary"):
            result["summary_error"] = truth["summary"] / result["truth"] - 1
            shown = f"{100 * result['summary_error']:+.0f}"
        print(
            f"{case.name:28s} {case.split:8s} {result['truth'] / 1e6:10.3f} {row['peak'] / 1e6:10.3f} "
            f"{100 * result['error']:+9.3f} {shown:>10s} {row['seconds']:6.2f} {row['rss'] / 1e6:7.0f}"
        )
    whole = not chosen.split and not chosen.case
    if chosen.merge:
        again = {row["name"]: row for row in results}
        results = [again.get(row["name"], row) for row in json.loads(RESULTS.read_text())["cases"]]
    _conclude(results, chosen.output or (RESULTS if whole or chosen.merge else None))


def _conclude(results: list[dict[str, Any]], output: Path | None) -> None:
    summary: dict[str, Any] = {}
    for split in ("all", "rules", "held_out", "fresh", "unseen"):
        errors = [r["error"] for r in results if "error" in r and split in ("all", r["split"])]
        if errors:
            summary[split] = figures(errors)
            shown = "  ".join(f"{k} {v:.4%}" if k != "cases" else f"{v} cases" for k, v in summary[split].items())
            print(f"{split:22s} {shown}")
    for name, file in FIRST_RUNS.items():  # seen by nobody before: kept as they were
        if file.exists():
            summary[name] = json.loads(file.read_text())["summary"]["all"]
            shown = "  ".join(f"{k} {v:.4%}" if k != "cases" else f"{v} cases" for k, v in summary[name].items())
            print(f"{name:22s} {shown}")
    others = [abs(r["summary_error"]) for r in results if "summary_error" in r]
    if others:
        summary["paddle.summary"] = {"cases": len(others), "median": median(others), "max": max(others)}
        print(f"paddle.summary: median {median(others):.1%} of {len(others)} cases")
    if output is not None:
        output.write_text(json.dumps({"summary": summary, "cases": results}, indent=1) + "\n")
