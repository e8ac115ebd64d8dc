"""Rebuilds logged trainings and puts what is estimated for a GPU beside what was logged.

`python -m benchmarks.gpu_logs.rebuild CLONES` takes a folder with clones of the trainers' repositories, with the data
of `made_up`, and estimates every variant of each record of the half that may be looked at; `--half "held back"` is for
the end, when the rules are written, `--half blind` for what was found behind them; `--only WORD` keeps threads whose
name has that word. Each is estimated with its trainer's commit (`trees`). `results/gpu_logs.json` has every row of all
halves, kept as soon as its record is done; `chart` draws them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from jupyter_paddle_gpu.devices import catalogue
from jupyter_paddle_gpu.domain.measurements.gpu_logs import Foretold
from jupyter_paddle_gpu.estimator.memory.evidence import ABOVE, BELOW

from ..report import RESULTS, save, show
from .collection import Figure, Log, Reading, Tree, read
from .trees import missing, tree_of

NICE = ("nice", "-n", "10")
CARD = "V100 PCIe 16GB"
"""Of logs that name none: PaddlePaddle's own benchmarks of those years ran on V100 and A100. The card changes the
context alone."""
BEFORE = (
    ("FLAGS_use_legacy_linear", "1", (3, 3), "2026-06"),
    ("FLAGS_use_stride_kernel", "0", (2, 6), "2023-09"),
)
"""What a later Paddle does otherwise: the flag that asks for what was before, its value, Paddle's version, and of logs
that name none the month from which on they are of that version or may be. Since 3.3 a linear layer is one operator: in
O1 its sum with a float32 bias was float32. Since 2.6 transposes and slices are views; they were copies."""
UNDATED = "2026"
"""A log of unknown date: its trainer is not known to be of a Paddle before 2.6, nor of one since 3.3."""
WANTED = (
    "status", "batch_size", "image_size", "amp", "allocated_peak_bytes", "reserved_peak_bytes", "peak_bytes", "low",
    "high", "device", "terms",
)  # fmt: skip


def estimated(log: Log, variant: Reading, clones: Path) -> dict[str, Any]:
    """What `jupyter paddle-gpu estimate` says of it on its card."""
    clone = tree_of(variant, clones)
    command = [str(Path(sys.executable).with_name("jupyter")), "paddle-gpu", "estimate", "--json"]
    command += ["--device", log.card or CARD, *variant.options, variant.script, "--", *variant.arguments]
    paths = os.pathsep.join((".", str(clone), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": paths, "SETUPTOOLS_USE_DISTUTILS": "stdlib"}
    environment |= flags(log)
    if (log.cards or 1) > 1:  # their logs are those of the first process
        environment["PADDLE_TRAINER_ID"] = "0"
    environment["PPMIX_HOME"] = environment["PPNLP_HOME"] = str(clone / "made_up")
    done = subprocess.run(
        [*NICE, *command], cwd=clone / variant.folder, env=environment, capture_output=True, text=True, check=False
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"status": "no answer", "problem": done.stderr.strip().splitlines()[-1:]}
    return {name: answer.get(name) for name in WANTED} | {"notes": [note["code"] for note in answer["notes"]]}


def flags(log: Log) -> dict[str, str]:
    """What Paddle is asked for, so that it does as the Paddle of the log did."""
    told = tuple(int(part) for part in log.paddle.split(".")[:2] if part)
    day = log.date or UNDATED
    return {flag: value for flag, value, since, month in BEFORE if (told < since if told else day < month)}


def error(figure: Figure | None, estimate: int | None) -> float | None:
    """By how much an estimate misses the range that a logged figure means; 0 inside of it."""
    if figure is None or not estimate:
        return None
    nearest = min(max(estimate, figure.low), figure.high)
    return estimate / nearest - 1


def rebuilt(log: Log, clones: Path) -> list[dict[str, Any]]:
    """A row for each variant of a record; of a contributed line one, with what its person was shown."""
    if log.contributed:
        return [_row(log, foretold(log))]
    rows = []
    for variant in log.variants:
        found = estimated(log, variant, clones)
        sys.stderr.write(f"{log.name} {variant.assumes} {found}\n")
        rows.append(_first(log, variant, found) or _row(log, found, variant))
    return rows


def _first(log: Log, variant: Reading, found: dict[str, Any]) -> dict[str, Any] | None:
    """Of a blind reading that is estimated again with the version of its log, the row that counts, with the second
    estimate beside it."""
    if variant.again is None:
        return None
    asked = log.name, variant.assumes, list(variant.arguments)
    rows = (row for row in kept() if (row["thread"], row["assumes"], list(row["arguments"])) == asked)
    return next((row | {"again": _again(log, found, variant.again)} for row in rows), None)


def _again(log: Log, found: dict[str, Any], tree: Tree) -> dict[str, Any]:
    row = _row(log, found)
    return {name: row[name] for name in ("estimated", "error", "reserved_error", "reserved_inside")} | {
        "commit": tree.commit
    }


def foretold(log: Log) -> dict[str, Any]:
    """What a contributed job's estimate had said, as `estimated` gives it."""
    said = log.foretold or Foretold()
    return {
        "status": "ok" if log.foretold else "no estimate",
        "allocated_peak_bytes": said.allocated,
        "reserved_peak_bytes": said.reserved,
        "peak_bytes": said.device,
        "low": said.low,
        "high": said.high,
    }


