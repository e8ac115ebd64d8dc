"""The WebSocket: device samples, job changes and log lines, as fast as they come and no faster than they are read."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ..domain.decoding import decode
from ..domain.errors import PaddleGpuError
from .base import RESOURCE, encode_plain
from .bodies import Subscription
from .broadcast import Event
from .context import SETTING, ServerContext
from .feed import Feed
from .panel_words import page_translator


class EventsHandler(ExtensionHandlerMixin, WebSocketMixin, WebSocketHandler, JupyterHandler):
    """GET events?language=…: a client says what it wants to hear (`Subscription`), as often as it likes.

    Messages to the client: `{type: devices, inventory}`, `{type: jobs, jobs}` (all, as soon as jobs are wanted),
    `{type: job, job}`, `{type: job_deleted, id}`, `{type: log, id, lines, next, ended}`, `{type: alive}`,
    `{type: error, error: {code, message, hint}}`.
    """

    auth_resource = RESOURCE
    _feed: Feed | None = None
    _sender: asyncio.Task[None] | None = None

    @property
    def context(self) -> ServerContext:
        """Services and threads."""
        context: ServerContext = self.settings[SETTING]
        return context

    def set_default_headers(self) -> None:
        """Leave out the headers of pages, which make no sense for a socket."""

    def get_compression_options(self) -> dict[str, Any] | None:
        """Compress as the server's other sockets do."""
        options: dict[str, Any] | None = self.settings.get("websocket_compression_options")
        return options

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Let those in who may read."""
        allowed = await ensure_async(self.authorizer.is_authorized(self, self.current_user, "read", RESOURCE))
        if not allowed:
            raise web.HTTPError(403)
        await super().get(*args, **kwargs)

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Start sending; nothing is wanted yet."""
        super().open(*args, **kwargs)
        self._translate = page_translator(
            self.get_query_argument("language", None) or self.request.headers.get("Accept-Language", "en")
        )
        self._feed = Feed(self.context)
        self._sender = asyncio.get_running_loop().create_task(self._send(self._feed))

    async def on_message(self, message: str | bytes) -> None:
        """Take a new subscription in place of the old one."""
        try:
            wanted = decode(message, Subscription)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            refusal = PaddleGpuError(
                "bad_subscription",
                "The message is not a subscription: {reason}.",
                hint='Send {"devices": true, "jobs": true, "logs": {"<job id>": 0}}.',
                reason=str(error),
            )
            await self._write({"type": "error", "error": refusal.message})
            return
        if self._feed is not None:
            await self._feed.subscribe(wanted)

    def on_close(self) -> None:
        """Drop everything that was subscribed to for this client."""
        if self._feed is not None:
            self._feed.close()
        if self._sender is not None:
            self._sender.cancel()

    async def _send(self, feed: Feed) -> None:
        # One task sends, and each message waits for the one before it: a slow reader slows only itself down.
        try:
            async for event in feed.events():
                await self._write(event)
        except WebSocketClosedError:
            pass
        except PaddleGpuError as error:
            self.context.tell(self.log, "The event socket failed", error)
            self.close(1011, "internal error")
        except Exception:
            self.log.exception("The event socket failed")
            self.close(1011, "internal error")

    async def _write(self, event: Event) -> None:
        broadcast, translate = self.context.broadcast, self._translate
        async with broadcast.turn():
            message = encode_plain(event) if event["type"] == "log" else broadcast.ready(event, translate)
            if message is None:
                message = await self.context.call(broadcast.made, event, translate)
            written = self.write_message(message)
        await written
