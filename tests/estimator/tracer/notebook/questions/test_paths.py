"""A file that is not here is asked for by the notebook's name for it, and the answer takes its place."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from jupyter_paddle_gpu.runner.shells import sets

DATA = "import os, numpy as np, paddle\n"
ROWS = """
width = rows.shape[1]
class Rows(paddle.io.Dataset):
    def __getitem__(self, i):
        return rows[i]
    def __len__(self):
        return len(rows)
net = paddle.nn.Linear(width, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for epoch in range(3):
    for x in paddle.io.DataLoader(Rows(), batch_size=4):
        loss = net(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
SUM = """
net = paddle.nn.Linear(int(rows.sum()), 1)
net(paddle.zeros([1, 1])).sum().backward()
"""
FORMS = {
    "named_folder": "DATA = '/absent/rows'\nrows = np.load(os.path.join(DATA, 'mine.npy'))",
    "named_file": "FILE = 'absent/mine.npy'\nrows = np.load(FILE)",
    "literal": "rows = np.load('/absent/rows/mine.npy')",
    "literal_folder": "rows = np.load(os.path.join('absent', 'mine.npy'))",
    "in_a_function": "DATA = '/absent/rows'\ndef read(x):\n    return np.load(x + '/mine.npy')\nrows = read(DATA)",
}
ASKED = {
    "named_folder": ("DATA", "/absent/rows"),
    "named_file": ("FILE", "absent/mine.npy"),
    "literal": ("mine_npy", "/absent/rows/mine.npy"),
    "literal_folder": ("absent", "absent"),
    "in_a_function": ("DATA", "/absent/rows"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the file."""
    folder = tmp_path_factory.mktemp("elsewhere")
    np.save(folder / "mine.npy", np.zeros((64, 11), "float32"))
    return folder


CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer

for name, cells, answers in json.load(sys.stdin):
    asked = {"cells": [{"index": i, "source": one} for i, one in enumerate(cells)], "answers": answers, "target": "cpu"}
    found = tracer.trace_notebook(asked)
    paths = [[q["name"], q["params"], q["suggestion"]] for q in found["questions"] if q.get("kind") == "path"]
    print(json.dumps([name, {"status": found["status"], "inputs": found.get("inputs"), "paths": paths}]))
"""


def answer(form, folder):
    """What a person says."""
    return str(folder if "folder" in form or form == "in_a_function" else folder / "mine.npy")


@pytest.fixture(scope="module")
def traced(run_code, folder):
    """Each form with its answer, and one without."""
    answered = [(form, [DATA + source, ROWS], {ASKED[form][0]: answer(form, folder)}) for form, source in FORMS.items()]
    return run_code(CHILD, [("open", [DATA + FORMS["literal"], SUM], {}), *answered])


@pytest.mark.paddle
def test_the_place_is_asked_for(traced):
    assert traced["open"]["status"] == "needs_input"
    assert traced["open"]["paths"] == [["mine_npy", {"path": "/absent/rows/mine.npy", "alone": "yes"}, None]]


@pytest.mark.parametrize("form", FORMS)
def test_it_is_asked_for_by_the_name_that_the_cells_have(form, tmp_path, monkeypatch):
    paths = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.paths")
    monkeypatch.chdir(tmp_path)
    names = {}
    with pytest.raises(FileNotFoundError) as raised:
        exec(compile(DATA.replace(", paddle", "") + FORMS[form], "cell", "exec"), names)
    assert paths.asked_by(raised.value.filename, [FORMS[form]], names) == ASKED[form]


@pytest.mark.paddle
@pytest.mark.parametrize("form", FORMS)
def test_the_answer_takes_its_place(traced, form):
    assert traced[form] == {"status": "ok", "inputs": ["float32[4, 11]"], "paths": []}


@pytest.mark.parametrize("form", FORMS)
def test_a_job_reads_the_same_file(folder, form, monkeypatch):
    """The runner puts the answer where the estimate did."""
    source, names = DATA.replace(", paddle", "") + FORMS[form], {}
    tree = sets.bind(ast.parse(source), {ASKED[form][0]: answer(form, folder)})
    exec(compile(tree, "cell", "exec"), names)
    assert names["rows"].shape == (64, 11)


def test_a_file_of_that_name_below_the_folder_is_suggested(tmp_path, monkeypatch):
    paths = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.paths")
    (tmp_path / "data" / "train").mkdir(parents=True)
    (tmp_path / "data" / "train" / "labels.csv").touch()
    monkeypatch.chdir(tmp_path)
    assert paths.near("/home/aistudio/train/labels.csv") == "data/train/labels.csv"
    assert paths.near("/home/aistudio/train") == "data/train"
    assert paths.near("/home/aistudio/other.csv") is None


def test_the_home_of_a_hosted_notebook_is_its_own_folder_here():
    paths = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.paths")
    known = {}
    paths.remember(known, {}, "/home/aistudio/", ["import os\nos.chdir('/home/aistudio/')"], {})
    paths.remember(known, {}, "/absent/work", ["os.chdir('/absent/work')"], {})
    found = {name: (one["suggestion"], one["params"].get("source")) for name, one in known.items()}
    assert found == {"aistudio": (".", "home"), "work": (None, None)}


@pytest.mark.parametrize(
    "source",
    ["print('data/x is read')", "d['train.csv']", "print('train')", "f'{a}/train.csv'", "ratio = '3.5 / 2'"],
)
def test_what_is_no_path_is_left_alone(source):
    tree = ast.dump(ast.parse(source))
    answers = dict.fromkeys(("train_csv", "train", "x_is_read", "2"), "/elsewhere")
    assert ast.dump(sets.bind(ast.parse(source), answers)) == tree


WORDS = {
    "a word": ("os.listdir('out/model')", "small", False),
    "a file": ("open('out/model.txt')", "small", True),
    "a place": ("os.listdir('out/model')", "/data/small", True),
    "a folder that is here": ("os.listdir('out/model')", "here", True),
    "an argument": ("parser.add_argument('--model')\nos.listdir('out/model')", "/data/small", False),
    "a name of the cells": ("model = 1\nos.listdir('out/model')", "/data/small", False),
}
"""What takes an answer for `model`, or `model_txt`, the answer, and whether the path is replaced."""


@pytest.mark.parametrize("name", WORDS)
def test_an_answer_for_something_else_takes_the_place_of_no_path(tmp_path, monkeypatch, name):
    paths = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.questions.paths")
    outside = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.notebook.outside.answers")
    source, given, is_replaced = WORDS[name]
    answers = {"model": given, "model_txt": given}
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    sets.reach_parsers({})
    others = (*outside.argument_names([source]), *paths.bound([source]))
    trees = sets.bind(ast.parse(source), answers), paths.Paths(answers, others).visit(ast.parse(source))
    last = [tree.body[-1].value.args[0].value for tree in trees]
    assert [one == given for one in last] == [is_replaced] * 2
