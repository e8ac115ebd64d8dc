"""Batches that follow from the program's own code, where its data is not on this machine.

A `__getitem__`, a collate function or a reader is run with made-up data in two variants (`undecided/variants`). What
comes out alike in both is a batch of which nobody has to be asked; of one that does not, what is alike says how many
things it has and of which types.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import paddle
from paddle.io.dataloader.collate import default_collate_fn

from ... import own_faults
from ...eager.tensors import Tensors
from ...session import Session
from ...undecided import made_up
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.unknowns import unknown
from ...undecided.unseen_data import UnseenData
from ...undecided.variants import PAIRS, Variant, Variants, tidied
from . import makings, read_names
from .batches import DISTINCT_SAMPLES, Made, made, repeated
from .own_datasets import anew

SECONDS = 2.0
"""Of the processor's time after which no further variant is looked at."""
Part = tuple[str, tuple[int | None, ...]]
"""Type and shape of one thing of a batch; None for a size that hangs on the data."""


class Partial:
    """What is known of a batch that does not follow from the code alone.

    Attributes:
        parts: type and shape of each of its things in order, None for a size that hangs on the data; None for a thing
            of which nothing is known.
        names: of its things, where it is a dictionary.
    """

    def __init__(self, things: list[Part | None], names: Sequence[str] = ()) -> None:
        self.parts = things
        self.names = tuple(names)


def of_loader(runtime: Tensors, loader: Any, size: int, name: str = "") -> Any | Partial | None:
    """The batch of a loader over a data set of the program's own, as `made` gives it; None where its code says
    nothing.

    Args:
        name: of the loader: a batch whose types are a guess is remembered by it.
    """
    data_set = loader.dataset
    while type(data_set) is UnseenData:
        data_set = data_set.data
    is_own = isinstance(data_set, UnseenData) or not type(data_set).__module__.startswith("paddle.")
    ways: list[Callable[[], Any]] = []
    if isinstance(data_set, paddle.io.Dataset) and is_own:
        ways += [lambda: _collated(runtime, loader, data_set, size)]
        ways += [lambda: _collated(runtime, loader, anew(data_set), size)]
        ways += [lambda: _collated(runtime, loader, makings.data_set_remade(data_set), size)]
        ways += [lambda: _with_globals(runtime, loader, data_set, size)]
    ways += [partial(_first_of, runtime, making, size) for making in makings.of(loader)]
    return _first_known(runtime, ways, name)


def _with_globals(runtime: Tensors, loader: Any, data_set: Any, size: int) -> Any:
    """The batch of samples that are made of names of the notebook: `return features[i], labels[i]`."""
    names = read_names.read_by(data_set, getattr(loader, "collate_fn", None))
    with makings.globals_remade(names) as some:
        return _collated(runtime, loader, data_set, size) if some else None


def _first_known(runtime: Tensors, ways: Iterable[Callable[[], Any]], name: str) -> Any | Partial | None:
    """What the first way gives by which a batch is known; else what is known of a part of it."""
    best: Partial | None = None
    for way in ways:
        found = _alike(runtime, lambda way=way: made(runtime, way()), name)  # type: ignore[misc]
        if found is not None and not isinstance(found, Partial):
            return found
        best = best if found is None else found
    return best


def _first_of(runtime: Tensors, make: Callable[[], Any], size: int = 0) -> Any:
    """The first batch of a loader, or the first item of a reader, that is made for this."""
    items = make()
    if not isinstance(items, paddle.io.DataLoader):
        return _first(items)
    sampler = getattr(items, "batch_sampler", None)
    return _collated(runtime, items, items.dataset, size or getattr(sampler, "batch_size", None) or 0)


def of_reader(session: Session, make: Callable[[], Any], name: str = "") -> Any | Partial | None:
    """The first item of a reader, as `made` gives it; None where its code says nothing.

    Args:
        make: gives what the program goes through.
        name: as in `of_loader`.
    """
    assert isinstance(session, Tensors)
    ways: list[Callable[[], Any]] = [lambda: _first(make())]
    with suppress(Exception):  # what keeps it from being made is told of elsewhere
        ways += [partial(_first_of, session, making) for making in makings.of(make())]
    return _first_known(session, ways, name)


def of_value(session: Session, value: Unseen, name: str) -> Any | Partial | None:
    """What the program's functions make of data that is not here (`x, y = get_batch()`), as `made` gives it; None where
    their code says nothing.

    Args:
        name: as in `of_loader`.
    """
    assert isinstance(session, Tensors)
    own = makings.of(value)
    if not own or any(map(makings.is_of_model, own)):
        return None
    return _first_known(session, [partial(makings.remade, value)], name)


