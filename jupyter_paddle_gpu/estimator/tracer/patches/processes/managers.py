"""`multiprocessing.Manager()` without its process: what it is asked for is made here, where all of the program runs."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from multiprocessing import context, managers
from typing import Any

from ...session import Session
from ..patch import Patch


class Here:
    """A manager whose dictionaries, lists, queues and locks are plain ones."""

    def __getattr__(self, name: str) -> Any:
        made = managers.SyncManager._registry.get(name)  # type: ignore[attr-defined]
        if made is None:
            raise AttributeError(name)
        return made[0]

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def shutdown(self) -> None:
        """There is no process to end."""


def _manager(session: Session, original: Callable[..., Any], *_: Any) -> Here:
    return Here()


def patches() -> Iterator[Patch]:
    """The module's own function, and that of a context (`get_context("spawn").Manager()`)."""
    yield Patch(multiprocessing, "Manager", _manager)
    yield Patch(context.BaseContext, "Manager", _manager)
