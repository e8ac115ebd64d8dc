"""What a static program is fed with, where that is data that is not here: the program declares its shapes itself
(`paddle.static.data`), and but for how many samples there are, often all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..session import Session
from .absent_data import AbsentData, Unseen, is_unseen
from .descriptions import described
from .needs import Need, NeededError
from .running_code import place

Declared = tuple[str, tuple[int | None, ...]]
"""Type and shape; what a program leaves open is None."""


def array_of(session: Session, name: str, given: Any, declared: Declared, others: Sequence[int]) -> Any:
    """The array that a program is fed with by a name: as it was described, else as it follows from what the program
    declares and from how many samples the others have.

    Args:
        given: data of unknown content.
        others: samples of what the program was fed with just now beside it.

    Raises:
        NeededError: nobody has said how large it is.
    """
    data = session.of(AbsentData)
    dtype, sides = declared
    if (text := data.description(name)) is not None:
        return described(text)[0]
    rows = next(iter(others), None) or _rows(given)
    if rows is not None and sides[:1] == (None,) and None not in sides[1:]:
        shape = (rows, *(side or 0 for side in sides[1:]))
        data.followed[name] = f"{dtype}[{','.join(map(str, shape))}]"
        return np.zeros(shape, dtype)
    data.partly[name] = [declared]
    raise NeededError(data.need(Need(name, "batch", "tensor_unseen", *place(), batch_size=rows)))


def _rows(given: Any) -> int | None:
    """How many rows there are, where the program takes so many (`rows[start : start + 16, :13]`); None: nobody
    knows."""
    seen = given
    while isinstance(seen, (list, tuple)):
        seen = next(one for one in seen if is_unseen(one))
    while isinstance(seen, Unseen):
        index = seen.__dict__["_index"]
        first = index[0] if isinstance(index, tuple) and index else index
        if isinstance(first, slice):
            if type(first.stop) is int and (first.start is None or type(first.start) is int) and first.step is None:
                count = first.stop - (first.start or 0)
                return count if count > 0 else None
            if first != slice(None):
                return None
        seen = seen.__dict__["_of"]
    return None
