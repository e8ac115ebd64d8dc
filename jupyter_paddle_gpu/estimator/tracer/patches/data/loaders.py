"""What a trace asks of all its `DataLoader`s, and what it has seen of them."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Literal, NamedTuple

from ...session import Session
from ...undecided.absent_data import AbsentData
from ...undecided.descriptions import size_of
from ...undecided.unseen_data import UnseenData

Sides = tuple[tuple[int, ...], ...]
"""The shapes of a batch's tensors."""
Assumed = Literal["", "half", "texts"]
"""How shapes of batches were made up: not at all; between half and all of the longest; around a published mean."""
HALF: Assumed = "half"
TEXTS: Assumed = "texts"
LEFT = "batches_left"
"""The note on batches that stay with each epoch."""


def is_cycled(frame: FrameType) -> bool:
    """Whether `itertools.cycle` reads what the generator of this frame gives: it keeps all of it, so that what was read
    ahead and what was given are together never more than one pass has. Elsewhere as many batches stand ahead as at the
    beginning of the next pass, where most do."""
    cycles = [one for one in gc.get_objects() if type(one) is itertools.cycle]
    return any(getattr(one, "gi_frame", None) is frame for one in gc.get_referents(*cycles))


def description(session: Session, loader: Any) -> str | None:
    """What the batches of a loader look like, where that was answered; of data that is not here as those of another
    loader, in its own size, where only that one's was."""
    data = session.of(AbsentData)
    name = data.loaders.get(id(loader), ("",))[0]
    own = data.description(name) if name else None
    if own is None and isinstance(getattr(loader, "dataset", None), UnseenData):
        return data.any_description()
    return own


def own_size(session: Session, loader: Any) -> int | None:
    """Samples of a batch that a loader was made with, where another one's was described."""
    data = session.of(AbsentData)
    is_own = data.answers.get(data.loaders.get(id(loader), ("",))[0]) is not None
    is_made = is_own or getattr(loader.dataset, "is_loader", False)
    size = None if is_made else getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
    return size if type(size) is int else None


class InStep(NamedTuple):
    """How a loader that is gone through is read.

    Attributes:
        by: the instruction of the program that asks for its batches; two loaders that one instruction reads at a time
            are in step. None: nobody knows, or in code that speaks of `cycle`, which begins the shorter one anew.
        ahead: batches that stand beside the current one.
        bytes: what each of them takes in memory that the allocator counts and no other process gives back.
        made_at: cell and line that made its iterator; (0, 0) where it is none of the notebook's cells.
    """

    by: tuple[int, int] | None
    ahead: int
    bytes: int
    made_at: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, frame: FrameType | None, ahead: int, size: int, made_at: tuple[int, int]) -> InStep:
        """A loader whose first batch this frame asks for."""
        is_known = frame is not None and "cycle" not in frame.f_code.co_names
        return cls((id(frame), frame.f_lasti) if frame is not None and is_known else None, ahead, size, made_at)


