"""A batch size that stands in a file of settings: a job has its own copy of the file, the person's stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.notebooks import files_of
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.notebook.files.writing import write
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.jobs.submitting import settle

pytestmark = pytest.mark.paddle

TRAINING = """
import json
import paddle
import yaml
{load}
data = paddle.io.TensorDataset([paddle.rand([256, 8])])
net = paddle.nn.Linear(8, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for x, in paddle.io.DataLoader(data, batch_size={size}):
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print("batch", x.shape[0])
"""
JSON = "with open('config.json') as file:\n    cfg = json.load(file)"
YAML = "cfg = yaml.safe_load(open('conf/run.yml', encoding='utf-8'))"
FILES = {
    "JSON": (JSON, "config.json", '{\n  "train": {"batch_size": 32},\n  "eval": {"batch_size": 32}\n}\n',
             "cfg['train']['batch_size']", '-  "train": {"batch_size": 32},\n+  "train": {"batch_size": 8},'),
    "YAML": (YAML, "conf/run.yml", "# größe\ntrain:\n  batch_size: 32   # of all\n", "cfg['train']['batch_size']",
             "-  batch_size: 32   # of all\n+  batch_size: 8   # of all"),
    "an anchor": (YAML, "conf/run.yml", "size: &bs 32\ntrain: {bs: *bs}\n", "cfg['train']['bs']",
                  "-size: &bs 32\n+size: &bs 8"),
    "a text": (JSON, "config.json", '{"batch": "32", "rows": 32}', "int(cfg['batch'])",
               '-{"batch": "32", "rows": 32}\n+{"batch": "8", "rows": 32}'),
    "a name": (JSON + "\nbatch_size = cfg['bs']", "config.json", '{"bs": 32, "eval_bs": 16}', "batch_size",
               '-{"bs": 32, "eval_bs": 16}\n+{"bs": 8, "eval_bs": 16}'),
    "that of the evaluation": (YAML, "conf/run.yml", "eval:\n  batch_size: 32\n", "cfg['eval']['batch_size']",
                               "-  batch_size: 32\n+  batch_size: 8"),
}  # fmt: skip
SMALLER = Submission(request=EstimateRequest(batch_size=8, target="cpu"))


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    root = tmp_path_factory.mktemp("settings")
    made = Services(Settings(data_folder=root / "data", root=root, system_policy_file=root / "none"))
    yield made
    made.close()


def opened(services, folder: str, load: str, size: str, name: str, text: str):
    path = Path(services.settings.root, folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "id": "a"}
    cells = [{**cell, "source": TRAINING.format(load=load, size=size)}]
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (path.parents[name.count("/")] / "train.ipynb").write_text(json.dumps(content))
    return services.open(f"{folder}/train.ipynb"), path


@pytest.mark.parametrize("kind", FILES)
def test_the_number_is_changed_in_the_copy_of_the_file(services, kind):
    load, name, text, size, difference = FILES[kind]
    notebook, path = opened(services, kind.replace(" ", "_"), load, size, name, text)
    estimate = services.estimate(notebook, SMALLER.request)
    assert (estimate.batch_size, [one.file for one in estimate.batch_from]) == (8, [str(path.resolve())])
    changes = services.changes(notebook, SMALLER, runs=True)
    assert (changes.cells, changes.refused, [one.name for one in changes.files]) == ((), (), [name])
    assert difference in changes.difference and f"+++ {name}" in changes.difference
    content = settle(services.desk(), notebook, SMALLER).content
    assert files_of(content)[str(path.resolve())] == changes.files[0].after
    assert path.read_text() == text
    with pytest.raises(PaddleGpuError) as refused:
        write(notebook, changes)
    assert refused.value.code == "settings_not_written"


def test_a_file_that_was_edited_since_is_read_anew(services):
    load, name, text, size, _ = FILES["YAML"]
    notebook, path = opened(services, "edited", load, size, name, text)
    services.estimate(notebook, SMALLER.request)
    path.write_text("workers: 32\nmore: 1\n" + text)
    changes = services.changes(notebook, SMALLER, runs=True)
    assert "-  batch_size: 32   # of all\n+  batch_size: 8   # of all" in changes.difference
    assert "-workers" not in changes.difference and not changes.refused
    path.unlink()
    assert [one.change for one in services.changes(notebook, SMALLER, runs=False).refused] == ["batch_size"]


def test_what_the_cells_compute_of_it_is_not_offered(services):
    load, name, text, size, _ = FILES["JSON"]
    notebook, _ = opened(services, "computed", load, size + " * 2", name, text)
    changes = services.changes(notebook, SMALLER, runs=True)
    assert [one.why.code for one in changes.refused] == ["batch_size_computed"]
    assert changes.files == ()


def test_a_job_runs_with_it(services, until):
    load, name, text, size, _ = FILES["JSON"]
    notebook, path = opened(services, "job", load, size, name, text)
    job = services.submit(notebook, SMALLER)
    done = services.jobs.wait(job.id, 180)
    assert done.state == "succeeded"
    executed = json.loads(Path(done.spec.output).read_text())
    assert "".join(executed["cells"][0]["outputs"][-1]["text"]) == "batch 8\n"
    assert path.read_text() == text
    until(services.jobs._lock.acquire)  # whoever looked after the queue has gone
    services.jobs._lock.release()
