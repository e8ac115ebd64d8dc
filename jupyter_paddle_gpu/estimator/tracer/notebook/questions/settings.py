"""Files of settings that a program reads (JSON, YAML, TOML, INI): which they are, and the numbers in them by name.

A job's copy of such a file is read in its place. What the program itself writes there counts from then on.
"""

from __future__ import annotations

import builtins
import hashlib
import io
import os
import pathlib
import re
import site
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...undecided.settings import opened as opened_absent
from .samples import sampled

SUFFIXES = (".json", ".yml", ".yaml", ".toml", ".ini", ".cfg")
MOST_BYTES = 1 << 18
"""A larger file is data."""
_INSTALLED = tuple({*site.getsitepackages(), site.getusersitepackages(), os.path.join(sys.prefix, "lib")})  # noqa: PTH118
"""Where packages lie: their own settings are nobody's to change."""
_KEY = rb"""(?P<key>"[^"\n]*"|'[^'\n]*'|[A-Za-z_][\w.-]*)\s*[:=]\s*"""
_END = rb"""["']?(?=\s*(?:[,}\]\r#]|$))"""
_NUMBER = re.compile(_KEY + rb"""(?:&\S+\s+)?(?:\*(?P<alias>\w+)|["']?(?P<number>\d+))""" + _END)
_OPENED = re.compile(_KEY + rb"""(?:&\S+\s*)?[{[]?\s*(?:\r?$|#|$)""")
_ANCHORED = re.compile(rb"""&(?P<anchor>\w+)\s+["']?(?P<number>\d+)""" + _END)
_SECTION = re.compile(rb"^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:[#;].*)?$")
_TEXT = re.compile(rb"[:-]\s*[|>][+-]?\d*\s*(?:#.*)?$")
_COMMENT = re.compile(rb"(?:^|\s)#.*$")


class Setting(NamedTuple):
    """A number of a file: the keys to it with points between, and the bytes `column` to `end` of its line."""

    name: str
    value: int
    line: int
    column: int
    end: int


class SettingsFiles:
    """The files of settings that the runs of a request read, as the last of them read each."""

    def __init__(self) -> None:
        self.read: dict[str, bytes] = {}

    @contextmanager
    def followed(self, changed: Mapping[str, str]) -> Iterator[None]:
        """See what is read by `open`, and have it read what a job's copies hold.

        Args:
            changed: their texts by the paths of the files.
        """
        before, own = builtins.open, set[str]()
        texts = {os.path.realpath(path): text.encode() for path, text in changed.items()}

        def read(path: str) -> bytes:
            with before(path, "rb") as file:
                return bytes(file.read())

        def opened(file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
            path = _settings_path(file)
            if path is None or path in own:
                return before(file, mode, *given, **named)
            if any(letter in mode for letter in "wax+"):
                own.add(path)  # what the program makes itself is its own
                self.read.pop(path, None)
                return before(file, mode, *given, **named)
            text = texts.get(path)
            if text is None:
                try:
                    with before(file, "rb") as whole:
                        text = whole.read(MOST_BYTES + 1)
                except FileNotFoundError:
                    opened_absent(path)
                    raise
                if len(text) > MOST_BYTES:
                    return before(file, mode, *given, **named)
                self.read[path] = text
                shown = sampled(path, text, read)
                return before(file, mode, *given, **named) if shown is text else _stream(shown, mode, *given, **named)
            self.read[path] = text
            return _stream(sampled(path, text, read), mode, *given, **named)

        with _in_place(opened):
            yield


def _stream(text: bytes, mode: str, *given: Any, **named: Any) -> Any:
    """A file of this content, opened as `open` opens one."""
    raw = io.BytesIO(text)
    if "b" in mode:
        return raw
    options = {**dict(zip(("buffering", "encoding", "errors", "newline"), given, strict=False)), **named}
    return io.TextIOWrapper(
        raw, options.get("encoding") or "utf-8", errors=options.get("errors"), newline=options.get("newline")
    )


@contextmanager
def _in_place(opened: Callable[..., Any]) -> Iterator[None]:
    before, before_io = builtins.open, io.open
    accessor = getattr(pathlib, "_NormalAccessor", None)  # of Python 3.10, which keeps the function itself
    kept = vars(accessor).get("open") if accessor else None
    builtins.open = io.open = opened
    if accessor and kept is not None:
        accessor.open = staticmethod(opened)
    try:
        yield
    finally:
        builtins.open, io.open = before, before_io
        if accessor and kept is not None:
            accessor.open = kept


def _settings_path(file: Any) -> str | None:
    """The whole path of a file of settings; None of any other."""
    if not isinstance(file, (str, os.PathLike)) or not os.fspath(file).lower().endswith(SUFFIXES):
        return None
    path = os.path.realpath(os.fspath(file))
    return None if path.startswith(_INSTALLED) else path


def digest_of(text: bytes) -> str:
    """By which a file is known to be the same."""
    return hashlib.sha256(text).hexdigest()[:16]


def numbers_in(text: bytes) -> Iterator[Setting]:
    """The whole numbers that stand behind a key, also as text; of an anchor that keys name (`*size`) under theirs."""
    anchors: dict[bytes, tuple[int, int, int, int]] = {}
    keys: list[tuple[int, bytes]] = []
    section = b""
    for at, line in _lines(text):
        if found := _SECTION.match(line):
            section, keys = found[1], []
            continue
        indent = _indent(line)
        while keys and keys[-1][0] >= indent:
            keys.pop()
        for one in _ANCHORED.finditer(line):
            anchors[one["anchor"]] = int(one["number"]), at, *one.span("number")
        yield from _in_line(at, line, [section, *(key for _, key in keys)], anchors)
        if opened := _OPENED.search(line):
            keys.append((indent, _plain(opened["key"])))


def _lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines from 1 that say something, without comments and without texts over several lines."""
    skipped = -1
    for at, whole in enumerate(text.split(b"\n"), 1):
        line = _COMMENT.sub(b"", whole)
        if line.strip() and not 0 <= skipped < _indent(line):
            skipped = _indent(line) if _TEXT.search(line) else -1
            yield at, line


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" -\t"))


def _in_line(
    at: int, line: bytes, within: list[bytes], anchors: Mapping[bytes, tuple[int, int, int, int]]
) -> Iterator[Setting]:
    for one in re.finditer(_KEY, line):
        number = _NUMBER.match(line, one.start())
        if number is None:
            if line[one.end() :].lstrip()[:1] in {b"{", b"["}:
                within = [*within, _plain(one["key"])]  # `train: {batch_size: 8}` in one line
            continue
        name = ".".join(part.decode(errors="replace") for part in (*within, _plain(one["key"])) if part)
        if number["number"] is not None:
            yield Setting(name, int(number["number"]), at, *number.span("number"))
        elif held := anchors.get(number["alias"]):
            yield Setting(name, *held)
        if b"}" in line[number.end() : number.end() + 2]:
            within = within[:-1]


def _plain(key: bytes) -> bytes:
    return key.strip(b"\"'")
