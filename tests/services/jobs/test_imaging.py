"""Before a job has devices, its image is the one for the devices it would get."""

from __future__ import annotations

import json

import msgspec
import pytest

from jupyter_paddle_gpu.domain.containers.images import LocalImage, RegistryAnswer
from jupyter_paddle_gpu.domain.decisions import Choice
from jupyter_paddle_gpu.domain.devices import Device, Driver, HostSample, Inventory
from jupyter_paddle_gpu.domain.engines import Features
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.images.choice import ImagePolicy
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.services import Services, Settings
from jupyter_paddle_gpu.services.estimates.estimating import Estimating
from jupyter_paddle_gpu.services.jobs.imaging import chooser, expected_devices, with_release
from jupyter_paddle_gpu.services.policies.files import Policies

HOST = HostSample(cpu_count=2, cpu_percent=0.0, memory_total=1, memory_available=1)


def card(number, free, **fields):
    given = {"vendor": "nvidia", "name": "A100", "compute_capability": (8, 0), **fields}
    return Device(id=f"g{number}", index=number, memory_total=100, memory_free=free, **given)


INVENTORY = Inventory(
    time=1.0,
    host=HOST,
    drivers={"nvidia": Driver(version="570.00")},
    devices=(card(0, 10), card(1, 90), card(2, 50), card(3, 99, simulated=True)),
)


def job(gpus=0, ids=(), given=()):
    resources = Resources(gpus=gpus, device_ids=ids)
    spec = JobSpec(name="a", notebook="/n", output="/o", folder="/", engine="docker", resources=resources)
    return Job(id="a", spec=spec, state="queued", created=1.0, updated=1.0, device_ids=given)


@pytest.mark.parametrize(
    ("wanted", "devices"),
    [
        (job(), ()),
        (job(1), ("g1",)),
        (job(2), ("g1", "g2")),
        (job(1, ids=("g0",)), ("g0",)),
        (job(1, given=("g2",)), ("g2",)),
    ],
)
def test_the_devices_are_those_the_queue_would_give(wanted, devices):
    assert expected_devices(wanted, INVENTORY, Policy()) == devices


def test_they_follow_the_policy_as_the_queue_does():
    """Else a job would be given the image for a card that it never gets."""
    assert expected_devices(job(1), INVENTORY, Policy(excluded=("g1",))) == ("g2",)
    assert expected_devices(job(1), INVENTORY, Policy(prefer="least_free")) == ("g0",)
    small = msgspec.structs.replace(job(1).spec, resources=Resources(gpus=1, gpu_memory_bytes=30))
    needy = msgspec.structs.replace(job(1), spec=small)
    assert expected_devices(needy, INVENTORY, Policy(prefer="least_free")) == ("g2",)


@pytest.mark.parametrize("device", ["", "A100"])
def test_images_are_named_where_there_is_no_daemon(tmp_path, device):
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({"docker": {"host": f"unix://{tmp_path}/absent.sock"}}))
    services = Services(Settings(data_folder=tmp_path, policy_file=policy))
    try:
        assert services.images("3.3.1", device)[-1].reference.partition(":")[2].startswith("3.3.1")
    finally:
        services.close()


def test_preflight_looks_at_the_gpu_image():
    choose = chooser(lambda: INVENTORY)
    silent = lambda reference: RegistryAnswer(state="silent")  # noqa: E731
    assert "-gpu-cuda" in choose(job(1), (), silent).reference
    assert "-gpu-cuda" not in choose(job(), (), silent).reference
    no_card = msgspec.structs.replace(INVENTORY, devices=())
    assert "-gpu-cuda" not in chooser(lambda: no_card)(job(1), (), silent).reference


class Containers:
    """An engine, as far as the choice of an image asks it."""

    def __init__(self, *, has_containers):
        self.has_containers = has_containers

    def supported_features(self):
        title = Message(code="containers", text="Containers")
        can = {"gpus": True, "containers": self.has_containers, "memory_limit": True, "time_limit": True}
        return Features(name="there", title=title, several_devices=True, statistics=True, available=True, **can)

    def local_images(self):
        return (LocalImage(id="sha256:1", references=("registry.example/team/own:1",)),)