def _first(items: Any) -> Any:
    if isinstance(items, (Unseen, str)) or items is None:
        return None
    items = items.again() if hasattr(type(items), "again") else items
    return next(islice(iter(items), 1), None)


def _alike(runtime: Tensors, make: Callable[[], Any], name: str) -> Any | Partial | None:
    """What is made in two variants, where it is the same in both; else what is the same of it."""
    partial: Partial | None = None
    began = time.process_time()
    for pair in PAIRS:
        if time.process_time() - began > SECONDS:
            break
        if partial is not None and not pair[0].holds:
            continue
        found: list[Any] = []
        failures = runtime.of(Variants).failures
        for variant in pair:
            one = _with_labels(_made_in(runtime, variant, make))
            if one is None or isinstance(one, Unseen):
                break
            found.append(one)
        if len(found) < len(pair):
            continue
        alike = [list(parts(one)) for one in found]
        if alike[0] == alike[1] and is_known(found[0]):
            other = _with_labels(_made_in(runtime, pair[0].otherwise(), make))
            if other is not None and list(parts(other)) != alike[0]:
                runtime.of(AbsentData).guessed.add(name)
                return _with_clips(found[0], other, runtime.of(AbsentData).code)
            return found[0]
        if alike[0] == alike[1] and runtime.of(Variants).failures == failures:
            return _partial(*found)  # more data would tell no more of it
        partial = partial or _partial(*found)
    return partial


def _with_clips(batch: Any, other: Any, code: str) -> Any:
    """A batch whose clips of sound are no whole numbers where nobody knows their type.

    Args:
        other: the same with numbers of another type for those of which nobody knows anything.
    """
    if isinstance(batch, dict) and isinstance(other, dict) and list(batch) == list(other):
        return {name: _with_clips(one, other[name], code) for name, one in batch.items()}
    if isinstance(batch, (list, tuple)) and isinstance(other, (list, tuple)) and len(batch) == len(other):
        return type(batch)(_with_clips(*pair, code) for pair in zip(batch, other, strict=True))
    kinds = (Made, np.ndarray)
    if not (isinstance(batch, kinds) and isinstance(other, kinds) and made_up.is_clip(tuple(batch.shape), code)):
        return batch
    if str(batch.dtype) == str(other.dtype):
        return batch
    return batch.astype(np.float32) if isinstance(batch, np.ndarray) else Made(batch.shape, "float32", None)


def _partial(one: Any, other: Any) -> Partial | None:
    """What two batches have in common, where both are plain lists of as many things, or dictionaries of the same."""
    if isinstance(one, dict) and isinstance(other, dict):
        are_alike = list(one) == list(other) and all(isinstance(name, str) and name.isidentifier() for name in one)
        return Partial(list(map(_common, one.values(), other.values())), list(one)) if one and are_alike else None
    if not all(isinstance(batch, (list, tuple)) for batch in (one, other)) or len(one) != len(other):
        return None
    common = list(map(_common, one, other))
    return Partial(common)


def _common(one: Any, other: Any) -> Part | None:
    mine, yours = list(parts(one)), list(parts(other))
    if len(mine) != 1 or len(yours) != 1 or mine[0][0] != yours[0][0] or _BLANK in mine[0][0]:
        return None
    shapes = mine[0][1], yours[0][1]
    if len(shapes[0]) != len(shapes[1]):
        return None
    return mine[0][0], tuple(a if a == b and a else None for a, b in zip(*shapes, strict=True))


def _with_labels(batch: Any) -> Any:
    """A batch of several inputs, which no answer can describe, with whole numbers for the labels of which nobody knows
    anything."""
    if not isinstance(batch, list) or len(batch) < 2 or not any(isinstance(one, list) for one in batch):
        return batch
    sizes = [shape[0] for kind, shape in parts(batch[:-1]) if kind != "list" and shape]
    is_open = isinstance(batch[-1], Unseen) and sizes and None not in sizes
    return [*batch[:-1], Made((int(sizes[0] or 1),), "int64", None)] if is_open else batch


@tidied()
def _made_in(runtime: Tensors, variant: Variant, make: Callable[[], Any]) -> Any | None:
    data = runtime.of(AbsentData)
    needs, notes = dict(data.needs), dict(runtime.notes)
    try:
        with runtime.of(Variants).within(variant):
            return make()
    except (Exception, SystemExit) as problem:  # whatever the program's code makes of made-up data tells nothing
        if own_faults.is_own(problem):
            notes.setdefault(own_faults.CODE, own_faults.parameters(problem))
        return None
    finally:
        data.needs, runtime.notes = needs, notes


