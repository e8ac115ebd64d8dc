"""The words that click itself says, in the reader's language: it asks gettext for them, we have our own catalogue."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import click

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


@contextlib.contextmanager
def spoken(say: Speech) -> Iterator[None]:
    """Let click speak the language for a while: in a kernel it may be other people's click as well."""

    def plural(one: str, many: str, count: int) -> str:
        return say.translate(one if count == 1 else many)

    before = []
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
