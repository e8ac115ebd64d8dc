"""From a kernel's name to its Python: real specifications in a data folder of their own."""

import json
import os
import subprocess
import sys

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter, forget_probes


@pytest.fixture
def install_kernel(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))

    def install(name, argv, language="python", **more):
        folder = tmp_path / "kernels" / name
        folder.mkdir(parents=True)
        specification = {"argv": argv, "display_name": name.title(), "language": language, **more}
        (folder / "kernel.json").write_text(json.dumps(specification))

    forget_probes()
    yield install
    forget_probes()


LAUNCH = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]


@pytest.mark.parametrize("word", ["python", f"python{sys.version_info[0]}"])
def test_a_bare_python_is_the_servers_own(install_kernel, word):
    install_kernel("bare", [word, *LAUNCH])

    found = find_interpreter("bare")

    assert found.command == (sys.executable,)
    assert found.version == sys.version_info[:3]


@pytest.mark.paddle
def test_the_version_is_read_without_an_import():
    import importlib.metadata

    assert find_interpreter("python3").paddle_version == importlib.metadata.version("paddlepaddle")


def test_wrappers_and_the_specifications_environment_are_kept(install_kernel, tmp_path):
    install_kernel("wrapped", ["env", "FROM_WRAPPER=1", sys.executable, *LAUNCH], env={"FROM_SPECIFICATION": "2"})

    found = find_interpreter("wrapped")

    assert found.command == ("env", "FROM_WRAPPER=1", sys.executable)
    assert found.environ()["FROM_SPECIFICATION"] == "2"


def test_an_interpreter_without_paddle(install_kernel, tmp_path):
    # The same Python without its packages: what a second environment looks like.
    install_kernel("empty", [sys.executable, "-I", "-S", *LAUNCH])

    assert find_interpreter("empty").paddle_version is None


@pytest.mark.parametrize(
    ("name", "argv", "language", "code"),
    [
        ("ir", ["R", "--slave", "-e", "IRkernel::main()"], "R", "kernel_not_python"),
        ("gone", ["/nowhere/bin/python", *LAUNCH], "python", "kernel_does_not_start"),
        ("broken", ["false", *LAUNCH], "python", "kernel_does_not_start"),
    ],
)
def test_each_fault_has_its_sentence(install_kernel, name, argv, language, code):
    install_kernel(name, argv, language)

    with pytest.raises(PaddleGpuError) as raised:
        find_interpreter(name)

    assert raised.value.code == code
    assert name in raised.value.message.render() and raised.value.message.render_hint()


def test_an_unknown_kernel_names_those_that_are_there(install_kernel):
    install_kernel("mine", [sys.executable, *LAUNCH])

    with pytest.raises(PaddleGpuError, match="mine") as raised:
        find_interpreter("absent")

    assert raised.value.code == "no_such_kernel"


def test_a_specification_that_is_no_json(install_kernel, tmp_path):
    install_kernel("bad", [sys.executable])
    (tmp_path / "kernels" / "bad" / "kernel.json").write_text("{")

    with pytest.raises(PaddleGpuError) as raised:
        find_interpreter("bad")

    assert raised.value.code == "kernel_unreadable"


def test_a_package_installed_later_is_seen(install_kernel, tmp_path):
    environment = tmp_path / "environment"
    packages = environment / "lib" / "python3" / "site-packages"
    packages.mkdir(parents=True)
    (environment / "bin").mkdir()
    program = environment / "bin" / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} -S "$@"\n')
    program.chmod(0o755)
    install_kernel("later", [str(program), *LAUNCH])
    assert find_interpreter("later").paddle_version is None

    (packages / "paddle").mkdir()
    (packages / "paddle" / "__init__.py").write_text("")
    information = packages / "paddlepaddle-9.9.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: paddlepaddle\nVersion: 9.9\n")
    os.utime(packages, (1, 1))

    assert find_interpreter("later").paddle_version == "9.9"


def test_a_kernel_is_found_without_loading_jupyters_client(install_kernel, tmp_path):
    install_kernel("mine", [sys.executable, *LAUNCH])
    code = (
        "import sys; from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter\n"
        "print(find_interpreter('mine').display_name, 'jupyter_client' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["Mine", "False"]


@pytest.mark.parametrize("name", ["../kernels/mine", "MINE"])
def test_other_spellings_are_jupyters_business(install_kernel, name):
    install_kernel("mine", [sys.executable, *LAUNCH])
    if name == "MINE":
        assert find_interpreter(name).display_name == "Mine"
    else:
        with pytest.raises(PaddleGpuError, match="no kernel named"):
            find_interpreter(name)


def test_a_kernel_whose_provisioner_is_missing_is_none(install_kernel):
    provisioner = {"kernel_provisioner": {"provisioner_name": "nobody-has-it"}}
    install_kernel("remote", [sys.executable, *LAUNCH], metadata=provisioner)
    with pytest.raises(PaddleGpuError, match="no kernel named"):
        find_interpreter("remote")
