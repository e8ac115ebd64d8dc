"""A preflight and a submit are one function: what the first tells, and nothing else, the second refuses."""

from __future__ import annotations

import json

import msgspec
import pytest
from conftest import IMAGE, notebook_of
from stand_ins.registry import Registry

from jupyter_paddle_gpu.domain.containers.references import parse_reference
from jupyter_paddle_gpu.domain.decisions import RefusedError
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.services import Services, Settings, Submission

NOWHERE = "127.0.0.1:9/paddlepaddle/paddle"
"""A registry whose port nobody listens on."""


@pytest.fixture
def place(daemon, tmp_path, request):
    """Where the default image's registry cannot be reached, and the stand-in's images are allowed.

    A test's parameter: more settings of the engine.
    """
    docker = {"host": daemon.host, "networks": ["none"], "registry_timeout": 5, "context_bytes": 1 << 20}
    docker |= getattr(request, "param", {})
    images = {"allowed": ["stand-in/*", "127.0.0.1:*/*"], "registries": [NOWHERE]}
    (tmp_path / "policy.json").write_text(json.dumps({"docker": docker, "images": images}))
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=tmp_path / "policy.json"))
    services.jobs._dispatcher = None
    yield services
    services.close()


def both(services, folder, metadata=None, **wish):
    """(what the preflight tells, what the submit refuses with)."""
    (folder / "a.ipynb").write_text(json.dumps(notebook_of("print(1)", metadata=metadata)))
    source = services.open(folder / "a.ipynb")
    submission = Submission(**{"engine": "docker", "estimate": False, **wish})
    told = services.preflight(source, submission).problems
    try:
        job = services.submit(source, submission)
    except PaddleGpuError as error:
        return told, error.message
    services.jobs.cancel(job.id)
    return told, None


def test_the_notebooks_own_image_needs_no_registry(place, tmp_path):
    told, refused = both(place, tmp_path, {"paddle_gpu": {"image": IMAGE}})
    assert (told, refused) == ((), None)
    told, refused = both(place, tmp_path)  # without it the default image would have to come from somewhere
    assert [message.code for message in told] == ["registry_unreachable"] == [refused.code]


def asks(**wishes):
    return {"paddle_gpu": wishes}


WISHES = [
    (asks(image="evil.example/x"), "", ["image_not_allowed"]),
    (asks(environment={"LD_PRELOAD": "x"}), "", ["variable_reserved"]),
    (asks(options={"network": "host"}), "", ["network_not_allowed"]),
    (asks(options={"privileged": True}), "", ["option_unknown"]),
    (asks(mounts=["/"]), "", ["metadata_unknown"]),
    (asks(options={"network": "host", "python": "sh"}, environment={"A=": "1"}), "",
     ["variable_name", "network_not_allowed", "option_value"]),
    ({}, "FROM evil.example/x\n", ["image_not_allowed"]),
    ({}, "FROM $BASE_IMAGE\nCOPY --from=stand-in/../../evil / /\n", ["bad_image_name"]),
    ({}, "# escape=`\nFROM $BASE_IMAGE\n", ["dockerfile_base"]),
]  # fmt: skip


@pytest.mark.parametrize(("metadata", "dockerfile", "codes"), WISHES)
def test_what_a_notebook_and_its_folder_ask_for_is_told_before(place, tmp_path, metadata, dockerfile, codes):
    if dockerfile:
        (tmp_path / "Dockerfile").write_text(dockerfile)
    told, refused = both(place, tmp_path, metadata, image="" if "image" in metadata.get("paddle_gpu", {}) else IMAGE)
    assert [message.code for message in told] == codes
    assert refused == told[0]
    assert place.jobs.list() == ()


