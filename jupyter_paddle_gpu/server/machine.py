"""What is here: version, devices, catalogue, images, engines, and what is missing."""

from __future__ import annotations

from ..services.doctor import to_rows
from ..version import __version__
from .base import PaddleGpuHandler, permitted

KEPT_SECONDS = 1800
"""The longest history there is, which `devices.history` keeps."""


class VersionHandler(PaddleGpuHandler):
    """GET version: tells a front end whether its server half is there."""

    @permitted("read")
    async def get(self) -> None:
        """Answer `{version}`."""
        await self.answer({"version": __version__})


class DevicesHandler(PaddleGpuHandler):
    """GET devices?engine=…."""

    _track_activity = False

    @permitted("read")
    async def get(self) -> None:
        """Answer the inventory: this machine's, or that of an engine with devices of its own."""
        await self.answer(await self.context.call(self.services.inventory, self.get_query_argument("engine", "")))


class DeviceHistoryHandler(PaddleGpuHandler):
    """GET devices/history?seconds=…&points=…."""

    _track_activity = False

    @permitted("read")
    async def get(self) -> None:
        """Answer the last minutes of this machine's devices, as far as somebody looked."""
        seconds = self.whole_number("seconds", KEPT_SECONDS, lowest=1, highest=KEPT_SECONDS)
        points = self.whole_number("points", 0, highest=KEPT_SECONDS)
        await self.answer(await self.context.call(self.services.device_history, seconds, points))


class AcceleratorsHandler(PaddleGpuHandler):
    """GET accelerators."""

    @permitted("read")
    async def get(self) -> None:
        """Answer the catalogue."""
        await self.answer(await self.context.call(self.services.accelerators))


class ImagesHandler(PaddleGpuHandler):
    """GET images?paddle_version=…&device=…."""

    @permitted("read")
    async def get(self) -> None:
        """Answer the images for this machine, or for an accelerator by name."""
        version = self.get_query_argument("paddle_version", "")
        device = self.get_query_argument("device", "")
        await self.answer(await self.context.call(self.services.images, version, device))


class ImageNamesHandler(PaddleGpuHandler):
    """GET images/names."""

    @permitted("read")
    async def get(self) -> None:
        """Answer what jobs here may be given as their image."""
        await self.answer(await self.context.call(self.services.image_names))


class EnginesHandler(PaddleGpuHandler):
    """GET engines."""

    @permitted("read")
    async def get(self) -> None:
        """Answer what each engine can do here."""
        await self.answer(await self.context.call(self.services.features))


class ReceiversHandler(PaddleGpuHandler):
    """GET receivers."""

    @permitted("read")
    async def get(self) -> None:
        """Answer who can be told of a job's end."""
        await self.answer(await self.context.call(self.services.receivers))


class DoctorHandler(PaddleGpuHandler):
    """GET doctor?kernel=…."""

    @permitted("read")
    async def get(self) -> None:
        """Answer `{checks: [{name, ok, needed, code, message, hint}]}`."""
        checks = await self.context.call_long(self.services.doctor, self.get_query_argument("kernel", "python3"))
        await self.answer({"checks": to_rows(checks, self.translate)})
