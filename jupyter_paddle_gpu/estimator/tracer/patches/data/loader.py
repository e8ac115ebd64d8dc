"""`paddle.io.DataLoader` over one batch of the user's own data set.

The first batch is put together by the user's data set, sampler and collate function; every iteration gets fresh tensors
with those shapes. Workers and threads are not started.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sized
from functools import partial
from typing import Any

import numpy as np
import paddle

from ... import call_stack, own_faults
from ...eager.tensors import Tensors
from ...memory.values import Known
from ...session import Session, current
from ...step.changes import Changes
from ...step.host_memory import HostMemory
from ...step.resizing import Resizing
from ...step.rest import Rest
from ...step.static_graphs import StaticGraphs
from ...step.steps import StepWatch
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.descriptions import described, each, like
from ...undecided.needs import BatchNeeded, Need, NeededError
from ...undecided.unseen_data import UnseenData
from .. import static_graphs
from ..environment import DownloadNeeded
from ..patch import Patch
from . import followed
from .ahead import passes, races
from .ahead.assumed import made_up
from .ahead.drawn import largest_drawn
from .ahead.next_batches import next_of_own
from .ahead.passes import EPOCH
from .batches import Kind, Made, Text, bytes_of, collated, kinds, largest_shape, made, numbers_of
from .loaders import InStep, Loaders, description, is_cycled, own_size
from .own_datasets import gives_one

NEARLY = 0.95
"""Batches within this part of the largest one's bytes are as large: labels differ where pictures take the same."""


def begin(runtime: Tensors, original: Any, loader: Any) -> Iterator[Any]:
    """`iter(loader)`; nothing is read before its first batch is asked for."""
    return static_graphs.as_given(runtime, loader, iterate(runtime, loader, call_stack.place()))


