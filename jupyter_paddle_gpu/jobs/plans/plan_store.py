"""The rows of sweeps and schedules: in the jobs' own file, so that both are as old as each other after any crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from ...domain.decoding import decode
from ...domain.errors import PaddleGpuError
from ..store.database import Connection, Database
from ..store.job_store import next_revision

TABLES = (
    """CREATE TABLE IF NOT EXISTS plans (
        id VARCHAR NOT NULL PRIMARY KEY, kind VARCHAR NOT NULL, open INTEGER NOT NULL, revision INTEGER NOT NULL,
        data BLOB NOT NULL)""",
)


class Plan(Protocol):
    """A row: its id, and whether something is left to be done for it."""

    @property
    def id(self) -> str:
        """Its key."""

    @property
    def open(self) -> bool:
        """Whether it is looked after."""


P = TypeVar("P", bound=Plan)


class PlanStore(Generic[P]):
    """The rows of one kind. Thread-safe; safe with other processes on the same machine.

    Args:
        kind: `sweep` or `schedule`.
        row: the struct that a row is.
    """

    def __init__(self, database: Database, kind: str, row: type[P]) -> None:
        self._database, self._kind, self._row = database, kind, row
        database.write(_set_up)

    def add(self, plan: P) -> P:
        """Store a new one."""

        def work(connection: Connection) -> P:
            values = (plan.id, self._kind, plan.open, next_revision(connection), self._encoded(plan))
            connection.execute("INSERT INTO plans (id, kind, open, revision, data) VALUES (?, ?, ?, ?, ?)", values)
            return plan

        return self._database.write(work)

    def all(self, *, open_only: bool = False) -> tuple[P, ...]:
        """All of them, the newest first."""
        query = "SELECT data FROM plans WHERE kind = ?" + (" AND open = 1" if open_only else "")
        rows = self._database.read(
            lambda connection: connection.execute(query + " ORDER BY id DESC", (self._kind,)).fetchall()
        )
        return tuple(decode(data, self._row) for (data,) in rows)

    def get(self, plan_id: str) -> P:
        """One of them. Raises `PaddleGpuError` (`no_such_plan`, 404)."""
        return self._database.read(lambda connection: self._read(connection, plan_id))

    def change(self, plan_id: str, make: Callable[[P], P]) -> P:
        """Read it, let `make` give the new one, write; all in one transaction."""

        def work(connection: Connection) -> P:
            old = self._read(connection, plan_id)
            new = make(old)
            if new != old:
                connection.execute(
                    "UPDATE plans SET open = ?, revision = ?, data = ? WHERE id = ?",
                    (new.open, next_revision(connection), self._encoded(new), plan_id),
                )
            return new

        return self._database.write(work)

    def remove(self, plan_id: str) -> None:
        """Forget it."""

        def work(connection: Connection) -> None:
            self._read(connection, plan_id)
            connection.execute("DELETE FROM plans WHERE id = ?", (plan_id,))
            next_revision(connection)

        self._database.write(work)

    def _read(self, connection: Connection, plan_id: str) -> P:
        query = "SELECT data FROM plans WHERE id = ? AND kind = ?"
        found = connection.execute(query, (plan_id, self._kind)).fetchone()
        if found is None:
            raise PaddleGpuError(
                "no_such_plan",
                "There is no sweep and no schedule {id}.",
                hint="`jupyter paddle-gpu jobs` and `jupyter paddle-gpu schedules` list them.",
                status=404,
                id=plan_id[:80],
            )
        return decode(found[0], self._row)

    def _encoded(self, plan: P) -> bytes:
        """A row that cannot be read again would hide all others: it is refused. Raises `msgspec.ValidationError`."""
        data = msgspec.json.encode(plan)
        decode(data, self._row)
        return data


def _set_up(connection: Connection) -> None:
    for table in TABLES:
        connection.execute(table)
