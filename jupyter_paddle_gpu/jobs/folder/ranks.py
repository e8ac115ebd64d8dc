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
from . import untrusted

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


def results(folder: JobFolder) -> dict[int, dict[str, Any]]:
    """Rank -> content of its `result.json`, of all but the first process, where there is one."""
    found = ((rank, _result(folder, path)) for rank, path in folders(folder).items())
    return {rank: result for rank, result in found if result is not None}


def failed_at(result: dict[str, Any]) -> float:
    """When a process failed, in seconds since the epoch: its cell raised, else it ended."""
    failed = result.get("failure")
    told = failed.get("at") if isinstance(failed, dict) else None
    return untrusted.moment(told) or untrusted.moment(result.get("ended")) or float("inf")


def failure(folder: JobFolder) -> tuple[int, dict[str, Any]] | None:
    """(rank, content of its `result.json`) of the one that failed first by itself; None where none says so."""
    failed: list[tuple[float, int, dict[str, Any]]] = []
    for rank, result in results(folder).items():
        if result.get("reason") not in _NOT_ITS_OWN:
            failed.append((failed_at(result), rank, result))
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
