"""The outside world of the user's program while it is traced: nothing is downloaded, written or asked of a device."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import paddle

from .interception import current

_installed = False


class DownloadNeeded(BaseException):
    """The program wants data that is not on this machine."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


def _download(*args: Any, **kwargs: Any) -> Any:
    raise DownloadNeeded(str(args[0] if args else kwargs.get("url", "")))


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None


def _same(value: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Stands for decorators such as `paddle.jit.to_static`, used with or without arguments."""
    return value if value is not None else _same


def _replacements() -> list[tuple[Any, str, Callable[..., Any]]]:
    found: list[tuple[Any, str, Callable[..., Any]]] = [
        (paddle, "save", _nothing),
        (paddle.jit, "save", _nothing),
        (paddle.jit, "to_static", _same),
        (paddle, "set_device", _nothing),
        (paddle.device, "set_device", _nothing),
        (paddle.hapi.model.Model, "save", _nothing),
        (paddle.utils.download, "get_path_from_url", _download),
        (paddle.utils.download, "_download", _download),
        (paddle.dataset.common, "download", _download),
        (paddle.distributed, "init_parallel_env", _nothing),
    ]
    for module in (paddle.vision.models, paddle.vision.datasets):
        for name in dir(module):
            inner = getattr(module, name)
            for member in ("get_weights_path_from_url", "_check_exists_and_download"):
                if hasattr(inner, member):
                    found.append((inner, member, _weights if member.startswith("get") else _download_checked(inner)))
    return found


def _weights(url: str, *args: Any) -> str:
    """Pretrained weights change no size: a name that `paddle.load` answers with nothing."""
    return WEIGHTS + url


WEIGHTS = "weights-not-needed:"


def _download_checked(module: Any) -> Callable[..., Any]:
    original = module._check_exists_and_download

    def check(path: Any, url: str, *rest: Any) -> Any:
        if path is None or not isinstance(path, str):
            return original(path, url, *rest)
        return original(path, url, *rest)

    return check


def install() -> None:
    """Replace them, once a process."""
    global _installed  # noqa: PLW0603
    if _installed:
        return
    _installed = True
    for owner, name, replacement in _replacements():
        with contextlib.suppress(AttributeError, TypeError):
            original = getattr(owner, name)
            setattr(owner, name, _while_tracing(original, replacement))
    load = paddle.load

    def load_nothing(path: Any, *args: Any, **kwargs: Any) -> Any:
        if current() is not None and isinstance(path, str) and path.startswith(WEIGHTS):
            return {}
        return load(path, *args, **kwargs)

    paddle.load = load_nothing


def _while_tracing(original: Callable[..., Any], replacement: Callable[..., Any]) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if current() is None else replacement(*args, **kwargs)

    function.__name__ = getattr(original, "__name__", "function")
    return function
