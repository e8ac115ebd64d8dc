"""A maker's command-line tool in one declaration: what it is asked, and how its answer is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_UNITS = {"": 1, "B": 1, "KB": 2**10, "KIB": 2**10, "MB": 2**20, "MIB": 2**20, "GB": 2**30, "GIB": 2**30}
"""What the tools write; those that write MB mean powers of two (65,536 MB is a card of 64 GiB)."""


class ToolProcess(NamedTuple):
    """A process as the tool lists it: number, bytes of the card, program."""

    pid: int
    memory: int | None = None
    command: str | None = None


@dataclass(frozen=True, kw_only=True)
class Card:
    """A card as the tool describes it; None is what it does not say. Memory in bytes, power in watts, heat in °C.

    Attributes:
        number: the driver's own, by which the maker's variable and nodes count.
        address: on the PCI bus, as the tool writes it.
        ill: the tool's word for a card that is not well; empty where it is, or where the tool does not say.
    """

    number: int
    address: str = ""
    name: str = ""
    memory_total: int | None = None
    memory_used: int | None = None
    utilization: int | None = None
    temperature: int | None = None
    power: float | None = None
    power_limit: float | None = None
    processes: tuple[ToolProcess, ...] = ()
    ill: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool said.

    Attributes:
        driver: its version; empty where the tool does not tell.
        runtime: the version of the maker's runtime beside it.
    """

    cards: tuple[Card, ...]
    driver: str = ""
    runtime: str = ""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that tells of a maker's cards.

    Attributes:
        program: its name on PATH.
        questions: arguments of each call. The first has to be answered, the others may fail (an old version).
        read: the answers, in that order and empty for one that failed, to what they say. Raises `ValueError` where
            the first is none that it knows.
        by_address: whether a card's identity is its PCI address, whose order the driver's numbers follow; else it is
            the driver's number.
    """

    program: str
    questions: tuple[tuple[str, ...], ...]
    read: Callable[[tuple[str, ...]], Answer]
    by_address: bool = False


def number(text: object) -> float | None:
    """The first number in what a tool wrote; None for `N/A`, `-` and the like."""
    found = _NUMBER.search(str(text))
    return float(found[0]) if found else None


def whole(text: object) -> int | None:
    """The same, rounded."""
    found = number(text)
    return None if found is None else round(found)


def bytes_of(text: object, unit: str = "") -> int | None:
    """Bytes of `23374 MiB`, or of a number in `unit`."""
    found = number(text)
    written = unit or "".join(re.findall(r"[KMG]?i?B\b", str(text))[:1])
    scale = _UNITS.get(written.upper())
    return None if found is None or scale is None else round(found * scale)


def cells(line: str) -> list[str]:
    """The cells of a line of a drawn table; none for a rule."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.strip().startswith("|") else []


def processes_by_card(rows: Iterable[tuple[int, ToolProcess]]) -> dict[int, tuple[ToolProcess, ...]]:
    """Processes of each card's number, each process once, the largest first."""
    found: dict[int, dict[int, ToolProcess]] = {}
    for card, process in rows:
        found.setdefault(card, {})[process.pid] = process
    return {card: tuple(sorted(rows.values(), key=lambda row: -(row.memory or 0))) for card, rows in found.items()}
