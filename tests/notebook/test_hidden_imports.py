"""Programs whose training no syntax tree shows: in a cell that is not valid Python, or in a module chosen by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.notebook.files.scripts import as_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

TRAIN = """
import paddle
def train(size=8):
    net = paddle.nn.Linear(4, 4)
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    net(paddle.ones([size, 4])).mean().backward()
    optimizer.step()
"""
CHOOSE = "import importlib, sys\nbackend = 'paddle'\nimportlib.import_module({name}).train()\n"
BROKEN = f"{TRAIN}train()\nprint 'done'\n"


def facts_of(path: Path, text: str):
    return inspect_notebook(parse_notebook(as_notebook(text, path), path))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "backends").mkdir()
    (tmp_path / "backends" / "paddle_version.py").write_text(TRAIN)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "is_of_paddle"),
    [
        (BROKEN, True),
        ("import json\nprint 'done'\n", False),
        (CHOOSE.format(name="f'backends.{backend}_version'"), True),
        (CHOOSE.format(name="'json'"), False),
        ("import torch\n" + CHOOSE.format(name="'backends.' + backend"), False),
    ],
)
def test_what_no_tree_shows_is_known_to_import_paddle(folder, text, is_of_paddle):
    assert facts_of(folder / "main.py", text).imports_paddle is is_of_paddle


def test_modules_chosen_by_name_are_looked_for_beside_the_program_alone(folder):
    (folder / "other").mkdir()
    text = CHOOSE.format(name="'backends.' + backend")
    assert not facts_of(folder / "other" / "main.py", text).imports_paddle


@pytest.mark.paddle
def test_they_are_estimated(folder):
    service = EstimateService(EstimateSettings(calibration=folder / "calibration.json"))
    try:
        chosen = facts_of(folder / "main.py", CHOOSE.format(name="f'backends.{backend}_version'"))
        found = service.estimate(chosen, folder, EstimateRequest(target="cpu"))
        assert (found.status, found.batch_size) == ("ok", 8)
        found = service.estimate(facts_of(folder / "old.py", BROKEN), folder, EstimateRequest(target="cpu"))
        assert found.status == "would_stop"
        assert found.stop is not None
        assert "SyntaxError: Missing parentheses" in str(found.stop)
    finally:
        service.close()
