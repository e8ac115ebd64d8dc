"""Log lines on a terminal or into a pipe, each as soon as it is there."""

from __future__ import annotations

import itertools
import os
import select
import sys
import time
from typing import TYPE_CHECKING, TextIO

import msgspec

if TYPE_CHECKING:
    from ..domain.jobs.job import LogLine

_CLEAR_LINE = "\r\x1b[2K"


class LinePrinter:
    """Log lines on standard output, standard error on standard error; JSON is a line each.

    On a terminal the states of a progress bar overwrite each other as they did where they were printed; elsewhere a
    line is printed once, when it is complete.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._tty = sys.stdout.isatty()
        self._passing: dict[str, LogLine] = {}
        """Not a terminal: a stream's line that is not complete yet."""
        self._open: LogLine | None = None
        """A terminal: the line that the cursor stands in."""
        self._last: TextIO = sys.stdout

    def write(self, lines: list[LogLine]) -> None:
        """Print a batch and let it be seen."""
        if self._as_json:
            sys.stdout.write("".join(msgspec.json.encode(line).decode() + "\n" for line in lines))
        elif self._tty:
            for line in lines:
                self._on_terminal(line)
        else:
            self._into_pipe(lines)
        self._last.flush()

    def close(self) -> None:
        """Print what is held back: lines that nobody completed."""
        for line in self._passing.values():
            self._stream(line).write(line.text + "\n")
        if self._open is not None:
            self._stream(self._open).write("\n")
        self._passing, self._open = {}, None
        self._last.flush()

    def _into_pipe(self, lines: list[LogLine]) -> None:
        """Lines that follow each other on one stream in one write: a flood is printed faster than it is made."""
        for _, group in itertools.groupby(lines, key=lambda line: line.stream == "stderr"):
            complete = []
            for line in group:
                if line.passing:
                    self._passing[line.stream] = line
                else:
                    complete.append(line)
                    if self._passing:
                        self._passing.pop(line.stream, None)
            if complete:
                self._stream(complete[0]).write("".join([line.text + "\n" for line in complete]))

    def _on_terminal(self, line: LogLine) -> None:
        before, self._open = self._open, line if line.passing else None
        if before is not None and line.replaces and line.stream == before.stream:
            self._stream(line).write(_CLEAR_LINE)
        elif before is not None:
            self._stream(before).write("\n")
        # A state that is longer than a row could not be taken back.
        text = line.text[: _columns() - 1] if line.passing else line.text + "\n"
        self._stream(line).write(text)

    def _stream(self, line: LogLine) -> TextIO:
        """Where a line goes; what went elsewhere before it is let out first, so that `2>&1` keeps the order."""
        stream = sys.stderr if line.stream == "stderr" else sys.stdout
        if stream is not self._last:
            self._last.flush()
            self._last = stream
        return stream


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:
        return 80


def wait(seconds: float) -> None:
    """Wait, but no longer than standard output has a reader.

    Raises:
        BrokenPipeError: whoever read us (`… | grep -m1 done`) has ended.
    """
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)  # an error or a hang-up is reported without being asked for
    except (AttributeError, OSError, ValueError):
        time.sleep(seconds)
        return
    if poll.poll(1000 * seconds):
        raise BrokenPipeError
