"""Images from a registry: progress, digest, cancel, and each way in which a registry says no."""

from __future__ import annotations

import json
import threading

import msgspec
import pytest
from conftest import IMAGE, LIMIT, until
from stand_ins.registry import LOGIN, Registry

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.placements import ImageChoice
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from jupyter_paddle_gpu.engines.docker.images.pulls import PullProgress
from jupyter_paddle_gpu.images.choice import ImagePolicy, choose_image


@pytest.fixture
def registry():
    made = Registry()
    yield made
    made.close()


@pytest.fixture
def forget(bench, registry):
    yield
    api = bench.api
    for row in api.images():
        for name in row.get("RepoTags") or ():
            if name.startswith(registry.address):
                api.remove_image(name, force=True)


def prepare(bench, image, cancelled=lambda: False, **spec):
    job, folder = bench.job("1", image=image, **spec)
    return bench.engine.prepare(job, folder, bench.said.append, cancelled)


def test_a_pull_says_how_far_it_is_and_keeps_the_digest(bench, registry, forget):
    registry.mood = "slow"
    handle = prepare(bench, registry.image)
    assert handle["digest"] == registry.digest
    assert handle["image"].startswith("sha256:")
    progress = [line for line in bench.said if " layers, " in line]
    assert len(progress) > 3
    assert "of 3 layers" in progress[-1]
    last = [line for line in bench.said if registry.image in line][-1]
    assert "3 of 3 layers, 3.1 of 3.1 MB" in last
    assert registry.digest in last
    bench.said.clear()
    asked = len(registry.requests)
    assert prepare(bench, registry.image) == handle  # local now: no word, no request
    assert bench.said == []
    assert len(registry.requests) == asked


def test_progress_is_not_told_more_often_than_asked(make_bench, registry):
    bench = make_bench(progress_seconds=30.0)
    registry.mood = "slow"
    prepare(bench, registry.image)
    assert len([line for line in bench.said if registry.image in line]) <= 3
    bench.api.remove_image(registry.image, force=True)


def test_a_pull_is_cancelled_at_once_and_the_daemon_stops(bench, registry):
    registry.mood = "stuck"  # by itself it would never end
    stop = threading.Event()
    errors = []

    def pull():
        try:
            prepare(bench, registry.image, stop.is_set)
        except PaddleGpuError as error:
            errors.append(error.code)

    thread = threading.Thread(target=pull)
    thread.start()
    until(lambda: any("Pulling" in line and "layers" in line for line in bench.said))
    stop.set()
    thread.join(LIMIT)
    assert errors == ["cancelled"]
    assert bench.engine.daemon.inspect_image(registry.image) is None


@pytest.mark.parametrize(
    ("mood", "code"), [("denied", "pull_refused"), ("missing", "image_missing"), ("busy", "pull_interrupted")]
)
def test_each_refusal_has_its_class(bench, registry, mood, code):
    registry.mood = mood
    with pytest.raises(PaddleGpuError) as caught:
        prepare(bench, registry.image)
    assert caught.value.code == code, str(caught.value)
    assert caught.value.message.render_hint()
    assert bench.engine.preparation.ask(registry.image).state in {"denied": ("refused",), "missing": ("missing",)}.get(
        mood, ("silent",)
    )


def test_no_registry_answers(bench, registry):
    registry.close()
    with pytest.raises(PaddleGpuError) as caught:
        prepare(bench, registry.image)
    assert caught.value.code == "registry_unreachable"
    assert bench.engine.preparation.ask(registry.image).state == "silent"
    job, _ = bench.job("1", image=registry.image)
    assert [message.code for message in bench.engine.check(job)] == ["registry_unreachable"]