@dataclass
class Loaders:
    """What is asked of every loader of a trace, and what was seen of them."""

    batch_size: int | None = None
    """The batch size asked for."""
    divided_by: int = 1
    """Micro-batches an update is accumulated over: each takes its part of the batch."""
    seen_batch_sizes: list[int] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)
    """By loader: how large its last batch was."""
    own_batch_sizes: list[int] = field(default_factory=list)
    """What loaders would give if nothing else were asked of them."""
    handed_over: dict[int, tuple[int, bool]] = field(default_factory=dict)
    """By loader: bytes of batches that its workers keep in shared memory; whether the workers outlive an epoch."""
    ahead: int = 0
    """Bytes of batches that stand beside the current one on a GPU."""
    abandoned: list[Any] = field(default_factory=list)
    """Batches held ahead by loaders that nobody reads to the end: their reading threads wait for room for good."""

    still_read: set[int] = field(default_factory=set)
    """Data sets of loops that were left early: a thread goes on reading them."""
    reads: dict[int, InStep] = field(default_factory=dict)
    """By loader that was gone through: how it was read last."""
    in_step: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of loaders that one instruction reads at a time."""
    within: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of loaders of which the second one is read while a loop over the first one goes on."""
    lengths: dict[int, int] = field(default_factory=dict)
    """By loader: how many batches one pass over it has."""
    given: dict[int, int] = field(default_factory=dict)
    """By loader: batches that the program has asked for."""
    updated: dict[int, int] = field(default_factory=dict)
    """By loader: updates that were made between its batches."""
    begun: dict[int, int] = field(default_factory=dict)
    """By loader with a batch in hand: updates that there were before it."""
    takes_one: Callable[[str], bool] = lambda name: False
    """Whether the program's loop over a loader of a name takes a batch for one tensor."""
    are_samples: bool = False
    """Whether data sets hold a few rows for many: a batch and an epoch are as large as they will be."""

    changing: dict[int, tuple[list[Sides], Sides, Assumed]] = field(default_factory=dict)
    """By loader whose batches differ: the shapes of the next ones, of the one that every step is given, and whether
    they are assumed."""
    drawn: set[int] = field(default_factory=set)
    """Loaders of which the program draws the size of each batch: their shapes are no data's."""
    wanted: Literal["unlike"] | Sides | None = None
    """Which one that is: with these shapes, or as far as possible from the largest; None: the largest."""

    silenced: BaseException | None = None
    """The error that would end the thread that reads for a loader without workers: Paddle prints it, and whoever asked
    for the batch waits for good."""

    fitting: set[str] = field(default_factory=set)
    """Names of loaders whose own batches are as large as the answer for them."""

    late: tuple[int, int, BaseException] | None = None
    """Cell and line of a loop over a loader whose last samples are not there, and what its data set raises for them."""

    def take_size(self, session: Session, loader: Any, size: int, text: str | None) -> None:
        """Remember how large a loader's batches are here, and by themselves; tell where the job goes on with another
        batch size than that of the answer for it."""
        self.seen_batch_sizes.append(size)
        self.sizes[id(loader)] = size
        sampler = getattr(loader, "batch_sampler", None)
        own = getattr(sampler, "batch_size", None) or getattr(loader, "batch_size", None)
        if not isinstance(own, int) or getattr(getattr(loader, "dataset", None), "is_loader", False):
            return
        self.own_batch_sizes.append(own)
        data = session.of(AbsentData)
        name = data.loaders.get(id(loader), ("",))[0]
        is_answered = text is not None and name and data.description(name) is not None
        if text is None or not is_answered or self.batch_size is not None:
            return
        if size_of(text) == own:
            self.fitting.add(name)
        elif name not in self.fitting:  # else one of an evaluation, which is called the same
            session.note("batch_of_another_size", name=name, answered=size_of(text), own=own)

    def described_size(self, text: str, own: int | None = None) -> int:
        """Samples of a batch that was described, or as many as are asked for.

        Args:
            own: those of a loader that gives batches like it.
        """
        return max(1, (self.batch_size or own or size_of(text)) // self.divided_by)

    @contextmanager
    def reading(self, loader: Any) -> Iterator[None]:
        """While a batch of the loader is put together."""
        try:
            yield
        except Exception as problem:
            self.silenced = self.silenced if getattr(loader, "num_workers", 0) else problem
            raise

    def steps_per_epoch(self, updates: int) -> int | None:
        """Updates in one pass over the loader that feeds them; None where it has no length.

        Args:
            updates: how many there are by now: the program may be in the middle of a batch.
        """
        loader, made = self._feeding(updates)
        if not made or loader not in self.lengths:
            return None
        return max(1, self.lengths[loader] * made // max(1, self.given[loader]))

    def fed(self, updates: int) -> int | None:
        """Samples in a batch of the loader that feeds so many updates; the step may put several batches together."""
        loader, made = self._feeding(updates)
        return self.sizes.get(loader) if made else None

    def batches(self, updates: int) -> dict[str, Any] | None:
        """The shapes of batches of the loader that feeds so many updates, where they differ."""
        loader, made = self._feeding(updates)
        if not made or loader not in self.changing:
            return None
        shapes, traced, assumed = self.changing[loader]
        return {"sides": shapes, "traced": traced, **({"assumed": assumed} if assumed else {})}

    def _feeding(self, updates: int) -> tuple[int, int]:
        """The loader between whose batches most updates were made, and how many."""
        by_loader = {
            one: self.updated.get(one, 0) + (updates - self.begun[one] if one in self.begun else 0)
            for one in {**self.updated, **self.begun}
        }
        loader = max(by_loader, key=lambda one: by_loader[one], default=0)
        return loader, by_loader.get(loader, 0)

    def read(self, loader: Any, how: InStep) -> None:
        """A loader is gone through from its first batch on."""
        self.reads[id(loader)] = how
        for one in self.begun if how.by is not None else ():
            (self.in_step if self.reads[one].by == how.by else self.within).append((one, id(loader)))

    def notes(self) -> list[dict[str, Any]]:
        """What is told of the loaders of a training: batches that stay with each epoch for good where two are read in
        step, as the longer one's thread has read ahead, and waits for room.

        `zip(one, other)` begins both anew with each epoch; of an iterator that `next` reads in a loop over the other
        one only the code says it, so that the lines of both are told.
        """
        pairs = [sorted(pair, key=lambda one: self.lengths.get(one, 0)) for pair in self.in_step]
        if left := max((self._left(*pair) for pair in pairs), default=0):
            return [{"code": LEFT, "params": {"size": left}}]
        found: list[dict[str, int]] = []
        for loop, read in self.within:
            (cell, line), (where, loop_line) = self.reads[read].made_at, self.reads[loop].made_at
            if (left := self._left(loop, read)) and line and loop_line and cell == where:
                found.append({"size": left, "cell": cell + 1, "line": line, "loop_line": loop_line})
        return [{"code": LEFT, "params": one} for one in found[:1]]

    def _left(self, short: int, long: int) -> int:
        """Bytes that stay of the longer one of two loaders that are read in step."""
        how, behind = self.reads[long], self.lengths.get(long, 0) - self.lengths.get(short, 0)
        return how.bytes * how.ahead * (behind > how.ahead)

    def shared_memory(self) -> int:
        """Bytes of /dev/shm that the loaders' workers fill: loaders take turns, but for those whose workers stay."""
        turns = [size for size, stays in self.handed_over.values() if not stays]
        return max(turns, default=0) + sum(size for size, stays in self.handed_over.values() if stays)
