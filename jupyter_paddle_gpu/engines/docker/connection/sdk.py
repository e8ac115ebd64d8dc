"""The way to a daemon that is not behind a socket of this machine (TCP, SSH, a pipe of Windows): Docker's own SDK."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import docker
from docker import errors
from docker.constants import DEFAULT_DOCKER_API_VERSION

from .transport import Answer


class Sdk:
    """The SDK's session as a `Transport`; its errors and those of its HTTP library are or become `OSError`."""

    def __init__(self, host: str) -> None:
        try:
            self._client: Any = docker.APIClient(base_url=host, version=DEFAULT_DOCKER_API_VERSION, num_pools=64)
        except errors.DockerException as error:
            raise ConnectionError(str(error)) from error

    def send(
        self, method: str, path: str, *, body: bytes | None, headers: Mapping[str, str], seconds: tuple[float, float]
    ) -> Answer:
        """Ask, as the SDK's session does."""
        try:
            response = self._client.request(
                method, f"{self._client.base_url}{path}", data=body, headers=headers, timeout=seconds, stream=True
            )
        except errors.DockerException as error:
            raise ConnectionError(str(error)) from error
        return _SdkAnswer(response)

    def close(self) -> None:
        """Drop the session's connections."""
        self._client.close()


class _SdkAnswer:
    def __init__(self, response: Any) -> None:
        self._response = response
        self.status, self.reason = int(response.status_code), str(response.reason)

    def header(self, name: str) -> str | None:
        value: str | None = self._response.headers.get(name)
        return value

    def read(self) -> bytes:
        return b"".join(self.chunks())

    def chunks(self) -> Iterator[bytes]:
        yield from self._response.iter_content(chunk_size=None)

    def hang_up(self) -> None:
        with contextlib.suppress(Exception):  # where the HTTP library keeps its socket is nobody's promise
            wire = self._response.raw._fp.fp.raw
            (getattr(wire, "_sock", None) or wire).shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._response.close()