def test_a_folder_that_is_too_large_for_a_build_is_told_before(place, tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM $BASE_IMAGE\n")
    (tmp_path / "data.bin").write_bytes(b"\0" * (2 << 20))
    told, refused = both(place, tmp_path, image=IMAGE)
    assert [message.code for message in told] == ["context_too_large"] == [refused.code]
    (tmp_path / ".dockerignore").write_text("*.bin\ndata\n")
    assert both(place, tmp_path, image=IMAGE) == ((), None)


def test_a_registrys_cause_is_told_to_everybody_who_asks(place, tmp_path):
    """Not “did not answer a moment ago” from the second time on."""
    for _ in range(3):
        (told,), refused = both(place, tmp_path, image=f"{NOWHERE}:1")
        for message in (told, refused):
            assert message.code == "registry_unreachable"
            assert "connection refused" in message.render()


@pytest.mark.parametrize("mood", ["busy", "down"])
def test_a_registry_that_is_only_busy_is_no_refusal_whoever_asks_and_how_often(place, tmp_path, mood):
    """Its pull is tried again; an earlier question must not turn that into “cannot be reached”."""
    registry = Registry()
    registry.mood = mood
    try:
        for _ in range(2):
            assert both(place, tmp_path, image=registry.image) == ((), None)
        source = place.open(tmp_path / "a.ipynb")
        wish = Submission(engine="docker", estimate=False, image=registry.image)
        (note,) = place.preflight(source, wish).notes
        assert (note.code, registry.image in note.render()) == ("registry_busy", True)
    finally:
        registry.close()


def test_the_memory_of_a_silent_registry_is_by_its_host(place):
    engine = place.engines["docker"]
    engine.preparation.ask(f"{NOWHERE}:1")
    assert set(engine.preparation._silent) == {parse_reference(f"{NOWHERE}:1").host}


def test_a_python_that_an_image_does_not_have_is_no_runner_that_vanished(bench):
    job, folder = bench.job("1", options={"python": "python9"})
    assert bench.run(job, folder).reason.code == "image_without_python"


TRAINING = """
import paddle
net = paddle.nn.Linear(4096, 512)
BATCH_SIZE = 65536
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return paddle.zeros([4096])
    def __len__(self):
        return 131072
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x in paddle.io.DataLoader(Data(), batch_size=BATCH_SIZE):
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.mark.paddle
@pytest.mark.parametrize("place", [{"memory_bytes": 512 << 20}], indirect=True)
def test_a_step_too_large_for_the_jobs_memory_has_ways_out(place, tmp_path, monkeypatch):
    """Each is a change with which the same submit is accepted."""
    (tmp_path / "a.ipynb").write_text(json.dumps(notebook_of(TRAINING)))
    source = place.open(tmp_path / "a.ipynb")
    # The largest batch, however long that takes here; the other remedies are not what this is about.
    monkeypatch.setattr("jupyter_paddle_gpu.estimator.advice.remedies.OFFERS", {})
    place.estimator.settings = msgspec.structs.replace(place.estimator.settings, details_seconds=3600.0)

    def refused(**request):
        asked = Submission(engine="docker", image=IMAGE, request=EstimateRequest(target="cpu", **request))
        with pytest.raises(RefusedError) as caught:
            place.submit(source, asked)
        told = place.preflight(source, asked).decision
        assert (told.reason, told.ways) == (caught.value.decision.reason, caught.value.decision.ways)
        return told

    first = refused()
    assert (first.reason.code, first.ways, first.searched) == ("step_too_large", (), False)
    assert "An estimate with details says what would fit." in first.reason.render_hint()
    place.match(source, EstimateRequest(target="cpu", details=True), engine="docker")  # as the panel asks
    told = refused()
    assert told.searched
    assert told.ways[0].change == "batch_size"
    assert "Fits with batch size" in told.reason.render_hint()
    batch = told.ways[0].request["batch_size"]
    request = EstimateRequest(target="cpu", batch_size=batch)
    place.jobs.cancel(place.submit(source, Submission(engine="docker", image=IMAGE, request=request)).id)
    refused(batch_size=2 * batch)
