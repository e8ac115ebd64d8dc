"""A data set that two reading threads go through at a time, and that its own reading changes."""

from __future__ import annotations

import dis
import inspect
from typing import Any

import paddle

from ....session import Session
from ..loaders import Loaders


def leave(session: Session, loader: Any) -> None:
    """A loop over the loader ended before its data did: its thread reads on until there is no room for more."""
    if not getattr(loader, "num_workers", 0):
        session.of(Loaders).still_read.add(id(loader.dataset))


def begin(session: Session, loader: Any) -> None:
    """The loader is gone through, perhaps beside a thread that was left: told where the two change the same.

    Each pass over a stream is a generator of its own, but what its code keeps in the data set is shared by both:
    PaddleRec's `any(loader())`, followed by the training's loop, ended in the reader's IndexError in one real run.
    """
    data = loader.dataset
    is_read = id(data) in session.of(Loaders).still_read and isinstance(data, paddle.io.IterableDataset)
    if is_read and (name := _changed(type(data).__iter__)) is not None:
        session.note("read_twice_at_once", name=type(data).__name__, attribute=name)


def _changed(method: Any) -> str | None:
    """The attribute into which a method that is a generator puts items, as in `self.seen[slot] = True`."""
    code = getattr(method, "__code__", None)
    if code is None or not inspect.isgeneratorfunction(method) or not code.co_varnames:
        return None
    own, name, is_own = code.co_varnames[0], None, False
    for one in dis.get_instructions(code):
        if one.opname == "STORE_SUBSCR" and name is not None:
            return name
        if one.opname.startswith("LOAD_ATTR"):
            name, is_own = (str(one.argval) if is_own else None), False
        elif one.opname.startswith(("LOAD_FAST", "LOAD_CONST")):
            last = one.argval[-1] if isinstance(one.argval, tuple) else one.argval  # one instruction may load two
            is_own = one.opname.startswith("LOAD_FAST") and last == own
        else:
            name, is_own = None, False
    return None
