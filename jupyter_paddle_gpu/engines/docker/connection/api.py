"""Docker's interface as far as the engine speaks it (https://docs.docker.com/reference/api/engine/)."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode

from .transport import Answer, DaemonError, Transport, refused

VERSION = "1.44"
"""Spoken before the daemon has said which it speaks; Docker 25 and later, and any that negotiates at `/_ping`."""
NOT_FOUND = 404

Row = dict[str, Any]
Params = Mapping[str, "str | int | float"]


class Api:
    """A daemon's interface, spoken in one of its versions.

    Every call raises `DaemonError` for a refusal and `OSError` where no answer comes.

    Args:
        seconds: how long an answer may take.
    """

    def __init__(self, transport: Transport, version: str, seconds: float) -> None:
        self._transport, self.version, self.seconds = transport, version, seconds

    def within(self, seconds: float) -> Api:
        """The same, of which an answer may take so long."""
        return Api(self._transport, self.version, seconds)

    def close(self) -> None:
        """Drop what is kept open."""
        self._transport.close()

    @contextmanager
    def asking(
        self,
        method: str,
        path: str,
        params: Params | None = None,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        silence: float | None = None,
    ) -> Iterator[Answer]:
        """Ask, and read the answer within it.

        Args:
            path: below the version, its parts quoted (`part`).
            silence: seconds that may pass between two parts of the answer, where these are more than until it begins.
        """
        query = f"?{urlencode(params)}" if params else ""
        answer = self._transport.send(
            method,
            f"/v{self.version}{path}{query}",
            body=body,
            headers=headers or {},
            seconds=(self.seconds, self.seconds if silence is None else silence),
        )
        try:
            if answer.status >= 400:
                raise refused(answer)
            yield answer
        finally:
            answer.close()

    def _get(self, path: str, params: Params | None = None) -> Any:
        with self.asking("GET", path, params) as answer:
            return _content(answer)

    def _find(self, path: str) -> Row | None:
        try:
            found: Row = self._get(path)
        except DaemonError as error:
            if error.status != NOT_FOUND:
                raise
            return None
        return found

    def _post(self, path: str, params: Params | None = None, content: Any = None) -> Any:
        body = None if content is None else json.dumps(content).encode()
        headers = {"Content-Type": "application/json"} if body else {}
        with self.asking("POST", path, params, body=body, headers=headers) as answer:
            return _content(answer)

    def info(self) -> Row:
        """What the daemon says of itself."""
        found: Row = self._get("/info")
        return found

    def images(self) -> list[Row]:
        """Its images that have a name or are used by none that has."""
        rows: list[Row] = self._get("/images/json")
        return rows

    def inspect_image(self, name: str) -> Row | None:
        """An image by name or id; None where it has none."""
        return self._find(f"/images/{part(name)}/json")

    def tag(self, image: str, repository: str, tag: str) -> None:
        """Give an image a name."""
        self._post(f"/images/{part(image)}/tag", {"repo": repository, "tag": tag})

    def distribution(self, name: str, headers: Mapping[str, str], seconds: float) -> Row:
        """What the registry of a name says of it."""
        # The daemon itself would wait as long as for any answer: a registry that drops packets must not hold up.
        with self.within(seconds).asking("GET", f"/distribution/{part(name)}/json", headers=headers) as answer:
            found: Row = _content(answer)
        return found

    def containers(self, labels: Collection[str], states: Collection[str] = ()) -> list[Row]:
        """All that have these labels (`key=value`, or a key) and, where some are named, one of these states."""
        filters = {"label": list(labels), "status": list(states)}
        rows: list[Row] = self._get("/containers/json", {"all": 1, "filters": json.dumps(filters)})
        return rows

    def inspect_container(self, name: str) -> Row | None:
        """A container by name or id; None where there is none."""
        return self._find(f"/containers/{part(name)}/json")

    def create_container(self, body: Row, name: str = "") -> str:
        """Make a container; its id."""
        made: Row = self._post("/containers/create", {"name": name} if name else None, body)
        return str(made["Id"])

    def start(self, container: str) -> None:
        """Start it."""
        self._post(f"/containers/{part(container)}/start")

    def wait(self, container: str) -> int:
        """Wait for its end; its exit code."""
        ended: Row = self._post(f"/containers/{part(container)}/wait")
        return int(ended["StatusCode"])

    def kill(self, container: str, signal: str) -> None:
        """Send its first process a signal (`SIGTERM`)."""
        self._post(f"/containers/{part(container)}/kill", {"signal": signal})

    def unpause(self, container: str) -> None:
        """Let it go on."""
        self._post(f"/containers/{part(container)}/unpause")

    def remove_container(self, container: str) -> None:
        """End it where it runs, and remove it with its volumes that have no name."""
        with self.asking("DELETE", f"/containers/{part(container)}", {"force": 1, "v": 1}):
            pass

    def stats(self, container: str) -> Row | None:
        """What it uses now; None where it has just ended: then nothing comes."""
        found: Row | None = self._get(f"/containers/{part(container)}/stats", {"stream": 0, "one-shot": 1})
        return found

    def top(self, container: str) -> Row:
        """Its processes, by the machine's own `ps`."""
        found: Row = self._get(f"/containers/{part(container)}/top")
        return found

    def stat_path(self, container: str, path: str) -> Row | None:
        """Name, size and mode of a file of a container; None where it has none. (The archive's own GET would bring all
        that is in it.)"""
        try:
            with self.asking("HEAD", f"/containers/{part(container)}/archive", {"path": path}) as answer:
                told = answer.header("x-docker-container-path-stat")
        except DaemonError as error:
            if error.status != NOT_FOUND:
                raise
            return None
        found: Row | None = json.loads(base64.b64decode(told)) if told else None
        return found


def _content(answer: Answer) -> Any:
    """What an answer says; None where it has no content. Raises `OSError` where it was cut off."""
    content = answer.read()
    try:
        return json.loads(content) if content else None
    except ValueError as error:
        raise ConnectionError(f"the daemon's answer makes no sense: {error}") from error


def greet(transport: Transport, seconds: float) -> tuple[str, bool]:
    """(version of the interface that a daemon speaks, whether it is podman).

    `/_ping` says both at once, and for `/version` a daemon starts four programs.
    """
    answer = transport.send("GET", "/_ping", body=None, headers={}, seconds=(seconds, seconds))
    try:
        if answer.status >= 400:
            raise refused(answer)
        answer.read()
        return answer.header("Api-Version") or VERSION, answer.header("Libpod-Buildah-Version") is not None
    finally:
        answer.close()


def part(text: str) -> str:
    """A name as one part of a path; the daemon cleans no path of what is quoted."""
    return quote(text, safe="/:@")
