"""What all handlers share: the services, and the threads in which their blocking calls run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from ..domain.errors import PaddleGpuError
from ..services import Services
from .broadcast import Broadcast

P = ParamSpec("P")
T = TypeVar("T")

SETTING = "paddle_gpu_context"
"""Key of the context in the web application's settings."""


class ServerContext:
    """The services behind the event loop's door.

    Attributes:
        services: blocking; never called on the event loop.
        max_body_bytes: larger requests are refused.
        log_poll_seconds: how often a followed log is looked at.
        broadcast: what all clients are sent alike.
    """

    def __init__(
        self,
        services: Services,
        *,
        threads: int = 8,
        estimates_at_once: int = 2,
        max_body_bytes: int = 40_000_000,
        log_poll_seconds: float = 0.05,
    ) -> None:
        self.services = services
        self.max_body_bytes = max_body_bytes
        self.log_poll_seconds = log_poll_seconds
        self.broadcast = Broadcast()
        self._told = ""
        # Estimates can take seconds: in a pool of their own they cannot keep a cancel or a log waiting.
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="paddle-gpu")
        self._estimates = ThreadPoolExecutor(estimates_at_once, thread_name_prefix="paddle-gpu-estimate")

    def tell(self, log: logging.Logger, what: str, error: PaddleGpuError) -> None:
        """Log an error of this side as one line. What every request fails for alike (a policy file that is wrong) is
        logged again when it has changed."""
        said, level = str(error), logging.ERROR
        if error.code.startswith("policy_"):
            level = logging.DEBUG if said == self._told else logging.ERROR
            self._told = said
        log.log(level, "%s: %s", what, said)

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a short blocking call in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(function, *args, **kwargs))

    async def call_long(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call that may take seconds, few at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._estimates, partial(function, *args, **kwargs))

    def close(self) -> None:
        """Stop what the services keep running; calls under way are not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._estimates.shutdown(wait=False, cancel_futures=True)
        self.services.close()