def _collated(runtime: Tensors, loader: Any, data_set: Any, size: int) -> Any:
    wanted = size or 1
    if data_set is None:
        return None
    if isinstance(data_set, paddle.io.IterableDataset):
        samples = list(islice(iter(data_set), min(wanted, DISTINCT_SAMPLES)))
    else:
        kind: Any = next(one for one in type(data_set).__mro__ if one is not UnseenData and "__getitem__" in vars(one))
        few = min(wanted, DISTINCT_SAMPLES, _length(data_set))
        samples = [kind.__getitem__(data_set, number) for number in range(few)]
    if not samples:
        return None
    collate = getattr(loader, "collate_fn", None) or default_collate_fn
    if not size and getattr(loader, "batch_sampler", None) is None:
        return samples[0]
    if collate is default_collate_fn:
        return repeated(runtime, _columns(samples), wanted)
    return collate([samples[number % len(samples)] for number in range(wanted)])


def _length(data_set: Any) -> int:
    """How many samples it says that it has; as many as are looked at where it does not say it."""
    try:
        return len(data_set) or DISTINCT_SAMPLES
    except Exception:  # it is the program's own code, and has no data
        return DISTINCT_SAMPLES


def _columns(samples: list[Any]) -> Any:
    """Samples put together as Paddle does; a thing of which nothing is known stays so."""
    if isinstance(samples[0], Unseen):
        return samples[0]
    if isinstance(samples[0], dict):
        return {name: _columns([sample[name] for sample in samples]) for name in samples[0]}
    if not isinstance(samples[0], (list, tuple)):
        return default_collate_fn(samples)
    columns = [[sample[number] for sample in samples] for number in range(len(samples[0]))]
    return [column[0] if isinstance(column[0], Unseen) else _columns(column) for column in columns]


_BLANK = "Unseen"


def parts(batch: Any) -> Iterator[Part]:
    """Types and shapes of all things of a batch, with where they stand in it."""
    if isinstance(batch, (list, tuple)):
        yield "list", (len(batch),)
        for one in batch:
            yield from parts(one)
    elif isinstance(batch, dict):
        for name, one in batch.items():
            yield str(name), ()
            yield from parts(one)
    elif isinstance(batch, (Made, np.ndarray, np.generic)):
        yield str(batch.dtype), tuple(batch.shape)
    elif isinstance(batch, (bool, int, float)):
        yield type(batch).__name__, ()
    else:
        yield repr(type(batch)), (None,)


def is_known(batch: Any) -> bool:
    """Whether every thing of a batch is an array, a tensor or a number, and something is in it: a list that nothing was
    put into is one that made-up data did not fill."""
    return all(None not in shape and 0 not in shape for _, shape in parts(batch))


def text(batch: Any) -> str:
    """The batch in words; arrays alike in one of its things are as one array of them."""
    return " ".join(f"{name}[{','.join(map(str, shape))}]" for name, shape in shown(batch))


def shown(batch: Any, depth: int = 0) -> Iterator[Part]:
    """Types and shapes of its arrays, as `text` puts them."""
    if isinstance(batch, (list, tuple)):
        each = [list(shown(one, depth + 1)) for one in batch]
        if depth and each and len(each[0]) == 1 and all(one == each[0] for one in each):
            name, shape = each[0][0]
            each = [[(name, (len(each), *shape))]]
        for one in each:
            yield from one
    elif isinstance(batch, dict):
        for one in batch.values():
            yield from shown(one, depth + 1)
    else:
        yield from ((name, shape) for name, shape in parts(batch) if shape)


def as_unknown(batch: Any, *, are_tensors: bool = False) -> Any:
    """The batch with its arrays as ones whose numbers nobody knows; tensors stay as `made` gives them.

    Args:
        are_tensors: whether its arrays become tensors, as a loader's do.
    """
    if isinstance(batch, (list, tuple)):
        return [as_unknown(one, are_tensors=are_tensors) for one in batch]
    if isinstance(batch, dict):
        return {name: as_unknown(one, are_tensors=are_tensors) for name, one in batch.items()}
    if isinstance(batch, Made) or (are_tensors and isinstance(batch, np.ndarray) and batch.dtype.kind in "biufc"):
        return Made(tuple(batch.shape), str(batch.dtype), None)
    return unknown(batch) if isinstance(batch, np.ndarray) else batch
