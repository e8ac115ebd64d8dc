"""A what-if that is declared in one place arrives in all faces.

A made-up one is written into a copy of the package, as somebody would who adds a real one, and nothing else is touched.
What the panel makes of the fields that REST sends is in `tests/frontend/components/whatIfs.test.tsx`, with made-up
rows as well.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import jupyter_paddle_gpu

PACKAGE = Path(jupyter_paddle_gpu.__file__).parent
BEFORE = "    device: Annotated[\n"
"""What the declaration is written in front of."""
DECLARATION = """
    pipeline_stages: Annotated[
        int | None,
        Declaration(
            help="Stages that the layers are dealt out to.",
            label="Stages of the pipeline",
            least=2,
            words=Words(asked="in {value} stages", suggested="Deal out to {value} stages"),
            in_jobs=True,
            if_known=True,
            fact="distribution",
            notes=(Message(code="no_stages", text="The model has {found} layers, fewer than {asked} stages."),),
            kept=(Message(code="stages_kept", text="The notebook has {found} stages in any case."),),
        ),
    ] = None
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Runs a program on a copy of the package that knows one what-if more; answers what it printed."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    table = folder / PACKAGE.name / "domain" / "what_ifs.py"
    text = table.read_text(encoding="utf-8")
    assert text.count(BEFORE) == 1
    table.write_text(text.replace(BEFORE, DECLARATION.lstrip("\n") + BEFORE), encoding="utf-8")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))},
        "PYTHONPATH": str(folder),
        "PADDLE_GPU_DATA": str(folder / "data"),
        "IPYTHONDIR": str(folder / "ipython"),
        "LANG": "C.UTF-8",
        "COLUMNS": "200",
    }

    def run(*arguments: str, status: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    run.folder = folder / PACKAGE.name
    return run


@pytest.mark.parametrize("command", ["estimate", "submit"])
def test_the_terminal_has_its_option(copy, command):
    words = " ".join(copy("-m", "jupyter_paddle_gpu", command, "--help").split())
    assert "--pipeline-stages N Stages that the layers are dealt out to. [x>=2]" in words
    wrong = copy("-m", "jupyter_paddle_gpu", command, "a.ipynb", "--pipeline-stages", "0", "--json", status=2)
    assert json.loads(wrong)["code"] == "usage"


def test_the_cell_has_its_flag(copy):
    out = copy(
        "-c",
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'jupyter_paddle_gpu')\n"
        "shell.run_line_magic('paddle_gpu', 'estimate --help')\n"
        "shell.run_cell('%paddle_gpu estimate --pipeline-stages 0')\n",
    )
    assert "--pipeline-stages N" in out
    assert "0 is not in the range x>=2" in out


def test_rest_takes_it_and_says_so(copy):
    out = copy(
        "-c",
        "import json, msgspec\n"
        "from jupyter_paddle_gpu.domain.bounds import check_request\n"
        "from jupyter_paddle_gpu.domain.errors import PaddleGpuError\n"
        "from jupyter_paddle_gpu.domain.messages import untranslated\n"
        "from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest\n"
        "from jupyter_paddle_gpu.server.bodies import EstimateBody, SubmitBody\n"
        "from jupyter_paddle_gpu.server.what_ifs import fields\n"
        "body = {'path': 'a.ipynb', 'request': {'pipeline_stages': 4}}\n"
        "taken = [msgspec.convert(body, kind).request.pipeline_stages for kind in (EstimateBody, SubmitBody)]\n"
        "try:\n"
        "    check_request(msgspec.convert({'pipeline_stages': 1}, EstimateRequest))\n"
        "except PaddleGpuError as error:\n"
        "    refused = str(error)\n"
        "field, = [field for field in fields(untranslated) if field.name == 'pipeline_stages']\n"
        "print(json.dumps([taken, refused, msgspec.to_builtins(field)]))\n",
    )
    taken, refused, field = json.loads(out)
    assert taken == [4, 4]
    assert "“pipeline_stages” is 1; it must be a whole number from 2" in refused
    assert field == {
        "name": "pipeline_stages",
        "kind": "count",
        "label": "Stages of the pipeline",
        "asked": "in {value} stages",
        "least": 2,
        "choices": [],
        "in_jobs": True,
        "follows": "",
        "if_known": True,
        "fact": "distribution",
    }
    copy("-m", "jupyter_paddle_gpu.server.schemas")
    document = yaml.safe_load((copy.folder / "server" / "openapi.yaml").read_text(encoding="utf-8"))
    request = document["components"]["schemas"]["EstimateRequest"]
    assert request["properties"]["pipeline_stages"] == {
        "anyOf": [{"type": "integer", "minimum": 2}, {"type": "null"}],
        "default": None,
        "description": "Stages that the layers are dealt out to.",
    }


def test_a_job_is_run_with_it_or_refused(copy):
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": "1"}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (copy.folder.parent / "a.ipynb").write_text(json.dumps(notebook))
    out = copy("-m", "jupyter_paddle_gpu", "submit", "a.ipynb", "--pipeline-stages", "4", "--json", status=1)
    assert json.loads(out)["message"].startswith("What is asked for cannot be written into the cells")


def test_tracer_and_sentences_know_it(copy):
    out = copy(
        "-c",
        "import json\n"
        "from pathlib import Path\n"
        "from jupyter_paddle_gpu.domain.notebooks import NotebookFacts\n"
        "from jupyter_paddle_gpu.domain.what_ifs import BY_NAME, EstimateRequest, for_job\n"
        "from jupyter_paddle_gpu.estimator import translate\n"
        "from jupyter_paddle_gpu.estimator.sources import traces\n"
        "from jupyter_paddle_gpu.estimator.trace import TracedNote\n"
        "request = EstimateRequest(pipeline_stages=4)\n"
        "facts = NotebookFacts(kernel_name='', language='python', cells=(), imports_paddle=True, loop='custom')\n"
        "told = traces.tracer_request(facts, Path('.'), request)['pipeline_stages']\n"
        "note = translate.note(TracedNote('no_stages', {'found': 2, 'asked': 4})).render()\n"
        "advice = BY_NAME['pipeline_stages'].suggestion(2).render()\n"
        "left_out = 'pipeline_stages' in traces.LEFT_OUT\n"
        "kept = 'stages_kept' in translate.KEPT\n"
        "print(json.dumps([told, for_job(request).pipeline_stages, note, advice, left_out, kept]))\n",
    )
    sentence = "The model has 2 layers, fewer than 4 stages."
    assert json.loads(out) == [4, 4, sentence, "Deal out to 2 stages", True, True]
