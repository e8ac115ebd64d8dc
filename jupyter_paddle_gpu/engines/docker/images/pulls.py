"""Fetching an image: credentials from Docker's own configuration, progress in bytes and layers, a cancel that works."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ....domain.containers.references import parse_reference
from ....domain.messages import Message, Param
from ...base import Say
from ..connection.credentials import credentials_for
from ..connection.daemon import Daemon
from ..connection.faults import classify, refusal
from ..connection.transfers import stream

_DONE = frozenset({"Already exists", "Pull complete", "Download complete"})
_LAYER = frozenset(
    {"Pulling fs layer", "Waiting", "Downloading", "Verifying Checksum", "Extracting", "Retrying", *_DONE}
)


class PullProgress:
    """Adds up what a pull says of its layers."""

    def __init__(self) -> None:
        self._begun: float | None = None  # when the first bytes came, on the monotonic clock
        self._now: dict[str, int] = {}
        self._total: dict[str, int] = {}
        self._done: set[str] = set()

    def feed(self, event: dict[str, Any]) -> None:
        """Take in one event of the daemon."""
        layer, status = event.get("id", ""), event.get("status", "")
        if not layer or not status.startswith(tuple(_LAYER)):
            return
        self._now.setdefault(layer, 0)
        detail = event.get("progressDetail") or {}
        if status == "Downloading" and "total" in detail:
            self._now[layer], self._total[layer] = int(detail["current"]), int(detail["total"])
            self._begun = time.monotonic() if self._begun is None else self._begun
        elif status in _DONE:
            self._now[layer] = self._total.get(layer, self._now[layer])
            self._done.add(layer)

    @property
    def layers(self) -> tuple[int, int]:
        """Layers that are here, and all of which the daemon has spoken."""
        return len(self._done), len(self._now)

    @property
    def bytes(self) -> tuple[int, int]:
        """Bytes that are here, and all that are known of (layers still waiting have not told theirs)."""
        return sum(self._now.values()), sum(self._total.values())

    def seconds_left(self) -> float | None:
        """From the pace so far; None before there is one, and while layers wait whose size is not known."""
        now, total = self.bytes
        waiting = len(self._now) - len(self._done | self._total.keys())
        if self._begun is None or not now or waiting or now >= total:
            return None
        return (time.monotonic() - self._begun) * (total - now) / now

    def message(self, image: str) -> Message:
        """How far it is, for the row of the job."""
        (done, layers), (now, total), left = self.layers, self.bytes, self.seconds_left()
        params: dict[str, Param] = {
            "image": image, "done": done, "layers": layers, "now": f"{now / 1e6:.1f}", "total": f"{total / 1e6:.1f}",
        }  # fmt: skip
        if left is None:
            return Message(
                code="pulling",
                text="Pulling {image}: {done} of {layers} layers, {now} of {total} MB",
                params=params,
            )
        return Message(
            code="pulling",
            text="Pulling {image}: {done} of {layers} layers, {now} of {total} MB, about {left} s left",
            params={**params, "left": max(1, round(left))},
        )

    def __str__(self) -> str:
        (done, layers), (now, total) = self.layers, self.bytes
        return f"{done} of {layers} layers, {now / 1e6:.1f} of {total / 1e6:.1f} MB"


def pull(daemon: Daemon, reference: str, say: Say, cancelled: Callable[[], bool]) -> None:
    """Pull an image. Raises `PaddleGpuError` with the class of the refusal, or `cancelled`."""
    wanted = parse_reference(reference)
    progress, said_at, pulled, told = PullProgress(), 0.0, "", set[str]()
    say(f"Pulling {reference} …")
    for event in stream(
        daemon,
        "/images/create",
        params={"fromImage": f"{wanted.host}/{wanted.path}", "tag": wanted.digest or wanted.tag},
        headers=credentials_for(reference),
        cancelled=cancelled,
        image=reference,
    ):
        if "error" in event:
            raise refusal(classify(str(event["error"]), image=reference))
        progress.feed(event)
        if (broken := _broken(event)) and broken not in told:
            told.add(broken)
            say(f"Pulling {reference}: the connection broke off, Docker goes on with layer {broken} in a moment")
        if str(event.get("status", "")).startswith("Digest: "):
            pulled = str(event["status"]).removeprefix("Digest: ")
        if progress.layers[1] and time.monotonic() - said_at >= daemon.settings.progress_seconds:
            said_at = time.monotonic()
            say(progress.message(reference))
    say(f"Pulled {reference}: {progress}{f', {pulled}' if pulled else ''}")


def _broken(event: dict[str, Any]) -> str:
    """The layer whose download Docker begins again; it counts down, so each second brings such an event."""
    return str(event.get("id", "")) if str(event.get("status", "")).startswith("Retrying") else ""
