"""A real Jupyter Server with the extension, on the examples' copies."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from openapi_schema_validator import OAS31Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from jupyter_paddle_gpu.server import schemas
from tests.server.rest_jobs import notebook

ENDED = ("succeeded", "failed", "cancelled")
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


@pytest.fixture
def submit(api):
    """`await submit("1 + 1", ...)`: a job of these cells."""

    async def send(*sources, path="work/train.ipynb", **wishes):
        return await api(
            "POST", "jobs", body={"path": path, "content": notebook(*sources), "engine": "local", **wishes}
        )

    return send


@pytest.fixture
def ended(api):
    """`await ended(job_id)`: the job when it has ended."""

    async def wait(job_id):
        while True:
            _, job = await api("GET", "jobs", job_id)
            if job["state"] in ENDED:
                return job
            await asyncio.sleep(0.1)

    return wait


@pytest.fixture
def folder(jp_root_dir):
    """The folder in which the notebooks of jobs lie."""
    (jp_root_dir / "work").mkdir()
    return jp_root_dir / "work"


@pytest.fixture(scope="session")
def document():
    """The OpenAPI document."""
    return schemas.load()


@pytest.fixture(scope="session")
def check(document):
    """`check("/jobs/{id}", "get", status, answer)`: the answer is as the document has it."""
    registry = Registry().with_resource("doc:", Resource.from_contents(document, default_specification=DRAFT202012))

    def validate_answer(path, method, status, answer):
        responses = document["paths"][path][method]["responses"]
        response = responses.get(str(status), responses["default"])
        if "$ref" in response:
            response = document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
        schema = response["content"]["application/json"]["schema"]
        absolute = yaml.safe_load(yaml.safe_dump(schema).replace("#/components", "doc:#/components"))
        OAS31Validator(absolute, registry=registry).validate(answer)

    return validate_answer
