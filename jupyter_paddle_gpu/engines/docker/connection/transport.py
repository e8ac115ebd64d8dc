"""How a request reaches the daemon: over its socket by the standard library, elsewhere by Docker's SDK.

Nearly every daemon is behind a socket of this machine, where HTTP without a proxy, a name or a certificate is all there
is to say. The SDK with its HTTP library would take longer to load than a whole `docker run` takes to start.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

CHUNK_BYTES = 65536


class DaemonError(Exception):
    """The daemon's refusal: its status (404 not there, 409 not as things are, 500 it failed) and its own words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Answer(Protocol):
    """What came back. Whoever took it closes it."""

    status: int
    reason: str

    def header(self, name: str) -> str | None:
        """The value of a header, whatever its case."""

    def read(self) -> bytes:
        """All that is left of its content."""

    def chunks(self) -> Iterator[bytes]:
        """Its content as it comes."""

    def hang_up(self) -> None:
        """End the connection, even while another thread reads from it."""

    def close(self) -> None:
        """Nothing more is wanted of it."""


class Transport(Protocol):
    """A way to a daemon; calls may come from several threads."""

    def send(
        self, method: str, path: str, *, body: bytes | None, headers: Mapping[str, str], seconds: tuple[float, float]
    ) -> Answer:
        """Ask. `seconds`: how long to wait for a connection, and for each part of the answer. Raises `OSError`."""

    def close(self) -> None:
        """Drop what is kept open."""


def transport_to(host: str) -> Transport:
    """The way to a daemon. Raises `OSError` where the SDK has none."""
    for scheme in ("unix://", "http+unix://"):
        if host.startswith(scheme):
            return _Socket("/" + host.removeprefix(scheme).lstrip("/"))
    from .sdk import Sdk

    return Sdk(host)


class _Socket:
    """A connection for each request: on one machine it costs less than to keep several apart."""

    def __init__(self, path: str) -> None:
        self._path = path

    def send(
        self, method: str, path: str, *, body: bytes | None, headers: Mapping[str, str], seconds: tuple[float, float]
    ) -> Answer:
        connection = _Connection(self._path, seconds)
        try:
            with _faults(seconds[1]):
                connection.request(method, path, body=body, headers=dict(headers))
                return _SocketAnswer(connection, seconds[1])
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """There is nothing to drop."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, seconds: tuple[float, float]) -> None:
        super().__init__("localhost")
        self._path, self._seconds = path, seconds

    def connect(self) -> None:
        wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock = self.wire = wire
        wire.settimeout(self._seconds[0])
        wire.connect(self._path)
        wire.settimeout(self._seconds[1])


class _SocketAnswer:
    def __init__(self, connection: _Connection, seconds: float) -> None:
        self._connection, self._seconds = connection, seconds
        self._response = connection.getresponse()
        self.status, self.reason = self._response.status, self._response.reason

    def header(self, name: str) -> str | None:
        return self._response.headers.get(name)

    def read(self) -> bytes:
        with _faults(self._seconds):
            return self._response.read()

    def chunks(self) -> Iterator[bytes]:
        with _faults(self._seconds):
            while chunk := self._response.read1(CHUNK_BYTES):
                yield chunk

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self._connection.wire.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._response.close()
        self._connection.close()


@contextlib.contextmanager
def _faults(seconds: float) -> Iterator[None]:
    """Whatever the connection may end with, as an `OSError`."""
    try:
        yield
    except TimeoutError as error:
        raise TimeoutError(f"read timeout={seconds:g}") from error
    except http.client.HTTPException as error:
        raise ConnectionError(f"the daemon broke off: {error!r}") from error


def refused(answer: Answer) -> DaemonError:
    """What the daemon says against a request."""
    text = answer.read().decode("utf-8", "replace")
    try:
        told: Any = json.loads(text)
        text = str(told.get("message", text))
    except (ValueError, AttributeError):
        pass  # something before the daemon answered (a proxy): its own words will do
    return DaemonError(answer.status, text.strip() or answer.reason)
