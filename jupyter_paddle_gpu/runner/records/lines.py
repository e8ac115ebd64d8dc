"""A stream of text cut into lines as a terminal would show them: `\\r` and `\\b` move back, later text writes over.

What moves up, as a bar within another one does (`for epoch in tqdm(…): for batch in tqdm(…)`), shows its states in the
newest line: the lines above are written already. What it writes up there and ends is a line of its own.
"""

import re
import time
from typing import Callable, List

_TOKENS = re.compile("\r\n|\n|\r|\b+|\x1b\\[[0-9;?]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[^\r\n\b\x1b]+|\x1b")
_NO_COLOUR = re.compile("\x1b(?!\\[[0-9;]*m)")
_UNFINISHED = re.compile("\x1b(?:\\[[0-9;?]*|\\][^\x07\x1b]*\x1b?)?\\Z")
_UP = re.compile("\x1b\\[(\\d*)([AF])")
_LONGEST_SEQUENCE = 256
_MOST_UP = 50
_ANSI = re.compile("\x1b\\[[0-9;?]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b")
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Emit = Callable[[str, bool, bool, str], None]
"""(text, replaces, complete, end): `complete` False for a passing state; `end` is a line feed or nothing."""
EmitLines = Callable[[List[str]], None]
"""Many complete lines at once, each with a line feed."""


def plain(text: str) -> str:
    """Text without terminal control sequences (colours, cursor moves, titles) and control characters: a terminal that
    shows a log must not ring or change its character set. Tabs and line feeds stay."""
    if text.isprintable():
        return text
    return _CONTROL.sub("", _ANSI.sub("", text) if "\x1b" in text else text)


def coloured(text: str) -> str:
    """Text as `plain` leaves it, but with its colours and their like; empty where it has none."""
    if "\x1b" not in text:
        return ""
    found = _COLOUR.findall(text)
    if not found:
        return ""
    pieces = [plain(piece) for piece in _COLOUR.split(text)]
    return "".join(map(str.__add__, pieces, [*found, ""]))


class Lines:
    """Assembles one stream. Passing states (progress bars, lines without an end yet) come out at a bounded rate."""

    def __init__(
        self, emit: Emit, emit_lines: EmitLines, *, limit: int, state_seconds: float, partial_seconds: float
    ) -> None:
        self._emit = emit
        self._emit_lines = emit_lines
        self._limit = limit
        self._state_seconds = state_seconds
        self._partial_seconds = partial_seconds
        self._line = ""
        self._cursor = 0
        self._cut = ""  # the beginning of a control sequence that came in two pieces
        self._shown = ""  # the state that was emitted last, where this line has one
        self._has_state = False
        self._in_place = False
        self._changed_at = 0.0
        self._emitted_at = 0.0
        self._above = 0  # lines that one can move up to
        self._below: List[str] = []  # lines that one has moved up from, the lowest first
        self._touched = False  # whether something was written up there

    def feed(self, text: str) -> None:
        """Take in text as it was printed."""
        if not text:
            return
        text, self._cut = self._whole_sequences(self._cut + text)
        moves = "\r" in text or "\b" in text or ("\x1b" in text and _NO_COLOUR.search(text) is not None)
        if moves or self._below or self._cursor != len(self._line):
            for token in _TOKENS.findall(text):
                self._take(token)
        else:
            self._feed_plain(text)
        self._changed_at = time.monotonic()
        self.tick()

    def tick(self) -> None:
        """Show a passing state where one is due; called now and then."""
        line = self._visible()
        if not line or (self._has_state and line == self._shown):
            return
        now = time.monotonic()
        if self._in_place:
            due = now - self._emitted_at >= self._state_seconds
        else:
            due = now - max(self._changed_at, self._emitted_at) >= self._partial_seconds
        if due:
            self._emit(line, self._has_state, False, "")
            self._has_state, self._shown, self._emitted_at = True, line, now

    def finish(self) -> None:
        """End a line that has no line feed: something else follows (a figure, the next cell, the end)."""
        self._cut = ""
        self._line = self._visible()
        if self._line or self._has_state:
            self._complete("")

    def _visible(self) -> str:
        """The line that is written, or the one that was left for a place above where nothing is written yet."""
        return self._below[0] if self._below and not self._touched else self._line

    @staticmethod
    def _whole_sequences(text: str) -> "tuple[str, str]":
        start = text.find("\x1b", max(0, len(text) - _LONGEST_SEQUENCE))
        cut = _UNFINISHED.search(text, start) if start >= 0 else None
        return (text[: cut.start()], cut.group()) if cut else (text, "")

    def _feed_plain(self, text: str) -> None:
        first, *lines = text.split("\n")
        self._append(first)
        if not lines:
            return
        self._complete("\n")
        self._above = min(_MOST_UP, self._above + len(lines) - 1)
        rest = lines.pop()
        if lines and max(map(len, lines)) <= self._limit:
            self._emit_lines(lines)
        else:
            for line in lines:
                self._append(line)
                self._complete("\n")
        self._append(rest)

    def _append(self, text: str) -> None:
        self._line += text
        while len(self._line) > self._limit and not self._in_place:
            rest = self._line[self._limit :]
            self._line = self._line[: self._limit]
            self._complete("")
            self._line = rest
        self._cursor = len(self._line)

    def _take(self, token: str) -> None:
        if token in ("\n", "\r\n"):
            if self._below and not self._touched:
                self._line, self._cursor = self._below.pop(), 0
            else:
                self._complete("\n")
        elif token == "\r":
            self._cursor, self._in_place = 0, True
        elif token[0] == "\b":
            self._cursor, self._in_place = max(0, self._cursor - len(token)), True
        elif token in ("\x1b[K", "\x1b[0K"):
            self._line = self._line[: self._cursor]
        elif token == "\x1b[2K":
            self._line = " " * self._cursor
        elif up := _UP.match(token):
            self._move_up(int(up.group(1) or 1))
        elif token[0] == "\x1b":
            # Colours stay (they are part of what a notebook shows); other moves of the cursor are not followed.
            if token[-1] == "m":
                self._write(token)
        else:
            self._write(token)

    def _move_up(self, count: int) -> None:
        for _ in range(min(count, self._above - len(self._below))):
            self._below.append(self._line)
            self._line = ""
            self._cursor, self._in_place, self._touched = 0, True, False

    def _write(self, text: str) -> None:
        self._touched = True
        if self._cursor == len(self._line) and not self._in_place:
            self._append(text)
            return
        end = self._cursor + len(text)
        self._line = (self._line[: self._cursor] + text + self._line[end:])[: self._limit]
        self._cursor = min(end, len(self._line))

    def _complete(self, end: str) -> None:
        text = self._line.rstrip(" ") if self._in_place else self._line
        replaces = self._has_state
        self._below, self._touched, self._above = [], False, min(_MOST_UP, self._above + 1)
        self._line, self._shown, self._cursor, self._has_state, self._in_place = "", "", 0, False, False
        self._emit(text, replaces, True, end)
