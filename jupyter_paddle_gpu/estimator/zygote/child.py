"""One request in a process of its own: guard it, do it, send one frame, end."""

from __future__ import annotations

import faulthandler
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

from .guard import Guard
from .protocol import FrameError, encode
from .resident import Growth

if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[[dict[str, Any]], dict[str, Any]]

TRACEBACK_CHARACTERS = 4000
"""How much of the traceback of a failure of ours travels back."""


def answer(handler: Handler, message: dict[str, Any], private: str) -> bytes:
    """The frame for one request: `{"value"}` or `{"error": {type, text, traceback}}`, with what was refused, the most
    memory of its own that it took (`grown`: bytes, None where that cannot be told), and what the process has used."""
    guard, growth = Guard(private), Growth()
    reply: dict[str, Any] = {}
    try:
        os.chdir(message["folder"])
        guard.enter(message["limits"])
        sys.path[:] = [message["folder"], *(path for path in sys.path if path != message["folder"])]
        reply["value"] = handler(message["request"])
    except BaseException as error:  # SystemExit and KeyboardInterrupt of user code end here too
        reply["error"] = {"type": type(error).__name__, "text": str(error)[:1000], "traceback": _shorten(error)}
    reply["refused"] = guard.refusals
    reply["held"] = guard.held
    reply["grown"] = growth.peak()
    reply |= usage()
    return _encode(reply)


def run(handler: Handler, message: dict[str, Any], private: str, descriptor: int) -> None:
    """Answer on `descriptor` and end the process, without a clean-up that user code could have hooked."""
    faulthandler.enable(all_threads=False)
    frame = memoryview(answer(handler, message, private))
    while frame:
        frame = frame[os.write(descriptor, frame) :]
    os._exit(0)


def usage(used: Any = None) -> dict[str, Any]:
    """Memory (bytes, with what is shared with the zygote) and processor time of this process, or of one that ended."""
    try:
        import resource
    except ImportError:  # not on this platform
        return {}
    used = used or resource.getrusage(resource.RUSAGE_SELF)
    # Kilobytes on Linux, bytes on macOS.
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"resident": peak, "cpu_seconds": used.ru_utime + used.ru_stime}


def _encode(reply: dict[str, Any]) -> bytes:
    try:
        return encode(reply)
    except (FrameError, ValueError, TypeError, MemoryError, RecursionError) as error:
        reply.pop("value", None)
        reply["error"] = {"type": type(error).__name__, "text": str(error)[:1000], "traceback": ""}
        return encode(reply)


def _shorten(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))[-TRACEBACK_CHARACTERS:]
    except (RecursionError, MemoryError):
        return ""
