"""The collection of public logs that say what trainings took on a GPU: one record a log, in `threads.json`.

Records hold what was read and nothing that was guessed: what a thread does not say is absent, and what has to be
assumed to rebuild its training stands in its variants, one for each that it may be. Their form is
`jupyter_paddle_gpu.domain.measurements.gpu_logs`, which contributed jobs have too: a line that `jupyter paddle-gpu
contribute` wrote goes into `contributed.jsonl` as it is. It names neither thread nor command, and brings its estimate
along as it was shown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from jupyter_paddle_gpu.domain.measurements.gpu_logs import Figure, GpuLog, Variant

__all__ = ["Figure", "Log", "Reading", "Tree", "Variant", "read"]

FILE = Path(__file__).with_name("threads.json")
CONTRIBUTED = Path(__file__).with_name("contributed.jsonl")

Version = Literal["log", "equal", "undated", "other"]
NEAREST_FIRST: tuple[Version, ...] = ("log", "equal", "undated", "other")


class Tree(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The version of a trainer's repository, or of a library beside it, that a reading was estimated with.

    Attributes:
        repository: `owner/name`.
        commit: its short SHA. Of the log is the last commit before it that touches the trainer's own code.
        date: of that commit.
        version: `log`, that of the log; `equal`, another one in which nothing differs that is traced; `other`, another
            one; `undated`, the log's date is not known.
        why: what differs, or why the log's own is not used; of all but `log`.
    """

    repository: str
    commit: str
    date: str
    version: Version = "log"
    why: str = ""


class Reading(Variant, frozen=True, kw_only=True, omit_defaults=True):
    """A way to start the training, and what it was estimated with.

    Attributes:
        trees: the trainer's repository first; none of a loop of ours that imports nothing but Paddle.
        again: of a blind reading that was estimated with another version, or before a fault that it showed was mended,
            the version of its log: its second estimate stands beside the first one, which counts.
    """

    trees: tuple[Tree, ...] = ()
    again: Tree | None = None


class Log(GpuLog, frozen=True, kw_only=True, omit_defaults=True):
    """A record of a public thread, whose number is even, or of a log or table in a public repository's file.

    Attributes:
        hindered: why it is not rebuilt; of those with no variant.
        blind: found when all rules were written, and estimated once.
        in_view: of one that was held back and is no test of every rule, which rule was written with it in view.
        variants: each with the versions of the repositories that it was estimated with.
    """

    variants: tuple[Reading, ...] = ()
    hindered: str = ""
    blind: bool = False
    in_view: str = ""

    @property
    def name(self) -> str:
        """Thread or log; a contributed line has neither and goes by its own SHA-256."""
        return self.thread or self.log or f"contributed {hashlib.sha256(self.line.encode()).hexdigest()[:8]}"

    @property
    def contributed(self) -> bool:
        """Whether a person sent it: nobody can rebuild its training."""
        return not (self.thread or self.log)

    @property
    def version(self) -> Version | Literal["none"]:
        """What it was rebuilt with: of a reading the furthest from the log, a blind one's second counts, and of several
        readings the nearest; `none` where nothing but Paddle is needed."""
        tried = [(one.again,) if one.again else one.trees for one in self.variants]
        found = [max((tree.version for tree in trees), key=NEAREST_FIRST.index) for trees in tried if trees]
        return min(found, key=NEAREST_FIRST.index, default="none")

    @property
    def number(self) -> int:
        """That of the thread; of a log in a file that of its name's SHA-256 (first digit, doubled to be even)."""
        if self.thread:
            return int(self.thread.rpartition("#")[2])
        return 2 * int(hashlib.sha256(self.log.encode()).hexdigest()[0], 16)

    @property
    def half(self) -> Literal["rules", "held back", "blind"]:
        """A number that four divides may be looked at while rules are written; one that leaves two is held back; what
        was found behind all rules is a blind test, whatever its number."""
        if self.blind:
            return "blind"
        return "rules" if self.number % 4 == 0 else "held back"

    @property
    def unseen(self) -> bool:
        """Whether no rule was written with it in view."""
        return self.half != "rules" and not self.in_view


def read(contributed: Path = CONTRIBUTED) -> tuple[Log, ...]:
    """All records, those of contributed lines behind the public ones.

    Raises:
        ValueError: a thread has no even number, or is there twice with the same words, or has neither a command nor a
            reason why it cannot have one, or a command without its trainer's commit, or was in view and is not held
            back; a contributed line has what only a public record has.
    """
    sent = tuple(_lines(contributed)) if contributed.exists() else ()
    logs = msgspec.json.decode(FILE.read_bytes(), type=tuple[Log, ...])
    for log in logs:
        if log.thread and (re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", log.thread) is None or log.number % 2):
            raise ValueError(f"{log.thread}: odd threads are kept for judging")
        if log.in_view and log.half != "held back":
            raise ValueError(f"{log.name}: only what was held back can have come into view")
        if log.contributed:
            raise ValueError(f"{log.says}: neither thread nor log")
        if bool(log.variants) == bool(log.hindered):
            raise ValueError(f"{log.name}: it is either rebuilt or said why not")
        if any(reading.repository and not reading.trees for reading in log.variants):
            raise ValueError(f"{log.name}: with which commit of its trainer was it estimated?")
    names = [(log.name, log.says) for log in (*logs, *sent)]
    if len(set(names)) < len(names):
        raise ValueError("a record is there twice")
    return logs + sent


def _lines(file: Path) -> Iterator[Log]:
    for line in file.read_text(encoding="ascii").splitlines():
        log = msgspec.json.decode(line, type=Log)
        if not log.contributed or log.variants or log.hindered:
            raise ValueError(f"{log.name}: a contributed line names neither thread nor command")
        yield log
