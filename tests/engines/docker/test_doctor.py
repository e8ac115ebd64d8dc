"""What is missing is said before Submit, with the next step."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any, ClassVar

import pytest
from conftest import IMAGE, Bench, notebook_of, until
from docker import errors
from stand_ins.daemon import PrivateDaemon
from stand_ins.image import make_image

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Resources
from jupyter_paddle_gpu.engines.docker import DockerSettings, doctor
from jupyter_paddle_gpu.engines.docker.connection.daemon import read_facts
from jupyter_paddle_gpu.engines.docker.devices import access
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from jupyter_paddle_gpu.engines.docker.labels import LABEL_OWNER, LABEL_ROLE, owner
from jupyter_paddle_gpu.services import Services, Settings, Submission


def codes(messages):
    assert all(message.render() for message in messages)
    return [message.code for message in messages]


def test_all_is_well(bench):
    features = bench.engine.supported_features()
    assert features.available
    assert features.containers
    assert features.memory_limit
    assert codes(features.problems) in ([], ["memory_limit_unsupported"])
    job, _ = bench.job("1")
    assert bench.engine.check(job) == ()


def test_a_gpu_that_can_be_handed_out_is_probed_with_a_container(bench):
    job, _ = bench.job("1", device_ids=("GPU-fake-1",))
    assert bench.engine.check(job) == ()
    assert bench.engine.supported_features().gpus
    absent, _ = bench.job("1", device_ids=("GPU-fake-7",))
    assert codes(bench.engine.check(absent)) == ["device_unknown"]
    any_one, _ = bench.job("1", resources=Resources(gpus=1))
    assert bench.engine.check(any_one) == ()
    probes = {"label": "jupyter-paddle-gpu.role=probe"}
    until(lambda: not bench.api.containers(all=True, filters=probes))


def test_many_jobs_at_once_ask_for_their_image_once(bench, monkeypatch):
    monkeypatch.setattr(doctor, "FACTS_SECONDS", 3600.0)  # however slow this machine is
    asked, really = [], bench.engine.daemon.inspect_image
    monkeypatch.setattr(bench.engine.daemon, "inspect_image", lambda name: asked.append(name) or really(name))
    jobs = [bench.job("1")[0] for _ in range(10)]
    assert {bench.engine.check(job) for job in jobs} == {()}
    assert asked == [f"docker.io/{IMAGE}"]
    absent, _ = bench.job("1", image="stand-in/absent:1")
    for _ in range(2):  # what is not here may come at any moment
        assert codes(bench.engine.check(absent))[-1:] in (["image_missing"], ["registry_unreachable"], ["pull_refused"])
    assert asked == [f"docker.io/{IMAGE}", *["docker.io/stand-in/absent:1"] * 2]


def test_no_toolkit(image_archive, tmp_path):
    """A daemon without NVIDIA's hook, as most people have it first."""
    folder = Path(tempfile.mkdtemp(prefix="pgd-"))
    plain = PrivateDaemon(folder, hook=False)
    try:
        plain.start()
        make_image(plain.api(), IMAGE, archive=image_archive)
        bench = Bench(tmp_path, plain.host)
        job, job_folder = bench.job("1", device_ids=("GPU-fake-0",))
        (problem,) = bench.engine.check(job)
        assert problem.code == "gpu_toolkit_missing"
        assert "nvidia-ctk runtime configure" in problem.render_hint()
        assert not bench.engine.supported_features().gpus
        with pytest.raises(PaddleGpuError) as caught:
            bench.start(job, job_folder)
        assert caught.value.code == "gpu_toolkit_missing"
        assert bench.engine.adopt() == {}
        assert bench.engine.check(bench.job("1")[0]) == ()
    finally:
        plain.dispose()


def test_no_daemon(tmp_path):
    engine = DockerEngine(DockerSettings(host=f"unix://{tmp_path}/absent.sock"))
    features = engine.supported_features()
    assert not features.available
    assert codes(features.problems) == ["docker_missing"]
    assert "systemctl" in features.problems[0].render_hint()


def test_a_socket_nobody_listens_on(tmp_path):
    path = tmp_path / "dead.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    engine = DockerEngine(DockerSettings(host=f"unix://{path}"))
    assert codes(engine.supported_features().problems) == ["engine_unreachable"]


