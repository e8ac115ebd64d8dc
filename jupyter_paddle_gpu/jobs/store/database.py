"""A SQLite file that several processes share, and that can be written on when its disk is full.

A job may fill the very disk on which its row lies. So that the row can still say so, that it can be cancelled and old
ones deleted, two things are kept that nobody else can take. Within SQLite's own files there is room: free pages, and a
journal that was long once and is written over from its beginning. Beside them lies a reserve for what needs more (a new
journal, where nobody has the file open): a change that finds no space frees some of it and is made again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from ...domain.errors import PaddleGpuError
from ...domain.jobs import reasons

RESERVE_BYTES = 2 << 20
"""A new journal with its index and a change takes some 64 KiB."""
PORTION_BYTES = 256 << 10
"""So much is freed at a time: what somebody else is quicker to take is not all of it."""
SPARE_BYTES = 512 << 10
"""Room within SQLite's files; a change of a row takes some 20 KiB of the journal, which begins anew when it is full."""
REFILL_SECONDS = 5.0
"""Between two looks at whether reserve and room are whole."""
LOCKED_SECONDS = 0.01
"""Between two tries to open a file that somebody else is opening."""
_LOCKED_TEXT = "database is locked"
_FULL_TEXTS = ("database or disk is full", "disk I/O error", "unable to open database file")
"""Python 3.10 has no error codes of SQLite. The last two have other causes as well: then the disk is asked."""

T = TypeVar("T")
Connection = sqlite3.Connection


class Database:
    """Connections to one file. Thread-safe; safe with other processes on the same machine.

    Args:
        path: the file, made where there is none.
        busy_seconds: how long a writer waits for another one's transaction.
    """

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self._path, self._busy_seconds = path, busy_seconds
        self._reserve = path.with_suffix(".reserve")
        self._free: list[Connection] = []
        self._lock = threading.Lock()
        self._looked = -1e9

    def close(self) -> None:
        """Let go of the file; what is in use now may go on."""
        with self._lock:
            free, self._free = self._free, []
        for connection in free:
            connection.close()

    def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` reads, all of it at one moment. Raises `PaddleGpuError` (`disk_full`)."""

        def once(connection: Connection) -> T:
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                connection.execute("ROLLBACK")

        return self._with_space(once)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Make a change, whole or not at all. `work` may be called again, after nothing of it was kept.

        Raises `PaddleGpuError` (`disk_full`), and what `work` raises.
        """

        def once(connection: Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                made = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                # A disk that is full may have ended the transaction already.
                with contextlib.suppress(sqlite3.OperationalError):
                    connection.execute("ROLLBACK")
                raise
            return made

        made = self._with_space(once)
        self._refill()
        return made

    def _with_space(self, once: Callable[[Connection], T]) -> T:
        with self._connection() as connection:
            return self._insist(connection, once)

    def _insist(self, connection: Connection, once: Callable[[Connection], T]) -> T:
        """The same connection is used again and again: what it could add to the journal so far stays there."""
        begun_anew = False
        while True:
            try:
                return once(connection)
            except sqlite3.OperationalError as error:  # noqa: PERF203
                if not self._is_full(error):
                    raise
                if not begun_anew:
                    begun_anew = True
                    with contextlib.suppress(sqlite3.OperationalError):
                        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # then the journal is written over
                elif not self._release():
                    raise PaddleGpuError.of(reasons.disk_full(str(self._path.parent)), status=507) from error

    @contextlib.contextmanager
    def _connection(self) -> Iterator[Connection]:
        with self._lock:
            connection = self._free.pop() if self._free else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            with self._lock:
                self._free.append(connection)

    def _connect(self) -> Connection:
        connection = sqlite3.connect(
            self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: Connection) -> None:
        """Where two open a new file at once, SQLite refuses one of them the change to its journal and does not wait."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                return self._insist(connection, _journal)
            except sqlite3.OperationalError as error:
                if str(error) != _LOCKED_TEXT or time.monotonic() > deadline:
                    raise
            time.sleep(LOCKED_SECONDS)

    # ---- the reserve

    def _is_full(self, error: sqlite3.OperationalError) -> bool:
        said = str(error)
        return said == _FULL_TEXTS[0] or (said in _FULL_TEXTS and self._space() < PORTION_BYTES)

    def _space(self) -> int:
        """Bytes that may be taken on the disk; none where that cannot be told."""
        with contextlib.suppress(AttributeError, OSError):  # AttributeError: Windows
            status = os.statvfs(self._path.parent)
            return status.f_bavail * status.f_frsize
        return 0

    def _release(self) -> bool:
        """Free a portion; False where nothing is left."""
        try:
            left = self._reserve.stat().st_size
            os.truncate(self._reserve, max(0, left - PORTION_BYTES))
        except OSError:
            return False
        self._looked = time.monotonic()
        return left > 0

    def _refill(self) -> None:
        """Make reserve and room whole, where there is space for more than that."""
        if time.monotonic() - self._looked < REFILL_SECONDS:
            return
        first, self._looked = self._looked < 0, time.monotonic()
        missing = RESERVE_BYTES - _size(self._reserve)
        if self._space() < RESERVE_BYTES + 4 * SPARE_BYTES:
            return
        with contextlib.suppress(OSError, sqlite3.OperationalError):
            if missing > 0:
                with self._reserve.open("ab") as file:
                    file.write(os.urandom(missing))  # what a file system cannot compress away
            if not first:  # a command that is over soon takes its journal along
                with self._connection() as connection:
                    self._widen(connection)

    def _widen(self, connection: Connection) -> None:
        """Have free pages in the file, and a journal that is long."""
        (free,), (size,) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_size"))
        if free * size >= SPARE_BYTES and _size(Path(f"{self._path}-wal")) >= SPARE_BYTES:
            return
        connection.execute("CREATE TABLE IF NOT EXISTS spare (data BLOB)")
        connection.execute("INSERT INTO spare VALUES (zeroblob(?))", (2 * SPARE_BYTES,))
        connection.execute("DELETE FROM spare")
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def _journal(connection: Connection) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
