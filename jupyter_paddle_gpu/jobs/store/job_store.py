"""The index of jobs: SQLite, shared by every server and command of one user.

Each change is one `BEGIN IMMEDIATE` transaction that reads the row, checks the move and writes it with a new revision,
so that two processes cannot both make it. The revision is also the feed by which all of them learn of changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

import msgspec

from ...domain.decoding import decode
from ...domain.devices import DeviceShare
from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import ENDED, Job, JobState, check_move
from ...domain.jobs.notices import OPEN, Notice
from .database import Connection, Database

SCHEMA = 1
"""Version of the tables. A higher one in the file was written by a newer release, which must not be touched."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS jobs (
        number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, id VARCHAR NOT NULL UNIQUE, token VARCHAR UNIQUE,
        revision INTEGER NOT NULL, state VARCHAR NOT NULL, engine VARCHAR NOT NULL, notebook VARCHAR NOT NULL,
        data BLOB NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS ix_jobs_revision ON jobs (revision)",
    "CREATE INDEX IF NOT EXISTS ix_jobs_state ON jobs (state)",
    "CREATE TABLE IF NOT EXISTS deleted (revision INTEGER NOT NULL PRIMARY KEY, id VARCHAR NOT NULL)",
    """CREATE TABLE IF NOT EXISTS claims (
        device_id VARCHAR NOT NULL PRIMARY KEY, job_id VARCHAR NOT NULL, since FLOAT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS ix_claims_job_id ON claims (job_id)",
    """CREATE TABLE IF NOT EXISTS shares (
        device_id VARCHAR NOT NULL, job_id VARCHAR NOT NULL, bytes INTEGER NOT NULL,
        PRIMARY KEY (device_id, job_id))""",
    "CREATE TABLE IF NOT EXISTS outbox (job_id VARCHAR NOT NULL PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS numbers (name VARCHAR NOT NULL PRIMARY KEY, value INTEGER NOT NULL)",
)
_MOST_TOMBSTONES = 1000


class Changes(msgspec.Struct, frozen=True):
    """What happened since a revision."""

    revision: int
    jobs: tuple[Job, ...]
    deleted: tuple[str, ...]


class JobStore:
    """Jobs and device claims in one SQLite file. Thread-safe; safe with other processes on the same machine.

    Any method raises `PaddleGpuError` (`disk_full`) where the disk is full and even the reserve is used up.
    """

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.database = self._database = Database(path, busy_seconds)
        self._database.write(self._set_up)
        path.chmod(0o600)  # specifications hold environment variables

    def _set_up(self, connection: Connection) -> None:
        for table in _TABLES:
            connection.execute(table)
        version = _number(connection, "schema")
        if version > SCHEMA:
            raise PaddleGpuError(
                "store_newer",
                "The job store {path} was written by a newer version of this extension.",
                hint="Update jupyter_paddle_gpu here, or point it at another data folder.",
                status=503,
                path=str(self.path),
            )
        if version < SCHEMA:
            _set_number(connection, "schema", SCHEMA)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def add(self, job: Job) -> Job:
        """Store a new job; where its token was seen before, that job is returned instead.

        This transaction is the moment of acceptance: it gives the place in the queue and the time `created`, so that
        both are in the same order for requests that come at the same instant, to whichever process.
        """

        def work(connection: Connection) -> Job:
            if job.spec.token and (known := _by_token(connection, job.spec.token)):
                return known
            now = time.time()
            accepted = msgspec.structs.replace(job, created=now, updated=max(now, job.updated))
            row = (accepted.id, accepted.spec.token or None, next_revision(connection), accepted.state)
            connection.execute(
                "INSERT INTO jobs (id, token, revision, state, engine, notebook, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*row, accepted.spec.engine, accepted.spec.notebook, _encode(accepted)),
            )
            return accepted

        return self._database.write(work)

    def by_token(self, token: str) -> Job | None:
        """The job that was submitted with this token."""
        return self._database.read(lambda connection: _by_token(connection, token)) if token else None

    def with_token(self, beginning: str) -> tuple[Job, ...]:
        """The jobs whose token begins so, in the order of submission."""
        query = "SELECT data FROM jobs WHERE token >= ? AND token < ? ORDER BY number"
        bounds = (beginning, beginning[:-1] + chr(ord(beginning[-1]) + 1))
        rows = self._database.read(lambda connection: connection.execute(query, bounds).fetchall())
        return tuple(_decode(data) for (data,) in rows)

    def get(self, job_id: str) -> Job:
        """A job. Raises `PaddleGpuError` (404)."""
        return self._database.read(lambda connection: _read(connection, job_id))

    def select(
        self,
        *,
        states: Iterable[JobState] | None = None,
        engine: str | None = None,
        notebook: str | None = None,
        limit: int | None = None,
        oldest_first: bool = False,
        trials: bool = True,
    ) -> tuple[Job, ...]:
        """Jobs that match, newest first (or in the order of submission); without `trials` no trial of a sweep."""
        conditions: list[str] = []
        values: list[str | int] = []
        if states is not None:
            wanted = tuple(states)
            conditions.append(f"state IN ({', '.join('?' * len(wanted))})")
            values += wanted
        for name, value in (("engine", engine), ("notebook", notebook)):
            if value is not None:
                conditions.append(f"{name} = ?")
                values.append(value)
        if not trials:
            conditions.append("json_extract(data, '$.spec.trial') IS NULL")
        query = "SELECT data FROM jobs" + (" WHERE " + " AND ".join(conditions) if conditions else "")
        query += " ORDER BY number " + ("ASC" if oldest_first else "DESC")
        if limit is not None:
            query += " LIMIT ?"
            values.append(limit)
        rows = self._database.read(lambda connection: connection.execute(query, values).fetchall())
        return tuple(_kept(data) for (data,) in rows)

    def change(
        self,
        job_id: str,
        make: Callable[[Job], Job],
        *,
        claim: Iterable[str] = (),
        shares: Iterable[DeviceShare] = (),
    ) -> Job:
        """Read a job, let `make` give the new one, check the move, write; all in one transaction.

        `claim` gives these devices to the job in the same transaction, or, where there are `shares`, so much of the
        memory of each. An ended job holds none any more. `make` may be called again where the disk is full.

        Raises `PaddleGpuError`: `no_such_job`, `bad_move`, `device_busy` (nothing is changed then).
        """
        devices, parts = tuple(claim), tuple(shares)

        def work(connection: Connection) -> Job:
            old = _read(connection, job_id)
            new = make(old)
            if new == old:
                return old
            check_move(old.state, new.state)
            # Never back, also where the machine's clock was set back: pages tell news from old answers by it.
            new = msgspec.structs.replace(new, updated=max(time.time(), math.nextafter(old.updated, math.inf)))
            if new.state in ENDED:
                new = _with_notices(connection, old, new)
            for device, part in zip(devices, parts or (None,) * len(devices), strict=True):
                _claim(connection, device, job_id, part)
            if new.state in ENDED or new.state == "queued":
                _let_go(connection, job_id)
            connection.execute(
                "UPDATE jobs SET revision = ?, state = ?, data = ? WHERE id = ?",
                (next_revision(connection), new.state, _encode(new), job_id),
            )
            return new

        return self._database.write(work)

    def remove(self, job_id: str) -> Job:
        """Delete an ended job's row. Raises `PaddleGpuError`: `no_such_job`, `not_ended` (409)."""

        def work(connection: Connection) -> Job:
            job = _read(connection, job_id)
            if job.state not in ENDED:
                raise PaddleGpuError(
                    "not_ended",
                    "Job {id} is {state}; only ended jobs can be deleted.",
                    hint="Stop it first.",
                    status=409,
                    id=job_id,
                    state=job.state,
                )
            revision = next_revision(connection)
            connection.execute("DELETE FROM jobs WHERE id = ?", (job_id,))
            _let_go(connection, job_id)
            connection.execute("DELETE FROM outbox WHERE job_id = ?", (job_id,))
            connection.execute("INSERT INTO deleted (revision, id) VALUES (?, ?)", (revision, job_id))
            connection.execute("DELETE FROM deleted WHERE revision < ?", (revision - _MOST_TOMBSTONES,))
            return job

        return self._database.write(work)

    def with_open_notices(self) -> tuple[Job, ...]:
        """Ended jobs of which somebody is still to be told."""
        query = "SELECT data FROM jobs JOIN outbox ON jobs.id = outbox.job_id ORDER BY number"
        rows = self._database.read(lambda connection: connection.execute(query).fetchall())
        return tuple(_decode(data) for (data,) in rows)

    def claims(self) -> dict[str, str]:
        """Device id -> id of the job it is given to as a whole; of shares the jobs' own rows tell."""
        return self._database.read(
            lambda connection: dict(connection.execute("SELECT device_id, job_id FROM claims").fetchall())
        )

    def revision(self) -> int:
        """The revision of the newest change."""
        return self._database.read(lambda connection: _number(connection, "revision"))

    def changes(self, since: int) -> Changes:
        """Jobs changed and deleted after a revision."""

        def work(connection: Connection) -> Changes:
            revision = _number(connection, "revision")
            if revision == since:
                return Changes(revision, (), ())
            changed = connection.execute("SELECT data FROM jobs WHERE revision > ? ORDER BY revision", (since,))
            jobs = tuple(_decode(data) for (data,) in changed)
            gone = connection.execute("SELECT id FROM deleted WHERE revision > ?", (since,))
            return Changes(revision, jobs, tuple(job_id for (job_id,) in gone))

        return self._database.read(work)


