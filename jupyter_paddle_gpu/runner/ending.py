"""How a job ended, as one of the classes that `domain.jobs.reasons` has sentences for."""

import re
import signal
from pathlib import Path
from typing import Any, Dict, Iterable, Optional

from . import space

_DEVICE_MEMORY = "Out of memory error on "
"""Paddle's own word, whatever the device; what the makers' runtimes say comes with the job."""
_HOST_MEMORY = re.compile(r"Fail to alloc memory of|Cannot allocate memory|bad_alloc|Unable to allocate", re.IGNORECASE)


def of_error(failure: Dict[str, Any], places: Iterable[Path] = (), device_memory: Iterable[str] = ()) -> str:
    """The class of an error that a cell raised (`name`, `value`, `traceback`).

    Args:
        places: folders that the job writes to.
        device_memory: patterns of the makers' runtimes for device memory that is used up.
    """
    name, value = failure["name"], failure["value"]
    if name == "KeyboardInterrupt":
        return "interrupted"
    if any(re.search(pattern, value, re.IGNORECASE) for pattern in (_DEVICE_MEMORY, *device_memory)):
        return "out_of_memory_device"
    if name in ("MemoryError", "_ArrayMemoryError") or _HOST_MEMORY.search(value):
        return "out_of_memory_host"
    return space.reason_of(value, places) or "cell_error"


def of_signal(number: int, *, oom_killed: bool, shared_memory_full: bool = False) -> str:
    """The class of a signal that ended the notebook's process without our doing."""
    if number == signal.SIGKILL and oom_killed:
        return "out_of_memory_host"
    if number == signal.SIGBUS and shared_memory_full:
        return "shared_memory_full"  # a page of it was written that there is no memory for
    return "killed"


def exit_status(reason: str, signal_number: Optional[int]) -> int:
    """The runner's own exit status: 0, 1, or as a shell would give a signal."""
    if reason == "succeeded":
        return 0
    if reason == "cancelled":
        return 128 + signal.SIGTERM
    if signal_number:
        return 128 + signal_number
    return 1


def signal_name(number: int) -> str:
    """`SIGKILL`, or the number where the platform has no name for it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
