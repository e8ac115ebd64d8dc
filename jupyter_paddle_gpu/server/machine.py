"""What is here: version, devices, catalogue, images, engines, and what is missing."""

from __future__ import annotations

from ..services.doctor import to_rows
from ..version import __version__
from .base import PaddleGpuHandler, permitted


class VersionHandler(PaddleGpuHandler):
    """GET version: tells a front end whether its server half is there."""

    @permitted("read")
    async def get(self) -> None:
        """Answer `{version}`."""
        self.answer({"version": __version__})


class DevicesHandler(PaddleGpuHandler):
    """GET devices?engine=…."""

    _track_activity = False

    @permitted("read")
    async def get(self) -> None:
        """Answer the inventory: this machine's, or that of an engine with devices of its own."""
        self.answer(await self.context.call(self.services.inventory, self.get_query_argument("engine", "")))


class AcceleratorsHandler(PaddleGpuHandler):
    """GET accelerators."""

    @permitted("read")
    async def get(self) -> None:
        """Answer the catalogue."""
        self.answer(await self.context.call(self.services.accelerators))


class ImagesHandler(PaddleGpuHandler):
    """GET images?paddle_version=…&device=…."""

    @permitted("read")
    async def get(self) -> None:
        """Answer the images for this machine, or for an accelerator by name."""
        version = self.get_query_argument("paddle_version", "")
        device = self.get_query_argument("device", "")
        self.answer(await self.context.call(self.services.images, version, device))


class EnginesHandler(PaddleGpuHandler):
    """GET engines."""

    @permitted("read")
    async def get(self) -> None:
        """Answer what each engine can do here."""
        self.answer(await self.context.call(self.services.features))


class DoctorHandler(PaddleGpuHandler):
    """GET doctor?kernel=…."""

    @permitted("read")
    async def get(self) -> None:
        """Answer `{checks: [{name, ok, needed, code, message, hint}]}`."""
        checks = await self.context.call_long(self.services.doctor, self.get_query_argument("kernel", "python3"))
        self.answer({"checks": to_rows(checks, self.translate)})
