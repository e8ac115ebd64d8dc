"""Writes `docs/gpu-log-records.md`: each record of the collection with all that is known of it.

`python -m benchmarks.gpu_logs.records` writes the page; `tests/test_gpu_logs.py` holds it equal to the collection and
to `results/gpu_logs.json`.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from pathlib import Path
from typing import Any

from .collection import Figure, Log, Reading, Tree, read
from .rebuild import kept
from .tables import MIB, percent

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gpu-log-records.md"
HEAD = """# Every record of what GPUs took

Where does each figure of [gpu-logs.md](gpu-logs.md) come from?

This page has all records of `benchmarks/gpu_logs/threads.json`, sorted by kind of model, card and precision, with the
estimate of each reading beside what was logged.
`python -m benchmarks.gpu_logs.records` writes it.

Grades: `complete` where nothing had to be assumed, `partial` where something is not told, `assumed` where most is.
Halves: `seen` while rules were written, or `held back` ([which](gpu-logs.md#which-half-was-held-back)); `blind` is what
was found when all rules were written.
The trainer's commit is the last one before the log that touches its code; where it is another one, it is said what
differs or why.
Figures are MiB; a dash says that the thread or file does not tell.
"""
COLUMNS = (
    "record", "what it is", "precision", "card", "cards", "Paddle, CUDA, cuDNN", "date", "configuration",
    "trainer's commit", "batch a card", "size", "grade, half", "assumed", "allocated: logged, estimated",
    "reserved: logged, estimated", "driver: logged, estimated (range)", "besides",
)  # fmt: skip
_LONGEST = 120
"""Letters of a command; the rest is in `threads.json`."""
_FILES = ("-c", "--config", "--cfg")


def page() -> str:
    """The whole page."""
    rows = defaultdict(list)
    for row in kept():
        rows[row["thread"], tuple(row["arguments"])].append(row)
    parts = [HEAD]
    logs = sorted(read(), key=lambda log: (log.kind, log.card or "~", log.precision or "~", log.name))
    for kind in dict.fromkeys(log.kind for log in logs):
        parts += ["", f"## {kind.capitalize() or 'Not told'}", _line(COLUMNS), _line(["---"] * len(COLUMNS))]
        parts += [_line(cells) for log in logs if log.kind == kind for cells in _cells(log, rows)]
    return "\n".join(parts) + "\n"


def _line(cells: Any) -> str:
    return "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"


def _cells(log: Log, rows: Any) -> list[tuple[Any, ...]]:
    name, _, number = log.thread.partition("#")
    link = f"[{log.thread}](https://github.com/{name}/issues/{number})" if number else log.name
    versions = [log.paddle, log.cuda, log.cudnn]
    first = (
        link, log.says or "–", log.precision or "–", log.card or "–", log.cards or "–",
        ", ".join(one or "–" for one in versions) if any(versions) else "–", log.date or "–",
    )  # fmt: skip
    sizes = " x ".join(map(str, log.size)) or "–"
    half = f"{log.grade}, {'seen' if log.half == 'rules' else log.half}"
    if not log.variants:
        hindered = f"not rebuilt: {log.hindered}"
        return [(*first, "–", "–", log.batch or "–", sizes, half, hindered, *_figures(log, None), _besides(log))]
    found = []
    for place, variant in enumerate(log.variants):
        row = next((one for one in rows[log.name, variant.arguments] if one["assumes"] == variant.assumes), None)
        begins: tuple[Any, ...] = first if not place else ("the same", *["″"] * (len(first) - 1))
        command = _configuration(variant)
        cells = (
            command,
            _trees(variant),
            log.batch or "–",
            sizes,
            half,
            variant.assumes or "nothing",
            *_figures(log, row),
        )
        found.append((*begins, *cells, _besides(log)))
    return found


def _configuration(variant: Reading) -> str:
    arguments = list(variant.arguments)
    for flag in _FILES:
        if flag in arguments[:-1]:
            return f"`{arguments[arguments.index(flag) + 1]}`"
    command = shlex.join([variant.script, *arguments])
    return f"`{command if len(command) <= _LONGEST else command[: _LONGEST - 2] + ' …'}`"


def _trees(reading: Reading) -> str:
    """Each with its date; a library's with its name, and that of a second estimate behind them."""
    told = [_tree(tree, named=bool(place)) for place, tree in enumerate(reading.trees)]
    told += [f"estimated again with {_tree(reading.again)}"] if reading.again else []
    return "; ".join(told) or "–"


def _tree(tree: Tree, *, named: bool = False) -> str:
    name = f"{tree.repository.rpartition('/')[2]} " if named else ""
    return f"{name}`{tree.commit}` of {tree.date}" + (f" ({tree.why})" if tree.why else "")


def _figures(log: Log, row: Any) -> tuple[str, str, str]:
    found = row["estimated"] if row else {}
    device = _pair(log.device, found.get("peak_bytes"), row and row["device_error"])
    if row and log.device and found.get("low"):
        device += f" ({_mib(found['low'])} to {_mib(found['high'])})"
    again = row.get("again", {}) if row else {}
    second = again.get("estimated", {})
    return (
        _pair(log.allocated, found.get("allocated_peak_bytes"), row and row["error"])
        + _second(second.get("allocated_peak_bytes"), again.get("error")),
        _pair(log.reserved, found.get("reserved_peak_bytes"), row and row["reserved_error"])
        + _second(second.get("reserved_peak_bytes"), again.get("reserved_error")),
        device,
    )


def _second(estimated: int | None, missed: float | None) -> str:
    """What a second estimate says, where something was logged."""
    return "" if estimated is None or missed is None else f"; again {_mib(estimated)}, {percent(missed)}"


def _pair(logged: Figure | None, estimated: int | None, missed: float | None) -> str:
    if logged is None:
        return "–"
    told = _mib((logged.low + logged.high) // 2)
    return f"{told}, {_mib(estimated)}, {percent(missed or 0)}" if estimated else f"{told}, –"


def _mib(size: int) -> str:
    return f"{size // MIB:,}" if size >= 10 * MIB else f"{size / MIB:.2f}"


def _besides(log: Log) -> str:
    told = []
    if log.exhausted:
        told.append(f"full at {_mib(log.exhausted.low)}")
    if log.refused:
        told.append(f"refused {log.refused.low:,} to {log.refused.high:,} bytes")
    if log.fits is not None:
        told.append("ran" if log.fits else "did not fit")
    return "; ".join(told) or "–"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
