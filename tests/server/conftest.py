"""A real Jupyter Server with the extension, on the examples' copies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """A data folder of this test alone."""
    monkeypatch.setenv("PADDLE_GPU_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def jp_server_config(data_folder):
    return {"ServerApp": {"jpserver_extensions": {"jupyter_paddle_gpu": True}, "allow_unauthenticated_access": False}}


@pytest.fixture
def example(jp_root_dir):
    """Copies an example into the server's root and returns its contents path."""

    def copy(name: str, to: str = "") -> str:
        target = jp_root_dir / (to or name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES / name, target)
        return to or name

    return copy


@pytest.fixture
def jp_serverapp(jp_serverapp, jp_asyncio_loop):
    """The plugin's server with its extensions started, as a real one does once its loop runs, and stopped after."""
    jp_asyncio_loop.run_until_complete(jp_serverapp.extension_manager.start_all_extensions())
    yield jp_serverapp
    jp_asyncio_loop.run_until_complete(jp_serverapp.extension_manager.stop_all_extensions())


@pytest.fixture
def api(jp_fetch):
    """`await api("GET", "jobs")` -> (status, JSON); errors are answers, not exceptions."""

    async def call(method: str, *path: str, body: Any = None, headers: Any = None, **params: Any):
        from tornado.httpclient import HTTPClientError

        data = None if body is None else body if isinstance(body, (str, bytes)) else json.dumps(body)
        if data is None and method in ("POST", "PUT", "PATCH"):
            data = ""
        try:
            response = await jp_fetch(
                "paddle-gpu",
                "api",
                *path,
                method=method,
                body=data,
                params=params,
                headers=headers or {},
                request_timeout=300,
            )
        except HTTPClientError as error:
            response = error.response
        return response.code, json.loads(response.body) if response.body else None

    return call
