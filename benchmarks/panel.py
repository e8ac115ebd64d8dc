"""A line's way to the panel: a real Jupyter server with the Docker engine, and a client on its WebSocket."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import websocket

from .load import ENDED, Client, server

TIMEOUT_SECONDS = 300


class Panel:
    """Submit over REST and follow the log over the socket. Use as a context manager.

    What is measured with it ends where the message has been decoded in the client; drawing it is measured in a real
    browser (`jlpm bench:ui latency`).
    """

    def __init__(self, folder: Path, host: str, image: str) -> None:
        self.folder, self.image = folder, image
        self.policy = {"host": host, "networks": ["none"], "shm_bytes": 64 << 20}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Panel:
        self.folder.mkdir(parents=True)
        self.port, self.token = self._stack.enter_context(server(self.folder, self.policy, self.image))
        self.client = Client(self.port, self.token)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def process(self) -> psutil.Process:
        """The server."""
        named = f"--port={self.port}"
        return next(child for child in psutil.Process().children() if named in child.cmdline())

    def submit(self, code: str) -> str:
        """The id of a job that runs this one cell."""
        cell: dict[str, Any] = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": [{**cell, "source": code}]}
        wish = {"path": "work/n.ipynb", "content": content, "engine": "docker", "image": self.image}
        job: str = self.client.post("jobs", {**wish, "resources": {"gpus": 0}})["id"]
        return job

    def lines(self, code: str) -> Iterator[str]:
        """The lines that a notebook prints, as they come to the client."""
        job = self.submit(code)
        socket = websocket.create_connection(
            f"ws://127.0.0.1:{self.port}/paddle-gpu/api/events",
            header=[f"Authorization: token {self.token}"],
            timeout=TIMEOUT_SECONDS,
            skip_utf8_validation=True,  # this client's own is in Python, a hundred times slower than a browser's
        )
        try:
            socket.send(json.dumps({"devices": True, "jobs": True, "logs": {job: 0}}))
            while True:
                event = json.loads(socket.recv())
                if event["type"] == "log":
                    yield from (line["x"] for line in event["lines"] if line["s"] == "stdout")
                    if event["ended"]:
                        break
        finally:
            socket.close()
        row = self.client.get(f"jobs/{job}")
        if row["state"] != "succeeded":
            raise RuntimeError(f"the job {row['state']}: {row['reason']}")

    def settle(self) -> None:
        """Wait until nothing runs any more."""
        while any(job["state"] not in ENDED for job in self.client.get("jobs")["jobs"]):
            time.sleep(0.05)