@pytest.mark.parametrize(
    ("image", "containers", "kernel", "release"),
    [
        ("paddlepaddle/paddle:2.6.2-gpu-cuda11.7-cudnn8.4-trt8.4", True, "3.3.1", "2.6.2"),
        ("paddlepaddle/paddle:2.6.2-gpu-cuda11.7-cudnn8.4-trt8.4", False, "3.3.1", ""),
        ("", True, "3.3.1", ""),
        ("", True, "3.1.1", "3.1.0"),
        ("registry.example/team/own:1", True, "3.3.1", None),
    ],
)
def test_a_request_has_the_release_of_the_jobs_image(monkeypatch, image, containers, kernel, release):
    monkeypatch.setattr("jupyter_paddle_gpu.services.jobs.imaging.kernel_paddle", lambda name: kernel)
    policies = Policies(images=ImagePolicy(allowed=("registry.example/team/*",)))
    engine, asked = Containers(has_containers=containers), EstimateRequest(batch_size=8)
    given = {"policies": policies, "kernel_name": "python3", "image": image}
    found = with_release(asked, engine, INVENTORY, Choice(), **given)
    assert found == msgspec.structs.replace(asked, release=release)
    said = msgspec.structs.replace(asked, release="3.0.0")
    assert with_release(said, engine, INVENTORY, Choice(), **given) == said
    none = msgspec.structs.replace(INVENTORY, devices=())
    assert with_release(asked, engine, none, Choice(), **given) == asked, "a CPU's figure hangs on none"


IMAGE = "paddlepaddle/paddle:2.6.2-gpu-cuda11.7-cudnn8.4-trt8.4"


@pytest.mark.parametrize("ask", ["estimate", "fits", "match"])
def test_engine_and_image_that_are_named_are_those_of_the_estimate(tmp_path, monkeypatch, ask):
    seen = []

    def with_image(request, engine, *_, image, **__):
        seen.append((engine.supported_features().name, image))
        return request

    monkeypatch.setattr("jupyter_paddle_gpu.services.jobs.matching.with_release", with_image)
    (tmp_path / "a.py").write_text("print(1)")
    services = Services(Settings(data_folder=tmp_path / "data"))
    try:
        source = services.open(tmp_path / "a.py")
        getattr(services, ask)(source, engine="docker", image=IMAGE)
        getattr(services, ask)(source)
    finally:
        services.close()
    assert seen == [("docker", IMAGE), ("local", "")]


@pytest.mark.parametrize("ask", ["place_trace", "fits_of"])
def test_engine_and_image_that_are_named_are_those_of_live_objects(tmp_path, monkeypatch, ask):
    seen = []

    def with_image(request, engine, *_, image, paddle_version, **__):
        seen.append((engine.supported_features().name, image, paddle_version))
        return msgspec.structs.replace(request, release="3.0.0")

    monkeypatch.setattr("jupyter_paddle_gpu.services.jobs.matching.with_release", with_image)
    monkeypatch.setattr(Estimating, "fits_of", lambda _self, _trace, request, _devices: request)
    trace = {"status": "no_model", "paddle_version": "3.3.1"}
    given, asked = trace if ask == "place_trace" else lambda batch: trace, EstimateRequest(target="cpu")
    services = Services(Settings(data_folder=tmp_path / "data"))
    try:
        found = getattr(services, ask)(given, asked, engine="docker", image=IMAGE)
        getattr(services, ask)(given, asked)
        with pytest.raises(PaddleGpuError) as refused:
            getattr(services, ask)(given, asked, engine="nowhere")
    finally:
        services.close()
    assert seen == [("docker", IMAGE, "3.3.1"), ("local", "", "3.3.1")]
    assert refused.value.message.code == "unknown_engine"
    assert found[1].engine == "docker" if ask == "place_trace" else found.release == "3.0.0"
