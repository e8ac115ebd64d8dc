"""What a worker says of itself, and what became of a request."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ...domain.decoding import decode

PADDLE_BROKEN = "paddle"
"""The `error` type of an outcome that never came about, because Paddle cannot be imported."""
OutcomeKind = Literal[
    "answer",
    "error",
    "exit",
    "signal",
    "cpu",
    "timeout",
    "memory",
    "too_long",
    "cut_off",
    "cancelled",
    "closed",
    "gone",
]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a request.

    Attributes:
        kind: `answer` (see `raw`); `error` (an exception left the handler: `error` has type, text, traceback);
            `exit`/`signal` (the process ended without an answer: `number`); `cpu`, `timeout`, `memory`, `too_long`
            (a limit); `cut_off` (user code closed the connection and went on); `cancelled`; `closed` (we are shutting
            down); `gone` (the zygote itself ended).
        raw: the answer in JSON.
        refused: (action, target) pairs that user code was refused: `write`, `process`, `network`, `signal`.
        output: beginning and end of what was printed.
        resident: peak of the child's resident memory in bytes, what it shares with the zygote included.
        grown: the most anonymous memory that it took beyond the zygote's; None where that cannot be told.
        seconds, cpu_seconds: wall and processor time of the child, up to its reply where there is one.
        held: which of the kernel's guards took hold (`landlock`, `seccomp`).
    """

    kind: OutcomeKind
    raw: bytes = b"null"
    error: dict[str, str] = {}
    number: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    held: tuple[str, ...] = ()
    output: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    resident: int = 0
    grown: int | None = None

    @property
    def value(self) -> Any:
        """The answer as plain values."""
        return decode(self.raw, Any)


class Greeting(msgspec.Struct, frozen=True, kw_only=True):
    """What a zygote says when it is ready; `error` where Paddle, `tracer_error` where the tracer cannot be imported,
    `unpatched` what a trace replaces and this Paddle does not have, by name."""

    python: str = ""
    version: str = ""
    paddle_version: str = ""
    seconds: float = 0.0
    error: str = ""
    tracer_error: str = ""
    unpatched: tuple[str, ...] = ()


class _Said(msgspec.Struct, frozen=True):
    """What a child says itself, in JSON of its own. It is user code's as far as anybody knows."""

    value: msgspec.Raw = msgspec.Raw(b"null")
    error: dict[str, str] = {}
    refused: tuple[tuple[str, str], ...] = ()
    held: tuple[str, ...] = ()
    resident: int = 0
    cpu_seconds: float = 0.0
    grown: int | None = None


def outcome_of(reply: dict[str, Any]) -> Outcome:
    """What the zygote's reply says, with what the child says in its `body`."""
    kind, said = reply["outcome"], _Said()
    if kind == "answer":
        try:
            said = decode(reply["body"], _Said)
        except msgspec.DecodeError:  # user code wrote it, and ended
            kind = "exit"
        if said.error:
            kind = "memory" if said.error.get("type") == "MemoryError" else "error"
    return Outcome(
        kind=kind,
        raw=bytes(said.value),
        error=said.error,
        number=reply.get("number", 0),
        refused=said.refused,
        held=said.held,
        output=reply.get("output", ""),
        seconds=reply.get("seconds", 0.0),
        cpu_seconds=reply.get("cpu_seconds", said.cpu_seconds),
        resident=reply.get("resident", said.resident),
        grown=said.grown,
    )
