"""Where the trainer of a reading lies, at the commit that the reading is of.

A clone is at that commit, or a work tree beside it is: `PaddleOCR` and `PaddleOCR@3e57aad2`. Where neither is, it is
told how to make one.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from .collection import Reading

PROGRAMS = Path(__file__).with_name("programs")
"""Loops of ours, of readings without a trainer's repository."""


class AnotherCommitError(Exception):
    """A clone is at another commit than a reading is of."""


def tree_of(reading: Reading, clones: Path) -> Path:
    """Where its trainer lies.

    Raises:
        AnotherCommitError: neither the clone is at its commit, nor is there a work tree of it.
    """
    folder, told = _found(reading, clones)
    if told:
        raise AnotherCommitError(told)
    return folder


def missing(readings: Iterable[Reading], clones: Path) -> list[str]:
    """What is told of each commit that is not there, each once."""
    told = (_found(reading, clones)[1] for reading in readings)
    return list(dict.fromkeys(filter(None, told)))


def _found(reading: Reading, clones: Path) -> tuple[Path, str]:
    """The folder, and what is told where it is at another commit."""
    if not reading.repository:
        return PROGRAMS, ""
    wanted = reading.again or reading.trees[0]
    clone = clones / reading.repository.rpartition("/")[2]
    beside = clones / f"{clone.name}@{wanted.commit}"
    if beside.is_dir():
        return beside, ""
    at = _commit(clone)
    if at.startswith(wanted.commit):
        return clone, ""
    is_at = f"is at {at[: len(wanted.commit)]}" if at else "is no clone"
    return clone, (
        f"{clone} {is_at}, and what was logged is estimated with {wanted.commit} of {wanted.date}: "
        f"`git -C {clone} worktree add --detach {beside} {wanted.commit}` has it beside the clone, and "
        f"`python -m benchmarks.gpu_logs.made_up {clones}` makes its data"
    )


def _commit(clone: Path) -> str:
    """The whole SHA of what is checked out; empty where the folder is no clone."""
    if not (clone / ".git").exists():
        return ""
    asked = ["git", "-C", str(clone), "rev-parse", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