def _row(log: Log, found: dict[str, Any], variant: Reading | None = None) -> dict[str, Any]:
    return {
        "thread": log.name,
        "kind": log.kind,
        "grade": log.grade,
        "half": log.half,
        "card": log.card,
        "precision": log.precision,
        "assumes": variant.assumes if variant else "",
        "arguments": variant.arguments if variant else (),
        "commit": variant.trees[0].commit if variant and variant.trees else "",
        "logged": {name: _middle(getattr(log, name)) for name in ("allocated", "reserved", "device")},
        "estimated": found,
        "waits_for_data": log.waits_for_data,
        "error": error(log.allocated, _without_ahead(log, found, "allocated_peak_bytes")),
        "reserved_error": error(log.reserved, _without_ahead(log, found, "reserved_peak_bytes")),
        "device_error": error(log.device, found.get("peak_bytes")),
        "reserved_inside": inside(log.reserved, reserved_range(found)),
        "device_inside": inside(log.device, (found.get("low"), found.get("high"))),
        "fits": log.fits,
        "fits_estimated": _fits(log.card, found),
    }


def reserved_range(found: dict[str, Any]) -> tuple[float | None, float | None]:
    """The range that is shown, without what the driver counts beside the allocator: pages, context, NCCL's share.

    The ends of logs and of replayed orders are those of the allocator with the driver's added; elsewhere what is open
    of each part is independent, and the squares of it add up (`calibration.predict`): a range may be narrower than the
    driver's parts laid end to end. What is likely lies inside in any case.
    """
    terms, names = found.get("terms"), ("low", "high", "peak_bytes", "reserved_peak_bytes")
    if not terms or any(found.get(name) is None for name in names):
        return None, None
    low, high, likely, reserved = (found[name] for name in names)
    halves = [(terms[f"{part}_high"] - terms[f"{part}_low"]) / 2 for part in ("context", "communication")]
    if terms.get("answered"):  # so many of the largest workspace lie between the ends
        workspace = (high - low - 2 * sum(halves)) / (BELOW + ABOVE)
        return reserved - BELOW * workspace, reserved + ABOVE * workspace
    is_sum = any(terms.get(name) for name in ("logs", "orders", "changing_shapes"))

    def left(whole: float) -> float:
        rest = whole - sum(halves) if is_sum else max(whole**2 - sum(half**2 for half in halves), 0) ** 0.5
        return max(rest, 0)

    return reserved - left(likely - low), reserved + left(high - likely)


def inside(figure: Figure | None, ends: tuple[float | None, float | None]) -> bool | None:
    """Whether a range holds what was logged; None where one of them is not known."""
    low, high = ends
    return None if figure is None or low is None or high is None else figure.low <= high and low <= figure.high


def _without_ahead(log: Log, found: dict[str, Any], name: str) -> int | None:
    """A figure, of a log that waited for its data without the batches that a faster reader has ahead."""
    figure: int | None = found.get(name)
    return figure - found["terms"]["batches_ahead"] if figure and log.waits_for_data else figure


def _fits(card: str, found: dict[str, Any]) -> bool | None:
    """Whether the estimate fits on the card, by its most likely figure; None without one."""
    known = catalogue.find(card) if card else None
    return found["peak_bytes"] <= known.memory_bytes if known and found.get("peak_bytes") else None


def _middle(figure: Figure | None) -> int | None:
    return None if figure is None else (figure.low + figure.high) // 2


def kept() -> list[dict[str, Any]]:
    """The rows of earlier runs."""
    file = RESULTS / "gpu_logs.json"
    rows: list[dict[str, Any]] = json.loads(file.read_text())["rows"] if file.exists() else []
    return rows


def main() -> None:
    """Rebuild one half and print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_logs.rebuild", description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--half", default="rules", choices=["rules", "held back", "blind"])
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    logs = [log for log in read() if log.half == asked.half and asked.only in log.name]
    if told := missing((one for log in logs for one in log.variants), asked.clones.absolute()):
        parser.error("\n".join(told))
    rows = []
    for name in dict.fromkeys(log.name for log in logs):
        rows += (found := [row for log in logs if log.name == name for row in rebuilt(log, asked.clones.absolute())])
        save("gpu_logs", {"rows": [row for row in kept() if row["thread"] != name] + found})
    show(
        f"Logged beside estimated, half: {asked.half}; {len(logs)} records, {len(rows)} rows",
        (
            "Thread", "Assumed", "Allocated", "Estimated", "Error", "Reserved", "Estimated", "Error", "Driver",
            "Estimated", "Error",
        ),
        [
            (row["thread"], row["assumes"], _mib(row["logged"]["allocated"]),
             _mib(row["estimated"].get("allocated_peak_bytes")), _percent(row["error"]),
             _mib(row["logged"]["reserved"]), _mib(row["estimated"].get("reserved_peak_bytes")),
             _percent(row["reserved_error"]), _mib(row["logged"]["device"]), _mib(row["estimated"].get("peak_bytes")),
             _percent(row["device_error"]))
            for row in rows
        ],
    )  # fmt: skip


def _mib(size: int | None) -> str:
    return f"{size / 2**20:,.0f} MiB" if size else ""


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:+.1%}"


if __name__ == "__main__":
    main()
