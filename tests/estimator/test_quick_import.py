"""What makes a worker's start quick changes nothing that a notebook could see, and is left out where it fails."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter
from jupyter_paddle_gpu.estimator.workers.settings import WorkerSettings
from jupyter_paddle_gpu.estimator.workers.worker import Worker
from jupyter_paddle_gpu.estimator.zygote.lazy_modules import Finder, LazyModule

ZYGOTE = Path(__file__).parents[2] / "jupyter_paddle_gpu" / "estimator" / "zygote"
BARE = Path(__file__).parent / "bare_tracer"

NAMES = """
import json, sys, paddle
modules = ("paddle", "paddle.base.core", "paddle.utils", "paddle.utils.cpp_extension", "httpx")
names = {name: sorted(set(dir(sys.modules[name]))) for name in modules}
import distutils.core, setuptools
print(json.dumps([names, paddle.utils.cpp_extension.CppExtension(["a.cc"]).name]))
"""
QUICK = f"""
import gc, sys
gc.disable()
sys.path.insert(0, {str(ZYGOTE.parent)!r})
from zygote import paddle_import, preload
preload.begin()
paddle_import.quickly()
assert "setuptools" not in sys.modules and "rich" not in sys.modules
assert not any(isinstance(finder, paddle_import.Finder) for finder in sys.meta_path)
sys.path.pop(0)
"""


PIP_FIRST = """
import pip
from paddle.utils.cpp_extension import CppExtension
import distutils.core
print(distutils.core.__file__)
assert not any("zygote" in type(finder).__module__ for finder in sys.meta_path)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that writes down when it runs, in `runs`."""
    folder = tmp_path / "slowly"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "import builtins\nbuiltins.slowly_runs.append(__name__)\nfrom . import part\nvalue = part.value\n"
        "def replaced(): return 'own'\n"
    )
    (folder / "part.py").write_text("value = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("builtins.slowly_runs", runs := [], raising=False)
    yield runs
    for name in [name for name in sys.modules if name.partition(".")[0] == "slowly"]:
        del sys.modules[name]


def lazy():
    with Finder(frozenset(("slowly",))):
        return importlib.import_module("slowly")


def test_a_lazy_module_runs_when_a_name_is_asked_for(package):
    module = lazy()
    again = importlib.import_module("slowly")

    assert again is module and isinstance(module, LazyModule) and package == []
    assert Path(module.__file__).name == "__init__.py"
    assert module.value == 7
    assert package == ["slowly"] and type(module) is type(sys)


def test_all_ways_to_look_into_a_module_make_it_run(package):
    module = lazy()
    assert "value" in dir(module)

    del sys.modules["slowly"]
    lazy()
    from slowly import value

    assert value == 7 and package == ["slowly", "slowly"]


def test_its_parts_can_be_imported_and_what_was_put_there_stands(package):
    module = lazy()
    part = importlib.import_module("slowly.part")
    module.replaced = lambda: "mine"

    assert package == [] and part.value == 7
    assert module.value == 7 and module.part is part
    assert module.replaced() == "mine"


def test_a_missing_name_is_the_usual_error(package):
    module = lazy()
    with pytest.raises(AttributeError, match="module 'slowly' has no attribute 'nothing'"):
        _ = module.nothing
    assert package == ["slowly"]


def test_a_module_that_fails_says_so_each_time_it_is_asked(package, tmp_path):
    (tmp_path / "slowly" / "__init__.py").write_text("import nothing_of_that_name\n")
    module = lazy()
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="nothing_of_that_name"):
            _ = module.value


@pytest.mark.paddle
def test_paddle_imported_quickly_is_the_same_paddle(tmp_path):
    def names(code):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
        return json.loads(done.stdout.splitlines()[-1])

    assert names(QUICK + NAMES) == names(NAMES)


@pytest.mark.parametrize("end", ["raise ImportError('not like this')", "os.kill(os.getpid(), 11)"])
def test_a_paddle_that_cannot_bear_it_is_imported_the_plain_way(tmp_path, end):
    (tmp_path / "paddle.py").write_text(
        f"import os, sys\nif '--plain' not in sys.orig_argv: {end}\n__version__ = '9.9'\n", encoding="utf-8"
    )
    found = find_interpreter("python3")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    interpreter = msgspec.structs.replace(found, environment={**found.environment, "PYTHONPATH": path})
    worker = Worker(interpreter, WorkerSettings(tracer=BARE))
    try:
        greeting = worker.start()
        assert (greeting.error, greeting.paddle_version) == ("", "9.9")
        assert worker.request("echo", {"a": 1}, tmp_path).value == {"a": 1}
    finally:
        worker.close()


@pytest.mark.paddle
def test_setuptools_comes_before_pip_as_with_paddle_itself():
    """PaddleNLP imports pip before it looks into Paddle's extensions; setuptools refuses to come later than that."""
    pytest.importorskip("pip")
    command = [sys.executable, "-W", "ignore", "-c"]
    own, quick = (
        subprocess.run([*command, start + PIP_FIRST], capture_output=True, text=True, check=False)
        for start in ("import sys, paddle", QUICK)
    )
    assert (quick.returncode, quick.stdout) == (0, own.stdout), quick.stderr[-1000:]


@pytest.mark.paddle
def test_what_lacks_its_library_does_not_wait():
    """Paddle imports setuptools, which Python from 3.12 on does not bring: a job would end there."""
    code = f"""
import sys
sys.path.insert(0, {str(ZYGOTE.parent)!r})
sys.modules["setuptools"] = None
from zygote import paddle_import
try:
    paddle_import.quickly()
except ImportError as problem:
    print(problem.name)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["setuptools"]
