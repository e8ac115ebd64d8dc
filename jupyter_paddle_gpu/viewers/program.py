"""A viewer on a Unix socket, in an interpreter that has its package: `program.py NAME SOCKET PREFIX FOLDER SECONDS`.

It listens on no port: the socket lies in a folder of the server's user alone, and the server passes on what Jupyter's
login has let in. It ends when nobody asked anything for `SECONDS`, and with the process that started it. Exit status 3:
the package is not installed.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

MISSING = 3
READY = b"ready\n"
_LOOK_SECONDS = 1.0


def _visualdl(folder: str, prefix: str) -> Any:
    """Without its telemetry; `/` leads to its page in the reader's language."""
    from visualdl.server.app import create_app
    from visualdl.server.args import ParseArgs

    application = create_app(ParseArgs(logdir=[folder], public_path=prefix, telemetry=False))

    def speaking(environ: dict[str, Any], start_response: Any) -> Any:
        # It fails for a reader of none of its two languages.
        asked = environ.get("HTTP_ACCEPT_LANGUAGE")
        environ["HTTP_ACCEPT_LANGUAGE"] = asked + ",en;q=0.01" if asked else "en"
        return application(environ, start_response)

    return speaking


def _tensorboard(folder: str, prefix: str) -> Any:
    """With its own reader of files: the fast one would listen on a port."""
    from tensorboard import default, program

    made = []

    class Kept:
        """Stands where TensorBoard's own server would, and keeps what that would serve."""

        def __init__(self, app: Any, flags: Any) -> None:
            made.append(app)

        def serve_forever(self) -> None:
            """Ours does."""

        def get_url(self) -> str:
            """Nobody asks."""
            return ""

    board = program.TensorBoard(default.get_plugins(), server_class=Kept)
    board.configure(["tensorboard", "--logdir", folder, "--path_prefix", prefix, "--load_fast", "false"])
    board.launch()
    return made[0]


APPLICATIONS: dict[str, tuple[Callable[[str, str], Any], bool]] = {
    "visualdl": (_visualdl, False),
    "tensorboard": (_tensorboard, True),
}
"""Name (and package) -> what makes its WSGI application, and whether that answers in several threads."""


class Server(WSGIServer):
    """A WSGI server on a Unix socket."""

    address_family = getattr(socket, "AF_UNIX", socket.AF_UNSPEC)
    allow_reuse_address = False
    asked = 0.0
    """When somebody asked last."""

    def server_bind(self) -> None:
        """A socket has neither host nor port."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", 0
        self.setup_environ()

    def get_request(self) -> Any:
        """A connection; an address is what the handler wants to see."""
        self.asked = time.monotonic()
        return self.socket.accept()[0], ("localhost", 0)


class ThreadingServer(socketserver.ThreadingMixIn, Server):
    """The same with a thread for each request."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Writes no line for each request."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def _end_with_parent() -> None:
    """Its end closes our stdin."""
    sys.stdin.buffer.read()
    os._exit(0)


def _end_unasked(server: Server, seconds: float) -> None:
    while time.monotonic() - server.asked < seconds:
        time.sleep(min(_LOOK_SECONDS, seconds))
    os._exit(0)


def main(name: str, path: str, prefix: str, folder: str, seconds: str) -> int:
    """Serve until nobody asks any more."""
    if importlib.util.find_spec(name) is None:
        return MISSING
    threading.Thread(target=_end_with_parent, daemon=True).start()
    ready = os.dup(1)
    os.dup2(2, 1)  # what the viewer prints is no word of ours
    make, threads = APPLICATIONS[name]
    application = make(folder, prefix)
    with (ThreadingServer if threads else Server)(path, Quiet) as server:  # type: ignore[arg-type]
        server.set_app(application)
        os.write(ready, READY)
        os.close(ready)
        server.asked = time.monotonic()
        threading.Thread(target=_end_unasked, args=(server, float(seconds)), daemon=True).start()
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
