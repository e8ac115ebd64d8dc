"""A data folder with servers on it that can be killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import docker
from conftest import IMAGE, notebook_of
from server import service
from stand_ins.daemon import remove

from jupyter_paddle_gpu.domain.jobs.job import JobSpec, Resources
from jupyter_paddle_gpu.engines.docker.container import container_name

COUNT = "import time\nfor n in range({n}):\n    print('line', n, flush=True)\n    time.sleep({pause})"
GATE = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.02)"
"""A cell that ends when `Place.go` says so: what has to happen before does, however slow the machine is."""


def as_user(user: int, host: str) -> list[str]:
    """Before a command: it runs as that user, in the group that may use the daemon's socket. It may read what root may:
    the Python that runs these tests can lie in root's own folder."""
    group, read = Path(host.removeprefix("unix://")).stat().st_gid, "+dac_read_search"
    return [
        "setpriv",
        f"--reuid={user}",
        f"--regid={group}",
        "--clear-groups",
        "--inh-caps",
        read,
        "--ambient-caps",
        read,
    ]


class Place:
    """A data folder with servers on it that can be killed, and a client that only reads and writes the store."""

    def __init__(self, folder: Path, host: str) -> None:
        self.data, self.work, self.host = folder / "data", folder / "work", host
        self.work.mkdir(parents=True)
        self.client = service(self.data, host)
        self.client._dispatcher = None
        self.servers: list[subprocess.Popen[str]] = []

    @cached_property
    def api(self) -> docker.APIClient:
        """The daemon by Docker's own SDK."""
        return docker.APIClient(base_url=self.host, version="auto", timeout=60)

    def serve(
        self, environment: dict[str, str] | None = None, user: int | None = None, **settings: object
    ) -> subprocess.Popen[str]:
        server_file = str(Path(__file__).with_name("server.py"))
        command = [sys.executable, server_file, str(self.data), self.host, json.dumps(settings)]
        if user is not None:
            command = [*as_user(user, self.host), *command]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        self.servers.append(server)
        return server

    def up(self, server: subprocess.Popen[str]) -> None:
        assert server.stdout is not None
        assert server.stdout.readline() == "up\n"

    def kill(self) -> None:
        for server in self.servers:
            server.send_signal(signal.SIGKILL)
            server.wait()
        self.servers.clear()

    def submit(
        self, *cells: str, image: str = IMAGE, environment: dict[str, str] | None = None, **resources: object
    ) -> str:
        content = notebook_of(*cells)
        notebook = self.work / f"n{random.getrandbits(40)}.ipynb"
        notebook.write_text(json.dumps(content))
        spec = JobSpec(
            name="n",
            notebook=str(notebook),
            output=str(self.work / "{id}.ipynb"),
            folder=str(self.work),
            engine="docker",
            image=image,
            environment=environment or {},
            resources=Resources(**{"memory_bytes": 1 << 30, **resources}),
        )
        return self.client.submit(spec, content).id

    def go(self) -> None:
        """Open the gate of the jobs that wait at one."""
        (self.work / "go").touch()

    def lines(self, job: str) -> list[str]:
        """All lines that the notebook printed, read page by page."""
        texts: list[str] = []
        since = 0
        while (page := self.client.log(job, since)).lines:
            texts += [line.text for line in page.lines if line.stream == "stdout"]
            since = page.next
        return texts

    def container(self, job: str):
        return self.client.engines["docker"].daemon.inspect_container(container_name(job))

    def left(self) -> list[str]:
        return list(self.client.engines["docker"].adopt())

    def close(self) -> None:
        """End the servers and remove every container of this place."""
        self.kill()
        engine = self.client.engines["docker"]
        engine.remove_leftovers(())
        for job in self.left():
            remove(self.api, container_name(job))
        self.api.close()