def _encode(job: Job) -> bytes:
    """A row that cannot be read again would hide all others: it is refused. Raises `msgspec.ValidationError`."""
    data = msgspec.json.encode(job)
    _decode(data)
    return data


def _decode(data: bytes) -> Job:
    return decode(data, Job)


_kept = lru_cache(1024)(_decode)
"""The rows of a list hardly change between two looks at it, and a job is a value: 500 take 1 ms instead of 8."""


def _by_token(connection: Connection, token: str) -> Job | None:
    row = connection.execute("SELECT data FROM jobs WHERE token = ?", (token,)).fetchone()
    return _decode(row[0]) if row else None


def _read(connection: Connection, job_id: str) -> Job:
    row = connection.execute("SELECT data FROM jobs WHERE id = ?", (job_id,)).fetchone()
    if row is None:
        raise PaddleGpuError(
            "no_such_job", "There is no job {id}.", hint="`jupyter paddle-gpu jobs` lists them.", status=404, id=job_id
        )
    return _decode(row[0])


def _with_notices(connection: Connection, old: Job, new: Job) -> Job:
    """Those who are to be told are written down with the end itself: no process can die in between."""
    if old.state not in ENDED and new.spec.notify:
        notices = tuple(Notice(receiver=name) for name in dict.fromkeys(new.spec.notify))
        new = msgspec.structs.replace(new, notices=notices)
        connection.execute("INSERT OR IGNORE INTO outbox VALUES (?)", (new.id,))
    elif new.notices != old.notices:
        is_open = any(notice.state in OPEN for notice in new.notices)
        change = "INSERT OR IGNORE INTO outbox VALUES (?)" if is_open else "DELETE FROM outbox WHERE job_id = ?"
        connection.execute(change, (new.id,))
    return new


