"""A picture that a notebook has drawn."""

from __future__ import annotations

import msgspec


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One picture.

    Attributes:
        cell: index among all cells of the executed notebook.
        number: the how-manieth picture of that cell, from 1.
        mime: `image/png`, `image/jpeg`, `image/gif` or `image/svg+xml`.
        data: base64; of SVG its text.
    """

    cell: int
    mime: str
    data: str
    number: int = 1


class Figures(msgspec.Struct, frozen=True):
    """The pictures of a job in their order; of many the newest."""

    figures: tuple[Figure, ...] = ()
