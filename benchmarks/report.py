"""What every benchmark ends with: a table for people and a JSON file for comparison."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print one table; the first column is left-aligned, figures are right-aligned."""
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*[cell if isinstance(cell, str) else f"{cell:,.3g}" for cell in row])
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def save(name: str, figures: dict[str, Any]) -> Path:
    """Write `results/<name>.json` with the versions that the figures belong to; return its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    about = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    path.write_text(json.dumps({"about": about, **figures}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def kept(name: str) -> dict[str, Any]:
    """The figures of the last `results/<name>.json`, for a benchmark that measures some of them anew."""
    path = RESULTS / f"{name}.json"
    figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    figures.pop("about", None)
    return figures
