"""What a notebook trains, what that takes, and where it would fit."""

from __future__ import annotations

from jupyter_server.utils import ensure_async

from .base import RESOURCE, PaddleGpuHandler, permitted
from .bodies import EstimateBody, NotebookBody, PlacementBody, SubmitBody


class InspectionsHandler(PaddleGpuHandler):
    """POST inspections: reads, executes nothing."""

    @permitted("read")
    async def post(self) -> None:
        """Answer the notebook's facts."""
        body = self.body(NotebookBody)
        source = await self.context.call(self.services.open, body.path, body.content, body.arguments)
        facts = await self.context.call(self.services.inspect, source)
        await self.answer(facts)
        if await self._may_estimate():
            await self.context.call(self.services.expect_estimate, facts)

    async def _may_estimate(self) -> bool:
        return bool(await ensure_async(self.authorizer.is_authorized(self, self.current_user, "execute", RESOURCE)))


class EstimatesHandler(PaddleGpuHandler):
    """POST estimates: runs the notebook's model cells in an isolated child, hence `execute`."""

    @permitted("execute")
    async def post(self) -> None:
        """Answer the estimate."""
        body = self.body(EstimateBody)
        source = await self.context.call(self.services.open, body.path, body.content, body.arguments)
        await self.answer(await self.while_asked(self.services.estimate, source, body.request))


class PlacementsHandler(PaddleGpuHandler):
    """POST placements: facts, estimate and the verdict on each device, all that the panel shows before a submit."""

    @permitted("execute")
    async def post(self) -> None:
        """Answer `{facts, estimate, placement}`."""
        body = self.body(PlacementBody)
        source = await self.context.call(self.services.open, body.path, body.content, body.arguments)
        matched = await self.while_asked(
            self.services.match,
            source,
            body.request,
            engine=body.engine,
            gpus=body.gpus,
            device_ids=body.device_ids,
            share=body.share,
            image=body.image,
            trace=body.trace,
        )
        await self.answer(matched)


class ChangesHandler(PaddleGpuHandler):
    """POST changes: reads, executes nothing."""

    @permitted("read")
    async def post(self) -> None:
        """Answer what the same body sent to `jobs` has otherwise than the notebook, and what it cannot have."""
        body = self.body(SubmitBody)
        source = await self.context.call(self.services.open, body.path, body.content, body.arguments)
        await self.answer(await self.context.call(self.services.changes, source, body.submission()))


class PreflightsHandler(PaddleGpuHandler):
    """POST preflights: may try something out with a container, hence `execute`."""

    @permitted("execute")
    async def post(self) -> None:
        """Answer `{problems, decision}`: what becomes of the same body sent to `jobs`."""
        body = self.body(SubmitBody)
        source = await self.context.call(self.services.open, body.path, body.content, body.arguments)
        await self.answer(await self.context.call_long(self.services.preflight, source, body.submission()))
