"""A registry and a package index on loopback, with the moods that real ones have."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import tarfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOGIN = base64.b64encode(b"ada:secret").decode()
"""As `docker login` keeps it."""
PASSWORD = f"Basic {LOGIN}"
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


def _sha(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


def _data_layer(name: str, size: int) -> bytes:
    """A layer with one file of random data."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = size
        tar.addfile(entry, io.BytesIO(os.urandom(size)))
    return raw.getvalue()


def _saved_image(archive: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """(configuration, layers) of what `docker save` wrote."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:

        def read(name: str) -> bytes:
            file = tar.extractfile(name)
            assert file is not None
            return file.read()

        (manifest,) = json.loads(read("manifest.json"))
        return json.loads(read(manifest["Config"])), [read(name) for name in manifest["Layers"]]


class Registry:
    """Serves `team/model:1`.

    Args:
        archive: an image as `docker save` writes it, below the layers of random data; empty: these alone. (Layers
            that a daemon has had once it does not fetch again.)

    Attributes:
        mood: ok; private (asks for `LOGIN`); denied (403), unauthorized (401), missing (404), busy (429), down (503);
            broken (cuts the connection in the middle of a layer); slow; stuck (slow, and from the middle of a layer on
            nothing comes while it is).
    """

    def __init__(self, *, archive: bytes = b"", layers: int = 3, layer_bytes: int = 1 << 20) -> None:
        self.mood = "ok"
        self.requests: list[str] = []
        known = _saved_image(archive) if archive else ({"architecture": "amd64", "os": "linux", "config": {}}, [])
        raw = [*known[1], *(_data_layer(f"data-{n}", layer_bytes) for n in range(layers))]
        config = json.dumps(
            {**known[0], "history": [], "rootfs": {"type": "layers", "diff_ids": [_sha(layer) for layer in raw]}}
        ).encode()
        packed = [gzip.compress(layer, 1) if layer not in known[1] else layer for layer in raw]
        self.blobs = {_sha(blob): blob for blob in (config, *packed)}
        rows = [{"mediaType": _LAYER, "size": len(layer), "digest": _sha(layer)} for layer in packed]
        self.manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": {
                    "mediaType": "application/vnd.docker.container.image.v1+json",
                    "size": len(config),
                    "digest": _sha(config),
                },
                "layers": rows,
            }
        ).encode()
        self.digest = _sha(self.manifest)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def image(self) -> str:
        return f"{self.address}/team/model:1"

    def close(self) -> None:
        self.mood = "ok"  # who is stuck goes on
        self._server.shutdown()
        self._server.server_close()

    def _handler(registry) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def answer(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                if self.command != "HEAD":
                    self.send_body(body)

            def send_body(self, body: bytes) -> None:
                if len(body) < 100_000 or registry.mood not in ("slow", "stuck", "broken"):
                    self.wfile.write(body)
                    return
                for start in range(0, len(body), 32_768):
                    if registry.mood == "broken" and start > len(body) // 2:
                        self.close_connection = True
                        self.connection.close()
                        return
                    while registry.mood == "stuck" and start > len(body) // 2:
                        time.sleep(0.05)
                    self.wfile.write(body[start : start + 32_768])
                    time.sleep(0.1 if registry.mood in ("slow", "stuck") else 0)

            def error(self, status: int, code: str, text: str) -> None:
                self.answer(status, json.dumps({"errors": [{"code": code, "message": text}]}).encode())

            def do_GET(self) -> None:
                registry.requests.append(f"{self.command} {self.path}")
                what, _, which = self.path.rpartition("/")
                try:
                    if registry.mood == "private" and self.headers.get("Authorization") != PASSWORD:
                        self.answer(401, b"{}", WWW_Authenticate='Basic realm="team"')
                    elif self.path == "/v2/":
                        self.answer(200, b"{}")
                    elif registry.mood == "unauthorized":
                        self.error(401, "UNAUTHORIZED", "authentication required")
                    elif registry.mood == "down":
                        self.error(503, "UNAVAILABLE", "service unavailable")
                    elif registry.mood == "denied":
                        self.error(403, "DENIED", "requested access to the resource is denied")
                    elif registry.mood == "busy":
                        self.error(429, "TOOMANYREQUESTS", "You have reached your pull rate limit.")
                    elif what.endswith("/manifests") and registry.mood != "missing" and which in ("1", registry.digest):
                        self.answer(200, registry.manifest, MANIFEST, Docker_Content_Digest=registry.digest)
                    elif what.endswith("/blobs") and which in registry.blobs:
                        self.answer(200, registry.blobs[which], "application/octet-stream")
                    else:
                        self.error(404, "MANIFEST_UNKNOWN", "manifest unknown")
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_HEAD = do_GET

        return Handler


class PackageIndex:
    """A package index with one package, `greeter` 1.0, whose `greet()` says hello."""

    def __init__(self) -> None:
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as wheel:
            wheel.writestr("greeter.py", "def greet():\n    return 'hello from a layer'\n")
            info = "greeter-1.0.dist-info"
            wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n")
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")
        self.requests: list[str] = []
        self._wheel = archive.getvalue()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/simple"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(index) -> type[BaseHTTPRequestHandler]:
        name = "greeter-1.0-py3-none-any.whl"

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                index.requests.append(self.path)
                if self.path == "/simple/greeter/":
                    kind, body = "text/html", f'<a href="/files/{name}">{name}</a>'.encode()
                elif self.path == f"/files/{name}":
                    kind, body = "application/octet-stream", index._wheel
                else:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler
