"""Text and tables for terminals of any width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from rich import box
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

FOLDED_CELLS = 14
"""A column that folds keeps so much width as long as other columns can go."""
GAP_CELLS = 3
"""Between two columns; half of it stands on either side of the table."""


def sentence(words: str, style: str = "") -> Text:
    """A line that the terminal itself folds: commands and addresses in it can be copied, Chinese fills its rows."""
    return Text(words, style=style, no_wrap=True, overflow="ignore")


def in_place(view: Callable[[], RenderableType], console: Console, wait: Callable[[], object]) -> None:
    """Draw something anew in one place of a terminal, after each `wait`, until that is interrupted."""
    from rich.live import Live

    with Live(view(), console=console, auto_refresh=False) as live:
        while True:
            wait()
            live.update(view(), refresh=True)


class FittingTable:
    """A table that leaves out columns before it folds cells.

    Args:
        optional: numbers of the columns that may go where there is no room for all, the first one first.
        folding: numbers of the columns whose text folds; the others stay in one row.
        right: numbers of the columns that stand at the right, as figures do.
    """

    def __init__(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[Text]],
        *,
        optional: Sequence[int] = (),
        folding: Sequence[int] | None = None,
        right: Sequence[int] = (),
        title: str | None = None,
    ) -> None:
        self._head, self._rows, self._title = head, rows, title
        self._optional = optional
        self._right = right
        self._folding = range(1, len(head)) if folding is None else folding

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = list(range(len(self._head)))
        left_out = [None, *self._optional]
        for number in left_out:
            if number is not None:
                columns.remove(number)
            if self._least_width(columns) <= options.max_width:
                yield self._table(columns, self._folding)
                return
        yield self._table(columns, columns)

    def _least_width(self, columns: Sequence[int]) -> int:
        width = 0
        for number in columns:
            cells = [Text(self._head[number]), *(row[number] for row in self._rows)]
            widest = max(cell.cell_len if "\n" not in cell.plain else FOLDED_CELLS for cell in cells)
            width += (min(widest, FOLDED_CELLS) if number in self._folding else widest) + GAP_CELLS
        return width

    def _table(self, columns: Sequence[int], folding: Sequence[int]) -> Table:
        table = Table(box=box.SIMPLE, pad_edge=False, title=self._title, title_justify="left")
        for number in columns:
            justify: Literal["left", "right"] = "right" if number in self._right else "left"
            table.add_column(self._head[number], overflow="fold", no_wrap=number not in folding, justify=justify)
        for row in self._rows:
            table.add_row(*(row[number] for number in columns))
        return table