def test_a_job_without_an_image_gets_the_chosen_one_with_its_digest(bench, registry, forget):
    def choose(job, local, ask):
        policy = ImagePolicy(registries=(f"{registry.address}/paddlepaddle/paddle",), preferred=registry.image)
        return choose_image("3.3.1", None, None, None, local=local, ask=ask, policy=policy)

    bench.engine = DockerEngine(bench.settings, choose=choose)
    handle = prepare(bench, "")
    assert handle["digest"] == registry.digest
    assert f"GET /v2/team/model/manifests/{registry.digest}" in registry.requests or any(
        registry.digest in request for request in registry.requests
    )
    assert any("was named" in line for line in bench.said)
    # It has its name now: the next job needs no registry, nor does a build on it.
    registry.close()
    bench.said.clear()
    assert prepare(bench, "") == handle
    assert any("already on this machine" in line for line in bench.said)
    (bench.work / "Dockerfile").write_text("ARG BASE_IMAGE\nFROM $BASE_IMAGE\nLABEL built=on-it\n")
    built = prepare(bench, "")
    layers = [bench.engine.daemon.inspect_image(made["image"])["RootFS"]["Layers"] for made in (handle, built)]
    assert layers[1][: len(layers[0])] == layers[0]


def test_a_private_registry_takes_what_docker_login_left_even_a_moment_ago(
    bench, registry, forget, tmp_path, monkeypatch
):
    registry.mood = "private"
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"auths": {"other.example": {"auth": LOGIN}}}))
    job, _ = bench.job("1", image=registry.image)
    (problem,) = bench.engine.check(job)
    assert problem.code == "pull_refused"
    assert f"`docker login {registry.address}`" in problem.render_hint()
    config.write_text(json.dumps({"auths": {registry.address: {"auth": LOGIN}}}))
    assert bench.engine.check(job) == ()
    assert prepare(bench, registry.image)["digest"] == registry.digest


@pytest.mark.filterwarnings("ignore:docker-credential-absent")
def test_a_credential_helper_that_is_not_there_is_named(bench, registry, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"credHelpers": {registry.address: "absent"}}))
    with pytest.raises(PaddleGpuError) as caught:
        prepare(bench, registry.image)
    assert caught.value.code == "credentials_unreadable"
    assert "credHelpers" in caught.value.message.render_hint()
    assert bench.engine.preparation.ask(registry.image).state == "refused"


def test_nothing_fits_is_said_with_the_reasons(bench):
    bench.engine = DockerEngine(bench.settings, choose=lambda *_: choose_image("3.3.1", "470.1", (9, 0), "nvidia"))
    with pytest.raises(PaddleGpuError) as caught:
        prepare(bench, "")
    assert caught.value.code == "no_image_fits"
    assert "needs driver" in str(caught.value)


def test_what_a_chooser_says_passes_the_policy_too(bench):
    bench.engine = DockerEngine(bench.settings, choose=lambda *_: ImageChoice(reference="evil.example/x:1"))
    with pytest.raises(PaddleGpuError) as caught:
        prepare(bench, "")
    assert caught.value.code == "image_not_allowed"


def test_no_image_and_nobody_to_choose(bench):
    with pytest.raises(PaddleGpuError) as caught:
        prepare(bench, "")
    assert caught.value.code == "image_unnamed"


def test_local_images_are_listed_with_digests(bench):
    found = {name: image for image in bench.engine.local_images() for name in image.references}
    assert found[IMAGE].id.startswith("sha256:")


def test_a_full_disk_is_seen_before_a_pull(bench, registry):
    engine = DockerEngine(msgspec.structs.replace(bench.settings, disk_bytes=1 << 60))
    job, folder = bench.job("1", image=registry.image)
    with pytest.raises(PaddleGpuError) as caught:
        engine.prepare(job, folder, bench.said.append, lambda: False)
    assert caught.value.code == "disk_full"
    assert registry.requests == []


def test_layers_that_are_there_already_count_as_done():
    progress = PullProgress()
    progress.feed({"status": "Pulling from team/model", "id": "1"})
    progress.feed({"status": "Already exists", "id": "aaa", "progressDetail": {}})
    progress.feed({"status": "Pulling fs layer", "id": "bbb", "progressDetail": {}})
    progress.feed({"status": "Downloading", "id": "bbb", "progressDetail": {"current": 500_000, "total": 2_000_000}})
    assert str(progress) == "1 of 2 layers, 0.5 of 2.0 MB"
    progress.feed({"status": "Download complete", "id": "bbb", "progressDetail": {}})
    assert progress.bytes == (2_000_000, 2_000_000)
