"""The folders `rank-N/` of a distributed job, in which every process but the first keeps its own log and result.

The job owns them and may put anything there: they are entered through no link, and only so much is read.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import msgspec

from ...engines import own_files
from ...engines.base import JobFolder

_NAME = re.compile(r"rank-([1-9]\d{0,3})")
_MOST_ENTRIES = 10_000
"""Entries of a job's folder that are looked through: a job can make as many as its disk holds."""
_MOST_RANKS = 1024
_RESULT_BYTES = 1 << 20
_NOT_ITS_OWN = frozenset({"succeeded", "cancelled", "killed"})
"""How the others end when the launcher stops them because one has failed."""


def folders(folder: JobFolder) -> dict[int, Path]:
    """Rank -> its folder, in order; no links."""
    found: dict[int, Path] = {}
    try:
        with os.scandir(folder.path) as entries:
            for number, entry in enumerate(entries):
                if number >= _MOST_ENTRIES or len(found) >= _MOST_RANKS:
                    break
                name = _NAME.fullmatch(entry.name)
                if name and entry.is_dir(follow_symlinks=False):
                    found[int(name[1])] = Path(entry.path)
    except OSError:
        return {}
    return dict(sorted(found.items()))


def log_of(folder: JobFolder, rank: int) -> Path:
    """The log of a process; the first one's is the job's."""
    return folder.path / f"rank-{rank}" / folder.log.name if rank else folder.log


def failure(folder: JobFolder) -> tuple[int, dict[str, Any]] | None:
    """(rank, content of its `result.json`) of the one that failed first by itself; None where none says so."""
    failed: list[tuple[float, int, dict[str, Any]]] = []
    for rank, path in folders(folder).items():
        result = _result(folder, path)
        if result is not None and result.get("reason") not in _NOT_ITS_OWN:
            ended = result.get("ended")
            failed.append((float(ended) if isinstance(ended, (int, float)) else float("inf"), rank, result))
    if not failed:
        return None
    _, rank, result = min(failed, key=lambda one: one[:2])
    return rank, result


def clear(folder: JobFolder) -> None:
    """Before another attempt: a result that lies there would keep a rank from starting."""
    for path in folders(folder).values():
        own_files.remove_tree(path)


def _result(folder: JobFolder, path: Path) -> dict[str, Any] | None:
    try:
        raw = msgspec.json.decode(own_files.read_below(folder.path, path / "result.json", _RESULT_BYTES))
    except (OSError, msgspec.DecodeError):
        return None
    return raw if isinstance(raw, dict) and isinstance(raw.get("reason"), str) else None