# Everything is imported while it may be read; then a user without any group asks the real daemon's socket.
_NOBODY = """
import json, os, sys
from jupyter_paddle_gpu.engines.docker import DockerSettings, doctor
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
DockerEngine(DockerSettings(host="unix:///absent.sock")).supported_features()
os.setgroups([]); os.setgid(65534); os.setuid(65534)
features = DockerEngine(DockerSettings(host=sys.argv[1])).supported_features()
print(json.dumps([features.available, [(p.code, p.render(), p.render_hint()) for p in features.problems]]))
"""


def test_no_permission_for_the_socket(daemon):
    daemon.folder.chmod(0o711)  # as /run is: the socket itself is what refuses
    ask = subprocess.run(
        [sys.executable, "-c", _NOBODY, daemon.host], capture_output=True, text=True, check=True, timeout=60
    )
    available, problems = json.loads(ask.stdout)
    assert not available
    ((code, sentence, step),) = problems
    assert (code, sentence) == ("docker_permission", "Docker's socket may not be used by this user.")
    assert "`sudo usermod -aG docker $USER`" in step
    assert "log out and in again" in step
    assert DockerEngine(DockerSettings(host=daemon.host)).supported_features().available, "who may, can"


class _Answers(BaseHTTPRequestHandler):
    """Docker's interface, as far as a daemon that is not at hand is asked here: `/info` and `/_ping`."""

    info: ClassVar[dict[str, Any]] = {}
    greeting: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        body = json.dumps(self.info).encode() if self.path.endswith("/info") else b"OK"
        self.send_response(200)
        for name, value in {"Api-Version": "1.41", **self.greeting}.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "socket"

    def log_message(self, *args: object) -> None:
        pass


class _Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True


