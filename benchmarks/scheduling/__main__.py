"""`make bench-scheduling`: five places under each scheduler, with 95 % confidence, and decisions a second; six minutes.

`OPENB_TRACE` names the folder of the public trace; without it a stated synthetic one is used.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from ..report import show
from . import speed
from .simulate import SCHEDULERS, Outcome, shares, simulate
from .workload import CARDS, LOAD, TASKS, build

SEEDS = (0, 1, 2, 3, 4)
FIGURES = {
    "utilisation": "cards in use",
    "work": "work done",
    "waiting": "mean wait, s",
    "completion": "mean time to the end, s",
    "fairness": "fairness (Jain)",
    "failures": "out of memory",
}
"""What is measured, and its heading."""
CALLED = {
    "fifo": "first come, whole cards as asked for",
    "kueue": "Kueue's best effort (a model)",
    "slurm": "Slurm's back-fill (a model)",
    "packed": "rules, prefer: least_free",
}
"""Schedulers that are not called what they are."""
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
            told = ", ".join(f"{title} {getattr(outcomes[name][-1], one):.4g}" for one, title in FIGURES.items())
            print(f"seed {seed}, {CALLED.get(name, name)}: {told}", file=sys.stderr, flush=True)
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
    about = f"{source} trace, {TASKS} tasks, {sum(count for _, count in CARDS.values())} cards, {len(SEEDS)} seeds"
    show(
        f"{about}; ± is half of the 95 % confidence interval",
        ("scheduler", *FIGURES.values()),
        [[CALLED.get(name, name), *map(_told, row.values())]
         for name, row in table.items()],
    )  # fmt: skip
    ratios = ("utilisation", "work", "waiting")
    show(
        "Times first come first served (aims: cards in use 1.6, mean wait 0.33)",
        ("scheduler", *(FIGURES[one] for one in ratios)),
        [[CALLED.get(name, name), *(f"{row[one]['mean'] / table['fifo'][one]['mean']:.2f}" for one in ratios)]
         for name, row in table.items() if name != "fifo"],
    )  # fmt: skip
    result["decisions"] = speed.curve()
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")


def _told(cell: dict[str, Any]) -> str:
    mean, half = cell["mean"], cell["half"]
    return f"{mean:,.0f} ± {half:,.0f}" if mean >= 100 else f"{mean:.3g} ± {half:.2g}"


def _cell(values: list[float]) -> dict[str, Any]:
    mean, half = shares(values)
    return {"mean": mean, "half": half, "each": [round(value, 4) for value in values]}


if __name__ == "__main__":
    main()
