"""Sweeps: what one would be, begin, look, compare by another metric, cancel, run failed trials again, take along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..domain.plans.sweeps import SweepReport
from ..services.plans.table import csv_of
from ..services.plans.wanted import SweepCheck, SweepRequest
from .base import PaddleGpuHandler, permitted
from .plan_bodies import SweepBody, SweepChangeBody

if TYPE_CHECKING:
    from ..domain.notebooks import NotebookSource


class _Begins(PaddleGpuHandler):
    """Reads what a sweep is to be: of a notebook, or of a job that was."""

    def wanted(self, body: SweepBody) -> tuple[NotebookSource, SweepRequest]:
        """The notebook and the request."""
        request = body.wanted()
        if body.job:
            return self.services.plans.sweeps.of_job(body.job, request)
        return self.services.open(body.path, body.content, body.arguments), request


class SweepsHandler(_Begins):
    """GET and POST sweeps."""

    _track_activity = False

    @permitted("read")
    async def get(self) -> None:
        """Answer `{sweeps}`, the newest first."""
        await self.answer({"sweeps": await self.context.call_long(self.services.plans.sweeps.list)})

    @permitted("execute")
    async def post(self) -> None:
        """Begin one; answer it with 201."""
        body = self.body(SweepBody)

        def begin() -> SweepReport:
            return self.services.plans.sweeps.create(*self.wanted(body))

        await self.answer(await self.context.call_long(begin), 201)


class SweepChecksHandler(_Begins):
    """POST sweeps/checks."""

    @permitted("execute")
    async def post(self) -> None:
        """Answer what each trial would come to; nothing is submitted."""
        body = self.body(SweepBody)

        def check() -> SweepCheck:
            return self.services.plans.sweeps.check(*self.wanted(body))

        await self.answer(await self.context.call_long(check))


class SweepHandler(PaddleGpuHandler):
    """GET, PATCH and DELETE sweeps/<id>."""

    _track_activity = False

    @permitted("read")
    async def get(self, sweep_id: str) -> None:
        """Answer it, its best trial by its own metric or by another one."""
        metric, direction = self.get_query_argument("metric", ""), self.get_query_argument("direction", "")
        sweeps = self.services.plans.sweeps
        await self.answer(await self.context.call(sweeps.get, sweep_id, metric=metric, direction=direction))

    @permitted("write")
    async def patch(self, sweep_id: str) -> None:
        """Compare by another metric from now on, or run another number at once."""
        body, sweeps = self.body(SweepChangeBody), self.services.plans.sweeps
        wanted = {"metric": body.metric, "direction": body.direction, "at_once": body.at_once}
        await self.answer(await self.context.call(lambda: sweeps.set(sweep_id, **wanted)))  # type: ignore[arg-type]

    @permitted("write")
    async def delete(self, sweep_id: str) -> None:
        """Remove one that has ended, with the jobs of its trials; answer 204."""
        await self.context.call(self.services.plans.sweeps.delete, sweep_id)
        self.set_status(204)
        self.finish()


class SweepCancelHandler(PaddleGpuHandler):
    """POST sweeps/<id>/cancel."""

    @permitted("execute")
    async def post(self, sweep_id: str) -> None:
        """Ask all of its trials to end."""
        await self.answer(await self.context.call(self.services.plans.sweeps.cancel, sweep_id))


class SweepRetryHandler(PaddleGpuHandler):
    """POST sweeps/<id>/retry."""

    @permitted("execute")
    async def post(self, sweep_id: str) -> None:
        """Run those trials once more that failed."""
        await self.answer(await self.context.call(self.services.plans.sweeps.retry, sweep_id))


class SweepTableHandler(PaddleGpuHandler):
    """GET sweeps/<id>/table."""

    @permitted("read")
    async def get(self, sweep_id: str) -> None:
        """Answer the trials as CSV."""
        sweeps = self.services.plans.sweeps

        def write() -> tuple[str, bytes]:
            report = sweeps.get(sweep_id)
            return report.id, csv_of(report).encode()

        known, table = await self.context.call(write)
        self.set_header("Content-Disposition", f'attachment; filename="{known}.csv"')
        self.finish(table, set_content_type="text/csv; charset=utf-8")


class VariablesHandler(PaddleGpuHandler):
    """POST variables."""

    _track_activity = False

    @permitted("read")
    async def post(self) -> None:
        """Answer the variables of a notebook that a run may have otherwise; nothing of it runs."""
        from ..services.plans.variables import settings_of
        from .bodies import NotebookBody

        body = self.body(NotebookBody)

        def read() -> object:
            return settings_of(self.services.open(body.path, body.content, body.arguments))

        await self.answer(await self.context.call(read))
