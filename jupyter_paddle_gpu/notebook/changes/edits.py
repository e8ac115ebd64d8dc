"""Edits of a cell's text by the positions of its syntax tree: all that is not meant stays as it was typed."""

from __future__ import annotations

import ast
import io
import tokenize
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

STEP = "    "
"""What a block moves to the right by in lines that are given, and where a cell has no block that shows its own."""


class Edit(NamedTuple):
    """Characters `start` to `end` of a cell's text become `text`; an insertion has `start == end`."""

    start: int
    end: int
    text: str


class CellText:
    """The text of one code cell, and the edits that are to be made in it.

    Args:
        source: as typed.
        masked: lines (from 1) on which the tree's columns are not the text's, because a magic stands there.
    """

    def __init__(self, source: str, masked: tuple[int, ...]) -> None:
        self.source = source.replace("\r\n", "\n").replace("\r", "\n")
        self.masked = frozenset(masked)
        self.edits: list[Edit] = []
        self._lines = self.source.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def offset(self, line: int, column: int) -> int:
        """Characters before a place of the tree: `line` from 1, `column` in bytes of UTF-8 as `ast` counts it."""
        text = self._lines[line - 1]
        return self._starts[line - 1] + len(text.encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Where a node's text begins and ends; of an argument with its name, if it has one."""
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.offset(node.lineno, node.col_offset), self.offset(last, column)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """A node as it was typed."""
        start, end = self.span(node)
        return self.source[start:end]

    def is_masked(self, node: ast.expr | ast.stmt) -> bool:
        """Whether a part of the node stands on a line with a magic."""
        return not self.masked.isdisjoint(range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def is_alone(self, statement: ast.stmt) -> bool:
        """Whether nothing but a comment shares the statement's lines."""
        start, end = self.span(statement)
        before = self.source[self._starts[self._first_line(statement) - 1] : start]
        after = self.source[end : self._starts[statement.end_lineno or statement.lineno]].strip()
        decorated = before.lstrip().startswith("@") or not before.strip()
        return decorated and (not after or after.startswith("#"))

    def indentation(self, statement: ast.stmt) -> str:
        """White space before a statement that is alone."""
        line = self._lines[statement.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def replace(self, node: ast.expr | ast.stmt, text: str, *, with_parentheses: bool = False) -> None:
        """Write something else in a node's place."""
        start, end = self.span(node)
        while with_parentheses and self.source[:start].endswith("(") and self.source[end:].startswith(")"):
            start, end = start - 1, end + 1
        self.edits.append(Edit(start, end, text))

    def put(self, start: int, end: int, text: str) -> None:
        """Write something else in the place of some characters."""
        self.edits.append(Edit(start, end, text))

    def insert(self, offset: int, text: str) -> None:
        """Write something before a character."""
        self.edits.append(Edit(offset, offset, text))

    def insert_before(self, statement: ast.stmt, lines: list[str]) -> None:
        """Write lines above a statement that is alone, as far to the right as it stands, in steps of the cell's own."""
        start = self._starts[self._first_line(statement) - 1]
        indentation = self.indentation(statement)
        self.insert(start, "".join(f"{indentation}{self._stepped(line)}\n" if line else "\n" for line in lines))

    def insert_after(self, statement: ast.stmt, lines: list[str]) -> None:
        """Write lines below a statement that is alone, as far to the right as it stands, in steps of the cell's own."""
        end = self._starts[statement.end_lineno or statement.lineno] - 1  # at the line's end, behind a comment
        indentation = self.indentation(statement)
        self.insert(end, "".join(f"\n{indentation}{self._stepped(line)}" if line else "\n" for line in lines))

    def delete(self, statement: ast.stmt) -> None:
        """Take out a statement that is alone, with its lines."""
        first, last = self._first_line(statement), statement.end_lineno or statement.lineno
        self.edits.append(Edit(self._starts[first - 1], min(self._starts[last], len(self.source)), ""))

    def wrap(self, statements: list[ast.stmt], header: str) -> None:
        """Put statements that follow each other, each alone, under a line of their own (`with …:`)."""
        self.insert_before(statements[0], [header])
        first, last = self._first_line(statements[0]), statements[-1].end_lineno or statements[-1].lineno
        for number in range(first, last + 1):
            if self._lines[number - 1].strip() and number not in self._inside_strings:
                self.insert(self._starts[number - 1], self.step)

    def result(self) -> str:
        """The text with all edits; insertions at one place stand in the order in which they were asked for."""
        text, kept = [], 0
        for edit in sorted(self.edits, key=lambda one: (one.start, one.end > one.start)):
            text.append(self.source[kept : edit.start])
            text.append(edit.text)
            kept = max(kept, edit.end)
        return "".join(text) + self.source[kept:]

    def moved(self, line: int) -> int:
        """Where a line stands once the edits are made."""
        start = self._starts[line - 1]
        before = (one for one in self.edits if one.start <= start and one.end <= start)
        return line + sum(one.text.count("\n") - self.source.count("\n", one.start, one.end) for one in before)

    def _first_line(self, statement: ast.stmt) -> int:
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        return min([statement.lineno, *(one.lineno for one in decorators)])

    @cached_property
    def step(self) -> str:
        """What the blocks of this cell stand to the right by: tabs and spaces of one block cannot be mixed."""
        numbered = enumerate(self._lines, 1)
        lines = [line for number, line in numbered if line.strip() and number not in self._inside_strings]
        for above, below in pairwise(lines):
            outer, inner = (line[: len(line) - len(line.lstrip())] for line in (above, below))
            if above.split("#")[0].rstrip().endswith(":") and inner.startswith(outer) and inner != outer:
                return inner[len(outer) :]
        return STEP

    def _stepped(self, line: str) -> str:
        """A line that is given in steps of `STEP`."""
        count = (len(line) - len(line.lstrip())) // len(STEP)
        return self.step * count + line[count * len(STEP) :]

    @cached_property
    def _inside_strings(self) -> set[int]:
        """Lines that begin inside a string: what is put before them would become part of it."""
        inside: set[int] = set()
        masked = [line if number not in self.masked else "pass" for number, line in enumerate(self._lines, 1)]
        opened: list[int] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO("\n".join(masked)).readline):
                name = tokenize.tok_name[token.type]
                if name == "STRING":
                    inside.update(range(token.start[0] + 1, token.end[0] + 1))
                elif name == "FSTRING_START":  # from Python 3.12 on
                    opened.append(token.start[0])
                elif name == "FSTRING_END" and opened:
                    inside.update(range(opened.pop() + 1, token.end[0] + 1))
        except (tokenize.TokenError, SyntaxError):  # a masked cell magic; the tree was made all the same
            pass
        return inside
