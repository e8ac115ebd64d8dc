"""What a command leaves behind in a cell."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..commands.face import View
from ..commands.speech import Speech

PLAIN_WIDTH = 110
"""Columns of the plain text of an answer: what an output area of a notebook shows without wrapping."""


def typed_here(text: str) -> str:
    """A text whose next steps are typed where its reader is: in a cell."""
    return text.replace("`jupyter paddle-gpu ", "`%paddle_gpu ")


def drawn_here(page: str) -> str:
    """HTML for a cell: what is to be typed is code."""
    return re.sub(r"`([^`<>]+)`", r"<code>\1</code>", typed_here(page))


class Result:
    """An answer in a cell: drawn as HTML where that is shown, complete as plain text where it is not.

    Attributes:
        value: the domain value (an `Estimate`, an `Inventory`, a `Job` …).
        json: the same as plain JSON, as REST answers it.
    """

    def __init__(self, view: View, say: Speech) -> None:
        self._view = view
        self._say = say
        self.value: Any = view.data

    @property
    def json(self) -> Any:
        """Plain JSON."""
        return msgspec.json.decode(msgspec.json.encode(self._view.json(self._say)))

    def __repr__(self) -> str:
        from io import StringIO

        from rich.console import Console, Group

        # Not rich's own Jupyter mode: it would display by itself what is only to be written down here.
        paper = StringIO()
        console = Console(
            file=paper, width=PLAIN_WIDTH, force_terminal=False, force_jupyter=False, no_color=True, highlight=False
        )
        console.print(Group(self._view.rich(self._say)), crop=False)  # sentences go on to their end
        return typed_here("\n".join(row.rstrip() for row in paper.getvalue().rstrip().splitlines()))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": drawn_here(self._view.html(self._say))}
