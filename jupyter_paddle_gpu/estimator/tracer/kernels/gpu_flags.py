"""Flags of Paddle's, and those that are of a GPU alone: what a program sets, or its environment, of kernels and of the
allocator.

Of kernels' a Paddle for CPUs neither knows the flags nor keeps what a program sets.
"""

from __future__ import annotations

import os
from typing import Any

from paddle.base import core

from ..memory.allocator_flags import MAKING, NAMES, POOLS
from ..memory.ledger import Ledger

LIMIT = "FLAGS_conv_workspace_size_limit"
SEARCH = "FLAGS_cudnn_exhaustive_search"
FUSES = "FLAGS_use_cinn"
BEGIN: dict[str, Any] = {
    "FLAGS_cudnn_deterministic": False, SEARCH: False, "FLAGS_flash_attn_version": 2,
    LIMIT: 512, FUSES: False,
}  # fmt: skip
"""What they are where nobody sets them (`common/flags.cc`); the limit in MiB, `kDefaultConvWorkspaceSizeLimitMB`."""
_flags: Any = core.globals
_set: dict[str, Any] = {}


def is_on(name: str) -> bool:
    """Whether a flag is on that a Paddle for CPUs has too. What `paddle.get_flags` asks first, whether it may be told,
    takes fifty times as long as the flag, and views are made by the thousand."""
    return bool(_flags()[name])


class GpuFlags:
    """What a program has set: each trace begins and ends without it."""

    def __init__(self) -> None:
        self._before: dict[str, Any] = {}
        self.close()

    def put(self, flags: dict[str, Any], *, begun: bool) -> None:
        """`set_flags`; `begun`: a tensor was made before."""
        kept = BEGIN.keys() | POOLS if begun else BEGIN.keys() | POOLS | MAKING
        present = _flags()
        self._before.update({name: present[name] for name in flags if name not in self._before and name in present})
        _set.update({name: value for name, value in flags.items() if name in kept})

    def close(self) -> None:
        """Forget what was set."""
        _set.clear()
        for name, value in self._before.items():
            _flags()[name] = value


def value_of(name: str) -> Any:
    """What a flag is, by the program or by its environment, from which Paddle takes it."""
    return _set.get(name, os.environ.get(name, BEGIN[name]))


def of_allocator(ledger: Ledger) -> dict[str, Any]:
    """What was set of the allocator's flags, by the program or by the environment in which it began."""
    return {name: value for name, value in {**ledger.environment, **_set}.items() if name in NAMES}


def of_convolutions(ledger: Ledger) -> tuple[bool, float]:
    """Whether cuDNN searches, and the limit; the environment is looked at once a run, as Paddle reads it once."""
    asked = _set.get(SEARCH), _set.get(LIMIT)
    if asked not in ledger.convolutions:
        ledger.convolutions[asked] = searches(), workspace_limit()
    return ledger.convolutions[asked]


def workspace_limit() -> float:
    """Bytes of a convolution's workspace at most; below zero there is none (`CalcWorkspaceLimitInBytes`)."""
    try:
        limit = int(value_of(LIMIT))
    except ValueError:
        limit = BEGIN[LIMIT]
    return limit << 20 if limit >= 0 else float("inf")


def searches() -> bool:
    """Whether cuDNN tries all algorithms of a convolution, with a workspace as large as the limit."""
    return _is_set(SEARCH)


def fuses() -> bool:
    """Whether CINN makes kernels of its own for what is compiled."""
    return _is_set(FUSES)


def _is_set(name: str) -> bool:
    return str(value_of(name)).lower() in {"1", "true"}
