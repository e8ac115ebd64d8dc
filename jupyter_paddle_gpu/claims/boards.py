"""What each store tells the others of its queue: a file that it alone can write, and an empty file for each place.

When a place was taken says the system, by the time at which the empty file was made: its owner can make it younger and
never older. Everything else is its owner's own word, bounded by types; nothing in it is of anybody else.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import stat
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from . import folder as shared
from .processes import Process, is_alive, this_process
from .records import Name
from .slots import Slots

MOST_WAITING = 64
"""So many waiting jobs of a store are told; those behind them follow when there is room."""
MOST_RUNNING = 64
STORES_OF_A_USER = 8
MOST_SECONDS = 1e9
_SLOT_BYTES = 32 << 10
_logger = logging.getLogger(__name__)

_JobName = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")]
_Bytes = Annotated[int, msgspec.Meta(ge=0, le=1 << 50)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=MOST_SECONDS)]
_Time = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Devices = Annotated[tuple[Name, ...], msgspec.Meta(max_length=16)]


class Waiting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A waiting job: what others must know of it to keep its place, and no more.

    Attributes:
        count: how many devices it wants; `devices`: those that were named, if any.
        low, high: bytes that it needs of each, at least and at most; None: not known.
        share: of each one's memory, as `Resources.share`; None: it wants them as a whole.
        seconds: how long it is expected to run.
        priority: as `fairness.Place` has it.
    """

    job: _JobName
    count: Annotated[int, msgspec.Meta(ge=1, le=1024)]
    devices: Devices = ()
    low: _Bytes | None = None
    high: _Bytes | None = None
    share: Annotated[float, msgspec.Meta(gt=0, le=1 << 50)] | None = None
    seconds: _Seconds | None = None
    priority: Annotated[int, msgspec.Meta(ge=-1000, le=1000)] = 0


class Running(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job that has devices, and when it is thought to end (seconds since the epoch; None: nobody knows)."""

    job: _JobName
    devices: Devices
    ends: _Time | None = None


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """What a store tells.

    Attributes:
        waiting: in its user's own order.
        usage: device-seconds of this store's jobs until `at`, halved a day.
        at: seconds since the epoch, as the wall clock said; `clock`: by the monotonic one of the process's boot.
        process: who looks after the queue. Nobody waits for jobs that nobody would start.
    """

    waiting: Annotated[tuple[Waiting, ...], msgspec.Meta(max_length=MOST_WAITING)] = ()
    running: Annotated[tuple[Running, ...], msgspec.Meta(max_length=MOST_RUNNING)] = ()
    usage: Annotated[float, msgspec.Meta(ge=0, le=1e12)] = 0.0
    at: _Time = 0.0
    clock: _Time | None = None
    process: Process | None = None


class Posted(NamedTuple):
    """A board, whose it is, and what the system says of it.

    Attributes:
        user: its owner's name.
        mine: whether it is this store's.
        attended: whether the process lives that would start its jobs.
        since: when each waiting job's place was taken; None: nothing was made for it.
    """

    name: str
    user: str
    mine: bool
    attended: bool
    board: Board
    since: tuple[float | None, ...]


_SLOTS: Slots[Board] = Slots(b"paddle-gpu queue 1", Board, size=_SLOT_BYTES, empty=Board())


class Boards:
    """The boards in a shared folder, and this store's own one.

    Args:
        folder: the shared one. While it is not there, or not to be trusted, nothing is told and nobody else known.
        store: the store's own folder.
    """

    def __init__(self, folder: Path, store: Path) -> None:
        self._folder, self._store = folder, store
        self._told: Board | None = None
        self._tickets: set[str] | None = None

    @property
    def is_shared(self) -> bool:
        """Whether there is a folder to agree in."""
        return shared.fault(self._folder) is None

    def own(self) -> Board:
        """What this store told last, whoever did that for it."""
        if not self.is_shared:
            return Board()
        inode = shared.own_inode(self._folder, self._store)
        for file in shared.files(self._folder):
            if file.inode == inode:
                return _SLOTS.read(file.descriptor)[1]
        return Board()

    def tell(self, board: Board, places: Collection[str]) -> None:
        """Say how this store's queue is.

        Args:
            places: jobs that have a place, or keep theirs while they are started.
        """
        board = msgspec.structs.replace(board, process=this_process())
        if not self.is_shared or (board == self._told and self._tickets == set(places)):
            return
        try:
            descriptor = shared.open_own(self._folder, self._store, _SLOTS.file_bytes)
            try:
                name = self._own_name(descriptor)
                self._make_tickets(name, set(places))
                while True:
                    try:
                        _SLOTS.write(descriptor, board)
                        break
                    except OSError as error:
                        if error.errno is not None or not board.waiting:
                            raise
                        board = msgspec.structs.replace(board, waiting=board.waiting[:-1])
            finally:
                os.close(descriptor)
            self._told = board
        except OSError as error:
            _logger.warning("%s cannot be written, others do not see this queue: %s", self._folder, error)

    def _own_name(self, descriptor: int) -> str:
        status = os.fstat(descriptor)
        for path in shared.own_paths(self._folder, self._store):
            with contextlib.suppress(OSError):
                if path.lstat().st_ino == status.st_ino:
                    return path.name
        raise FileNotFoundError(errno.ENOENT, "the file went")

    def _make_tickets(self, name: str, places: set[str]) -> None:
        if self._tickets is None:  # what a process before this one left
            found = (path.name.removeprefix(f"{name}.") for path in self._folder.glob(f"{name}.*"))
            self._tickets = set(found)
        for job in self._tickets - places:
            with contextlib.suppress(OSError):
                (self._folder / f"{name}.{job}").unlink()
        for job in places - self._tickets:
            with contextlib.suppress(OSError):  # no room for another file: it waits all the same, and does not age
                os.close(os.open(self._folder / f"{name}.{job}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        self._tickets = places

    def read(self) -> list[Posted]:
        """All boards, by their names; of each user so many."""
        if not self.is_shared:
            return []
        own, counted, found = shared.own_inode(self._folder, self._store), Counter[int](), []
        for file in shared.files(self._folder):
            counted[file.user] += 1
            if counted[file.user] > STORES_OF_A_USER and file.inode != own:
                continue
            board = _SLOTS.read(file.descriptor)[1]
            attended = board.process is not None and is_alive(board.process, file.user)
            since = tuple(self._since(file, one.job) for one in board.waiting)
            mine = file.inode == own
            found.append(Posted(file.name, shared.name_of(file.user), mine, attended, board, since))
        return sorted(found)

    def _since(self, file: shared.SharedFile, job: str) -> float | None:
        try:
            status = (self._folder / f"{file.name}.{job}").lstat()
        except OSError:
            return None
        return status.st_ctime if stat.S_ISREG(status.st_mode) and status.st_uid == file.user else None
