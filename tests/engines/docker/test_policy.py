"""Nothing that a person writes, in a request or in a notebook, gets past the policy."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_paddle_gpu.devices.makers.registry import makers
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import JobSpec, Resources
from jupyter_paddle_gpu.engines.docker.folders import is_below
from jupyter_paddle_gpu.engines.docker.policy import authorize, examine, options_of
from jupyter_paddle_gpu.engines.docker.settings import DockerSettings
from jupyter_paddle_gpu.images.catalogue import load_catalogue

PADDLE = "paddlepaddle/paddle:3.3.1"
PINNED = f"{PADDLE}@sha256:{'0' * 64}"


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "root" / "work"
    folder.mkdir(parents=True)
    return folder


def spec(folder, **given):
    text = str(folder)
    return JobSpec(**{
        "name": "n", "notebook": f"{text}/n.ipynb", "output": f"{text}/o.ipynb", "folder": text, "engine": "docker",
        "image": PADDLE, **given,
    })  # fmt: skip


def refused(job_spec, settings=None, metadata=None) -> str:
    with pytest.raises(PaddleGpuError) as caught:
        authorize(job_spec, settings or DockerSettings(), metadata)
    assert str(caught.value)
    return caught.value.code


@pytest.mark.parametrize(
    "folder",
    ["/", "//", "/etc", "/etc/ssl", "/usr/lib", "/proc/self", "/var/run", "/home", "/root", "/tmp", "/var/lib/"],
)
def test_the_system_is_not_mounted(folder):
    assert refused(spec(folder)) in {"path_of_system", "folder_missing"}


@pytest.mark.parametrize("folder", ["relative", "", "/tmp/../etc", "{work}/../../..", "{work}/\0x", "~"])
def test_a_folder_is_written_plainly(work, folder):
    assert refused(spec(folder.format(work=work))) == "path_refused"


def test_a_symbolic_link_does_not_lead_out(work, tmp_path):
    (work / "link").symlink_to("/etc")
    assert refused(spec(work / "link")) == "path_of_system"
    (work / "link2").symlink_to("/")
    assert refused(spec(work / "link2")) == "path_of_system"
    outside = tmp_path / "outside"
    outside.mkdir()
    (work / "link3").symlink_to(outside)
    roots = DockerSettings(roots=(str(tmp_path / "root"),))
    assert refused(spec(work / "link3"), roots) == "path_outside"
    assert refused(spec(outside), roots) == "path_outside"
    assert authorize(spec(work), roots).folder.writable


def test_a_link_within_the_root_is_mounted_where_it_leads(work, tmp_path):
    real = tmp_path / "root" / "real"
    real.mkdir()
    (work / "link").symlink_to(real)
    mount = authorize(spec(work / "link"), DockerSettings(roots=(str(tmp_path / "root"),))).folder
    assert (mount.source, mount.target) == (str(real), str(work / "link"))


def test_a_neighbour_with_the_same_beginning_is_outside(tmp_path, work):
    (tmp_path / "root2").mkdir()
    assert refused(spec(tmp_path / "root2"), DockerSettings(roots=(str(tmp_path / "root"),))) == "path_outside"
    assert not is_below("/a/bc", "/a/b")
    assert is_below("/a/b/c", "/a/b")


def test_data_only_from_what_the_settings_name(work, tmp_path):
    data = tmp_path / "data"
    (data / "sub").mkdir(parents=True)
    settings = DockerSettings(data_folders=(str(data),))
    assert [m.target for m in authorize(spec(work), settings).data] == [str(data)]
    granted = authorize(spec(work, options={"data": [str(data / "sub")]}), settings).data
    assert [(m.target, m.writable) for m in granted] == [(str(data / "sub"), False)]
    for wish in (["/"], ["/etc"], [str(tmp_path)], [str(work)]):
        assert refused(spec(work, options={"data": wish}), settings) == "data_not_allowed"
    assert refused(spec(work, options={"data": [str(data / "..")]}), settings) == "path_refused"
    (data / "out").symlink_to("/etc")
    assert refused(spec(work, options={"data": [str(data / "out")]}), settings) == "data_not_allowed"
    assert refused(spec(work, options={"data": "/etc"}), settings) == "option_value"


def test_no_job_has_more_than_the_settings_give(work):
    settings = DockerSettings(memory_bytes=4 << 30, cpus=2)
    assert refused(spec(work, resources=Resources(memory_bytes=5 << 30)), settings) == "limit_exceeded"
    assert refused(spec(work, resources=Resources(cpus=2.5)), settings) == "limit_exceeded"
    assert authorize(spec(work, resources=Resources(memory_bytes=4 << 30, cpus=2)), settings).folder
    assert authorize(spec(work, resources=Resources(memory_bytes=5 << 30, cpus=9)), DockerSettings()).folder


@pytest.mark.parametrize(
    "resources",
    [Resources(device_ids=("all",)), Resources(device_ids=("0,1",)), Resources(gpus=-1), Resources(seconds=0)],
)
def test_no_job_has_what_it_cannot_mean(work, resources):
    assert refused(spec(work, resources=resources)) in {"device_name", "out_of_bounds"}


@pytest.mark.parametrize(
    ("image", "code"),
    [("evil.example/miner:1", "image_not_allowed"), ("paddlepaddle/paddle2:1", "image_not_allowed"),
     ("library/paddlepaddle/paddle:1", "image_not_allowed"), ("ubuntu", "image_not_allowed"),
     ("evil.example/paddlepaddle/paddle:3.3.1", "image_not_allowed"), ("-v", "bad_image_name"),
     ("--privileged", "bad_image_name"), ("paddlepaddle/paddle/../../x", "bad_image_name"),
     (f"{PADDLE}\n", "bad_image_name"), ("cafebabe1234", "image_by_id"), (f"sha256:{'0' * 64}", "image_by_id")],
)  # fmt: skip
def test_another_image(work, image, code):
    assert refused(spec(work, image=image)) == code
    assert refused(spec(work, image=""), metadata={"paddle_gpu": {"image": image}}) == code


def test_images_that_are_allowed(work):
    settings = DockerSettings(allowed_images=("registry.example/team/*",))
    for image in (PADDLE, "registry.example/team/ours:2", PINNED):
        assert authorize(spec(work, image=image), settings).image == image
    assert authorize(spec(work, image=f"docker.io/{PADDLE}"), settings).image == PADDLE


def test_every_image_that_we_know_is_allowed(work):
    own = [image.reference for maker in makers().rows.values() for image in maker.images or ()]
    for image in (*own, *(f"{row.repository}:1" for row in load_catalogue().registries)):
        assert authorize(spec(work, image=image), DockerSettings()).image == image


def test_a_refusal_names_the_file_and_the_field_that_would_allow_it(work, tmp_path):
    root, file = tmp_path / "root", "/etc/paddle-gpu/policy.json"
    settings = DockerSettings(policy_file=file, memory_bytes=1, cpus=1, roots=(str(root),))
    wishes = {
        "images.allowed": {"image": "evil.example/x"},
        "docker.networks": {"options": {"network": "host"}},
        "docker.data_folders": {"options": {"data": [str(tmp_path)]}},
        "docker.memory_bytes": {"resources": Resources(memory_bytes=2)},
        "docker.cpus": {"resources": Resources(cpus=2)},
        "docker.roots": {"folder": str(tmp_path)},
    }
    for field, wish in wishes.items():
        _, (refusal, *_) = examine(msgspec.structs.replace(spec(work), **wish), settings)
        assert f"“{field}” in {file}" in refusal.message.render_hint(), field


def test_every_wish_that_is_refused_is_told_at_once(work):
    wishes = spec(
        work, image="evil.example/x", environment={"A=": "1"}, options={"network": "host", "privileged": True}
    )
    grant, refused = examine(wishes, DockerSettings(), {"paddle_gpu": {"mounts": ["/"]}})
    assert grant is None
    assert [error.code for error in refused] == [
        "metadata_unknown", "option_unknown", "image_not_allowed", "variable_name", "network_not_allowed"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [{"privileged": True}, {"binds": ["/:/host"]}, {"cap_add": ["SYS_ADMIN"]}, {"volumes": {"/": "/host"}},
     {"user": "0"}, {"devices": ["/dev/sda"]}, {"--privileged": ""}, {"pid_mode": "host"}, {"entrypoint": "sh"}],
)  # fmt: skip
def test_flags_cannot_be_injected(work, options):
    assert refused(spec(work, options=options)) == "option_unknown"
    assert refused(spec(work), metadata={"paddle_gpu": {"options": options}}) == "option_unknown"


@pytest.mark.parametrize("field", ["mounts", "privileged", "user", "command", "folder", "data", "resources"])
def test_a_notebook_cannot_ask_for_more_than_three_things(work, field):
    assert refused(spec(work), metadata={"paddle_gpu": {field: "/"}}) == "metadata_unknown"


def test_what_we_write_into_a_notebook_ourselves_is_no_request(work):
    """An executed notebook is submitted again, and the copy of a job holds its files of settings."""
    ours = {"job": "j1", "files": {"/notes/config.yaml": "batch_size: 8\n"}}
    assert authorize(spec(work), DockerSettings(), {"paddle_gpu": ours}).environment == {}


@pytest.mark.parametrize("metadata", ["x", 1, ["/"], {"image": 3}, {"environment": ["A=1"]}, {"options": "--p"}])
def test_metadata_of_a_wrong_form(work, metadata):
    assert refused(spec(work), metadata={"paddle_gpu": metadata}) in {"metadata_unknown", "metadata_value"}


def test_what_the_submission_says_comes_before_the_notebook(work):
    metadata = {"paddle_gpu": {"image": "evil.example/x", "environment": {"A": "1", "B": "1"}}}
    grant = authorize(spec(work, environment={"A": "2"}), DockerSettings(), metadata)
    assert (grant.image, grant.environment) == (PADDLE, {"A": "2", "B": "1"})


@pytest.mark.parametrize(
    "name",
    ["LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PATH", "HOME", "NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
     "NVIDIA_DRIVER_CAPABILITIES", "DOCKER_HOST", "PADDLE_GPU_CHECKPOINTS", "PADDLE_TRAINER_ID", "BASH_ENV"],
)  # fmt: skip
def test_variables_that_the_engine_sets(work, name):
    assert refused(spec(work, environment={name: "x"})) == "variable_reserved"
    assert refused(spec(work), metadata={"paddle_gpu": {"environment": {name: "x"}}}) == "variable_reserved"


@pytest.mark.parametrize("name", ["A=B", "", "A B", "1A", "A\nNVIDIA_VISIBLE_DEVICES", "Ä", "-e", "FOO\n", "FOO\r"])
def test_names_that_are_none(work, name):
    assert refused(spec(work, environment={name: "x"})) == "variable_name"


@pytest.mark.parametrize("value", ["a\0b", "x" * 40_000, 1, None])
def test_values_that_are_none(work, value):
    assert refused(msgspec.structs.replace(spec(work), environment={"A": value})) == "variable_value"


@pytest.mark.parametrize("network", ["host", "container:other", "bridge2", "", 3])
def test_networks(work, network):
    assert refused(spec(work, options={"network": network})) == "network_not_allowed"
    assert authorize(spec(work, options={"network": "none"}), DockerSettings()).network == "none"
    assert authorize(spec(work), DockerSettings()).network == "bridge"


@pytest.mark.parametrize(
    "line",
    ["--index-url http://x", "-r /etc/passwd", "a; rm -rf /", "a\nb", "../x", "git+https://x", "a$(x)", "a\x0bb",
     "numpy==1.0 --pre", "numpy==1.0 -i http://x", "numpy --pre", "numpy @ https://x/y.whl", "numpy===${HOME}",
     "numpy>=1\t--pre"],
)  # fmt: skip
def test_requirements(work, line):
    assert refused(spec(work, options={"requirements": [line]})) == "requirement_refused"


def test_requirements_that_are_fine(work):
    lines = ["scikit-learn", "numpy>=1.24,<3", "uvicorn[standard]==0.30", "x ~= 1.2", 'y<2; python_version < "3.12"']
    assert authorize(spec(work, options={"requirements": lines}), DockerSettings()).requirements == tuple(lines)


def test_what_a_notebook_says_by_itself_always_passes(work):
    lines = ("scikit-learn>=1.2", "--upgrade", "git+https://example/x", "-r more.txt", "rich")
    options = options_of(lines, "fleet")
    assert options == {"requirements": ["scikit-learn>=1.2", "rich"], "distribution": "fleet"}
    assert authorize(spec(work, options=options), DockerSettings()).distribution == "fleet"
    assert options_of((), None) == {}
    assert options_of((), "none") == {}


@pytest.mark.parametrize(
    "python",
    ["python; rm", "../../bin/sh", "a b", 3, "$(x)", "sh", "/bin/sh", "python/../sh", "python\n", "../python"],
)
def test_the_program(work, python):
    assert refused(spec(work, options={"python": python})) == "option_value"


@pytest.mark.parametrize("python", ["python", "python3.10", "/opt/conda/bin/python3", "pypy3", "/usr/local/.x/python"])
def test_programs_that_are_a_python(work, python):
    assert authorize(spec(work, options={"python": python}), DockerSettings()).python == python


def test_a_folder_that_is_not_there(work):
    assert refused(spec(work / "absent")) == "folder_missing"
    (work / "broken").symlink_to("/nowhere")
    assert refused(spec(work / "broken")) == "folder_missing"
