"""One policy file reaches matching, engines and images; a wrong one is named with its field and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.engines import registry
from jupyter_paddle_gpu.services import Services, Settings
from jupyter_paddle_gpu.services.imaging import image_for
from jupyter_paddle_gpu.services.placing import engine_name
from jupyter_paddle_gpu.services.policies import Policies, load_policies

TYPES = registry.load().types
WHOLE = {
    "engine": "docker",
    "matching": {"memory_threshold": 0.8, "prefer": "least_free", "excluded": ["0"]},
    "docker": {"data_folders": ["/data"], "networks": ["none"], "allowed_images": ["a.example/x"], "pids": 100},
    "images": {"registries": ["mirror.example/paddle"], "allowed": ["team.example/*"], "preferred": ""},
}


def written(folder: Path, content: object) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / "policy.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_without_a_file_the_defaults_hold(tmp_path):
    assert load_policies(None, tmp_path, TYPES) == Policies()


def test_the_file_reaches_every_room(tmp_path):
    written(tmp_path / "data", WHOLE)
    services = Services(Settings(data_folder=tmp_path / "data"))
    assert list(services.engines) == ["docker", "local"]
    assert engine_name(services.engines, "") == "docker"
    assert (services.policy.memory_threshold, services.policy.excluded) == (0.8, ("0",))
    docker = services.engines["docker"].settings
    assert (docker.data_folders, docker.networks, docker.pids) == (("/data",), ("none",), 100)
    assert docker.allowed_images == ("a.example/x", "team.example/*", "mirror.example/paddle")
    assert docker.store == str(tmp_path / "data" / "jobs")
    inventory = services.inventory()
    choice = image_for(inventory, (), "3.3.1", policy=services.policies.images)
    assert choice.reference == "mirror.example/paddle:3.3.1"
    services.close()


def test_the_variable_names_a_file_for_every_face_and_the_dispatcher(tmp_path, monkeypatch):
    path = written(tmp_path / "etc", {"engine": "docker"})
    monkeypatch.setenv("PADDLE_GPU_POLICY", str(path))
    assert engine_name(Services(Settings(data_folder=tmp_path / "data")).engines, "") == "docker"
    monkeypatch.delenv("PADDLE_GPU_POLICY")
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=path))
    assert services._dispatcher_environment() == {"PADDLE_GPU_POLICY": str(path)}


@pytest.mark.parametrize(
    ("content", "code", "names"),
    [
        ("{", "policy_unreadable", "truncated"),
        ([], "policy_wrong", "“$”"),
        ({"docekr": {}}, "policy_wrong", "“docekr”"),
        ({"engine": "slurm"}, "policy_wrong", "“engine”"),
        ({"matching": {"memory_threshold": 1.5}}, "policy_wrong", "“matching.memory_threshold”"),
        ({"matching": {"prefer": "luck"}}, "policy_wrong", "“matching.prefer”"),
        ({"docker": {"privileged": True}}, "policy_wrong", "“docker.privileged”"),
        ({"docker": {"store": "/"}}, "policy_wrong", "“docker.store”"),
        ({"docker": {"pids": "many"}}, "policy_wrong", "“docker.pids”"),
        ({"docker": {"pids": -1}}, "policy_wrong", "“docker.pids”"),
        ({"docker": {"networks": []}}, "policy_wrong", "“docker.networks”"),
        ({"docker": {"memory_headroom": 0.5}}, "policy_wrong", "“docker.memory_headroom”"),
        ({"docker": {"roots": ["data"]}}, "policy_wrong", "“docker.roots”"),
        ({"docker": {"user": "root"}}, "policy_wrong", "“docker.user”"),
        ({"images": {"allowed": "team/*"}}, "policy_wrong", "“images.allowed”"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_field(tmp_path, content, code, names):
    path = written(tmp_path, content)
    with pytest.raises(PaddleGpuError) as caught:
        load_policies(None, tmp_path, TYPES)
    assert caught.value.code == code
    assert str(path) in str(caught.value) and names in str(caught.value)


def test_a_named_file_must_be_there(tmp_path):
    with pytest.raises(PaddleGpuError) as caught:
        load_policies(tmp_path / "absent.json", tmp_path, TYPES)
    assert caught.value.code == "policy_unreadable"


def test_doctor_shows_a_wrong_file(tmp_path):
    written(tmp_path / "data", {"engine": "slurm"})
    services = Services(Settings(data_folder=tmp_path / "data"))
    findings = [check.finding.code for check in services.doctor() if not check.ok]
    assert "policy_wrong" in findings
    services.close()
