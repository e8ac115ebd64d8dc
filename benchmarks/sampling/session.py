"""Is the server's event loop ever kept for more than 10 ms? A whole session, by the processor time of its thread.

    python -m benchmarks.sampling.session

One Jupyter Server on the stand-in for NVML with eight cards (needs a C compiler), 500 jobs in its store, of which one
has a log of a million lines. Each scene is what people do; what is kept is the longest round of the event loop in it,
from the return of its selector to its next call. Ends by itself in two minutes. Writes
`benchmarks/results/event_loop.json`. With LOOP_SLOW=file in the environment the server writes down whose callbacks took
more than 3 ms.
"""

from __future__ import annotations

import json
import secrets
import select
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import websocket

from jupyter_paddle_gpu.domain.jobs.job import LogLine
from jupyter_paddle_gpu.jobs.store.job_store import JobStore

from ..load import ENDED, Client
from ..report import save, show
from .serving import CARDS, Counters, Server, environment, watched

ASKED_AT_FIRST = (
    *("version", "devices", "jobs", "engines", "accelerators", "images", "receivers"),
    *("queue", "what-ifs", "schedules", "sweeps"),
)
ASKED_OF_A_JOB = (
    *("log", "statistics", "metrics", "figures", "notebook"),
    *("report", "archive", "log/file", "metrics/file"),
)
JOBS, LINES, PAGES = 500, 1_000_000, 100
NOTEBOOK = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(784, 256), paddle.nn.ReLU(), paddle.nn.Linear(256, 10))
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(20):
    loss = paddle.nn.functional.cross_entropy(net(paddle.randn([64, 784])), paddle.randint(0, 10, [64]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print("step", step, float(loss), flush=True)
"""
PICTURE_BYTES = 5_000_000
"""Of the outputs that an open notebook may have."""

Scene = Callable[["Session"], object]


def notebook(picture: int = 0) -> dict[str, Any]:
    """A training; with a picture of so many bytes among its outputs."""
    cell: dict[str, Any] = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "source": NOTEBOOK}
    cell["outputs"] = [{"output_type": "display_data", "data": {"image/png": "A" * picture}, "metadata": {}}]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": [cell]}


class Session:
    """What people do with one server."""

    def __init__(self, server: Server) -> None:
        self.server, self.client = server, Client(server.port, server.token)
        self.body = {"path": "n.ipynb", "content": notebook()}
        self.first = ""
        self.long = ""

    def socket(self, **wanted: Any) -> websocket.WebSocket:
        """A page's line, which has asked for this."""
        url = f"ws://127.0.0.1:{self.server.port}/{self.server.path}?token={self.server.token}"
        line = websocket.create_connection(url, timeout=120, skip_utf8_validation=True)
        line.send(json.dumps(wanted))
        return line

    def events(self, kind: str, **wanted: Any) -> Iterator[dict[str, Any]]:
        """What a page hears of one kind."""
        line = self.socket(**wanted)
        try:
            while True:
                event = json.loads(line.recv())
                if event["type"] == kind:
                    yield event
        finally:
            line.close()

    def opened(self) -> None:
        """A page opens: all that the panel asks for then."""
        for path in (
            "version",
            "devices",
            "jobs",
            "engines",
            "accelerators",
            "images",
            "receivers",
            "queue",
            "what-ifs",
            "schedules",
        ):
            self.client.session.get(self.client.base + path, timeout=60)
        self.client.get("devices/history?seconds=1800&points=60")
        next(self.events("jobs", devices=True, jobs=True))

    def estimated(self) -> None:
        """A notebook is read, estimated, matched, as it is and with answers, and looked through before a submit."""
        self.client.post("inspections", self.body)
        self.client.post("placements", self.body)
        for size in (8, 16, 32):
            self.client.post("placements", {**self.body, "request": {"batch_size": size}})
        self.client.post("preflights", {**self.body, "engine": "local", "resources": {"gpus": 0}})

    def large(self) -> None:
        """The same of a notebook with a picture of 5 MB."""
        body = {**self.body, "content": notebook(PICTURE_BYTES)}
        self.client.post("inspections", body)
        self.client.post("placements", body)

    def submitted(self) -> str:
        """A job is submitted, followed to its end, and all of its pages are looked at."""
        job: str = self.client.post("jobs", {**self.body, "engine": "local", "resources": {"gpus": 0}})["id"]
        for event in self.events("log", devices=True, jobs=True, logs={job: 0}):
            if event["ended"]:
                break
        while self.client.get(f"jobs/{job}")["state"] not in ENDED:
            time.sleep(0.1)
        for page in (
            "",
            "/log",
            "/statistics",
            "/metrics",
            "/figures",
            "/notebook",
            "/report",
            "/archive",
            "/log/file",
        ):
            self.client.session.get(f"{self.client.base}jobs/{job}{page}", timeout=60).raise_for_status()
        self.first = job
        return job

    def listed(self) -> None:
        """500 jobs, by REST and by ten pages that open at once."""
        for _ in range(10):
            assert len(self.client.get("jobs")["jobs"]) >= JOBS
        with ThreadPoolExecutor(10) as pool:
            list(pool.map(lambda _: next(self.events("jobs", jobs=True)), range(10)))

    def scraped(self) -> None:
        """Prometheus, twenty times."""
        for _ in range(20):
            url = f"http://127.0.0.1:{self.server.port}/metrics"
            assert self.client.session.get(url, timeout=60).ok
            time.sleep(0.1)

    def read(self) -> None:
        """The log of a million lines: followed from its beginning, its end, its largest pages, as a file."""
        seen = 0
        for event in self.events("log", logs={self.long: 0}):
            seen += len(event["lines"])
            if event["ended"] or seen >= LINES:
                break
        for since in (-1000, 0, LINES // 2):
            self.client.get(f"jobs/{self.long}/log?since={since}&limit=10000")
        self.client.session.get(f"{self.client.base}jobs/{self.long}/log/file", timeout=120).raise_for_status()

    def crowded(self) -> None:
        """A hundred pages with devices and jobs, while a job is submitted, runs and ends."""
        lines, stop = [self.socket(devices=True, jobs=True) for _ in range(PAGES)], threading.Event()
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(self._drain, lines, stop)
            self.submitted()
            time.sleep(5)
            stop.set()
            reading.result()
        for line in lines:
            line.shutdown()

    @staticmethod
    def _drain(lines: list[websocket.WebSocket], stop: threading.Event) -> None:
        """Read what comes, as it comes, without a look at it."""
        waiting = [line.sock for line in lines if line.sock is not None]
        while not stop.is_set():
            for line in select.select(waiting, [], [], 0.5)[0]:
                line.recv(1 << 20)

    def quiet(self) -> None:
        """Nobody does anything for five seconds."""
        time.sleep(5)


SCENES: dict[str, Scene] = {
    "a page opens": Session.opened,
    "estimate, answers, preflight": Session.estimated,
    "a notebook of 5 MB": Session.large,
    "submit, follow, look at the job": Session.submitted,
}
LATER: dict[str, Scene] = {
    f"{JOBS} jobs listed, ten pages at once": Session.listed,
    "a page opens again": Session.opened,
    "Prometheus scrapes": Session.scraped,
    f"a log of {LINES:,} lines": Session.read,
    f"{PAGES} pages, a job meanwhile": Session.crowded,
    "nobody does anything": Session.quiet,
}


def fill(data: Path, job_id: str) -> str:
    """Put copies of a job that ended into the store; the id of one with the long log."""
    store = JobStore(data / "jobs.sqlite")
    known = store.get(job_id)
    copies = [msgspec.structs.replace(known, id=f"{job_id[:-6]}{secrets.token_hex(3)}") for _ in range(JOBS)]
    for copy in copies:
        store.add(msgspec.structs.replace(copy, spec=msgspec.structs.replace(copy.spec, token="")))
    store.close()
    folder = data / "jobs" / copies[0].id
    folder.mkdir(parents=True)
    for file in (data / "jobs" / job_id).iterdir():
        if file.is_file() and file.name != "log.jsonl":
            (folder / file.name).write_bytes(file.read_bytes())
    encoder = msgspec.json.Encoder()
    with (folder / "log.jsonl").open("wb") as log:
        for seq in range(LINES):
            text = (
                f"epoch {seq // 1000} step {seq % 1000} loss {1 / (seq + 1):.6f} of a line of common length, about 80"
            )
            log.write(encoder.encode(LogLine(seq=seq, time=float(seq), stream="stdout", text=text)) + b"\n")
    return copies[0].id


def main() -> None:
    """Measure, show, keep."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counters = Counters(folder)
        hello = json.dumps({"devices": True})
        server = Server("ours", sys.executable, "jupyter_paddle_gpu", "paddle-gpu/api/events", hello, folder)
        found: dict[str, Any] = {}
        with server.running(watched(environment(folder, counters), counters)):
            time.sleep(3)
            session = Session(server)

            def play(scenes: dict[str, Scene]) -> None:
                for title, scene in scenes.items():
                    counters.clear()
                    scene_began = time.monotonic()
                    scene(session)
                    found[title] = {"seconds": time.monotonic() - scene_began, **counters.rounds()}
                    print(title, found[title], flush=True)

            play(SCENES)
            session.long = fill(folder / "data", session.first)
            play(LATER)
    columns = ("scene", *next(iter(found.values())))
    show(
        f"Rounds of the event loop, {CARDS} cards",
        columns,
        [[title, *(one[key] for key in columns[1:])] for title, one in found.items()],
    )
    save("event_loop", {"cards": CARDS, "seconds": time.monotonic() - began, "scenes": found})


if __name__ == "__main__":
    main()
