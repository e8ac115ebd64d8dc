"""Numbers that are typed, by the names that people have for them."""

from __future__ import annotations

import click


class Whole(click.IntRange):
    """A whole number between two others."""

    name = "whole number"
