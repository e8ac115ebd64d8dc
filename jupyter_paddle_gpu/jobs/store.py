"""The index of jobs: SQLite, shared by every server and command of one user.

Each change is one `BEGIN IMMEDIATE` transaction that reads the row, checks the move and writes it with a new revision,
so that two processes cannot both make it. The revision is also the feed by which all of them learn of changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..domain.errors import PaddleGpuError
from ..domain.jobs import ENDED, Job, JobState, check_move

SCHEMA = 1
"""Version of the tables. A higher one in the file was written by a newer release, which must not be touched."""

_META = sa.MetaData()
_jobs = sa.Table(
    "jobs",
    _META,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String, nullable=False, unique=True),
    sa.Column("token", sa.String, unique=True),
    sa.Column("revision", sa.Integer, nullable=False, index=True),
    sa.Column("state", sa.String, nullable=False, index=True),
    sa.Column("engine", sa.String, nullable=False),
    sa.Column("notebook", sa.String, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
_deleted = sa.Table(
    "deleted",
    _META,
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("id", sa.String, nullable=False),
)
_claims = sa.Table(
    "claims",
    _META,
    sa.Column("device_id", sa.String, primary_key=True),
    sa.Column("job_id", sa.String, nullable=False, index=True),
    sa.Column("since", sa.Float, nullable=False),
)
_numbers = sa.Table(
    "numbers",
    _META,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("value", sa.Integer, nullable=False),
)
_MOST_TOMBSTONES = 1000


class Changes(msgspec.Struct, frozen=True):
    """What happened since a revision."""

    revision: int
    jobs: tuple[Job, ...]
    deleted: tuple[str, ...]


class JobStore:
    """Jobs and device claims in one SQLite file. Thread-safe; safe with other processes on the same machine."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._engine = sa.create_engine(
            f"sqlite:///{path}", isolation_level="AUTOCOMMIT", connect_args={"timeout": busy_seconds}
        )
        sa.event.listen(self._engine, "connect", _set_up_connection)
        with self._write() as connection:
            _META.create_all(connection)
            version = _number(connection, "schema")
            if version > SCHEMA:
                raise PaddleGpuError(
                    "store_newer",
                    "The job store {path} was written by a newer version of this extension.",
                    hint="Update jupyter_paddle_gpu here, or point it at another data folder.",
                    status=503,
                    path=str(path),
                )
            _set_number(connection, "schema", SCHEMA)
        path.chmod(0o600)  # specifications hold environment variables

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")

    def add(self, job: Job) -> Job:
        """Store a new job; where its token was seen before, that job is returned instead.

        This transaction is the moment of acceptance: it gives the place in the queue and the time `created`, so that
        both are in the same order for requests that come at the same instant, to whichever process.
        """
        with self._write() as connection:
            if job.spec.token:
                row = connection.execute(sa.select(_jobs.c.data).where(_jobs.c.token == job.spec.token)).first()
                if row:
                    return _decode(row.data)
            now = time.time()
            job = msgspec.structs.replace(job, created=now, updated=max(now, job.updated))
            connection.execute(
                _jobs.insert().values(
                    id=job.id,
                    token=job.spec.token or None,
                    revision=_next_revision(connection),
                    state=job.state,
                    engine=job.spec.engine,
                    notebook=job.spec.notebook,
                    data=_encode(job),
                )
            )
        return job

    def by_token(self, token: str) -> Job | None:
        """The job that was submitted with this token."""
        with self._engine.connect() as connection:
            row = connection.execute(sa.select(_jobs.c.data).where(_jobs.c.token == token)).first()
        return _decode(row.data) if row and token else None

    def get(self, job_id: str) -> Job:
        """A job. Raises `PaddleGpuError` (404)."""
        with self._engine.connect() as connection:
            return _read(connection, job_id)

    def select(
        self,
        *,
        states: Iterable[JobState] | None = None,
        engine: str | None = None,
        notebook: str | None = None,
        limit: int | None = None,
        oldest_first: bool = False,
    ) -> tuple[Job, ...]:
        """Jobs that match, newest first (or in the order of submission)."""
        query = sa.select(_jobs.c.data).order_by(_jobs.c.number.asc() if oldest_first else _jobs.c.number.desc())
        if states is not None:
            query = query.where(_jobs.c.state.in_(tuple(states)))
        if engine is not None:
            query = query.where(_jobs.c.engine == engine)
        if notebook is not None:
            query = query.where(_jobs.c.notebook == notebook)
        if limit is not None:
            query = query.limit(limit)
        with self._engine.connect() as connection:
            return tuple(_decode(row.data) for row in connection.execute(query))

    def change(self, job_id: str, make: Callable[[Job], Job], *, claim: Iterable[str] = ()) -> Job:
        """Read a job, let `make` give the new one, check the move, write; all in one transaction.

        `claim` gives these devices to the job in the same transaction. An ended job holds none any more.
        Raises `PaddleGpuError`: `no_such_job`, `bad_move`, `device_busy` (nothing is changed then).
        """
        with self._write() as connection:
            old = _read(connection, job_id)
            new = make(old)
            if new == old:
                return old
            check_move(old.state, new.state)
            # Never back, also where the machine's clock was set back: pages tell news from old answers by it.
            new = msgspec.structs.replace(new, updated=max(time.time(), math.nextafter(old.updated, math.inf)))
            for device in claim:
                _claim(connection, device, job_id)
            if new.state in ENDED or new.state == "queued":
                connection.execute(_claims.delete().where(_claims.c.job_id == job_id))
            values = {"revision": _next_revision(connection), "state": new.state, "data": _encode(new)}
            connection.execute(_jobs.update().where(_jobs.c.id == job_id).values(values))
        return new

    def remove(self, job_id: str) -> Job:
        """Delete an ended job's row. Raises `PaddleGpuError`: `no_such_job`, `not_ended` (409)."""
        with self._write() as connection:
            job = _read(connection, job_id)
            if job.state not in ENDED:
                raise PaddleGpuError(
                    "not_ended",
                    "Job {id} is {state}; only ended jobs can be deleted.",
                    hint="Cancel it first.",
                    status=409,
                    id=job_id,
                    state=job.state,
                )
            revision = _next_revision(connection)
            connection.execute(_jobs.delete().where(_jobs.c.id == job_id))
            connection.execute(_claims.delete().where(_claims.c.job_id == job_id))
            connection.execute(_deleted.insert().values(revision=revision, id=job_id))
            connection.execute(_deleted.delete().where(_deleted.c.revision < revision - _MOST_TOMBSTONES))
        return job

    def claims(self) -> dict[str, str]:
        """Device id -> id of the job it is given to."""
        with self._engine.connect() as connection:
            return {row.device_id: row.job_id for row in connection.execute(sa.select(_claims))}

    def revision(self) -> int:
        """The revision of the newest change."""
        with self._engine.connect() as connection:
            return _number(connection, "revision")

    def changes(self, since: int) -> Changes:
        """Jobs changed and deleted after a revision."""
        with self._engine.connect() as connection:
            connection.exec_driver_sql("BEGIN")
            try:
                revision = _number(connection, "revision")
                if revision == since:
                    return Changes(revision, (), ())
                changed = sa.select(_jobs.c.data).where(_jobs.c.revision > since).order_by(_jobs.c.revision)
                gone = sa.select(_deleted.c.id).where(_deleted.c.revision > since)
                jobs = tuple(_decode(row.data) for row in connection.execute(changed))
                return Changes(revision, jobs, tuple(row.id for row in connection.execute(gone)))
            finally:
                connection.exec_driver_sql("COMMIT")


