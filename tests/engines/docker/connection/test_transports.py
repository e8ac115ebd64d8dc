"""The two ways to a daemon give the same answers: our own over its socket, and Docker's SDK for any other address."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys

import pytest
from conftest import IMAGE

from jupyter_paddle_gpu.engines.docker.connection.api import Api, greet
from jupyter_paddle_gpu.engines.docker.connection.contexts import current_host
from jupyter_paddle_gpu.engines.docker.connection.daemon import transport_to
from jupyter_paddle_gpu.engines.docker.connection.faults import is_timeout
from jupyter_paddle_gpu.engines.docker.connection.sdk import Sdk
from jupyter_paddle_gpu.engines.docker.connection.transport import DaemonError


@pytest.fixture(params=[transport_to, Sdk], ids=["socket", "sdk"])
def api(request, daemon):
    """The interface by one of them."""
    transport = request.param(daemon.host)
    version, podman = greet(transport, 60.0)
    assert not podman
    made = Api(transport, version, 60.0)
    yield made
    made.close()


def test_what_is_there_and_what_is_not(api, daemon):
    sdk = daemon.api()
    assert api.info()["ID"] == sdk.info()["ID"]
    assert api.inspect_image(IMAGE) == sdk.inspect_image(IMAGE)
    assert {row["Id"] for row in api.images()} == {row["Id"] for row in sdk.images()}
    assert api.inspect_image("nobody/nothing:1") is None
    assert api.inspect_container("nobody") is None


def test_a_container_from_its_making_to_its_end(api):
    body = {"Image": IMAGE, "Cmd": ["sh", "-c", "echo up; exit 3"], "Labels": {"of": "this-test"}}
    made = api.create_container(body)
    try:
        assert [row["Id"] for row in api.containers(["of=this-test"], ["created"])] == [made]
        assert api.containers(["of=this-test"], ["running"]) == []
        assert api.stat_path(made, "/bin/busybox")["name"] == "busybox"
        assert api.stat_path(made, "/bin/nothing") is None
        api.start(made)
        assert api.wait(made) == 3
        assert api.stats(made) is None or not api.stats(made)["pids_stats"]
        with api.asking("GET", f"/containers/{made}/logs", {"stdout": 1}) as answer:
            assert b"".join(answer.chunks()).endswith(b"up\n")
        with pytest.raises(DaemonError) as caught:
            api.kill(made, "SIGTERM")
        assert (caught.value.status, "is not running" in caught.value.words) == (409, True)
    finally:
        api.remove_container(made)
    assert api.inspect_container(made) is None


def test_a_silence_ends_in_a_timeout_and_a_hang_up_in_an_end(api):
    made = api.create_container({"Image": IMAGE, "Cmd": ["sleep", "1000"]})
    try:
        api.start(made)
        with pytest.raises(OSError) as caught:
            api.within(0.2).wait(made)
        assert is_timeout(caught.value)
        with api.asking("GET", f"/containers/{made}/logs", {"stdout": 1, "follow": 1}) as answer:
            answer.hang_up()
            with contextlib.suppress(OSError):
                assert b"".join(answer.chunks()) == b""
    finally:
        api.remove_container(made)


def test_a_context_that_was_chosen(tmp_path, monkeypatch):
    """By the command itself, as a person chooses it."""
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    assert current_host() == ""
    docker = ["docker", "context"]
    subprocess.run([*docker, "create", "far", "--docker", "host=tcp://far.invalid:2375"], check=True)
    assert current_host() == ""
    subprocess.run([*docker, "use", "far"], check=True)
    assert current_host() == "tcp://far.invalid:2375"
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "gone"}))
    assert current_host() == ""
    (tmp_path / "config.json").write_text("[")
    assert current_host() == ""


def test_a_socket_is_reached_without_the_sdk():
    """It takes longer to load than `docker run` takes to start."""
    script = (
        "import sys; from jupyter_paddle_gpu.engines.docker.engine import DockerEngine;"
        "DockerEngine().supported_features(); print([n for n in ('docker', 'requests', 'urllib3') if n in sys.modules])"
    )
    environment = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert out.stdout.strip() == "[]"
