"""What a way to a daemon offers, whichever it is (`unix`, `sdk`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol


class DaemonError(Exception):
    """The daemon's refusal: its status (404 not there, 409 not as things are, 500 it failed) and its own words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Answer(Protocol):
    """What came back. Whoever took it closes it."""

    status: int
    reason: str

    def header(self, name: str) -> str | None:
        """The value of a header, whatever its case."""

    def read(self) -> bytes:
        """All that is left of its content."""

    def chunks(self) -> Iterator[bytes]:
        """Its content as it comes."""

    def hang_up(self) -> None:
        """End the connection, even while another thread reads from it."""

    def close(self) -> None:
        """Nothing more is wanted of it."""


class Transport(Protocol):
    """A way to a daemon; calls may come from several threads."""

    def send(
        self, method: str, path: str, *, body: bytes | None, headers: Mapping[str, str], seconds: tuple[float, float]
    ) -> Answer:
        """Ask. `seconds`: how long to wait for a connection, and for each part of the answer. Raises `OSError`."""

    def close(self) -> None:
        """Drop what is kept open."""


def refused(answer: Answer) -> DaemonError:
    """What the daemon says against a request."""
    text = answer.read().decode("utf-8", "replace")
    try:
        told: Any = json.loads(text)
        text = str(told.get("message", text))
    except (ValueError, AttributeError):
        pass  # something before the daemon answered (a proxy): its own words will do
    return DaemonError(answer.status, text.strip() or answer.reason)
