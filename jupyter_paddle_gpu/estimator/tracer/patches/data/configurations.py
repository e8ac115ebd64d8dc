"""Configurations by `configparser` whose file is not on this machine.

`read` passes by a file that is not there, so what has a fallback in the program is that, here as in Python. Only a
missing section tells of the file: that is said of it, as of any other that cannot be opened, and where the run goes on
without data its sections are settings of unknown content.
"""

from __future__ import annotations

import configparser
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...session import Session
from ...undecided import settings
from ...undecided.absent_data import AbsentData, Unseen
from ...undecided.running_code import frames
from ..patch import Patch

_ABSENT, _SETTINGS = "_traced_absent", "_traced_settings"
"""Of a parser: the file that it was to be read from, and what stands for its content."""


class _NoKeyError(FileNotFoundError, KeyError):
    """What Python raises for want of a section, said of the file that is not here."""


class _NoSectionError(FileNotFoundError, configparser.NoSectionError):
    """The same of a section that an option was asked of: a fallback is taken in its place."""


class _NoOptionError(FileNotFoundError, configparser.NoOptionError):
    """The same of an option."""


_MISSING: dict[type[Exception], type[Exception]] = {
    KeyError: _NoKeyError,
    configparser.NoSectionError: _NoSectionError,
    configparser.NoOptionError: _NoOptionError,
}


def _read(
    session: Session, original: Callable[..., Any], parser: Any, filenames: Any, *args: Any, **kwargs: Any
) -> list[str]:
    """`RawConfigParser.read`. Of several files it takes those that are there, as it is meant to."""
    found: list[str] = original(parser, filenames, *args, **kwargs)
    if not found and isinstance(filenames, (str, bytes, os.PathLike)):
        vars(parser)[_ABSENT] = os.fsdecode(filenames)
    return found


def _asked(session: Session, original: Callable[..., Any], parser: Any, *args: Any, **kwargs: Any) -> Any:
    path = vars(parser).get(_ABSENT)
    try:
        found = original(parser, *args, **kwargs)
    except tuple(_MISSING) as problem:
        if path is None:
            raise
        is_within = "vars" in kwargs  # `getint` asks `get` so, and takes its own fallback where that fails
        if session.of(AbsentData).is_lazy and not is_within:
            return _of_settings(session, parser, path, args)
        if isinstance(problem, FileNotFoundError):
            raise
        kind = next(made for missing, made in _MISSING.items() if isinstance(problem, missing))
        raise kind(errno.ENOENT, os.strerror(errno.ENOENT), path) from problem
    if path is not None and "fallback" in kwargs and not parser.has_option(*args[:2]):
        session.note("settings_fallback", path=path)
    return found


def _of_settings(session: Session, parser: Any, path: str, keys: tuple[Any, ...]) -> Any:
    """A section of a file that is not here, or what is asked of one."""
    held, data = vars(parser), session.of(AbsentData)
    if _SETTINGS not in held:
        held[_SETTINGS] = settings.mark(Unseen(name=_name(data, parser, path)), path=path, kind="ini")
        if data.missed is not None:
            data.missed(path)
    found = held[_SETTINGS]
    for key in keys[:2]:
        found = found[key]
    return found


def _name(data: AbsentData, parser: Any, path: str) -> str:
    """The program's name for a parser, or its file's."""
    places = [data.namespace, *(frame.f_locals for frame in frames())]
    named = (name for place in places for name, value in place.items() if value is parser and name.isidentifier())
    return next((name for name in named if name != "self"), Path(path).stem)


def patches() -> Iterator[Patch]:
    """What reads such a file, and what asks for its sections."""
    yield Patch(configparser.RawConfigParser, "read", _read)
    for name in ("__getitem__", "get", "getint", "getfloat", "getboolean", "items", "options"):
        yield Patch(configparser.RawConfigParser, name, _asked)
