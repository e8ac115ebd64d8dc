"""The words that click itself says, in the reader's language: it asks gettext for them, we have our own catalogue."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any
from unicodedata import east_asian_width

import click
from click import _textwrap

from .speech import Speech

_MODULES = ("core", "decorators", "exceptions", "formatting", "parser", "types")
WORDS = (
    "Usage:",
    "Options",
    "Commands",
    "Show this message and exit.",
    "Missing command.",
    "Missing argument",
    "Missing option",
    "No such command {name!r}.",
    "No such option {name!r}.",
    "Did you mean {possibility}?",
    "(Did you mean one of: {possibilities}?)",
    "Invalid value: {message}",
    "Invalid value for {param_hint}: {message}",
    "{value!r} is not one of {choices}.",
    "{value!r} is not a valid {number_type}.",
    "{value} is not in the range {range}.",
    "Got unexpected extra argument ({args})",
    "Got unexpected extra arguments ({args})",
    "Option {name!r} requires an argument.",
    "Option {name!r} does not take a value.",
)
"""What a user of ours can meet. Where a version of click words it otherwise, its English is shown."""


_WIDE = "\u2e80-\u9fff\uff00-\uffef"
_PIECES = re.compile(rf"\s+|[（“《「]*(?:[^\s{_WIDE}（“《「]+|[{_WIDE}])[，。、；：？！）”》」…]*")
"""What stays together in a line: a word, or one wide character, each with the marks that may not stand alone."""


def _columns(text: str) -> int:
    """Of a terminal."""
    return sum(1 + (east_asian_width(sign) in "WF") for sign in text)


class _Wrapper(_textwrap.TextWrapper):
    """Folds text with wide characters by the columns that they take, and leaves no mark alone in its line: click counts
    characters and knows no end of a word but a blank."""

    def wrap(self, text: str) -> list[str]:
        """The lines, without their ends."""
        if _columns(whole := self.initial_indent + text) == len(whole):
            return super().wrap(text)
        lines, line = [], self.initial_indent
        for piece in _PIECES.findall(text):
            if line.strip() and _columns(line + piece.rstrip()) > self.width:
                lines.append(line.rstrip())
                line = self.subsequent_indent
            line += piece if line.strip() else piece.lstrip()
        return [*lines, line.rstrip()]


def problem_of(error: click.ClickException) -> str:
    """What click says is wrong; it puts a blank between sentences, and Chinese punctuation brings its own room."""
    return re.sub("([。；！？]) ", r"\1", error.format_message())


@contextlib.contextmanager
def spoken(say: Speech) -> Iterator[None]:
    """Let click speak the language for a while: in a kernel it may be other people's click as well."""

    def plural(one: str, many: str, count: int) -> str:
        return say.translate(one if count == 1 else many)

    before: list[tuple[Any, str, Any]] = [(_textwrap, "TextWrapper", _textwrap.TextWrapper)]
    _textwrap.TextWrapper = _Wrapper  # type: ignore[misc]
    for module in filter(None, (sys.modules.get(f"{click.__name__}.{name}") for name in _MODULES)):
        for word, function in (("_", say.translate), ("ngettext", plural)):
            if hasattr(module, word):
                before.append((module, word, getattr(module, word)))
                setattr(module, word, function)
    try:
        yield
    finally:
        for module, word, function in before:
            setattr(module, word, function)
