"""A project's own packages become an image, once."""

from __future__ import annotations

import threading

import pytest
from conftest import IMAGE, until
from stand_ins.registry import PackageIndex

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.engines.docker.images.layers import find_layers
from jupyter_paddle_gpu.engines.docker.policy import authorize

USE = "import greeter\nprint(greeter.greet())"


@pytest.fixture
def index():
    made = PackageIndex()
    yield made
    made.close()


@pytest.fixture
def online(make_bench, index):
    return make_bench(build_network="host", pip_index=index.url)


def test_requirements_beside_the_notebook(online, index):
    (online.work / "requirements.txt").write_text("# ours\ngreeter==1.0\npaddlepaddle-gpu==2.6.2\n")
    job, folder = online.job(USE)
    assert online.run(job, folder).exit_code == 0, online.explain(job, folder)
    assert "hello from a layer" in online.text(folder)
    assert any("paddlepaddle-gpu==2.6.2 is left out" in line for line in online.said)
    assert any("Successfully installed greeter" in line for line in online.said)
    assert any(", step 1 of " in line for line in online.said), "how far the build is, for the row"
    # Built once: the second job finds it by its content.
    online.said.clear()
    asked = len(index.requests)
    job, folder = online.job(USE)
    assert online.run(job, folder).exit_code == 0
    assert len(online.said) == 1
    assert "already built" in online.said[0]
    assert len(index.requests) == asked


def test_jobs_that_need_the_same_layers_at_once_build_once(online, index):
    cells = [online.job(USE, options={"requirements": ["greeter"]}) for _ in range(4)]
    images = []

    def prepare(job, folder):
        images.append(online.engine.prepare(job, folder, online.said.append, lambda: False)["image"])

    threads = [threading.Thread(target=prepare, args=cell) for cell in cells]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(images) == 4
    assert len(set(images)) == 1
    assert len([line for line in online.said if ": building" in line]) == 1


def test_no_way_to_the_index_is_a_clear_answer(make_bench):
    bench = make_bench(build_network="none")
    (bench.work / "requirements.txt").write_text("greeter==1.1\n")
    job, folder = bench.job(USE)
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(job, folder)
    assert caught.value.code == "build_no_network"
    assert "requirements.txt" in str(caught.value)
    assert "mirror" in caught.value.message.render_hint()


def test_a_package_that_does_not_exist(online):
    (online.work / "requirements.txt").write_text("no-such-package\n")
    job, folder = online.job("1")
    with pytest.raises(PaddleGpuError) as caught:
        online.start(job, folder)
    assert caught.value.code == "build_failed"
    assert "no-such-package" in str(caught.value)


def test_a_dockerfile_beside_the_notebook(bench):
    (bench.work / "Dockerfile").write_text(
        "ARG BASE_IMAGE\nFROM $BASE_IMAGE\nCOPY note.txt /note.txt\nRUN echo more >> /note.txt\n"
    )
    (bench.work / "note.txt").write_text("from the context\n")
    job, folder = bench.job("print(open('/note.txt').read())")
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert "from the context\nmore" in bench.text(folder)


def test_a_build_that_is_cancelled_ends_at_once_and_leaves_nothing(make_bench):
    bench = make_bench(build_network="none")
    (bench.work / "Dockerfile").write_text("ARG BASE_IMAGE\nFROM $BASE_IMAGE\nRUN echo begun; sleep 3600\n")
    job, folder = bench.job("1")
    before = {image.references for image in bench.engine.local_images()}
    with pytest.raises(PaddleGpuError) as caught:
        bench.engine.prepare(job, folder, bench.said.append, lambda: "begun" in bench.said)
    assert caught.value.code == "cancelled"
    api = bench.api
    until(lambda: not [row for row in api.containers(all=True) if "sleep 3600" in row["Command"]])
    assert {image.references for image in bench.engine.local_images() if image.references} <= before


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("FROM evil.example/x\n", "image_not_allowed"),
        ("FROM $BASE_IMAGE\nFROM evil.example/x AS b\n", "image_not_allowed"),
        ("FROM $BASE_IMAGE\nCOPY --from=evil.example/x /a /b\n", "image_not_allowed"),
        ("ARG X=evil\nFROM $X\n", "dockerfile_base"),
        ("FROM \\\n evil.example/x\n", "image_not_allowed"),
        ("RUN true\n", "dockerfile_base"),
    ],
)
def test_a_dockerfile_starts_only_from_what_is_allowed(bench, text, code):
    (bench.work / "Dockerfile").write_text(text)
    job, folder = bench.job("1")
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(job, folder)
    assert caught.value.code == code


