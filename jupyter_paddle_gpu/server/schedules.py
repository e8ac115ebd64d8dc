"""Schedules: make, list, look, pause, resume, delete and restore; the dates of a cron expression before it is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from ..domain.plans.schedules import ScheduleReport
from .base import PaddleGpuHandler, permitted
from .plan_bodies import DatesBody, ScheduleBody


class SchedulesHandler(PaddleGpuHandler):
    """GET and POST schedules."""

    _track_activity = False

    @permitted("read")
    async def get(self) -> None:
        """Answer `{schedules}`, the newest first, and why nobody can wait for a lower price, where that is so."""
        plans = self.services.plans

        def read() -> dict[str, object]:
            return {"schedules": plans.schedules.list(), "no_cost": plans.schedules.why_not_by_cost()}

        await self.answer(await self.context.call(read))

    @permitted("execute")
    async def post(self) -> None:
        """Make one; answer it with 201."""
        body, services = self.body(ScheduleBody), self.services

        def make() -> ScheduleReport:
            source = services.open(body.path, body.content, body.arguments)
            return services.plans.schedules.create(source, body.wanted())

        await self.answer(await self.context.call_long(make), 201)


class DatesHandler(PaddleGpuHandler):
    """POST schedules/dates."""

    _track_activity = False

    @permitted("read")
    async def post(self) -> None:
        """Answer `{dates}`: when a cron expression comes true next, or the moment that was typed."""
        body, schedules = self.body(DatesBody), self.services.plans.schedules
        await self.answer(
            {"dates": await self.context.call(schedules.dates, at=body.at, cron=body.cron, zone=body.zone)}
        )


class ScheduleHandler(PaddleGpuHandler):
    """GET and DELETE schedules/<id>."""

    _track_activity = False

    @permitted("read")
    async def get(self, schedule_id: str) -> None:
        """Answer it."""
        await self.answer(await self.context.call(self.services.plans.schedules.get, schedule_id))

    @permitted("write")
    async def delete(self, schedule_id: str) -> None:
        """Delete it; answer it as it is then. It can be restored for a day."""
        await self.answer(await self.context.call(self.services.plans.schedules.delete, schedule_id))


class _Move(PaddleGpuHandler, ABC):
    """POST schedules/<id>/<move>."""

    @abstractmethod
    def move(self) -> Callable[[str], ScheduleReport]:
        """What is done to it."""

    @permitted("execute")
    async def post(self, schedule_id: str) -> None:
        """Do it; answer the schedule as it is then."""
        await self.answer(await self.context.call(self.move(), schedule_id))


class PauseHandler(_Move):
    """POST schedules/<id>/pause."""

    def move(self) -> Callable[[str], ScheduleReport]:
        """Nothing of it runs until it is resumed."""
        return self.services.plans.schedules.pause


class ResumeHandler(_Move):
    """POST schedules/<id>/resume."""

    def move(self) -> Callable[[str], ScheduleReport]:
        """It runs again from now on."""
        return self.services.plans.schedules.resume


class RestoreHandler(_Move):
    """POST schedules/<id>/restore."""

    def move(self) -> Callable[[str], ScheduleReport]:
        """Take a deletion back."""
        return self.services.plans.schedules.restore
