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


LACKING = """
cfg = json.load(open('config.json'))
print("lr", cfg["lr"], cfg.get("momentum", 0.9))"""


def test_what_else_the_program_takes_of_it_is_named(services):
    notebook, path = opened(services, "lacking", LACKING, "cfg['train']['batch_size']", "config.json", "")
    path.unlink()
    assert [one.name for one in services.estimate(notebook, AS_ANSWERED.request).questions] == ["cfg_lr"]
    (note,) = settle(services.desk(), notebook, AS_ANSWERED).spec.unanswered
    assert (note.code, note.params["lacks"]) == ("settings_given_in_part", "cfg_lr")
    whole = Submission(request=EstimateRequest(answers={**GIVEN, "cfg_lr": 0.00001}, target="cpu"))
    settled = settle(services.desk(), notebook, whole)
    assert [one.code for one in settled.spec.unanswered] == ["settings_given"]
    held = json.loads(files_of(settled.content, answered=True)["config.json"])
    assert held == {"train": {"batch_size": 16}, "lr": 0.00001}


BEHIND = """
open(cfg["folder"]["logs"] + "/end.txt", "w").write(cfg["title"])
if cfg["debug"]:
    print(cfg["more"])
"""


def test_what_is_taken_of_it_behind_the_training_can_be_answered_as_well(services):
    load, name, _, size, _ = FILES["JSON"]
    notebook, path = opened(services, "behind", load, size, name, "")
    path.unlink()
    cells = notebook.content["cells"]
    cells.append({**cells[0], "id": "b", "source": BEHIND})
    estimate = services.estimate(notebook, AS_ANSWERED.request)
    assert estimate.status == "ok"
    assert [(one.name, one.kind, one.why.code) for one in estimate.questions] == [
        ("cfg_folder_logs", "value", "setting_open"),
        ("cfg_title", "value", "setting_open"),
    ]
    answers = {**GIVEN, "cfg_folder_logs": ".", "cfg_title": "the end"}
    whole = Submission(request=EstimateRequest(answers=answers, target="cpu"))
    assert services.estimate(notebook, whole.request).questions == ()
    held = files_of(settle(services.desk(), notebook, whole).content, answered=True)["config.json"]
    assert json.loads(held) == {"train": {"batch_size": 16}, "folder": {"logs": "."}, "title": "the end"}


def test_a_form_that_nobody_knows_is_said_not_to_reach_the_job(services):
    load = "cfg = dict(line.split('=') for line in open('run.cfg'))"
    notebook, path = opened(services, "own_form", load, "int(cfg['batch'])", "run.cfg", "")
    path.unlink()
    settled = settle(
        services.desk(), notebook, Submission(request=EstimateRequest(answers={"cfg_batch": 16}, target="cpu"))
    )
    assert [one.code for one in settled.spec.unanswered] == ["settings_absent"]
    assert files_of(settled.content, answered=True) == {}


def test_a_job_runs_with_it(services, until):
    load, name, text, size, _ = FILES["JSON"]
    notebook, path = opened(services, "job", load, size, name, text)
    job = services.submit(notebook, SMALLER)
    done = services.jobs.wait(job.id, 180)
    assert done.state == "succeeded"
    executed = json.loads(Path(done.spec.output).read_text())
    assert "".join(executed["cells"][0]["outputs"][-1]["text"]) == "batch 8\n"
    assert path.read_text() == text
    path.unlink()
    given = Submission(request=EstimateRequest(answers={"cfg_train_batch_size": 16}, target="cpu"))
    done = services.jobs.wait(services.submit(notebook, given).id, 180)
    executed = json.loads(Path(done.spec.output).read_text())
    assert "".join(executed["cells"][0]["outputs"][-1]["text"]) == "batch 16\n"
    assert list(executed["metadata"]["paddle_gpu"]["settings"]) == [name]
    assert not path.exists()
    until(services.jobs._lock.acquire)  # whoever looked after the queue has gone
    services.jobs._lock.release()


ANSWERED = {
    "JSON": (JSON, "config.json", '{\n  "train": {\n    "batch_size": 16\n  }\n}\n'),
    "YAML": (YAML, "conf/run.yml", "train:\n  batch_size: 16\n"),
    "TOML": ("import tomllib\ncfg = tomllib.load(open('run.toml', 'rb'))", "run.toml", "[train]\nbatch_size = 16\n"),
    "INI": ("import configparser\ncfg = configparser.ConfigParser()\ncfg.read('run.cfg')", "run.cfg",
            "[train]\nbatch_size = 16\n"),
}  # fmt: skip
GIVEN = {"cfg_train_batch_size": 16}
AS_ANSWERED = Submission(request=EstimateRequest(answers=GIVEN, target="cpu"))


@pytest.mark.parametrize("kind", ANSWERED)
def test_answers_for_a_file_that_is_not_here_reach_the_job(services, kind):
    load, name, text = ANSWERED[kind]
    if kind == "TOML":
        pytest.importorskip("tomllib")
    size = "int(cfg['train']['batch_size'])"
    notebook, path = opened(services, f"absent_{kind}", load, size, name, "")
    path.unlink()
    changes = services.changes(notebook, AS_ANSWERED, runs=True)
    assert (changes.cells, changes.files, changes.refused) == ((), (), ())
    assert [one.params for one in changes.says] == [{"name": name}]
    added = "".join(f"+{line}\n" for line in text.splitlines())
    assert f"+++ {name}\n" in changes.difference and changes.difference.endswith(added.rstrip("\n"))
    settled = settle(services.desk(), notebook, AS_ANSWERED)
    assert files_of(settled.content, answered=True) == {name: text}
    assert [one.code for one in settled.spec.unanswered] == ["settings_given"]
    assert not path.exists()