def test_a_place_can_do_without_builds(bench, make_bench):
    (bench.work / "Dockerfile").write_text("FROM $BASE_IMAGE\nRUN false\n")
    (bench.work / "requirements.txt").write_text("a\n")
    grant = authorize(bench.job("1")[0].spec, bench.settings)
    assert find_layers(bench.work, grant, bench.settings).origin == "Dockerfile"
    assert find_layers(bench.work, grant, make_bench(dockerfile=False).settings).origin == "requirements.txt"
    assert find_layers(bench.work, grant, make_bench(layers=False).settings) is None


def test_what_counts_is_the_content(bench, tmp_path):
    grant = authorize(bench.job("1", options={"requirements": ["a", "b"]})[0].spec, bench.settings)
    first = find_layers(bench.work, grant, bench.settings)
    assert first.files == {"requirements.txt": b"a\nb\n"}
    assert first.tag("x", "") == find_layers(bench.work, grant, bench.settings).tag("x", "")
    assert first.tag("x", "") != first.tag("y", "")
    (bench.work / "requirements.txt").write_text("c\na\n")
    assert find_layers(bench.work, grant, bench.settings).files == {"requirements.txt": b"c\na\nb\n"}


def test_only_paddle_needs_no_layers_and_none_can_be_asked_for(bench):
    (bench.work / "requirements.txt").write_text("paddlepaddle>=3\n# nothing else\n")
    grant = authorize(bench.job("1")[0].spec, bench.settings)
    assert find_layers(bench.work, grant, bench.settings) is None
    (bench.work / "requirements.txt").write_text("greeter\n")
    grant = authorize(bench.job("1", options={"layers": "none"})[0].spec, bench.settings)
    assert find_layers(bench.work, grant, bench.settings) is None


def test_links_do_not_carry_foreign_files_into_a_context(bench, tmp_path):
    (tmp_path / "secret").write_text("s")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_text("s")
    (bench.work / "Dockerfile").write_text(f"FROM {IMAGE}\n")
    (bench.work / "link").symlink_to(tmp_path / "secret")
    (bench.work / "linked").symlink_to(tmp_path / "folder")
    (bench.work / ".dockerignore").write_text("data\n*.bin\n")
    (bench.work / "data").mkdir()
    (bench.work / "data" / "x").write_text("x")
    (bench.work / "y.bin").write_text("y")
    (bench.work / "kept.txt").write_text("k")
    grant = authorize(bench.job("1")[0].spec, bench.settings)
    assert set(find_layers(bench.work, grant, bench.settings).files) == {".dockerignore", "Dockerfile", "kept.txt"}


def test_a_context_that_is_too_large(make_bench):
    bench = make_bench(context_bytes=1000)
    (bench.work / "Dockerfile").write_text(f"FROM {IMAGE}\n")
    (bench.work / "large").write_bytes(b"x" * 2000)
    job, folder = bench.job("1")
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(job, folder)
    assert caught.value.code == "context_too_large"


@pytest.mark.parametrize("name", ["requirements.txt", "Dockerfile"])
def test_a_link_out_of_the_folder_is_no_part_of_an_image(bench, tmp_path, name):
    (tmp_path / "secret").write_text("password")
    (bench.work / name).symlink_to(tmp_path / "secret")
    job, _ = bench.job("1")
    with pytest.raises(PaddleGpuError) as caught:
        find_layers(bench.work, authorize(job.spec, bench.settings), bench.settings)
    assert caught.value.code == "layer_link"


def test_a_link_within_the_folder_is_followed(bench):
    (bench.work / "gpu.txt").write_text("greeter\n")
    (bench.work / "requirements.txt").symlink_to("gpu.txt")
    job, _ = bench.job("1")
    layers = find_layers(bench.work, authorize(job.spec, bench.settings), bench.settings)
    assert layers.files == {"requirements.txt": b"greeter\n"}
