"""`python -m benchmarks.refusals [MUTANTS] [FIRST_SEED] [SECONDS] [--seen] [--rows=FILE]`: the table of agreement.

Programs are taken in turn until there are so many mutants or the time is up. `results/refusals.json` keeps a part for
each first seed, and the sum of all; a part run again takes the place of its older one. `--seen` marks a part whose
programs were looked at before the rules that it shows were written. `--rows` keeps each answer in a file as soon as it
is there, so that a part can be run in slices: what the file has of the same program is not run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..accuracy.cases import CASES
from .mutations import mutants
from .running import ROOT

RESULT = ROOT / "benchmarks" / "results" / "refusals.json"
EACH = 16
"""Mutants of one program at most."""
RANDOM_BETWEEN = 2
"""Random programs for one of the benchmark's, whose real steps take longer."""
WORKERS = int(os.environ.get("REFUSALS_WORKERS", "4"))
"""Processes side by side."""
SLOW = frozenset(("vgg", "resnet", "densenet", "inception", "mobilenet", "googlenet", "shufflenet", "alexnet", "unet"))
"""Programs whose real steps take long have their faults shown by the others."""
ALIKE = frozenset(("refused at one line", "runs in both", "left out"))
"""Verdicts that need no second look."""


def programs(seeds: range) -> Iterator[tuple[str, str]]:
    """The benchmark's programs and as many random ones, one after the other; another seed begins with another."""
    from tests.estimator.tracer.random_programs import program

    cases = [case for case in CASES if not any(name in case.name.lower() for name in SLOW)]
    begin = seeds.start % len(cases)
    own = iter(cases[begin:] + cases[:begin])
    for seed in seeds:
        if seed % RANDOM_BETWEEN == 0 and (case := next(own, None)) is not None:
            yield case.name, case.source
        yield f"random-{seed}", program(seed)


def judged(row: dict[str, Any]) -> str:
    """What the two answers to one program come to."""
    real, traced = row["real"], row.get("traced", {"ended": "slow"})
    if "slow" in {real["ended"], traced["ended"]} or real["ended"] == "crashed":
        return "left out"
    if real["ended"] == "ran":
        return {"ran": "runs in both", "refused": "only the trace refuses"}.get(traced["ended"], "asks, though it runs")
    if traced.get("by_chance") == real["line"]:
        return "said of some draws"
    if traced["ended"] != "refused":
        return "only the real run refuses" if traced["ended"] == "ran" else "asks, where the real run refuses"
    return "refused at one line" if traced["line"] == real["line"] else "refused at another line"


def main(
    count: int = 2600, first: int = 0, seconds: int = 3600, *, seen: bool = False, kept: Path | None = None
) -> None:
    """Make the mutants, run and trace each, write the table and all on which the two do not agree."""
    dice = random.Random(first)
    sent: dict[str, tuple[str, str]] = {}
    each = max(1, min(EACH, count // 40))
    for name, source in programs(range(first, first + 400)):
        for number, (kind, broken) in enumerate(mutants(source, each, dice)):
            sent[f"{name}/{number}"] = (kind, broken)
        if len(sent) >= count:
            break
    part = {"first_seed": first, "seen": seen, **_table(run(sent, seconds, kept), sent)}
    write(RESULT, part)
    print(json.dumps(part["total"], indent=1))


def _table(rows: Iterable[dict[str, Any]], sent: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Counts of one part, in all and for each kind of fault, and the rows that are not alike."""
    table: dict[str, Counter[str]] = {}
    unlike: list[dict[str, Any]] = []
    total: Counter[str] = Counter()
    for row in rows:
        kind, source = sent[row["name"]]
        verdict = judged(row)
        table.setdefault(kind, Counter())[verdict] += 1
        total.update(("mutants", verdict))
        if verdict not in ALIKE:
            line = row["real"].get("line") or row["traced"].get("line") or 1
            code = source.splitlines()[line - 1].strip() if line <= len(source.splitlines()) else ""
            said = {key: value for key, value in row.items() if key != "source"}
            unlike.append({**said, "kind": kind, "verdict": verdict, "code": code})
    return {"total": total, "kinds": {kind: table[kind] for kind in sorted(table)}, "unlike": unlike}


def write(path: Path, part: dict[str, Any]) -> None:
    """Put a part into a file of results, in the place of its older one, and sum up anew."""
    kept = json.loads(path.read_text())["parts"] if path.exists() else []
    parts = [one for one in kept if one["first_seed"] != part["first_seed"]] + [part]
    parts.sort(key=lambda one: int(one["first_seed"]))

    def summed(chosen: Iterable[dict[str, Any]]) -> Counter[str]:
        result: Counter[str] = Counter()
        for one in chosen:
            result.update(one["total"])
        return result

    unseen = [one for one in parts if not one["seen"]]
    path.write_text(json.dumps({"total": summed(parts), "unseen": summed(unseen), "parts": parts}, indent=1) + "\n")


def run(sent: dict[str, tuple[str, str]], seconds: float, kept: Path | None) -> list[dict[str, Any]]:
    """The answers to programs, as many as there is time for, in the order of the programs."""
    rows = _kept(kept, sent)
    names, ends = [name for name in sent if name not in rows], time.monotonic() + seconds
    with ThreadPoolExecutor(WORKERS) as pool:
        shares = [[(name, sent[name][1]) for name in names[at::WORKERS]] for at in range(WORKERS)]
        for part in pool.map(lambda share: _answers(share, ends, kept), shares):
            rows.update((row["name"], row) for row in part)
    return [rows[name] for name in sent if name in rows]


def _kept(path: Path | None, sent: dict[str, tuple[str, str]]) -> dict[str, dict[str, Any]]:
    """What a file has of earlier slices, of programs that are still the same."""
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {row["name"]: row for row in rows if row["name"] in sent and row["source"] == _mark(sent[row["name"]][1])}


def _mark(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _answers(programs: list[tuple[str, str]], ends: float, kept: Path | None) -> list[dict[str, Any]]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.refusals.running"]
    rows: list[dict[str, Any]] = []
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        for name, source in programs:  # one at a time, so that the time can be kept
            if time.monotonic() > ends:
                break
            process.stdin.write(json.dumps({"name": name, "source": source}) + "\n")
            process.stdin.flush()
            rows.append({**json.loads(process.stdout.readline()), "source": _mark(source)})
            if kept is not None:
                with kept.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
        process.stdin.close()
    return rows


if __name__ == "__main__":
    words = sys.argv[1:]
    rows_file = next((Path(word.partition("=")[2]) for word in words if word.startswith("--rows=")), None)
    main(*(int(word) for word in words if not word.startswith("--")), seen="--seen" in words, kept=rows_file)
