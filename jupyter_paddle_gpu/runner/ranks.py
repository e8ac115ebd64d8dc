"""The processes of a training that several of them run together: each has the notebook, a rank and its device.

The first one's supervisor starts the others' as its children and ends with the last of them. The variables are those of
`paddle.distributed.launch` (Paddle 3.3, `launch/controllers/collective.py`).
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from . import processes

GRACE_SECONDS = 1.0
"""Where another process has failed, this one may so long come to the same error by itself before it is stopped."""

_MARK = "PADDLE_GLOBAL_SIZE"
ALONE = {
    "PADDLE_TRAINERS_NUM": "1",
    "PADDLE_TRAINERS": "1",
    "PADDLE_LOCAL_SIZE": "1",
    "PADDLE_LOCAL_DEVICE_IDS": "0",
    "PADDLE_TRAINER_ID": "0",
    "PADDLE_LOCAL_RANK": "0",
    "PADDLE_RANK_IN_NODE": "0",
    "PADDLE_TRAINER_ENDPOINTS": "127.0.0.1:6170",
}
"""What a program may be told that reads these variables and runs as one process: they say nothing else than what Paddle
takes where they are not set."""


def of_launch(environment: Mapping[str, str]) -> Dict[str, str]:
    """What `environments` has set of an environment: it holds for this process, whatever was answered for a single
    one."""
    names = _of_process(0, [""]) if _MARK in environment else ()
    return {name: environment[name] for name in names if name in environment}


def environments(devices: Sequence[Dict[str, str]]) -> List[Dict[str, str]]:
    """The variables of each process.

    Args:
        devices: of each process, the variables by which it sees its own device.
    """
    ports = _free_ports(len(devices))
    endpoints = ["127.0.0.1:%d" % port for port in ports]
    return [dict(_of_process(rank, endpoints), **device) for rank, device in enumerate(devices)]


def _of_process(rank: int, endpoints: Sequence[str]) -> Dict[str, str]:
    """What one of the processes is told, by the endpoints that name them to each other."""
    number, size = str(rank), str(len(endpoints))
    return {
        "PADDLE_MASTER": endpoints[0],  # where the first process listens
        "PADDLE_GLOBAL_SIZE": size,
        "PADDLE_LOCAL_SIZE": size,
        "PADDLE_GLOBAL_RANK": number,
        "PADDLE_LOCAL_RANK": number,
        "PADDLE_NNODES": "1",
        "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
        "PADDLE_TRAINER_ID": number,
        "PADDLE_TRAINERS_NUM": size,
        "PADDLE_RANK_IN_NODE": number,
        "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
    }


def _free_ports(count: int) -> List[int]:
    """Ports that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Others:
    """The supervisors of all processes but the first, children of this one.

    Args:
        entry: the runner, and what it runs.
        variables: of each of them.
    """

    def __init__(self, entry: Sequence[str] = (), variables: Sequence[Dict[str, str]] = ()) -> None:
        self._entry, self._variables = list(entry), list(variables)
        self._running: Dict[int, int] = {}  # pid -> rank
        self._failed_at = 0.0
        self.failed: Optional[int] = None
        self.stopped = False

    @property
    def running(self) -> bool:
        """Whether one of them still runs."""
        return bool(self._running)

    def start(self) -> None:
        """Start them. What they themselves have to say goes where this one's does. Raises `OSError`."""
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        for rank, variables in enumerate(self._variables, 1):
            command = [sys.executable, *flags, self._entry[0], "--beside", str(os.getpid()), *self._entry[1:]]
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=dict(os.environ, **variables))
            child.returncode = 0  # it is waited for with everything else that is this process's
            self._running[child.pid] = rank

    def ended(self, ended: "Dict[int, Tuple[int, int]]") -> None:
        """Take note of children that have ended: pid -> (wait status, largest resident size in bytes)."""
        for pid, (status, _) in ended.items():
            rank = self._running.pop(pid, None)
            if rank is not None and status and self.failed is None and not self.stopped:
                self.failed, self._failed_at = rank, time.monotonic()

    @property
    def end_all(self) -> bool:
        """Whether one has failed so long ago that nobody needs to be waited for."""
        return self.failed is not None and time.monotonic() - self._failed_at > GRACE_SECONDS

    def stop(self) -> None:
        """Ask them to save and end."""
        self.stopped = self.stopped or bool(self._running)
        for pid in self._running:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to them and everything below them."""
        self.stopped = self.stopped or bool(self._running)
        for pid in self._running:
            processes.kill(pid)
