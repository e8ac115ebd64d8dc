"""Pretrained weights of trainers: they change no size, so that the model keeps what it was initialised with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...session import Session
from ..awaited import Awaited
from ..environment import WEIGHTS
from ..patch import Patch


def _weights(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """What loads pretrained weights into a model: it keeps its own."""
    session.note("weights_absent")


def _path(session: Session, original: Callable[..., Any], address: Any, *args: Any, **kwargs: Any) -> str:
    """What downloads pretrained weights: a path that `paddle.load` knows as theirs."""
    return f"{WEIGHTS}{address}"


LOADS = (
    ("ppcls.utils.save_load", "load_dygraph_pretrain"),
    ("ppdet.utils.checkpoint", "load_pretrain_weight"),
    ("paddleseg.utils.utils", "load_pretrained_model"),
    ("ppocr.utils.save_load", "load_pretrained_params"),
    ("paddlevideo.utils.save_load", "load_ckpt"),
    ("paddle3d.utils.checkpoint", "load_pretrained_model"),
)
"""Functions that give a model its pretrained weights."""


def patches() -> Iterator[Patch]:
    """Of modules that these programs import."""
    for module, name in LOADS:
        yield Patch(Awaited(module), name, _weights)
    yield Patch(Awaited("paddleseg.utils.utils"), "download_pretrained_model", _path)