def _set_up_connection(connection: sa.engine.interfaces.DBAPIConnection, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _encode(job: Job) -> bytes:
    """A row that cannot be read again would hide all others: it is refused. Raises `msgspec.ValidationError`."""
    data = msgspec.json.encode(job)
    _decode(data)
    return data


def _decode(data: bytes) -> Job:
    return msgspec.json.decode(data, type=Job)


def _read(connection: Connection, job_id: str) -> Job:
    row = connection.execute(sa.select(_jobs.c.data).where(_jobs.c.id == job_id)).first()
    if row is None:
        raise PaddleGpuError(
            "no_such_job", "There is no job {id}.", hint="`jupyter paddle-gpu jobs` lists them.", status=404, id=job_id
        )
    return _decode(row.data)


def _claim(connection: Connection, device_id: str, job_id: str) -> None:
    row = connection.execute(sa.select(_claims.c.job_id).where(_claims.c.device_id == device_id)).first()
    if row is not None and row.job_id != job_id:
        raise PaddleGpuError(
            "device_busy",
            "The device {device} is given to job {job}.",
            hint="Wait for that job, or choose another device.",
            status=409,
            device=device_id,
            job=row.job_id,
        )
    if row is None:
        connection.execute(_claims.insert().values(device_id=device_id, job_id=job_id, since=time.time()))


def _number(connection: Connection, name: str) -> int:
    row = connection.execute(sa.select(_numbers.c.value).where(_numbers.c.name == name)).first()
    return int(row.value) if row else 0


def _set_number(connection: Connection, name: str, value: int) -> None:
    connection.execute(sa.text("INSERT OR REPLACE INTO numbers (name, value) VALUES (:n, :v)"), {"n": name, "v": value})


def _next_revision(connection: Connection) -> int:
    revision = _number(connection, "revision") + 1
    _set_number(connection, "revision", revision)
    return revision
