"""The way to a daemon behind a socket of this machine, which nearly every daemon is: by the standard library.

HTTP without a proxy, a name or a certificate is all there is to say there. The SDK with its HTTP library would take
longer to load than a whole `docker run` takes to start.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
from collections.abc import Iterator, Mapping

from .transport import Answer

CHUNK_BYTES = 65536


class Unix:
    """A connection for each request: on one machine it costs less than to keep several apart."""

    def __init__(self, path: str) -> None:
        self._path = path

    def send(
        self, method: str, path: str, *, body: bytes | None, headers: Mapping[str, str], seconds: tuple[float, float]
    ) -> Answer:
        """Ask."""
        connection = _Connection(self._path, seconds)
        try:
            with _faults(seconds[1]):
                connection.request(method, path, body=body, headers=dict(headers))
                return _UnixAnswer(connection, seconds[1])
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


class _UnixAnswer:
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
