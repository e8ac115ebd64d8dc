"""Puts cards' answers into the traces and writes `results/device_reading.json`.

`python -m benchmarks.device KERNELS READING HELD_OUT_KERNELS HELD_OUT_READING`, with what `kernels.py` wrote and what
`reading.py` was answered.

The step of each program is replayed through the allocator three times: without workspaces, with the largest of the
estimate's range, and with what cuDNN answered; beside them stands the estimate. Sizes in bytes.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any

import msgspec

from jupyter_paddle_gpu.estimator.memory import evidence, overheads
from jupyter_paddle_gpu.estimator.memory.allocator import DRIVER_PAGE
from jupyter_paddle_gpu.estimator.memory.reserved import replay_reserved
from jupyter_paddle_gpu.estimator.trace import Operation, Trace

from ..report import save, show

SIZES = {"float32": 4, "float16": 2, "bfloat16": 2}
NEAR = 0.02
"""Relative distance within which a workspace counts as the sum of copies that is named."""
GUARD = 65536
"""Bytes that an algorithm adds for itself."""


class Answers:
    """A card's answers by the marks of the traces."""

    def __init__(self, kernels: dict[str, Any], reading: dict[str, Any]) -> None:
        self.card = reading["card"]["name"]
        self._questions = kernels["questions"]
        self._marks = kernels["marks"]
        self._answers = reading["cudnn"]["answers"]

    def workspace(self, operation: Operation) -> int:
        """What this operation takes while it runs."""
        if operation.bytes_moved >= 0:
            return operation.workspace_low
        numbers, copies = self._marks[-operation.bytes_moved - 1]
        return int(copies + max((self._of(number) for number in numbers), default=0))

    def _of(self, number: int) -> int:
        answer = self._answers[number]
        return int(answer["workspace"] if self._questions[number]["kind"] == "convolution" else answer["work"])

    def kinds(self) -> Counter[tuple[str, str, str, str]]:
        """How many convolutions take which sum of copies, by type, way and kernel."""
        found: Counter[tuple[str, str, str, str]] = Counter()
        for question, answer in zip(self._questions, self._answers, strict=True):
            if question["kind"] != "convolution":
                continue
            size = SIZES[question["dtype"]]
            x, y, weight = (prod(question[name]) * size for name in ("x", "y", "weight"))
            sums = {
                "nothing": 0,
                "input and output": x + y,
                "input, output and filter": x + y + weight,
                "input and filter": x + weight,
                "a filter in float32 for each sample": question["x"][0] * prod(question["weight"]) * 4,
            }
            taken = answer["workspace"]
            name = min(sums, key=lambda one: abs(sums[one] - taken))
            if abs(sums[name] - taken) > max(NEAR * taken, GUARD):
                name = "other"
            shape = "1x1" if all(one == 1 for one in question["weight"][2:]) else "larger"
            found[question["dtype"], question["way"], shape, name] += 1
        return found


def row(entry: dict[str, Any], answers: Answers) -> dict[str, Any]:
    """A program's reserved bytes: low, high, estimated, and with the card's answers."""
    trace = msgspec.convert(entry["trace"], Trace)
    low = replay_reserved(trace, lambda operation: operation.workspace_low).reserved
    high = replay_reserved(trace, lambda operation: operation.workspace_high).reserved
    answered = replay_reserved(trace, answers.workspace).reserved
    estimated = low + round(overheads.WORKSPACE_SHARE * (high - low))
    return {
        "card": answers.card,
        "program": entry["name"],
        "precision": entry["precision"],
        "low": low,
        "high": high,
        "estimated": estimated,
        "answered": answered,
        "largest_workspace": evidence.largest_workspace(trace),
        "asks": "recurrence" if any(one.name == "rnn" for one in trace.operations) else "convolution",
    }


def units(rows: list[dict[str, Any]], asks: str = "convolution") -> list[float]:
    """By how many of its largest open workspaces each training of a kind reserves more than estimated, lowest first.

    Convolutions that stay in float32 make the same training of several precisions: it counts once.
    """
    found = {
        (one["program"], one["estimated"], one["answered"]): (one["answered"] - one["estimated"])
        / max(one["largest_workspace"], DRIVER_PAGE)
        for one in rows
        if one["asks"] == asks
    }
    return sorted(found.values())


def ends(found: list[float]) -> tuple[float, float]:
    """The lowest and the highest that are left when one in twenty on either side, rounded down, is left out."""
    out = len(found) // 20
    return found[out], found[-1 - out]


def told(kernels: str, reading: str, *, is_held_out: bool) -> tuple[dict[str, Any], Answers, list[dict[str, Any]]]:
    """What a card said, its answers, and the programs' rows with them."""
    asked, read = json.loads(Path(kernels).read_text()), json.loads(Path(reading).read_text())
    answers = Answers(asked, read)
    return read, answers, [{**row(entry, answers), "held_out": is_held_out} for entry in asked["traces"]]


def main(kernels: str, reading: str, held_out_kernels: str, held_out_reading: str) -> None:
    """Replay all programs and keep what the cards said."""
    read, answers, made = told(kernels, reading, is_held_out=False)
    _, _, held_out = told(held_out_kernels, held_out_reading, is_held_out=True)
    rows = made + held_out
    kept = {name: read[name] for name in ("card", "contexts", "contexts_eager", "pages")}
    kept["cudnn"] = {name: read["cudnn"][name] for name in ("cudnn", "dropout_states", "recurrences", "normalisations")}
    counted = [[*key, count] for key, count in sorted(answers.kinds().items())]
    save("device_reading", {**kept, "workspaces": counted, "programs": rows})
    show(
        "Reserved with the cards' answers",
        ("program", "precision", "MiB", "estimated"),
        [
            (one["program"], one["precision"], one["answered"] >> 20, f"{one['estimated'] / one['answered'] - 1:+.1%}")
            for one in rows
        ],
    )
    first = ends(units(made))
    for name, found, (low, high) in (
        ("the first programs", units(made), first),
        ("those held out, by the ends of the first", units(held_out), first),
        ("all, by the estimate's ends", units(rows), (-evidence.BELOW, evidence.ABOVE)),
    ):
        inside = sum(low <= one <= high for one in found)
        sys.stdout.write(f"{name}: {inside} of {len(found)} within {low:+.2f} to {high:+.2f} of W\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
