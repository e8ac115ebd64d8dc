"""A module that the kernel's Python lacks is an answer of its own kind, with the package that brings it."""

from __future__ import annotations

import json

import pytest

from jupyter_paddle_gpu.domain.notebooks import Place
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator import packages
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.notebook.files.reading import read_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

MODEL = """import paddle
import absent_losses, rdkit.Chem
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
"""
LOOP = """for step in range(9):
    loss = net(paddle.rand([8, 4])).mean(){more}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("cv2", "opencv-python"),
        ("PIL", "pillow"),
        ("sklearn.metrics", "scikit-learn"),
        ("yaml", "PyYAML"),
        ("pandas", "pandas"),
        ("ppdet.engine", "paddledet"),
        ("distutils.util", "setuptools"),
        ("imp", "zombie-imp"),
        ("utils", None),
        ("my_helpers.layers", None),
    ],
)
def test_a_package_has_the_name_by_which_pip_knows_it(module, name):
    assert packages.package(module) == name


@pytest.fixture(scope="module")
def estimate(tmp_path_factory):
    """The estimate of two cells."""
    folder = tmp_path_factory.mktemp("packages")
    service = EstimateService(EstimateSettings(calibration=folder / "calibration.json"))

    def of(*cells):
        notebook = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "cells": [
                {"cell_type": "code", "id": f"c{number}", "metadata": {}, "source": cell, "outputs": [],
                 "execution_count": None}
                for number, cell in enumerate(cells)
            ],
        }  # fmt: skip
        (folder / "notebook.ipynb").write_text(json.dumps(notebook))
        facts = inspect_notebook(read_notebook(folder / "notebook.ipynb"))
        return service.estimate(facts, folder, EstimateRequest(target="cpu"))

    yield of
    service.close()


@pytest.mark.paddle
def test_what_the_step_needs_is_a_status_of_its_own(estimate):
    found = estimate(MODEL, LOOP.format(more=" * absent_losses.weight(step) + rdkit.Chem.weight(step)"))
    assert (found.status, found.questions) == ("no_package", ())
    (needed,) = [one for one in found.packages if one.is_needed]
    assert (needed.module, needed.install, needed.where) == ("absent_losses", None, Place(0, 2))
    assert "“absent_losses” in cell 2, line 2" in needed.why.render()
    assert "absent_losses.py" in needed.why.render_hint()
    assert "pip install absent_losses" in needed.why.render_hint()


@pytest.mark.paddle
def test_what_it_does_not_need_is_told_beside_the_figure(estimate):
    found = estimate(MODEL, LOOP.format(more=""))
    assert (found.status, found.batch_size) == ("ok", 8)
    assert [(one.module, one.install, one.is_needed, one.where) for one in found.packages] == [
        ("absent_losses", None, False, Place(0, 2)),
        ("rdkit", "rdkit", False, Place(0, 2)),
    ]
    (note,) = [one for one in found.notes if one.code == "modules_passed_by"]
    assert "%pip install absent_losses rdkit" in note.render_hint()


@pytest.mark.paddle
def test_files_of_the_notebooks_own_are_told_together_with_their_paths_and_the_lines_that_import_them(estimate):
    imports = "import paddle\nfrom own_models.unet import UNet\nimport own_models.parts\nfrom own_settings import cfg"
    model = MODEL.replace("absent_losses, ", "").replace("paddle.nn.Linear", "UNet")
    found = estimate(imports, model, LOOP.format(more=""))
    assert found.status == "no_package"
    first, second = [one for one in found.packages if one.is_needed]
    assert (first.module, first.where, second.module, second.where) == (
        "own_models", Place(0, 2), "own_settings", Place(0, 4)
    )  # fmt: skip
    assert "own_models/unet.py, own_models/parts.py" in first.why.render_hint()
    assert "“own_models.unet, own_models.parts” in cell 2, line 4" in first.why.render()


@pytest.mark.paddle
@pytest.mark.parametrize(("call", "status"), [("agent.learn([1])", "no_package"), ("print(agent)", "no_model")])
def test_a_library_that_lacks_a_module_may_hold_the_training(estimate, tmp_path, call, status):
    (tmp_path / "agents_elsewhere.py").write_text("import xarray_absent, paddle\nclass Agent:\n    pass\n")
    found = estimate(
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport paddle\nfrom agents_elsewhere import Agent",
        f"agent = Agent()\n{call}",
    )
    assert (found.status, [one.module for one in found.packages if one.is_needed]) == (
        status,
        ["xarray_absent"] if status == "no_package" else [],
    )


@pytest.mark.paddle
@pytest.mark.parametrize(
    ("asks", "module", "install", "says"),
    [
        ("version('paddlenlp')", "paddlenlp", "paddlenlp", "pip install paddlenlp"),
        ("distribution('my-own-training')", "my-own-training", None, "pip install -e ."),
        ("requires('sentencepiece')", "sentencepiece", "sentencepiece", "pip install sentencepiece"),
    ],
)
def test_an_installed_package_that_is_asked_for_by_its_name(estimate, asks, module, install, says):
    found = estimate(f"import importlib.metadata\nimportlib.metadata.{asks}", MODEL.replace(", rdkit.Chem", ""))
    (needed,) = [one for one in found.packages if one.is_needed]
    assert (found.status, needed.module, needed.install, needed.where) == ("no_package", module, install, Place(0, 2))
    assert says in needed.why.render_hint()


@pytest.mark.paddle
def test_a_program_that_says_so_itself(estimate):
    own = (
        "import importlib.metadata\ntry:\n    importlib.metadata.version('einops')\n"
        "except importlib.metadata.PackageNotFoundError:\n    raise RuntimeError('please install einops')\n"
    )
    setuptools = (
        "class DistributionNotFound(Exception):\n    pass\n"
        "raise DistributionNotFound(\"The 'einops>=0.6' distribution was not found and is required by others\")"
    )
    for cell, install in ((own, "einops"), (setuptools, '"einops>=0.6"')):
        found = estimate(cell, MODEL.replace("absent_losses, rdkit.Chem", "os"), LOOP.format(more=""))
        (needed,) = found.packages
        assert (found.status, needed.install) == ("no_package", install)
        assert f"pip install {install}" in needed.why.render_hint()
