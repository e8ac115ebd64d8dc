"""PaddleDetection's evaluations between epochs on a machine without their annotations: they are passed by.

`tools/train.py --eval` evaluates behind each epoch and goes on training; what an epoch leaves alive, as a copy of the
weights beside an average of them, is in the steps of the next one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from ... import call_stack
from ...session import Session
from ..awaited import Awaited
from ..patch import Patch


def _metrics(session: Session, original: Callable[..., Any], trainer: Any, validate: bool = False) -> None:
    """`Trainer._init_metrics`: the metrics of an evaluation read its annotations."""
    wanted = _absent(trainer) if validate else None
    if wanted is None:
        original(trainer, validate)
        return
    cell, line = call_stack.place()
    session.note("data_absent", cell=cell + 1, line=line, wanted=wanted)
    trainer._metrics = []


def _evaluation(session: Session, original: Callable[..., Any], trainer: Any, *args: Any, **kwargs: Any) -> None:
    """`Trainer._eval_with_loader`."""
    if _absent(trainer) is None:
        original(trainer, *args, **kwargs)


def _absent(trainer: Any) -> str | None:
    """The annotations that an evaluation wants, where they are not here."""
    tells = getattr(trainer.cfg.get("EvalDataset"), "get_anno", None)
    wanted = None if tells is None else tells()
    return wanted if wanted and not os.path.exists(wanted) else None  # noqa: PTH110 - the guard follows it


def patches() -> Iterator[Patch]:
    """Of PaddleDetection's trainer."""
    trainer = Awaited("ppdet.engine.trainer", "Trainer")
    yield Patch(trainer, "_init_metrics", _metrics)
    yield Patch(trainer, "_eval_with_loader", _evaluation)
