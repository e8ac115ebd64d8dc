"""Configurations by `configparser` whose file is not on this machine.

`read` passes by a file that is not there, and only a missing section tells later: that is said of the file, as it is of
any other that cannot be opened.
"""

from __future__ import annotations

import configparser
import errno
import os
from collections.abc import Callable, Iterator
from typing import Any

from ...session import Session
from ..patch import Patch

_ABSENT = "_traced_absent"
"""Of a parser: the file that it was to be read from."""
_MISSING = (KeyError, configparser.NoSectionError, configparser.NoOptionError)


def _read(
    session: Session, original: Callable[..., Any], parser: Any, filenames: Any, *args: Any, **kwargs: Any
) -> list[str]:
    """`RawConfigParser.read`. Of several files it takes those that are there, as it is meant to."""
    found: list[str] = original(parser, filenames, *args, **kwargs)
    if not found and isinstance(filenames, (str, bytes, os.PathLike)):
        vars(parser)[_ABSENT] = os.fspath(filenames)
    return found


def _asked(session: Session, original: Callable[..., Any], parser: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return original(parser, *args, **kwargs)
    except _MISSING as problem:
        if (path := vars(parser).get(_ABSENT)) is None:
            raise
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from problem


def patches() -> Iterator[Patch]:
    """What reads such a file, and what asks for its sections."""
    yield Patch(configparser.RawConfigParser, "read", _read)
    for name in ("__getitem__", "get", "items", "options"):
        yield Patch(configparser.RawConfigParser, name, _asked)
