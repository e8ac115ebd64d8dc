"""One policy file reaches matching, engines and images; a wrong one is named with its field and changes nothing."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import JobSpec
from jupyter_paddle_gpu.engines import registry
from jupyter_paddle_gpu.engines.docker.policy import examine
from jupyter_paddle_gpu.services import Services, Settings
from jupyter_paddle_gpu.services.jobs.imaging import image_for
from jupyter_paddle_gpu.services.jobs.placing import engine_name
from jupyter_paddle_gpu.services.policies.files import Policies, load_policies

TYPES = registry.load().types
WHOLE = {
    "engine": "docker",
    "matching": {"memory_threshold": 0.8, "prefer": "least_free", "excluded": ["0"]},
    "docker": {"data_folders": ["/data"], "networks": ["none"], "pids": 100},
    "images": {"registries": ["mirror.example/paddle"], "allowed": ["team.example/*"], "preferred": "a.example/x"},
    "jobs": {"cpu_slots": {"docker": 3}},
}


def written(folder: Path, content: object) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / "policy.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_without_a_file_the_defaults_hold(tmp_path):
    policies = load_policies(None, tmp_path, TYPES)
    assert policies == Policies(policy_file=str(tmp_path / "paddle-gpu.yaml"), images=policies.images)


def test_the_file_reaches_every_room(tmp_path):
    written(tmp_path / "data", WHOLE)
    services = Services(Settings(data_folder=tmp_path / "data"))
    assert next(iter(services.engines)) == "docker"
    assert engine_name(services.engines, "") == "docker"
    assert (services.policy.memory_threshold, services.policy.excluded) == (0.8, ("0",))
    docker = services.engines["docker"].settings
    assert (docker.data_folders, docker.networks, docker.pids) == (("/data",), ("none",), 100)
    assert docker.allowed_images == ("team.example/*", "a.example/x", "mirror.example/paddle")
    assert docker.policy_file == str(tmp_path / "data" / "policy.json")
    assert (services.jobs.settings.slots("docker"), services.jobs.settings.slots("local")) == (3, 1)
    assert docker.store == str(tmp_path / "data" / "jobs")
    inventory = services.inventory()
    images = msgspec.structs.replace(services.policies.images, preferred="")
    assert image_for(inventory, (), "3.3.1", policy=images).reference == "mirror.example/paddle:3.3.1"
    assert image_for(inventory, (), "3.3.1", policy=services.policies.images).reference == "a.example/x:latest"
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
        ({"images": {"allowed": ["team/../*"]}}, "policy_wrong", "“images.allowed”: “team/../*”"),
        ({"images": {"preferred": "cafebabe"}}, "policy_wrong", "“images.preferred”"),
        ({"images": {"registries": ["dockerhub"]}}, "policy_wrong", "“images.registries”: “dockerhub”"),
        ({"images": {"policy_file": "x"}}, "policy_wrong", "“images.policy_file”"),
        ({"docker": {"allowed_images": ["team/*"]}}, "policy_renamed", "called “images.allowed” now"),
        ({"docker": {"fixed": {}}}, "policy_wrong", "“docker.fixed”"),
        ({"jobs": {"cpu_slots": 3}}, "policy_wrong", "“jobs.cpu_slots”"),
        ({"jobs": {"cpu_slots": {"docker": 0}}}, "policy_wrong", "“jobs.cpu_slots"),
        ({"jobs": {"cpu_slots": {"slurm": 1}}}, "policy_wrong", "“jobs.cpu_slots”"),
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


def both(tmp_path: Path, fixed: object, wanted: object) -> Policies:
    """What holds where the system's file says the first and a person's the second."""
    system, own = written(tmp_path / "etc", fixed), written(tmp_path / "own", wanted)
    return load_policies(own, tmp_path, TYPES, system)


FIXED = {
    "docker": {"memory_bytes": 4 << 30, "networks": ["none", "team"], "layers": False, "pids": 100},
    "images": {"allowed": ["registry.example/team/*"], "registries": ["mirror.example/paddle"]},
    "jobs": {"cpu_slots": {"docker": 2}},
    "matching": {"memory_threshold": 0.8, "plan_for": "high", "excluded": ["0"]},
    "engine": "docker",
}
LOOSER = [
    ({"docker": {"memory_bytes": 8 << 30}}, "docker.memory_bytes"),
    ({"docker": {"memory_bytes": None}}, "docker.memory_bytes"),
    ({"docker": {"networks": ["host", "bridge"]}}, "docker.networks"),
    ({"docker": {"layers": True}}, "docker.layers"),
    ({"docker": {"pids": 101}}, "docker.pids"),
    ({"images": {"allowed": ["*"]}}, "images.allowed"),
    ({"images": {"allowed": ["registry.example/*"]}}, "images.allowed"),
    ({"images": {"registries": ["evil.example/paddle", "docker-hub"]}}, "images.registries"),
    ({"images": {"preferred": "evil.example/x:1"}}, "images.preferred"),
    ({"jobs": {"cpu_slots": {"docker": 9}}}, "jobs.cpu_slots"),
    ({"matching": {"memory_threshold": 0.95}}, "matching.memory_threshold"),
    ({"matching": {"plan_for": "low"}}, "matching.plan_for"),
    ({"matching": {"excluded": []}}, "matching.excluded"),
    ({"engine": "local"}, "engine"),
]
TIGHTER = [
    {"docker": {"memory_bytes": 2 << 30, "networks": ["team"], "pids": 50}},
    {"images": {"allowed": ["registry.example/team/a:1"], "preferred": "registry.example/team/a:1"}},
    {"jobs": {"cpu_slots": {"docker": 1, "local": 4}}},
    {"matching": {"memory_threshold": 0.5, "excluded": ["0", "1"], "prefer": "fastest"}},
    {"docker": {"cpus": 2, "tmp_bytes": 1 << 20}},
]


@pytest.mark.parametrize(("wanted", "field"), LOOSER)
def test_what_the_systems_file_fixes_no_other_loosens(tmp_path, wanted, field):
    held, alone = both(tmp_path, FIXED, wanted), both(tmp_path, FIXED, {})
    assert held.overruled == (field,)
    assert msgspec.structs.replace(held, overruled=()) == alone


def test_the_doctor_tells_what_does_not_count(tmp_path):
    system, own = written(tmp_path / "etc", FIXED), written(tmp_path / "own", {"docker": {"pids": 200, "cpus": 1}})
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=own, system_policy_file=system))
    checks = [check for check in services.doctor() if check.name == "policy"]
    told = [check.finding.render() for check in checks if check.finding.code == "policy_overruled"]
    assert told == [f"“docker.pids” of {own} is looser than what {system} fixes, so far it does not count."]
    services.close()


@pytest.mark.parametrize("wanted", TIGHTER)
def test_a_file_of_ones_own_may_be_stricter_and_settle_what_is_free(tmp_path, wanted):
    held = both(tmp_path, FIXED, wanted)
    assert held.overruled == ()
    for section, fields in wanted.items():
        values = held.engines[section] if section in TYPES else getattr(held, section)
        for field, value in fields.items():
            assert json.loads(msgspec.json.encode(getattr(values, field))) == value


def test_the_variable_cannot_set_aside_the_systems_file(tmp_path, monkeypatch):
    """By any way that a person has: the variable, the data folder's file, the server's trait (`policy_file`)."""
    system = written(tmp_path / "etc", {"images": {"allowed": []}, "docker": {"networks": ["none"]}})
    loose = {"images": {"allowed": ["*"]}, "docker": {"networks": ["bridge"]}}
    monkeypatch.setenv("PADDLE_GPU_POLICY", str(written(tmp_path / "own", loose)))
    written(tmp_path / "data", loose)
    for given in ({}, {"policy_file": None}, {"policy_file": tmp_path / "own" / "policy.json"}):
        services = Services(Settings(data_folder=tmp_path / "data", system_policy_file=system, **given))
        docker = services.engines["docker"].settings
        assert (docker.allowed_images, docker.networks) == ((), ("none",))
        assert docker.policy_file == str(system)
        services.close()


def test_folders_are_fixed_whatever_links_lead_where(tmp_path):
    place, outside = tmp_path / "place", tmp_path / "outside"
    for folder in (place / "work", place / "data", outside):
        folder.mkdir(parents=True)
    (place / "link").symlink_to(outside)
    fixed = {"docker": {"roots": [str(place)], "data_folders": [str(place)]}}
    own = [str(place / "link")]
    wanted = {"docker": {"roots": [*own, str(place / "work")], "data_folders": own, "writable_data_folders": own}}
    held = both(tmp_path, fixed, wanted)
    assert held.overruled == ("docker.writable_data_folders",)
    settings = held.engines["docker"]

    def codes(folder, **options):
        spec = JobSpec(name="n", notebook="", output="", folder=str(folder), engine="docker", options=options)
        return [error.code for error in examine(spec, settings)[1]]

    assert codes(place / "work", data=[]) == []
    assert codes(outside, data=[]) == ["path_outside"]
    assert codes(place / "work", data=[str(place / "link")]) == ["data_not_allowed"]
    assert codes(place / "work", data=[str(place / "data")]) == ["data_not_allowed"]  # the person's file is narrower


def test_the_systems_file_has_one_place_that_no_variable_moves(monkeypatch):
    before = Settings().system_policy_file
    for name in ("PADDLE_GPU_POLICY", "PADDLE_GPU_DATA", "JUPYTER_CONFIG_PATH", "HOME", "PROGRAMDATA"):
        monkeypatch.setenv(name, "/elsewhere")
    assert Settings().system_policy_file == before
    assert before.name == "paddle-gpu.yaml" and before.parent.name == "paddle-gpu"


@pytest.mark.parametrize("page", ["configuration.md", "images-of-your-own.md"])
def test_the_files_that_the_documents_show_are_right(tmp_path, page):
    text = (Path(__file__).parents[3] / "docs" / page).read_text()
    shown = re.search(r"```yaml\n(.*?)```|^( {4}\{\n.*?^ {4}\})", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "shown.yaml").write_text(shown[1] or textwrap.dedent(shown[2]))
    assert load_policies(tmp_path / "shown.yaml", tmp_path, TYPES).images.allowed == ("registry.example/team/*",)
