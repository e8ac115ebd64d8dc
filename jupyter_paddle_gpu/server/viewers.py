"""VisualDL and TensorBoard behind Jupyter's login: what the browser asks is passed on to their sockets."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.netutil import Resolver

from ..domain.errors import PaddleGpuError
from ..viewers.viewer import VIEWERS
from .base import RESOURCE, PaddleGpuHandler, permitted
from .context import SETTING, ServerContext
from .panel_words import page_translator

PAGES = "paddle-gpu/viewers"
"""Below it the viewers are reached, by job and name."""
_ASKED = ("Accept", "Accept-Encoding", "Accept-Language", "Content-Type", "If-Modified-Since", "If-None-Match")
"""Headers that are passed on: no cookie and no token, a viewer has no business with them."""
_ANSWERED = ("Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Type", "ETag", "Last-Modified")
_LONGEST_SECONDS = 300.0
_MOST_BYTES = 256 << 20


class ViewerHandler(PaddleGpuHandler):
    """POST jobs/<id>/viewers/<name>."""

    @permitted("execute")
    async def post(self, job_id: str, name: str) -> None:
        """Start the viewer where it does not run; answer the path below the server's base at which it is."""
        await self.context.call_long(self.services.open_viewer, job_id, name, prefix_of(self.base_url, job_id, name))
        await self.answer({"path": f"{PAGES}/{quote(job_id)}/{quote(name)}/{VIEWERS[name].page}"})


def prefix_of(base_url: str, job_id: str, name: str) -> str:
    """The path of a viewer as programs see it, without a slash at its end."""
    return str(url_path_join("/", unquote(base_url), PAGES, job_id, name))


class ViewerPageHandler(ExtensionHandlerMixin, JupyterHandler):
    """Everything below `paddle-gpu/viewers/<id>/<name>/`."""

    auth_resource = RESOURCE
    _track_activity = False  # the pages ask by themselves

    def check_xsrf_cookie(self) -> None:
        """The viewers' pages send no token of ours with what they POST: `post` looks where it comes from."""

    @permitted("execute")
    async def get(self, job_id: str, name: str) -> None:
        """Pass the question on."""
        await self._pass(job_id, name)

    @permitted("execute")
    async def post(self, job_id: str, name: str) -> None:
        """Pass the question on where it comes from this origin."""
        if self.request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin" or not self.check_origin():
            raise web.HTTPError(403, "A request from another site")
        await self._pass(job_id, name)

    async def _pass(self, job_id: str, name: str) -> None:
        context: ServerContext = self.settings[SETTING]
        prefix = prefix_of(self.base_url, job_id, name)

        async def ask(*, again: bool) -> HTTPResponse:
            path = await context.call_long(context.services.open_viewer, job_id, name, prefix, again=again)
            return await _ask(path, self.request)

        try:
            try:
                answer = await ask(again=False)
            except OSError:  # it ended a moment ago: nobody had asked for so long
                answer = await ask(again=True)
        except PaddleGpuError as error:
            self._refuse(error)
            return
        self.set_status(answer.code)
        for header in _ANSWERED:
            if header in answer.headers:
                self.set_header(header, answer.headers[header])
        if "Content-Type" not in answer.headers:
            self.clear_header("Content-Type")
        location = answer.headers.get("Location", "")
        if location:  # as it sees itself: without this server's own name
            self.set_header("Location", location.removeprefix("http://localhost"))
        for policy in answer.headers.get_list("Content-Security-Policy"):
            self.add_header("Content-Security-Policy", policy)  # beside the server's own: both hold
        self.finish(None if answer.code in (204, 304) else answer.body)

    def _refuse(self, error: PaddleGpuError) -> None:
        """Our sentence as a page: nobody else reads it."""
        told = error.describe(page_translator(self.request.headers.get("Accept-Language", "en").split(",")[0]))
        self.set_status(error.status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{told['message']}\n{told['hint']}\n")


class _ToSocket(Resolver):
    """Whatever the name, the answer is one Unix socket."""

    def initialize(self, path: str) -> None:
        self._path = path

    async def resolve(self, host: str, port: int, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[Any]:
        return [(socket.AF_UNIX, self._path)]


async def _ask(path: Path, request: Any) -> HTTPResponse:
    """The answer of the server on a socket. Raises `OSError` where none is there."""
    client = AsyncHTTPClient(force_instance=True, resolver=_ToSocket(path=str(path)), max_body_size=_MOST_BYTES)
    try:
        return await client.fetch(
            HTTPRequest(
                f"http://localhost{request.uri}",
                method=request.method,
                headers={name: request.headers[name] for name in _ASKED if name in request.headers},
                body=request.body if request.method == "POST" else None,
                follow_redirects=False,
                decompress_response=False,
                request_timeout=_LONGEST_SECONDS,
            ),
            raise_error=False,
        )
    finally:
        asyncio.get_running_loop().call_soon(client.close)
