"""What a training was seen to take on a GPU: one record a training, without code and without names.

The collection of public logs (`benchmarks/gpu_logs/threads.json`) and what `jupyter paddle-gpu contribute` writes of a
finished job have this one form. A record holds what was read and nothing that was guessed: what is not known is absent.
"""

from __future__ import annotations

from typing import Literal

import msgspec

MIB = 1 << 20
Kind = Literal[
    "", "detection", "instance segmentation", "segmentation", "classification", "text detection", "text recognition",
    "language", "speech", "generation", "video", "3d", "science", "multimodal",
]  # fmt: skip
"""What is trained; empty where nobody said so."""
Grade = Literal["complete", "assumed", "partial", "none"]
"""`complete`: configuration, batch and precision are told; `assumed`: it can be rebuilt over the range of what is
missing; `partial`: figures of a training that cannot be told; `none`: no figure in the text."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure as it was logged.

    Attributes:
        low, high: bytes; a figure in MB is floored to whole MiB, so that it means a range.
    """

    low: int
    high: int

    @classmethod
    def of(cls, size: int) -> Figure:
        """A figure to the byte."""
        return cls(low=size, high=size)

    @classmethod
    def of_mib(cls, number: int) -> Figure:
        """What a log says in MB."""
        return cls(low=number * MIB, high=(number + 1) * MIB - 1)


class Variant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One way to start the training of a record: the trainer's own command.

    Attributes:
        folder: of the repository, where its command is typed; empty: its root.
        script: in that folder.
        options: of the estimate: several devices, answers to its questions.
        assumes: what the thread does not say; empty where nothing had to be assumed.
        source: where the rest of the command stands, such as a trainer's own table of benchmarks.
    """

    repository: str
    arguments: tuple[str, ...]
    assumes: str = ""
    folder: str = ""
    script: str = "tools/train.py"
    options: tuple[str, ...] = ()
    source: str = ""


class Foretold(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was estimated for the same training before it ran, as its person was shown it. Sizes in bytes.

    Attributes:
        allocated, reserved: of Paddle's allocator.
        device: what the driver would show; `low`, `high`: its range, with what logs, `calibrate` and finished jobs say.
    """

    allocated: int | None = None
    reserved: int | None = None
    device: int | None = None
    low: int | None = None
    high: int | None = None


class GpuLog(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One training on a GPU.

    Attributes:
        thread: `owner/name#number` of the public thread; empty for a contributed job and for a log in a file.
        log: of a log that lies in some public repository's file: what is trained and when its line was written.
        says: what the thread names the training by, in a few words of ours.
        date: of the log, as `2025-02-04`, where it is known: which version of the trainer it is of.
        batch: samples of a step on one card.
        size: sides of pictures, or length of sequences.
        allocated, reserved: `max_memory_allocated`, `max_memory_reserved` of Paddle.
        device: what the driver shows for the process.
        exhausted: what was allocated when memory ran out: the training needs more.
        refused: the request that was refused then: bytes of one tensor, with 256 more up to Paddle 2.2.
        fits: whether it ran on that card, where that is all that was said.
        waits_for_data: the log says that most of a step's time went into reading: no batch was ahead.
        foretold: of a contributed job, what its estimate had said.
        variants: how it can be rebuilt; several where something is assumed.
    """

    thread: str = ""
    log: str = ""
    kind: Kind = ""
    grade: Grade = "complete"
    says: str = ""
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
    refused: Figure | None = None
    fits: bool | None = None
    waits_for_data: bool = False
    foretold: Foretold | None = None
    variants: tuple[Variant, ...] = ()

    @property
    def line(self) -> str:
        """The record as one line of JSON, ASCII only."""
        return msgspec.json.encode(self).decode()
