"""Receivers on this machine: an HTTP server that keeps what it is sent, and a mail server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Progress
from jupyter_paddle_gpu.domain.messages import Message


@dataclass
class Robot:
    """What came, and what is answered: (status, body) for each request in turn, the last one for all after it."""

    url: str
    came: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    answers: list[tuple[int, bytes]] = field(default_factory=lambda: [(200, b"{}")])
    may_answer: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def robot() -> Iterator[Robot]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            robot.came.append((self.path, dict(self.headers), body))
            robot.arrived.set()
            robot.may_answer.wait(60)
            status, answer = robot.answers.pop(0) if len(robot.answers) > 1 else robot.answers[0]
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    robot = Robot(f"http://127.0.0.1:{server.server_address[1]}/hook/THE-KEY")
    robot.may_answer.set()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield robot
    robot.may_answer.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def ended() -> Callable[..., Job]:
    def make(state: str = "succeeded", **fields: Any) -> Job:
        spec = JobSpec(
            name="tagger", notebook="/w/tagger.ipynb", output="/w/runs/tagger-1.ipynb", folder="/w", engine="local",
            environment={"TOKEN": "do-not-tell"},
        )  # fmt: skip
        reason = None if state == "succeeded" else Message(code="cell_error", text="Cell 6 raised <KeyError> & more.")
        known: dict[str, Any] = {"started": 1_000.0, "ended": 1_100.0, "reason": reason}
        known["progress"] = Progress(metrics={"loss": 0.25, "acc": 0.91})
        return Job(id="20260101-abc", spec=spec, state=state, created=999.0, updated=1_100.0, **{**known, **fields})

    return make