def _claim(connection: Connection, device_id: str, job_id: str, part: DeviceShare | None) -> None:
    row = connection.execute("SELECT job_id FROM claims WHERE device_id = ?", (device_id,)).fetchone()
    query = "SELECT job_id, bytes FROM shares WHERE device_id = ? AND job_id != ? ORDER BY rowid"
    others = connection.execute(query, (device_id, job_id)).fetchall()
    holder = row[0] if row is not None and row[0] != job_id else None
    if others and (part is None or sum(size for _, size in others) + part.bytes > part.most):
        holder = holder or others[0][0]
    if holder is not None:
        raise PaddleGpuError(
            "device_busy",
            "The device {device} is given to job {job}.",
            hint="Wait for that job, or choose another device.",
            status=409,
            device=device_id,
            job=holder,
        )
    if part is not None:
        connection.execute("INSERT OR REPLACE INTO shares VALUES (?, ?, ?)", (device_id, job_id, part.bytes))
    elif row is None:
        connection.execute("INSERT INTO claims VALUES (?, ?, ?)", (device_id, job_id, time.time()))


def _let_go(connection: Connection, job_id: str) -> None:
    connection.execute("DELETE FROM claims WHERE job_id = ?", (job_id,))
    connection.execute("DELETE FROM shares WHERE job_id = ?", (job_id,))


def _number(connection: Connection, name: str) -> int:
    row = connection.execute("SELECT value FROM numbers WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def _set_number(connection: Connection, name: str, value: int) -> None:
    connection.execute("INSERT OR REPLACE INTO numbers (name, value) VALUES (?, ?)", (name, value))


def next_revision(connection: Connection) -> int:
    """The number of a change, by which all who follow the store learn of it."""
    revision = _number(connection, "revision") + 1
    _set_number(connection, "revision", revision)
    return revision
