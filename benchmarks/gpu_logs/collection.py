"""What a public thread says of a training's memory on a GPU: one record a log, in `threads.json`.

Records hold what was read and nothing that was guessed: what a thread does not say is absent, and what has to be
assumed to rebuild its training stands in its variants, one for each that it may be.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec

FILE = Path(__file__).with_name("threads.json")
MIB = 1 << 20
Kind = Literal[
    "detection", "instance segmentation", "segmentation", "classification", "text detection", "text recognition",
    "language", "speech", "generation", "video", "3d", "science", "multimodal",
]  # fmt: skip
Grade = Literal["complete", "assumed", "partial", "none"]
"""`complete`: configuration, batch and precision are in the thread; `assumed`: it can be rebuilt over the range of what
is missing; `partial`: figures of a training that cannot be told; `none`: no figure in the text."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure as it was logged.

    Attributes:
        low, high: bytes; a figure in MB is floored to whole MiB, so that it means a range.
    """

    low: int
    high: int

    @classmethod
    def of_mib(cls, number: int) -> Figure:
        """What a log says in MB."""
        return cls(low=number * MIB, high=(number + 1) * MIB - 1)


class Variant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One way to start the training of a record: the trainer's own command."""

    repository: str
    arguments: tuple[str, ...]
    assumes: str = ""


class Log(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One logged training.

    Attributes:
        thread: `owner/name#number`; its number is even.
        says: what the thread names the training by, in a few words of ours.
        date: of the log, as `2025-02-04`, where it is known: which version of the trainer it is of.
        batch: samples of a step on one card.
        size: sides of pictures, or length of sequences.
        allocated, reserved: `max_memory_allocated`, `max_memory_reserved` of Paddle.
        device: what the driver shows for the process.
        exhausted: what was allocated when memory ran out: the training needs more.
        variants: how it can be rebuilt; several where something is assumed.
    """

    thread: str
    kind: Kind
    grade: Grade
    says: str
    trainer: str = ""
    date: str = ""
    card: str = ""
    paddle: str = ""
    cuda: str = ""
    cudnn: str = ""
    batch: int | None = None
    size: tuple[int, ...] = ()
    precision: Literal["", "float32", "O1", "O2"] = ""
    cards: int | None = None
    allocated: Figure | None = None
    reserved: Figure | None = None
    device: Figure | None = None
    exhausted: Figure | None = None
    variants: tuple[Variant, ...] = ()

    @property
    def number(self) -> int:
        """That of the thread."""
        return int(self.thread.rpartition("#")[2])

    @property
    def half(self) -> Literal["rules", "held back"]:
        """A number that four divides may be looked at while rules are written; one that leaves two is held back."""
        return "rules" if self.number % 4 == 0 else "held back"

    @property
    def link(self) -> str:
        """The thread's address."""
        repository, _, number = self.thread.partition("#")
        return f"https://github.com/{repository}/issues/{number}"


def read() -> tuple[Log, ...]:
    """All records.

    Raises:
        ValueError: a thread has no even number, or is there twice with the same words.
    """
    logs = msgspec.json.decode(FILE.read_bytes(), type=tuple[Log, ...])
    for log in logs:
        if re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", log.thread) is None or log.number % 2:
            raise ValueError(f"{log.thread}: odd threads are kept for judging")
    names = [(log.thread, log.says) for log in logs]
    if len(set(names)) < len(names):
        raise ValueError("a record is there twice")
    return logs
