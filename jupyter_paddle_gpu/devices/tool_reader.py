"""Cards through their maker's command-line tool."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import msgspec

from ..domain.devices import Device, Driver
from ..domain.messages import Message
from .listed import ListedReader
from .maker import Maker
from .processes import Owners
from .reader import Reading
from .tool import Answer, Card, Tool

LEAST_SECONDS = 5.0
"""A tool is a program that is started: so long its last answer does for everybody."""
OLDEST_SECONDS = 15.0
"""An answer that is older is nobody's: then the reader waits for a new one, else one comes in the background."""
LONGEST_SECONDS = 20.0
"""After which a tool does not answer: the slowest need some seconds on a machine with sixteen cards."""


class ToolReader:
    """Asks the first of the maker's tools that is installed; lists the cards from the bus where there is none.

    A card keeps its identity when the tool fails later, so that a claim on it stays one.

    Args:
        maker: the row with its `asks`.
        root: where /proc and /sys are found.
    """

    def __init__(self, maker: Maker, root: Path = Path("/"), *, least_seconds: float = LEAST_SECONDS) -> None:
        self._maker = maker
        self._listed = ListedReader(maker, root)
        self._owners = Owners(root)
        self._least_seconds = least_seconds
        self._known: tuple[Device, ...] = ()
        self._last: Reading | None = None
        self._read_at = 0.0
        self._asking: threading.Thread | None = None

    def read(self) -> Reading:
        """The cards as they were a few seconds ago: whoever samples several makers does not wait for a slow tool."""
        age = time.monotonic() - self._read_at
        busy = self._asking is not None and self._asking.is_alive()
        if self._last is not None and age < self._least_seconds:
            return self._last
        if self._last is None or age >= OLDEST_SECONDS or self._tool() is None:  # the bus alone is read at once
            self._await()
            self._ask_now()
        elif not busy:
            self._asking = threading.Thread(target=self._ask_now, name="paddle-gpu maker's tool", daemon=True)
            self._asking.start()
        return self._last or Reading()

    def close(self) -> None:
        """Nothing is held; the next reading asks anew."""
        self._await()
        self._last = None

    def _await(self) -> None:
        asking, self._asking = self._asking, None
        if asking is not None:
            asking.join()

    def _ask_now(self) -> None:
        self._last = self._read()
        self._read_at = time.monotonic()

    def _tool(self) -> Tool | None:
        return next((tool for tool in self._maker.asks if shutil.which(tool.program)), None)

    def _read(self) -> Reading:
        tool = self._tool()
        if tool is None:
            return self._listed.read()
        try:
            answer = tool.read(tuple(_ask(tool, question) for question in tool.questions))
        except _SilentError as error:
            return self._without(self._silent(tool, str(error)))
        except (ValueError, KeyError, IndexError, TypeError):
            return self._without(self._strange(tool))
        self._owners.refresh()
        # Two makers' tools can have one name: each lists its own cards.
        self._known = tuple(
            self._device(tool, card)
            for card in answer.cards
            if not (tool.by_address and self._listed.is_anothers(_short(card.address)))
        )
        return Reading(devices=self._known, drivers=self._drivers(answer))

    def _drivers(self, answer: Answer) -> dict[str, Driver]:
        if not answer.driver:
            return {}
        return {self._maker.name: Driver(version=answer.driver, runtime=answer.runtime or None)}

    def _device(self, tool: Tool, card: Card) -> Device:
        address = _short(card.address)
        used, total = card.memory_used, card.memory_total
        return Device(
            id=f"{self._maker.name}-{address if tool.by_address and address else card.number}",
            index=card.number,
            vendor=self._maker.name,
            name=card.name or self._maker.title,
            memory_total=total,
            memory_used=used,
            memory_free=None if used is None or total is None else max(0, total - used),
            utilization=card.utilization,
            temperature=card.temperature,
            power=card.power,
            power_limit=card.power_limit,
            numa_node=self._listed.numa_node(address) if address else None,
            processes=tuple(
                msgspec.structs.replace(told, command=told.command or process.command)
                for process in card.processes
                for told in (self._owners.describe(process.pid, process.memory),)
            ),
            problem=self._ill(tool, card) if card.ill else None,
            checked=self._maker.checked,
        )

    def _without(self, problem: Message) -> Reading:
        """The cards as they were known, or as the bus has them, without figures."""
        cards = self._known or self._listed.read().devices
        return Reading(
            devices=tuple(
                Device(
                    id=card.id,
                    index=card.index,
                    vendor=card.vendor,
                    name=card.name,
                    problem=problem,
                    checked=self._maker.checked,
                )
                for card in cards
            ),
            problems=() if cards else (problem,),
        )

    def _silent(self, tool: Tool, error: str) -> Message:
        return Message(
            code="vendor_tool_failed",
            text="The tool {tool} of {vendor} does not answer: {error}",
            hint="Run `{command}` in a terminal for its own words.",
            params={
                "tool": tool.program,
                "vendor": self._maker.title,
                "error": error,
                "command": " ".join((tool.program, *tool.questions[0])),
            },
        )

    def _strange(self, tool: Tool) -> Message:
        return Message(
            code="vendor_tool_unknown",
            text="The tool {tool} of {vendor} answers in a form that this version does not know.",
            hint="Please report what `{command}` prints.",
            params={
                "tool": tool.program,
                "vendor": self._maker.title,
                "command": " ".join((tool.program, *tool.questions[0])),
            },
        )

    def _ill(self, tool: Tool, card: Card) -> Message:
        return Message(
            code="card_unwell",
            text="The tool {tool} of {vendor} says of card {index}: {state}.",
            hint="Run `{tool}` in a terminal for its own words; take another card meanwhile.",
            params={"tool": tool.program, "vendor": self._maker.title, "index": card.number, "state": card.ill},
        )


class _SilentError(Exception):
    """The tool gave no answer."""


def _ask(tool: Tool, question: tuple[str, ...]) -> str:
    """What the tool prints; empty where a question that may fail did."""
    needed = question == tool.questions[0]
    try:
        done = subprocess.run(
            [tool.program, *question],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=LONGEST_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
    except subprocess.TimeoutExpired:
        raise _SilentError(f"{LONGEST_SECONDS:.0f} s") from None
    except OSError as error:
        raise _SilentError(error.strerror or str(error)) from None
    if done.returncode == 0:
        return done.stdout.decode(errors="replace")
    if needed:
        words = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        raise _SilentError(words[-1][:200] if words else f"status {done.returncode}")
    return ""


def _short(address: str) -> str:
    """An address as the kernel writes it: drivers write its domain with eight digits or none, and in capitals."""
    parts = address.lower().split(":")
    if len(parts) == 2:
        parts.insert(0, "0000")
    return ":".join((parts[0][-4:], *parts[1:])) if len(parts) == 3 else ""
