"""`make bench-scheduling`: five places under each scheduler, with 95 % confidence, and decisions a second.

`OPENB_TRACE` names the folder of the public trace; without it a stated synthetic one is used.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from . import speed
from .simulate import SCHEDULERS, Outcome, shares, simulate
from .workload import CARDS, LOAD, TASKS, build

SEEDS = (0, 1, 2, 3, 4)
FIGURES = ("utilisation", "work", "waiting", "completion", "fairness", "failures")


RESULTS = Path(__file__).parents[1] / "results" / "scheduling.json"


def main() -> None:
    """Print a table and write it beside the other results. Arguments: schedulers that are measured anew, all without
    any; the others' rows stay as they are."""
    anew = tuple(sys.argv[1:]) or SCHEDULERS
    outcomes: dict[str, list[Outcome]] = {name: [] for name in anew}
    source = ""
    for seed in SEEDS:
        place = build(seed)
        source = place.source
        for name in anew:
            outcomes[name].append(simulate(place, name, seed))
            print(seed, name, outcomes[name][-1], file=sys.stderr, flush=True)
    table = {
        name: {one: _cell([getattr(run, one) for run in runs]) for one in FIGURES} for name, runs in outcomes.items()
    }
    before: dict[str, Any] = msgspec.json.decode(RESULTS.read_bytes()) if RESULTS.exists() and sys.argv[1:] else {}
    table = {name: {**before.get("schedulers", {}), **table}[name] for name in SCHEDULERS}
    result: dict[str, Any] = {
        "source": source,
        "tasks": TASKS,
        "cards": dict(CARDS.values()),
        "load": LOAD,
        "seeds": list(SEEDS),
        "schedulers": table,
        "learned_proven_after": [run.proven_after for run in outcomes["learned"]]
        if "learned" in outcomes
        else before["learned_proven_after"],
    }
    print(f"{source} trace, {TASKS} tasks, {sum(count for _, count in CARDS.values())} cards, seeds {SEEDS}")
    print(f"{'':18}" + "".join(f"{one:>22}" for one in FIGURES))
    for name, row in table.items():
        print(f"{name:18}" + "".join(f"{cell['mean']:>14.4g} ± {cell['half']:<5.2g}" for cell in row.values()))
    result["decisions"] = speed.curve()
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")


def _cell(values: list[float]) -> dict[str, Any]:
    mean, half = shares(values)
    return {"mean": mean, "half": half, "each": [round(value, 4) for value in values]}


if __name__ == "__main__":
    main()
