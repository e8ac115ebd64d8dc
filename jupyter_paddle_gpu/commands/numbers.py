"""Values that are typed: numbers by the names that people have for them, words as they are written."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


class Whole(click.IntRange):
    """A whole number between two others."""

    name = "whole number"


class Number(click.FloatRange):
    """A number between two others."""

    name = "number"


class Word(click.Choice[str]):
    """One of several words, however it is typed; shown and completed as it is written (`O1`)."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word as it is written."""
        meant = next((one for one in self.choices if one.lower() == str(value).lower()), value)
        return str(super().convert(meant, param, ctx))

    def shell_complete(self, _context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Those that begin with what is typed."""
        return [CompletionItem(one) for one in self.choices if one.lower().startswith(incomplete.lower())]
