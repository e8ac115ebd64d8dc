"""What a training's own lines want of the world outside: the estimate does without, and says what and which line."""

from __future__ import annotations

import importlib
import os
import sys

import pytest

from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.zygote import guard

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's guards are Linux's"),
]
TRAIN = """
import paddle
model = paddle.nn.Linear(10, 2)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
{line}
for step in range(4):
    model(paddle.rand([16, 10])).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
REFUSED = {
    "urllib": (
        "import urllib.request; urllib.request.urlretrieve('https://data.invalid/a.zip', 'a.zip')",
        "data.invalid",
    ),
    "requests": ("import requests; rows = requests.get('https://data.invalid/a.csv').text", "data.invalid"),
    "socket": ("import socket; socket.create_connection(('data.invalid', 80))", "data.invalid"),
    "subprocess": ("import subprocess; subprocess.run(['nvidia-smi'])", "nvidia-smi"),
    "system": ("import os; os.system('nvidia-smi')", "nvidia-smi"),
}
WITHOUT = "\nmodel = paddle.nn.Linear(10, size)"
HARMLESS = {
    "magic": "get_ipython().run_line_magic('matplotlib', 'inline'); get_ipython().system('ls')",
    "folder": "import os; os.makedirs('checkpoints', exist_ok=True)",
    "log": "log = open('log.txt', 'w'); log.write('x')",
    "cleared folder": "import os, shutil; os.makedirs('out'); shutil.rmtree('out'); os.makedirs('out')",
    "lock": "import os; os.open('.lock', os.O_CREAT | os.O_RDWR)",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = EstimateService(EstimateSettings(calibration=tmp_path_factory.mktemp("data") / "calibration.json"))
    yield service
    service.close()


def estimated(service, folder, line):
    cell = CodeCell(index=0, id="a", source=TRAIN.format(line=line))
    known = NotebookFacts(kernel_name="python3", cells=(cell,), language="python", imports_paddle=True, loop="custom")
    return service.estimate(known, folder, EstimateRequest(target="cpu"))


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_line_wants_that_no_step_needs_is_said(service, tmp_path, name):
    line, target = REFUSED[name]
    estimate = estimated(service, tmp_path, line)
    assert (estimate.status, estimate.questions) == ("ok", ())
    said = next(note.render() for note in estimate.notes if note.code == "data_absent")
    assert "Cell 1, line 5," in said and target in said


def test_a_data_set_without_its_data_is_named_as_one(service, tmp_path):
    """Not as if its class were what is not here."""
    made = """table = __import__("pandas").read_csv("absent.csv")
class Houses(paddle.io.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, n):
        return self.rows[n]
len(Houses(table.values))"""
    estimate = estimated(service, tmp_path, made)
    (said,) = [note.render() for note in estimate.notes if note.code.startswith("data_absent")]
    assert "the data of Houses (cell 1, line 13)" in said


@pytest.mark.parametrize("name", REFUSED)
def test_the_question_names_what_a_step_needs(service, tmp_path, name):
    line, _ = REFUSED[name]
    estimate = estimated(service, tmp_path, "\n".join((f"def fetched():\n    {line}", "size = fetched()")) + WITHOUT)
    assert estimate.status == "needs_input"
    (question,) = estimate.questions
    assert (question.name, question.why.code, question.where.line) == ("size", "number_unseen", 8)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_can_be_done_without_stops_nothing(service, tmp_path, name):
    estimate = estimated(service, tmp_path, HARMLESS[name])
    assert estimate.status == "ok"
    assert list(tmp_path.iterdir()) == []


OWN = "import subprocess\ntry: subprocess.run(['nvidia-smi'])\nexcept OSError: pass\n"


def test_what_the_notebooks_own_module_wanted_is_noted(service, tmp_path):
    (tmp_path / "helper.py").write_text(OWN)
    estimate = estimated(service, tmp_path, "import helper")
    assert estimate.status == "ok"
    assert [note.params["target"] for note in estimate.notes if note.code == "refused_process"] == ["nvidia-smi"]


def test_what_a_library_tries_while_it_is_imported_is_not_noted(monkeypatch, tmp_path):
    """Many look at the processors or make a folder for a cache; who reads the notebook can do nothing about it."""
    looks = "import keeping\nkeeping.guard._keep('process', __name__)\n"
    for name in ("some_library", "own_module"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(looks)
        monkeypatch.syspath_prepend(tmp_path / name)
    (tmp_path / "own_module" / "keeping.py").write_text("guard = None\n")
    keeping = importlib.import_module("keeping")
    keeping.guard = guard.Guard(str(tmp_path))
    monkeypatch.setattr(guard, "_LIBRARIES", (f"{tmp_path / 'some_library'}{os.sep}",))
    for name in ("some_library", "own_module"):
        importlib.import_module(name)
    assert keeping.guard.refusals == [("process", "own_module")]
    for name in ("some_library", "own_module", "keeping"):
        del sys.modules[name]