@pytest.fixture
def other(tmp_path):
    """An engine whose daemon says this of itself."""
    servers = []

    def make(greeting=None, **info):
        handler = type("Handler", (_Answers,), {"greeting": greeting or {}, "info": {"ID": "x", **info}})
        servers.append(_Server(str(tmp_path / f"{len(servers)}.sock"), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return DockerEngine(DockerSettings(host=f"unix://{tmp_path}/{len(servers) - 1}.sock", disk_bytes=0))

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_daemon_on_another_machine(monkeypatch):
    """It answers, and is of no use: paths of this machine mean nothing there."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_address[1]}")
    try:
        features = DockerEngine().supported_features()
        assert not features.available
        assert codes(features.problems) == ["docker_remote"]
        assert "DOCKER_HOST" in features.problems[0].render_hint()
    finally:
        server.shutdown()
        server.server_close()
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    assert codes(DockerEngine().supported_features().problems) == ["engine_unreachable"]


def test_podman_is_refused_for_gpus(other):
    engine = other({"Libpod-API-Version": "5.4.2", "Libpod-Buildah-Version": "1.39.3"})
    features = engine.supported_features()
    assert "podman_ignores_gpus" in codes(features.problems)
    assert not features.gpus
    with pytest.raises(PaddleGpuError) as caught:
        access(("GPU-1",), engine.daemon.facts(), engine.settings)
    assert caught.value.code == "podman_ignores_gpus"


@pytest.mark.parametrize(
    ("info", "code", "step"),
    [
        ({"SecurityOptions": ["name=rootless"]}, "docker_rootless", "no-cgroups"),
        ({"OperatingSystem": "Docker Desktop"}, "docker_desktop", "File sharing"),
        ({"MemoryLimit": False}, "memory_limit_unsupported", "cgroup_enable=memory"),
    ],
)
def test_what_to_expect_of_other_daemons(other, info, code, step):
    features = other(**info).supported_features()
    assert features.available
    assert codes(features.problems) == [code]
    assert step in features.problems[0].render_hint()


def test_a_daemon_that_takes_the_request_and_gives_no_gpu(daemon, make_bench):
    """A hook that does nothing, as an unfinished configuration of the toolkit has it; then somebody finishes it."""
    bench = make_bench(silence_seconds=0.2)
    hook = daemon.folder / "tools" / "nvidia-container-runtime-hook"
    real = hook.readlink()
    hook.unlink()
    hook.symlink_to("/bin/true")
    try:
        job, _ = bench.job("1", device_ids=("GPU-fake-0",))
        (problem,) = bench.engine.check(job)
        assert problem.code == "gpu_request_ignored"
        assert "nvidia-ctk runtime configure" in problem.render_hint()
        assert not bench.engine.supported_features().gpus
    finally:
        hook.unlink()
        hook.symlink_to(real)
    until(lambda: bench.engine.check(job) == ())
    assert bench.engine.supported_features().gpus


def test_the_doctor_tries_whether_a_gpu_is_handed_out(daemon, make_bench, tmp_path):
    """Where the machine has a card; a hook that does nothing says of itself that all is well."""
    (tmp_path / "dev").mkdir()
    bench = make_bench(silence_seconds=0.2)
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/nvidia-ctk").touch()
    bench.engine = DockerEngine(bench.settings, root=tmp_path)
    hook = daemon.folder / "tools" / "nvidia-container-runtime-hook"
    real = hook.readlink()
    hook.unlink()
    hook.symlink_to("/bin/true")
    try:
        assert "gpu_request_ignored" not in codes(bench.engine.examine()), "no card, no question"
        (tmp_path / "dev/nvidiactl").touch()
        assert "gpu_request_ignored" not in codes(bench.engine.supported_features().problems), "a look starts nothing"
        assert codes(bench.engine.examine())[-1] == "gpu_request_ignored"
    finally:
        hook.unlink()
        hook.symlink_to(real)
    until(lambda: "gpu_request_ignored" not in codes(bench.engine.examine()))


def test_forgotten_trials_go_with_the_leftovers(bench):
    """A server that dies in the middle of a submit leaves a container that was never started."""
    labels = {LABEL_OWNER: owner(), LABEL_ROLE: "probe"}
    api = bench.api
    made = api.create_container_from_config({"Image": IMAGE, "Cmd": ["true"], "Labels": labels})["Id"]
    try:
        bench.engine.remove_leftovers(())
        assert bench.engine.daemon.inspect_container(made), "somebody may be trying it right now"
        time.sleep(1.1)  # Docker tells the second in which it was made
        bench.another(probe_seconds=1.0).remove_leftovers(())
        assert bench.engine.daemon.inspect_container(made) is None
    finally:
        with contextlib.suppress(errors.NotFound):
            api.remove_container(made, force=True)


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"resources": Resources(gpus=1, device_ids=("GPU-fake-7",))}, "device_unknown"),
        ({"image": "evil.example/x:1"}, "image_not_allowed"),
        ({"resources": Resources(cpus=4096)}, "resources_not_there"),
        ({"options": {"privileged": True}}, "option_unknown"),
        ({}, None),
    ],
)
def test_a_preflight_says_what_a_submit_would_be_refused_with(daemon, tmp_path, wish, code):
    policy, notebook = tmp_path / "policy.json", tmp_path / "a.ipynb"
    docker = {"host": daemon.host, "networks": ["none"]}
    policy.write_text(json.dumps({"docker": docker, "images": {"allowed": ["stand-in/*"]}}))
    notebook.write_text(json.dumps(notebook_of("print(1)")))
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=policy))
    try:
        submission = Submission(**{"engine": "docker", "image": IMAGE, "estimate": False, **wish})
        found = codes(services.preflight(services.open(notebook), submission).problems)
        assert found == [code] * (code is not None)
        assert services.jobs.list() == ()
        with pytest.raises(PaddleGpuError) if code else contextlib.nullcontext() as caught:
            services.submit(services.open(notebook), submission)
        assert caught is None or caught.value.code == code
        for job in services.jobs.list():
            services.jobs.wait(services.jobs.cancel(job.id).id, 60)
    finally:
        services.close()


def test_too_much_is_asked_for(bench):
    job, _ = bench.job("1", resources=Resources(cpus=4096, memory_bytes=1 << 50))
    assert codes(bench.engine.check(job)) == ["resources_not_there", "resources_not_there"]


def test_what_the_policy_refuses_is_said_in_the_preflight(bench):
    assert codes(bench.engine.check(bench.job("1", folder="/etc")[0])) == ["path_of_system"]
    assert codes(bench.engine.check(bench.job("1", image="evil.example/x")[0])) == ["image_not_allowed"]


def test_too_little_disk(make_bench):
    bench = make_bench(disk_bytes=1 << 60)
    assert codes(bench.engine.check(bench.job("1")[0])) == ["disk_full"]


def test_facts_of_other_daemons():
    info = {
        "ID": "x", "SecurityOptions": ["name=rootless"], "OperatingSystem": "Docker Desktop", "MemoryLimit": False,
        "Runtimes": {"nvidia": {}}, "DiscoveredDevices": [{"Source": "cdi", "ID": "nvidia.com/gpu=0"}],
    }  # fmt: skip
    facts = read_facts(info, podman=False)
    assert facts.rootless
    assert facts.desktop
    assert not facts.limits_memory
    assert facts.cdi == ("nvidia.com/gpu=0",)
