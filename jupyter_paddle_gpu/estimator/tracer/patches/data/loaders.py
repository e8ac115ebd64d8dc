"""What a trace asks of all its `DataLoader`s, and what it has seen of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple


class InStep(NamedTuple):
    """How a loader that is gone through is read.

    Attributes:
        by: the instruction of the program that asks for its batches; two loaders that one instruction reads at a time
            are in step. None: nobody knows, or in code that speaks of `cycle`, which begins the shorter one anew.
        ahead: batches that stand beside the current one.
        bytes: what each of them takes in memory that the allocator counts and no other process gives back.
    """

    by: tuple[int, int] | None
    ahead: int
    bytes: int

    @classmethod
    def of(cls, frame: FrameType | None, ahead: int, size: int) -> InStep:
        """A loader whose first batch this frame asks for."""
        is_known = frame is not None and "cycle" not in frame.f_code.co_names
        return cls((id(frame), frame.f_lasti) if frame is not None and is_known else None, ahead, size)


@dataclass
class Loaders:
    """What is asked of every loader of a trace, and what was seen of them."""

    batch_size: int | None = None
    """The batch size asked for."""
    divided_by: int = 1
    """Micro-batches an update is accumulated over: each takes its part of the batch."""
    seen_batch_sizes: list[int] = field(default_factory=list)
    own_batch_sizes: list[int] = field(default_factory=list)
    """What loaders would give if nothing else were asked of them."""
    handed_over: dict[int, tuple[int, bool]] = field(default_factory=dict)
    """By loader: bytes of batches that its workers keep in shared memory; whether the workers outlive an epoch."""
    ahead: int = 0
    """Bytes of batches that stand beside the current one on a GPU."""
    abandoned: list[Any] = field(default_factory=list)
    """Batches held ahead by loaders that nobody reads to the end: their reading threads wait for room for good."""

    reads: dict[int, InStep] = field(default_factory=dict)
    """By loader that was gone through: how it was read last."""
    in_step: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of loaders that one instruction reads at a time."""
    lengths: dict[int, int] = field(default_factory=dict)
    """By loader: how many batches one pass over it has."""
    given: dict[int, int] = field(default_factory=dict)
    """By loader: batches that the program has asked for."""
    updated: dict[int, int] = field(default_factory=dict)
    """By loader: updates that were made between its batches."""
    begun: dict[int, int] = field(default_factory=dict)
    """By loader with a batch in hand: updates that there were before it."""

    def steps_per_epoch(self, updates: int) -> int | None:
        """Updates in one pass over the loader between whose batches most were made; None where it has no length.

        Args:
            updates: how many there are by now: the program may be in the middle of a batch.
        """
        by_loader = {
            one: self.updated.get(one, 0) + (updates - self.begun[one] if one in self.begun else 0)
            for one in {**self.updated, **self.begun}
        }
        loader = max(by_loader, key=lambda one: by_loader[one], default=None)
        if loader is None or not by_loader[loader] or loader not in self.lengths:
            return None
        return max(1, self.lengths[loader] * by_loader[loader] // max(1, self.given[loader]))

    def read(self, loader: Any, how: InStep) -> None:
        """A loader is gone through from its first batch on."""
        self.reads[id(loader)] = how
        self.in_step += [(one, id(loader)) for one in self.begun if how.by is not None and self.reads[one].by == how.by]

    def notes(self) -> list[dict[str, Any]]:
        """What is told of the loaders of a training."""
        left = self._left()
        return [{"code": "batches_left", "params": {"size": left}}] if left else []

    def _left(self) -> int:
        """Bytes of batches that stay with each epoch for good where loaders of different lengths are read in step
        (`zip(one, other)`): the longer one's thread has read ahead, and waits for room."""
        found = 0
        for pair in self.in_step:
            short, long = sorted(pair, key=lambda one: self.lengths.get(one, 0))
            behind = self.lengths.get(long, 0) - self.lengths.get(short, 0)
            how = self.reads[long]
            found = max(found, how.bytes * how.ahead * (behind > how.ahead))
        return found

    def shared_memory(self) -> int:
        """Bytes of /dev/shm that the loaders' workers fill: loaders take turns, but for those whose workers stay."""
        turns = [size for size, stays in self.handed_over.values() if not stays]
        return max(turns, default=0) + sum(size for size, stays in self.handed_over.values() if stays)
