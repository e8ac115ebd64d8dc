"""Tensors that are made of data that is not on this machine, and what is said of such data at the end."""

from __future__ import annotations

import weakref
from dataclasses import replace
from operator import index
from typing import Any

import numpy as np

from ..session import Session, current
from . import variants
from .absent_data import AbsentData, Unseen, is_unseen
from .descriptions import described
from .made_up import COLUMN
from .needs import Need, NeededError
from .rows import UnseenRows
from .running_code import assigned, is_a_step, is_held, is_one_of_several, kept, place
from .unknowns import unknown


def tensor_of(data: Any) -> Any:
    """The numbers of which a tensor is made of data that is not here, where an answer describes them."""
    session = current()
    seen = data
    while isinstance(seen, (list, tuple)):
        seen = next(one for one in seen if is_unseen(one))
    if session is None:
        return seen.__array__()
    if variants.present() is not None:
        is_open = seen is data and (not seen.__dict__["_length"] or seen.__dict__["_label"] == COLUMN)
        return seen._needs("tensor_unseen") if is_open else np.array(_numbers(data))
    known = session.of(AbsentData)
    bound = "" if is_one_of_several() else assigned()
    name = known.own_name(seen) or bound or known.name_of(seen)
    # What describes a batch of a loader says nothing of the tensor whose rows the loader's batches are.
    text = known.description(name) or (None if is_held() else known.description(bound))
    if text is None and (wanted := _published(known, seen)) is not None:
        raise NeededError(known.need(wanted))
    if text is None and known.follows and (count := _repeated(data)):
        known.followed[name] = f"int64[{count}]"
        known.guessed.add(name)
        return unknown(np.zeros(count, np.int64))
    if isinstance(seen, UnseenRows) and name not in known.partly:
        known.partly[name] = [(str(seen.dtype), (None, *seen.shape[1:]))]
    if text is None and known.is_lazy and not is_a_step():
        known.uncounted[name] = None
        if attribute := kept():
            known.unmade[attribute] = None
        made = Unseen(seen if isinstance(data, Unseen) else None)
        if name not in known.namespace:
            known.lost.append((weakref.ref(made), name))
        return made
    if text is None:
        is_of_step = not seen.__dict__["_is_asked"]
        raise NeededError(known.need(Need(name, "batch", "tensor_unseen", *place(), is_of_step=is_of_step)))
    return unknown(next(iter(described(text))))


def with_sizes(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments of an operator with numbers for sizes that hang on data (`shape=(width, 1)`); None where there are
    none such.

    Raises:
        NeededError: nobody has said how large one is.
    """
    if not any(isinstance(one, (list, tuple)) and any(isinstance(size, Unseen) for size in one) for one in args):
        return None
    return tuple(
        [index(size) if isinstance(size, Unseen) else size for size in one] if isinstance(one, (list, tuple)) else one
        for one in args
    )


def _published(known: AbsentData, seen: Unseen) -> Need | None:
    """The number for want of which what a tensor is made of could not be made itself, where it is a published one: with
    it the tensor is in the figure."""
    wanted: Need | None = seen.__dict__.get("_wants")
    if wanted is None or known.is_published is None or is_a_step() or not known.is_published(wanted):
        return None
    return replace(wanted, is_of_step=True)


def _repeated(data: Any) -> int:
    """How often a list repeats one value: `[vocabulary["<bos>"]] * size` are so many numbers; 0 where it does not."""
    is_plain = isinstance(data, (list, tuple)) and len(data) > 1 and isinstance(data[0], Unseen)
    return len(data) if is_plain and all(one is data[0] for one in data) else 0


def _numbers(data: Any) -> Any:
    """Lists of made-up numbers."""
    if isinstance(data, (list, tuple)):
        return list(map(_numbers, data))
    if isinstance(data, Unseen):
        length = data.__dict__["_length"]
        return 0 if length is None else [0] * length
    return data


def _holder(tensor: Unseen, data: AbsentData) -> str:
    """The notebook's name for a tensor that a function made, or for what comes of it; empty where it has none."""
    for name, bound in data.namespace.items():
        held = bound
        while isinstance(held, Unseen) and held is not tensor:
            held = held.__dict__["_of"]
        if held is tensor and not name.startswith("_"):
            return name
    return ""


def note_used(session: Session, *, has_figure: bool) -> None:
    """Say which answers took the place of data, and which tensors of it a figure does not count."""
    data = session.of(AbsentData)
    used, guessed, followed = data.used, data.guessed, data.followed
    uncounted = [name for name in data.uncounted if isinstance(data.namespace.get(name), Unseen)]
    alive = [(one, name) for one, name in ((made(), name) for made, name in data.lost) if one is not None]
    uncounted += [_holder(one, data) or name or "to_tensor" for one, name in alive]
    uncounted = list(dict.fromkeys((*uncounted, *data.unmade)))
    if uncounted and has_figure:
        session.note("tensors_uncounted", names=", ".join(uncounted))
    if followed:
        session.note("data_followed", batches=", ".join(f"{name}={text}" for name, text in followed.items()))
    if names := sorted(guessed & followed.keys()):
        session.note("types_assumed", names=", ".join(names))
    if data.assumed and has_figure:
        session.note("numbers_assumed", numbers=", ".join(f"{name}={value}" for name, value in data.assumed.items()))
    if used:
        session.note("data_described", answers=", ".join(f"{name}={text}" for name, text in used.items()))
