"""The handler that all REST routes derive from: JSON in, JSON out, one shape of error."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from http.client import responses
from typing import Any, Literal, ParamSpec, TypeVar, cast

import msgspec
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado import web

from ..domain.decoding import decode
from ..domain.errors import PaddleGpuError
from ..domain.messages import Translate
from ..i18n import to_json
from ..services import Services
from ..services.estimates.leaving import Asker
from .context import SETTING, ServerContext
from .panel_words import page_translator

RESOURCE = "paddle_gpu"
"""What Jupyter Server's authorizer is asked about."""

Body = TypeVar("Body")
P = ParamSpec("P")
T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])


def permitted(action: Literal["read", "write", "execute"]) -> Callable[[Method], Method]:
    """Let in who is logged in and whom the server's authorizer allows `action` on our resource."""

    def decorate(method: Method) -> Method:
        authorizing: Callable[[Method], Method] = authorized(action, resource=RESOURCE)
        return cast("Method", web.authenticated(authorizing(method)))

    return decorate


class PaddleGpuHandler(ExtensionHandlerMixin, APIHandler):
    """Parses and answers; whatever decides stands in `Services`.

    Errors are `{code, message, hint}` in the language of `Accept-Language`. Subclasses set `_track_activity = False`
    where a page asks by itself, so that an idle server is still culled by a hub.
    """

    auth_resource = RESOURCE
    _asker: Asker | None = None

    @property
    def context(self) -> ServerContext:
        """Services and threads."""
        context: ServerContext = self.settings[SETTING]
        return context

    @property
    def services(self) -> Services:
        """The services; their methods block, so they are called through `context.call`."""
        return self.context.services

    @property
    def translate(self) -> Translate:
        """English to the reader's language."""
        return page_translator(self.request.headers.get("Accept-Language", "en"))

    async def while_asked(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call that may take seconds, as long as whoever asked is there.

        Raises:
            web.Finish: they went away, and what was done for them has ended.
        """
        self._asker = Asker()
        answer = await self.context.call_long(partial(self._asker.call, function, *args, **kwargs))
        if answer is None:
            raise web.Finish
        return answer

    def on_connection_close(self) -> None:
        """Nobody waits for the answer any more."""
        if self._asker is not None:
            self._asker.leave()
        super().on_connection_close()

    def body(self, kind: type[Body]) -> Body:
        """The request's JSON as a struct; an empty body counts as `{}`.

        Raises:
            PaddleGpuError: `too_large` (413), `bad_body` (400) with the field named.
        """
        if len(self.request.body) > self.context.max_body_bytes:
            raise PaddleGpuError(
                "too_large",
                "The request has {size} bytes; at most {limit} are accepted.",
                hint="Clear the notebook's outputs and try again.",
                status=413,
                size=len(self.request.body),
                limit=self.context.max_body_bytes,
            )
        try:
            return decode(self.request.body.strip() or b"{}", kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:  # ValidationError is a DecodeError
            raise PaddleGpuError(
                "bad_body",
                "The request is not as it should be: {reason}.",
                hint="The OpenAPI document describes each request.",
                reason=str(error),
            ) from error

    def whole_number(self, name: str, default: int, *, lowest: int = 0, highest: int = 1 << 53) -> int:
        """A query argument that must be a whole number from `lowest` to `highest`."""
        text = self.get_query_argument(name, None)
        if text is None:
            return default
        number = int(text) if re.fullmatch(r"-?\d{1,16}", text) else None
        if number is None or not lowest <= number <= highest:
            raise PaddleGpuError(
                "bad_argument",
                "“{name}” must be a whole number from {lowest} to {highest}, not “{value}”.",
                name=name,
                lowest=lowest,
                highest=highest,
                value=text[:40],
            )
        return number

    async def answer(self, value: Any, status: int = 200) -> None:
        """Finish with a value as JSON; messages in it are rendered in the reader's language."""
        self.answer_bytes(await self.context.call(encode, value, self.translate), status)

    async def answer_plain(self, value: Any) -> None:
        """Finish with a value in which there is no message."""
        self.answer_bytes(await self.context.call(encode_plain, value))

    def answer_bytes(self, encoded: bytes, status: int = 200) -> None:
        """Finish with JSON that was made in a thread: who writes much of it keeps the event loop from the others."""
        self.set_status(status)
        self.finish(encoded)

    def send_error(self, status_code: int = 500, **kwargs: Any) -> None:
        """Give our refusals their own status; everything else keeps tornado's."""
        error = kwargs.get("exc_info", (None, None))[1]
        super().send_error(error.status if isinstance(error, PaddleGpuError) else status_code, **kwargs)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Every error as `{code, message, hint}`."""
        error = kwargs.get("exc_info", (None, None))[1]
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(describe(error, status_code, self.translate)))

    def log_exception(self, typ: Any, value: BaseException | None, tb: Any) -> None:
        """A refusal is an answer, not a fault: one line, no traceback."""
        asked = f"{self.request.method} {self.request.path}"
        if isinstance(value, PaddleGpuError) and value.status >= 500:
            self.context.tell(self.log, asked, value)
        elif isinstance(value, PaddleGpuError):
            self.log.info("%s: %s", asked, value)
        else:
            super().log_exception(typ, value, tb)


def encode(value: Any, translate: Translate) -> bytes:
    """JSON bytes of any domain value. Not-a-number becomes null: browsers refuse the word NaN."""
    return msgspec.json.encode(to_json(value, translate))


def encode_plain(value: Any) -> bytes:
    """JSON bytes of a value without a `Message` in it: ten times as fast as `encode`."""
    return msgspec.json.encode(value)


def describe(error: BaseException | None, status: int, translate: Translate) -> dict[str, str]:
    """The body of an error response."""
    if isinstance(error, PaddleGpuError):
        return error.describe(translate)
    if isinstance(error, web.HTTPError):
        sentence = error.log_message or error.reason or responses.get(status, "Error")
        return {"code": f"http_{status}", "message": sentence, "hint": ""}
    return PaddleGpuError("internal", "The server made a mistake.", hint="Its log tells more.", status=status).describe(
        translate
    )