def iterate(runtime: Tensors, loader: Any, made_at: tuple[int, int]) -> Iterator[Any]:
    """What `for batch in loader` goes through, begun in this cell and line."""
    loaders, changes, watch = runtime.of(Loaders), runtime.of(Changes), runtime.of(StepWatch)
    static_graphs.check_loader(runtime, loader)
    races.begin(runtime, loader)
    text = description(runtime, loader)
    batch: Any = None
    if text is None:
        with loaders.reading(loader):
            size, count = _size_and_count(loaders, loader)
            size, batch = _loaded(runtime, loader, size)
        text = batch if isinstance(batch, Text) else None
        count = EPOCH if isinstance(loader.dataset, UnseenData) or loaders.are_samples else count
    if text is not None:
        size, count = loaders.described_size(text, own_size(runtime, loader)), EPOCH
        batch = made_up(runtime, loader, _told(runtime, loader, text, size))
    if size:
        loaders.take_size(runtime, loader, size, text)
    _note_workers(runtime, loader, batch)
    if isinstance(batch, (np.ndarray, paddle.Tensor, Made)):  # `_restore_batch` (`dataloader/flat.py`) makes cycles
        runtime.note("batches_pile_up")
    waiting = batch if runtime.target == "cpu" else _on_device(loader, batch if text is None else None)
    ahead = _ahead(runtime, loader, waiting, size, count)
    _remember_ahead(runtime, loader, made_at, (len(ahead), bytes_of(runtime, waiting)))
    if watch.leaves_epoch and text is None:
        return (yield from _behind(runtime, loader, (size, count, batch), ahead))
    rest, began = _short(watch.rest, loader, size), changes.attempts
    for number in itertools.count():
        if number >= count and not changes.wants_more(began, number // count):
            break
        before = watch.updates
        try:
            loaders.given[id(loader)] = loaders.given.get(id(loader), 0) + 1
            loaders.begun[id(loader)] = before
            if number + len(ahead) >= count and is_cycled(sys._getframe()):
                del ahead[max(0, count - 1 - number) :]
            yield _as_tensors(runtime, batch, loader)
        except GeneratorExit:
            if number + 1 + len(ahead) < count and not watch.is_leaving:
                loaders.abandoned.append(ahead)
                races.leave(runtime, loader)
            raise
        finally:
            loaders.begun.pop(id(loader), None)
            loaders.updated[id(loader)] = loaders.updated.get(id(loader), 0) + watch.updates - before
        yield from _last(runtime, loader, rest)
        if watch.may_leave(before):
            break
    del ahead


def _told(runtime: Tensors, loader: Any, text: str, size: int) -> Any:
    """A batch that was described; that of a data set which gives one thing is no list."""
    batch, name = _unknown(described(text, size)), runtime.of(AbsentData).loaders.get(id(loader), ("",))[0]
    is_one = len(batch) == 1 and isinstance(batch, list)
    return batch[0] if is_one and (gives_one(loader.dataset) or runtime.of(Loaders).takes_one(name)) else batch


def _remember_ahead(runtime: Tensors, loader: Any, made_at: tuple[int, int], waiting: tuple[int, int]) -> None:
    """Keep how many batches of a size in bytes stand ahead, and by which instruction the first one is asked for. On a
    GPU they lie in pinned memory, those of workers in shared memory."""
    loaders, is_gpu, (count, size) = runtime.of(Loaders), runtime.target == "gpu", waiting
    is_read_here = not is_gpu and not getattr(loader, "num_workers", 0)
    loaders.read(loader, InStep.of(call_stack.caller(), count, size * is_read_here, made_at))
    if is_gpu:
        loaders.ahead = max(loaders.ahead, count * size)


def _ahead(runtime: Tensors, loader: Any, waiting: Any, size: int, count: int) -> list[Any]:
    """The batches that stand beside the first one; the last one of a pass may be among them, as small as it is."""
    ahead = [_as_tensors(runtime, waiting, loader) for _ in range(min(_prefetched(runtime, loader), count - 1))]
    if ahead and len(ahead) == count - 1 and runtime.target == "cpu":
        last = passes.last(runtime, loader, size)
        ahead[-1:] = ahead[-1:] if last is None else [_as_tensors(runtime, last, loader)]
    return ahead


def _behind(runtime: Tensors, loader: Any, batches: tuple[int, int, Any], ahead: list[Any]) -> Iterator[Any]:
    """What comes behind the training loop, and its next epoch."""
    watch = runtime.of(StepWatch)
    for batch in passes.behind(runtime, loader, batches, ahead):
        before = watch.updates
        yield _as_tensors(runtime, batch, loader)
        if watch.beyond.is_on and watch.may_leave(before):
            watch.beyond.rounds += 1
            return


def _last(runtime: Tensors, loader: Any, rest: int) -> Iterator[Any]:
    """The last batch of so many samples, once the step is known, where the code may not take it."""
    if runtime.of(StepWatch).rest.takes_short():
        yield _as_tensors(runtime, made(runtime, collated(runtime, loader, rest)), loader)


def _short(behind: Rest, loader: Any, size: int) -> int:
    """Samples of the last batch, where it has fewer than the others; else 0. Code that may not take it gets it."""
    if behind.keep is None or not size or passes.drops_last(loader):
        return 0
    try:
        total = len(loader.dataset)
    except (TypeError, AttributeError, RuntimeError, NeededError):
        return 0
    behind.is_short_last = total > size and total % size > 0
    behind.has_short = behind.is_short_last and behind.fixes(size)
    return total % size


def _unknown(batch: Any) -> Any:
    """The tensors of a batch that was described: nobody knows their numbers."""
    return each(batch, lambda array: Made(array.shape, str(array.dtype), None))


def described_tensors(session: Session, text: str, size: int) -> Any:
    """The tensors of one batch of a loader of the program's own, as it was described."""
    assert isinstance(session, Tensors)
    session.of(Loaders).seen_batch_sizes.append(size)
    return _as_tensors(session, _unknown(described(text, size)), None)


def batches_like(session: Session, batch: Any, count: int) -> Iterator[Any]:
    """So many batches of a reader that gives one like this; what it gives as arrays stays so."""
    sizes = [shape[0] or 0 for _, shape in followed.shown(batch)]
    session.of(Loaders).seen_batch_sizes.extend(sizes[:1])
    for _ in range(count):
        yield fresh(session, batch)


def fresh(session: Session, batch: Any) -> Any:
    """What `made` gives, with tensors of its own; arrays stay arrays."""
    assert isinstance(session, Tensors)
    if isinstance(batch, (list, tuple)):
        return [fresh(session, item) for item in batch]
    if isinstance(batch, dict):
        return like(batch, {key: fresh(session, item) for key, item in batch.items()})
    return _arrived(session, None, batch) if isinstance(batch, Made) else batch


def _loaded(runtime: Tensors, loader: Any, size: int) -> tuple[int, Any]:
    """How many samples, and the batch without its tensors; where its files are not here, what it looks like is asked
    for, or as another loader's."""
    data = runtime.of(AbsentData)
    before = dict(data.needs)
    try:
        if not size and (found := kinds(loader)):
            return _largest_kind(runtime, loader, found)
        batch = _seen(made(runtime, collated(runtime, loader, size)))
        return size, largest_drawn(runtime, loader, size, batch)
    except (DownloadNeeded, OSError, NeededError, TypeError) as problem:
        if isinstance(problem, TypeError) and Unseen.__name__ not in str(problem):  # no part of a sample
            raise
        data.needs = before  # what a sample lacks is the batch's to answer
        if (followed_batch := _followed(runtime, loader, size)) is not None:
            return size, made_up(runtime, loader, followed_batch)
        if (other := data.any_description()) is not None:
            return size, Text(other)
        name, cell, line = data.loaders.get(id(loader), ("", None, None))
        said = None if getattr(loader.dataset, "is_loader", False) else size or None
        raise BatchNeeded(data.need(Need(name, "batch", "batch_unseen", cell, line, said))) from None


def _seen(batch: Any) -> Any:
    """The batch, unless nothing of it is known: modules beside the program go on behind a statement that lacks data."""
    if isinstance(batch, Unseen):
        raise NeededError(Need("", "batch", "batch_unseen", None, None, is_of_step=False))
    return batch


def _largest_kind(runtime: Tensors, loader: Any, found: dict[Kind, list[Any]]) -> tuple[int, Any]:
    """Of the batches that a sampler of the program's own gives, the largest in bytes, then in samples.

    PaddleOCR's gives as many pixels in each: fewer pictures where they are larger, so that their sizes in the
    allocator hardly differ.
    """
    batches = {kind: made(runtime, collated(runtime, loader, len(indices), indices)) for kind, indices in found.items()}
    sizes = [bytes_of(runtime, batch) for batch in batches.values()]
    large = [kind for kind, size in zip(batches, sizes, strict=True) if size >= NEARLY * max(sizes)]
    largest = max(large, key=lambda kind: kind[0])
    given = next_of_own(runtime, loader, batches[largest], batches)
    if min(sizes) < NEARLY * max(sizes):
        if id(loader) not in runtime.of(Loaders).changing:
            runtime.note("sizes_drawn")
    elif len({largest_shape(runtime, batch) for batch in batches.values()}) > 1:
        runtime.note("shapes_alternate")
    return largest[0], given


def _followed(runtime: Tensors, loader: Any, size: int) -> Any:
    """The batch that the program's own code makes of data that is not here; None where it does not say all."""
    data = runtime.of(AbsentData)
    name = data.loaders.get(id(loader), ("",))[0]
    found = None
    if data.follows:
        follows = partial(followed.of_loader, runtime, loader, size, name)
        found = own_faults.without(follows, None, runtime.note, is_mixed=True)
    if isinstance(found, followed.Partial):
        data.know_partly(name, found.parts, found.names)
        return None
    if found is not None:
        data.followed[name] = followed.text(found)
    return followed.as_unknown(found, are_tensors=True)


def _prefetched(runtime: Tensors, loader: Any) -> int:
    """Batches that stand beside the current one.

    The queue holds `prefetch_factor` (2), the thread that fills it waits with 1, the reader in front of it has 1 and
    the buffered reader 1 more, and one is ahead of that in static mode; an epoch has that many ahead until its last
    batches are read (measured on a CPU with epochs of 1 to 12 batches and factors of 1, 2 and 4). Workers hand over
    shared memory, which is not the allocator's; told not to, each holds as many as are asked of it.
    """
    buffered = bool(getattr(loader, "use_buffer_reader", True))
    asked = int(getattr(loader, "prefetch_factor", 2))
    workers = int(getattr(loader, "num_workers", 0))
    if runtime.target == "gpu" and (workers or not _pins(loader)):
        return 2 if buffered else 0
    if workers:
        return 0 if _shares_memory(loader) else asked * workers
    return asked + 2 + buffered + runtime.builds_graph


def _on_device(loader: Any, batch: Any) -> Any:
    """What of a batch that waits is in a GPU's memory.

    Arrays, and all that workers hand over, wait in the machine's own memory, pinned (`pin_memory_` in Paddle's
    `buffered_reader.cc`, which dynamic mode asks for unless `use_pinned_memory(False)`): eleven of PASSL's logs are met
    within 0.3 % without them. Tensors that the data set itself makes in this process are on the device.
    """
    if not _pins(loader):
        return batch
    if isinstance(batch, (list, tuple)):
        return [_on_device(loader, item) for item in batch]
    if isinstance(batch, dict):
        return like(batch, {key: _on_device(loader, item) for key, item in batch.items()})
    return batch if isinstance(batch, Made) and not getattr(loader, "num_workers", 0) else None


def _pins(loader: Any) -> bool:
    return bool(getattr(loader, "pin_memory", True))


def _note_workers(runtime: Tensors, loader: Any, batch: Any) -> None:
    """`workers * prefetch_factor` batches are asked for ahead (`_outstanding_capacity`, Paddle's `dataloader_iter.py`),
    and one is being read; measured with 1, 2 and 4 workers: 3, 5 and 9 batches."""
    size = bytes_of(runtime, batch)
    runtime.of(HostMemory).loads(loader, size)
    if _shares_memory(loader):
        ahead = loader.num_workers * int(getattr(loader, "prefetch_factor", 2)) + 1
        stays = bool(getattr(loader, "_persistent_workers", False))
        runtime.of(Loaders).handed_over[id(loader)] = (ahead * size, stays)


def _size_and_count(loaders: Loaders, loader: Any) -> tuple[int, int]:
    sampler = getattr(loader, "batch_sampler", None)
    size = loaders.batch_size or getattr(sampler, "batch_size", None) or getattr(loader, "batch_size", None) or 0
    size = max(1, int(size) // loaders.divided_by) if size else 0
    size *= getattr(sampler, "_acc_steps", 1)  # automatic parallelism: all micro-batches of a step at once
    data = None if (session := current()) is None else session.of(AbsentData)
    before = dict(data.needs) if data else {}
    try:
        total = len(loader.dataset)
    except (TypeError, AttributeError, RuntimeError, NeededError):
        if data is not None:
            data.needs = before
        return int(size), EPOCH
    if not isinstance(sampler, Sized):  # none, or that of a stream, which knows no end even where its data set does
        sampler = None
    if not size:
        return 0, min(total if sampler is None else len(sampler), EPOCH)
    size_asked = size
    size = min(int(size), total) if loaders.batch_size is None and not loaders.are_samples else int(size)
    is_own = loaders.batch_size is None and loaders.divided_by == 1
    batches = len(sampler) if sampler is not None and is_own else max(1, total // max(size, 1))
    is_counted = data is not None and not (data.needs or data.passed or loaders.are_samples)
    if not batches and is_counted and session is not None:
        session.note("no_batch", samples=total, batch=int(size_asked), **call_stack.told())
    loaders.lengths[id(loader)] = max(1, batches)
    return size, max(1, min(batches, EPOCH))


def _as_tensors(runtime: Tensors, batch: Any, loader: Any) -> Any:
    if isinstance(batch, (list, tuple)):
        return [_as_tensors(runtime, item, loader) for item in batch]
    if isinstance(batch, dict):
        return like(batch, {key: _as_tensors(runtime, item, loader) for key, item in batch.items()})
    if isinstance(batch, Made):
        return _arrived(runtime, loader, batch)
    if isinstance(batch, np.ndarray):
        shape, value = runtime.of(Resizing).arriving(numbers_of(runtime, batch).shape, str(batch.dtype), Known(batch))
        return _arrived(runtime, loader, Made(shape, str(batch.dtype), value))
    return batch


def _arrived(runtime: Tensors, loader: Any, made: Made) -> Any:
    """A tensor of a batch. On a CPU it stays where a worker put it, in shared memory beside the allocator."""
    if runtime.of(StaticGraphs).is_on:
        return static_graphs.fed(runtime, made.shape, made.dtype)
    tensor = runtime.create("to_tensor", made.shape, made.dtype, made.value, "inputs")
    state = runtime.state(tensor)
    state.is_read, storage = loader is not None, state.array.storage
    if storage is not None and runtime.target == "cpu" and _shares_memory(loader):
        storage.record.bytes = 0
    return tensor


def _shares_memory(loader: Any) -> bool:
    return bool(getattr(loader, "num_workers", 0) and getattr(loader, "use_shared_memory", True))


def _length(session: Session, original: Callable[..., Any], loader: Any) -> int:
    # A batch larger than the data set is asked for as if there were data enough: schedules divide by this.
    least = 0 if session.of(Loaders).batch_size is None else 1
    try:
        length = max(int(original(loader)), least)
    except NeededError:  # of data that is not here
        return EPOCH
    if session.of(Loaders).are_samples:
        return max(length, EPOCH)
    # A sampler of the program's own finds nothing to draw from in data that is not here.
    return length or (EPOCH if isinstance(getattr(loader, "dataset", None), UnseenData) else 0)


def _epoch(session: Session, original: Callable[..., Any], model: Any, *args: Any, **kwargs: Any) -> Any:
    """An epoch of `Model.fit`, or an evaluation; where what is behind it is to be come to, it is the last one."""
    logs, watch = original(model, *args, **kwargs), session.of(StepWatch)
    if watch.rest.is_on or watch.beyond.hastens(watch.runtime.ledger.now):
        model.stop_training = True
    return logs


def patches() -> Iterator[Patch]:
    """The loader's iteration and its length, and a model's epochs."""
    yield Patch(paddle.Model, "_run_one_epoch", _epoch)
    kind = paddle.io.DataLoader
    yield Patch(kind, "__iter__", begin)
    yield Patch(kind, "__call__", begin)
    yield Patch(kind, "__len__", _length)
