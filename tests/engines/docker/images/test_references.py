"""What the matcher accepts the daemon takes for the same repository, and nothing else gets past it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import IMAGE
from docker import errors
from hypothesis import HealthCheck, example, given, settings

from jupyter_paddle_gpu.domain.containers.references import parse_reference
from jupyter_paddle_gpu.domain.errors import PaddleGpuError

sys.path.append(str(Path(__file__).parents[3] / "strategies"))

from image_names import NAMES

ALLOWED = "ccr-2vdh3abv-pub.cnc.bj.baidubce.com/device"


@pytest.fixture
def evil(bench):
    """An image that is here, runs, and is not allowed; goes again with every name it was given."""
    api = bench.api
    api.tag(IMAGE, "evil", "1")
    api.tag(IMAGE, "cafebabe", "1")
    yield api.inspect_image("evil:1")["Id"]
    for name in ("evil:1", "cafebabe:1"):
        api.remove_image(name, force=True)


@pytest.fixture
def strict(make_bench):
    """Where nothing but Paddle's own images and Docker Hub's `cafe…` are allowed."""
    return make_bench(allowed_images=("docker.io/library/cafe*",))


def ways_around(image_id):
    bare = image_id.removeprefix("sha256:")
    return [
        f"{ALLOWED}/../../evil:1", f"{ALLOWED}/./../../evil:1", f"{ALLOWED}//../../evil:1",
        f"{ALLOWED}/%2e%2e/%2e%2e/evil:1", f"{ALLOWED}/..%2f..%2fevil:1", "paddlepaddle/paddle/../../evil:1",
        "../evil:1", "evil:1", "EVIL:1", "library/evil:1", "evil:1\n", f"paddlepaddle/paddle:1@{image_id}x",
        image_id, bare, bare[:12], bare[:5], f"sha256:{bare[:12]}", f"paddlepaddle/paddle:1/../../../{image_id}",
        f"{ALLOWED}/x@{image_id}/../../../evil:1",
    ]  # fmt: skip


def test_no_spelling_runs_an_image_that_is_not_allowed(strict, evil):
    """As a wish of the submission and of the notebook: refused before anything is made."""
    for name in ways_around(evil):
        for wish in ({"image": name}, {"image": "", "metadata": {"paddle_gpu": {"image": name}}}):
            job, folder = strict.job("1", **wish)
            with pytest.raises(PaddleGpuError) as caught:
                strict.start(job, folder)
            assert caught.value.code in ("image_not_allowed", "bad_image_name", "image_by_id"), name
    labels = {"label": f"jupyter-paddle-gpu.store={strict.jobs}"}
    assert strict.api.containers(all=True, filters=labels) == []


def test_a_name_is_never_taken_for_the_beginning_of_an_id(strict, evil):
    """`<hex>:latest` may be allowed as a name; the image whose id begins so is another one."""
    begins = evil.removeprefix("sha256:")[:12]
    daemon = strict.engine.daemon
    assert daemon.inspect_image(begins)["Id"] == evil
    assert daemon.find_image(f"{begins}:latest") is None
    assert daemon.find_image("cafebabe:1")["Id"] == evil
    for spelling in ("docker.io/library/cafebabe:1", "index.docker.io/cafebabe:1", "library/cafebabe:1"):
        assert daemon.find_image(spelling)["Id"] == evil
        job, folder = strict.job("1", image=spelling)
        assert strict.start(job, folder)["image"] == evil


def test_the_container_is_made_of_the_image_that_was_matched(bench):
    """A tag that moves between check and start changes nothing."""
    api = bench.api
    api.tag(IMAGE, "stand-in/moves", "1")
    try:
        job, folder = bench.job("print('the first')", image="stand-in/moves:1")
        handle = bench.engine.prepare(job, folder, bench.said.append, lambda: False)
        other = api.create_container_from_config({"Image": IMAGE, "Cmd": ["true"]})["Id"]
        moved = api.commit(other, "stand-in/moves", "1")["Id"]
        api.remove_container(other)
        bench.engine.start(job, folder, handle)
        made = api.inspect_container(handle.get("name") or f"paddle-gpu-{job.id}")
        assert made["Image"] == handle["image"] != moved
        assert bench.wait(job, folder).exit_code == 0, bench.explain(job, folder)
    finally:
        api.remove_image("stand-in/moves:1", force=True)


@pytest.mark.parametrize("examples", [400])
def test_the_grammar_is_the_daemons(daemon, examples):
    """Each generated name is given to the daemon as a tag and taken from it again: what we accept it files under the
    name we compared, and what we refuse it refuses, but for ids, which it would look up."""
    api = daemon.api()
    image_id = api.inspect_image(IMAGE)["Id"]
    in_use = {name for row in api.images() for name in row["RepoTags"] or ()}
    """Names that other tests need: given anew they would move, and with the example they would go."""

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(NAMES)
    @example(IMAGE)
    @example(f"docker.io/{IMAGE}")
    def agree(text):
        try:
            reference = parse_reference(text)
        except PaddleGpuError as error:
            # It also takes `r_x.example/a` for a path of no registry, and nobody could pull that.
            assert error.code == "image_by_id" or "_" in text.partition("/")[0] or not takes(text), text
            return
        if reference.digest:
            with pytest.raises(errors.APIError) as caught:  # a digest cannot be given as a tag, but it is read
                tag(reference.canonical)
            assert "digest" in str(caught.value.explanation)
            return
        if str(reference) in in_use:
            return
        assert takes(text), text
        try:
            # Docker 20.10 shows `docker.io/x.y/team` as `x.y/team`; that name is another one's, and so is our `str`.
            shown = str(reference).removeprefix("docker.io/")
            assert shown in api.inspect_image(image_id)["RepoTags"]
            assert api.inspect_image(reference.canonical)["Id"] == image_id
        finally:
            api.remove_image(reference.canonical, noprune=True)

    def tag(text):
        url = f"{api.base_url}/v{api.api_version}/images/{image_id}/tag"
        api._raise_for_status(api.post(url, params={"repo": text}))

    def takes(text):
        before = set(api.inspect_image(image_id)["RepoTags"])
        try:
            tag(text)
        except errors.APIError:
            return False
        for made in set(api.inspect_image(image_id)["RepoTags"]) - before if not is_ours(text) else ():
            api.remove_image(made, noprune=True)
        return True

    def is_ours(text):
        try:
            return bool(parse_reference(text))
        except PaddleGpuError:
            return False

    agree()
    assert {name for row in api.images() for name in row["RepoTags"] or ()} == in_use
    api.close()
