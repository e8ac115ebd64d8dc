"""The outside world of the user's program while it is traced: nothing is downloaded, written or asked of a device."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import paddle

from ..session import Session
from . import absent_modules
from .patch import Patch

WEIGHTS = "weights-not-needed:"
"""Begins the stand-in path of pretrained weights, which change no size."""


class DownloadNeeded(BaseException):
    """The program wants data that is not on this machine."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


class StaticGraphError(RuntimeError):
    """The program builds a graph to run later, of which a trace sees no step."""


def _static(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    raise StaticGraphError


def _refuse(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    raise DownloadNeeded(str(args[0] if args else kwargs.get("url", "")))


def _cached(  # noqa: PLR0917 - Paddle's signature
    session: Session, original: Callable[..., Any], url: str, module_name: str, md5sum: Any, save_name: Any = None
) -> Any:
    """`paddle.dataset.common.download`: a file that is there already is used."""
    folder = os.path.join(paddle.dataset.common.DATA_HOME, module_name)  # noqa: PTH118 - mirrors Paddle's own path
    path = os.path.join(folder, url.split("/")[-1] if save_name is None else save_name)  # noqa: PTH118
    if not os.path.exists(path):  # noqa: PTH110
        raise DownloadNeeded(url)
    return original(url, module_name, md5sum, save_name)


def _weights(session: Session, original: Callable[..., Any], url: str, *args: Any) -> str:
    return WEIGHTS + url


def _load(session: Session, original: Callable[..., Any], path: Any, *args: Any, **kwargs: Any) -> Any:
    if isinstance(path, str) and path.startswith(WEIGHTS):
        return {}
    return original(path, *args, **kwargs)


def _nothing(session: Session, original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    return None


def _undecorated(
    session: Session, original: Callable[..., Any], function: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """`paddle.jit.to_static`, with or without arguments: the program is traced as written."""
    return function if function is not None else lambda decorated: decorated


def patches() -> Iterator[Patch]:
    """What would leave the process: files, downloads, graphs that run elsewhere."""
    yield from (Patch(owner, name, replacement) for owner, name, replacement in _REPLACED)
    for name in dir(paddle.vision.models):
        module = getattr(paddle.vision.models, name)
        if hasattr(module, "get_weights_path_from_url"):
            yield Patch(module, "get_weights_path_from_url", _weights)


_REPLACED: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
    (paddle, "save", _nothing), (paddle, "load", _load), (paddle.jit, "save", _nothing),
    (paddle.jit, "to_static", _undecorated), (paddle.hapi.model.Model, "save", _nothing),
    (paddle, "enable_static", _nothing), (paddle.static, "data", _static), (paddle.static, "Executor", _static),
    (paddle, "set_device", _nothing), (paddle.device, "set_device", _nothing),
    (paddle.utils.download, "get_path_from_url", _refuse), (paddle.utils.download, "_download", _refuse),
    (paddle.dataset.common, "download", _cached), (paddle.hapi.callbacks, "try_import", absent_modules.try_import),
)  # fmt: skip
