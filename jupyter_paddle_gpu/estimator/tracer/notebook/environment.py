"""The environment that a job will have, where it is another than this process's.

Paddle reads its flags from it when it is imported, which has happened here: they are set by hand.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from paddle.base import core

from ..memory.allocator_flags import NAMES

_ON = {"1", "t", "true", "y", "yes"}
"""What Paddle reads as true (`paddle/utils/flags_native.cc`)."""


@contextmanager
def as_in_job(variables: Mapping[str, str]) -> Iterator[None]:
    """While a program is read: these variables, and what Paddle takes from them."""
    before, flags = dict(os.environ), _flags(variables)
    known: Any = core.globals()
    were = {name: known[name] for name in flags}
    os.environ.update(variables)
    try:
        for name, value in flags.items():
            known[name] = value
        yield
    finally:
        for name, value in were.items():
            known[name] = value
        for name in variables.keys() - before.keys():
            os.environ.pop(name, None)
        os.environ.update({name: before[name] for name in variables.keys() & before.keys()})


def _flags(variables: Mapping[str, str]) -> dict[str, Any]:
    """Those that this build of Paddle knows and lets be set, in their types. Those of the allocator are replayed; this
    process's own keeps what it has."""
    known: Any = core.globals()
    found: dict[str, Any] = {}
    for name, text in variables.items():
        is_known = name not in NAMES and name in known.keys()  # noqa: SIM118 - no mapping
        if is_known and known.is_public(name):
            kind = type(known[name])
            with suppress(ValueError):  # as Paddle, which says so at its import and goes on
                found[name] = text.strip().lower() in _ON if kind is bool else kind(text)
    return found
