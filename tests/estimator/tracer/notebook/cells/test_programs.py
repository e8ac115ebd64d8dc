"""A script takes what it takes, however the notebook runs it: the step is that of the same code in a cell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.mistakes.stops import Stop
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.sources.traces import tracer_request
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

pytestmark = pytest.mark.paddle

HELPER = """from paddle import nn
assert __file__.endswith("helper.py")
def build(width):
    return nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, 1))
"""
UNSEEN = """import pickle
import paddle
def main():
    with open("absent.pkl", "rb") as file:
        table = pickle.load(file)
    net = paddle.nn.Linear(20, 3)
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for step in range(4):
        ends = paddle.full(shape=[8], fill_value=table["longest"].end, dtype="int64")
        net(paddle.rand([8, 20])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
main()
"""
"""A script whose call of Paddle takes a number of a file that is not here, of which Paddle asks the type first."""
SIGNS = """import pickle
import paddle
from paddle import nn
class Reader(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.down, self.out = nn.Conv2D(1, 8, 3, 2, 1), nn.Conv2D(8, 8, (16, 1)), nn.Linear(8, 40)
    def forward(self, x):
        x = self.down(self.conv(x))
        assert x.shape[2] == 1, "the height must be 1"
        return self.out(paddle.transpose(paddle.squeeze(x, 2), perm=[2, 0, 1]))
def lines(path, img_height):
    with open(path, "rb") as file:
        return pickle.load(file)[img_height]
batch_size = 4
loader = lines("absent.pkl", img_height=32)
net, ctc = Reader(), nn.CTCLoss()
rate = paddle.optimizer.lr.PiecewiseDecay(boundaries=[30, 100, 200], values=[0.1, 0.01, 0.001, 0.0001])
optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
for epoch in range(3):
    for inputs, labels, input_lengths, label_lengths in loader:
        out = net(inputs)
        widths = paddle.full(shape=[batch_size], fill_value=out.shape[0], dtype="int64")
        ctc(out, labels, widths, label_lengths).backward()
        optimizer.step()
        optimizer.clear_grad()
"""
"""A script that reads lines of signs; the rounds at which its rate changes are no picture, nor is an order of axes."""
READS = """import pickle
def read(path):
    with open(path, "rb") as file:
        return [float(row["x"]) for row in pickle.load(file)["rows"]]
"""
TOP = """import numpy as np
import paddle
from reads import read
BATCH_SIZE = 10
rows = np.asarray(read("absent.pkl"), "float32").reshape([-1, 7])
net = paddle.nn.Linear(6, 1)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for epoch in range(3):
    np.random.shuffle(rows)
    parts = [rows[k : k + BATCH_SIZE] for k in range(0, len(rows), BATCH_SIZE)]
    for part in parts:
        x, y = np.array(part[:, :-1]), np.array(part[:, -1:])
        loss = paddle.nn.functional.mse_loss(net(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
"""A script that reads by a module beside it, and trains, at its top level."""
SCRIPT = """import argparse, os, sys
import paddle
from helper import build
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    given = parser.parse_args()
    assert os.path.basename(__file__) == "train.py"
    net = build(given.width)
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    for epoch in range(2):
        for step in range(5):
            loss = net(paddle.rand([given.batch, 20])).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
if __name__ == "__main__":
    main()
"""
ARGUMENTS = "--width 300 --batch 64"
CELL = SCRIPT.replace("from helper import build", HELPER.replace("assert __file__", "assert 'helper.py'")).replace(
    'os.path.basename(__file__) == "train.py"', "True"
)
CELL = CELL.replace("parse_args()", f"parse_args({ARGUMENTS.split()!r})")
DEFINED = CELL.replace('if __name__ == "__main__":\n    main()\n', "")
OUTSIDE = CELL.replace(f"{ARGUMENTS.split()!r}", "['--width', os.environ['WIDTH'], '--batch', os.environ['BATCH']]")
NOTEBOOKS = {
    "cell": (CELL,),
    "beside": (f"!cd sub && python train.py {ARGUMENTS}",),
    "written": (
        "%%writefile helper.py\nimport absent_at_all\n" + HELPER,  # passed by, as where a cell imports it
        "%%writefile train.py\n" + SCRIPT,
        "width = 300\n!python train.py --width {width} --batch 64\nprint(width)",
    ),
    "bash": (f"%%bash\ncd sub\npython train.py {ARGUMENTS}",),
    "run": (f"%cd sub\n%run train.py {ARGUMENTS}\nprint(main)",),
    "run written out": (
        f"%cd sub\nif True:\n    get_ipython().run_line_magic('run', \"train.py {ARGUMENTS}\")\nprint(main)",
    ),
    "launch": (f"!cd sub && python -m paddle.distributed.launch --devices 0,1 train.py {ARGUMENTS}",),
    "twice": ("!cd sub && python train.py --width 100\n!cd sub && python train.py --width 300 --batch 64",),
    "started": (
        f"import subprocess, sys\nsubprocess.run([sys.executable, 'train.py', *{ARGUMENTS.split()}], cwd='sub')",
    ),
    "started twice": (
        "import os\nos.system('cd sub && python train.py --width 100')",
        f"get_ipython().system('cd sub && python train.py {ARGUMENTS}')",
    ),
    "process": ("net = 0\n", "\n%%python\n" + CELL, "assert net == 0"),
    "process refused": ("%%python\n" + CELL.replace("nn.Linear(width, 1)", "nn.Linear(width + 1, 1)"), CELL),
    "loop": (f"%%bash\ncd sub\nfor w in 100 300; do python train.py {ARGUMENTS.replace('300', '$w')}; done",),
    "named": (
        "script = 'train.py'\nline = f'cd sub && python {script}'",
        f"for e in (1, 2):\n    !{{line}} {ARGUMENTS}",
    ),
    "expression": ("w = 100", f"!cd sub && python train.py {ARGUMENTS.replace('300', '{w * 3}')}"),
    "variables": ("%%writefile outside.py\n" + OUTSIDE, "%env WIDTH=300", "!BATCH=64 python outside.py"),
    "exported": ("%%writefile outside.py\n" + OUTSIDE, "%%bash\nexport WIDTH=300\nBATCH=64 python outside.py"),
    "where it was": (
        f"%%bash\ncd sub\npython train.py {ARGUMENTS}",
        f"!cd sub && python train.py {ARGUMENTS} --width 9",
    ),
    "in a shell": (f"import subprocess\nsubprocess.run(['bash', '-c', 'cd sub && python train.py {ARGUMENTS}'])",),
    "unseen": (f"%%writefile train.py\n{UNSEEN}", "!python train.py"),
    "top": (f"%%writefile reads.py\n{READS}", f"%%writefile train.py\n{TOP}", "!python train.py"),
    "signs": (f"%%writefile train.py\n{SIGNS}", "!python train.py"),
    "signs in a cell": (SIGNS,),
    "package": ("%%writefile train.py\nfrom . import helper\n" + SCRIPT, "!python train.py"),
    "module": (f"!python -m sub.inner {ARGUMENTS}",),
    "notebook": ("%run sub/setup.ipynb\nprint(paddle)", "main()"),
    "failing": (
        "%%writefile broken.py\nimport paddle\npaddle.nn.Linear(3, 4)(paddle.rand([2, 5]))",
        "!python broken.py",
        CELL,
    ),
    "refused": (
        "%%writefile broken.py\n" + CELL.replace("nn.Linear(width, 1)", "nn.Linear(width + 1, 1)"),
        "\n!python broken.py --width 300",
    ),
    "misspelt": ("%%writefile train.py\n" + CELL.replace(f"{ARGUMENTS.split()!r}", ""), "!python train.py --widht 300"),
    "not filled in": ("!cd sub && python train.py --width $nobody",),
    "only failing": ("%%writefile broken.py\nimport paddle\nwidth = 1 / 0", "\n!python broken.py"),
    "ends the cell": (
        "%%writefile broken.py\nimport numpy\nnumpy.lod('a')",
        "%%bash\n\npython broken.py  # last",
        CELL,
    ),
    "ends the cell early": (
        "%%writefile broken.py\nimport numpy\nnumpy.lod('a')",
        "%%bash\nset -e\npython broken.py\necho done",
        CELL,
    ),
    "may fail": ("%%writefile broken.py\nimport numpy\nnumpy.lod('a')", "%%bash\npython broken.py || true", CELL),
    "may fail before": (
        "%%writefile broken.py\nimport numpy\nnumpy.lod('a')",
        "%%bash\npython broken.py\necho done",
        CELL,
    ),
    "leaves": ("import sys\nsys.exit()", CELL),
    "leaves behind": (CELL, "import sys\nsys.exit(3)"),
    "leaves between": (CELL, "raise SystemExit('done')", CELL),
    "may leave behind": (CELL, "import sys\nif len(sys.path) < 0:\n    sys.exit()"),
    "another language": ("%%R\nx <- 1", CELL),
    "a slip of a magic": (CELL, "%%bahs\nls"),
    "a loaded language": ("%load_ext rpy2.ipython", CELL, "%%R\nx <- 1"),
    "a magic of a library": (CELL, "%%wandb\nx = 1"),
    "may leave": ("import sys\nif len(sys.path) < 0:\n    sys.exit()", CELL),
    "leaves a process": (
        "%%writefile train.py\n" + CELL + "sys.exit(0)\n",
        f"!python train.py {ARGUMENTS}",
    ),
    "missing": ("import paddle\n!python nowhere.py",),
}
CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.undecided.branches import peak
for name, request in json.load(sys.stdin).items():
    found = tracer.trace_notebook(request)
    trainings = [found, *found.get("others", ())] if found["status"] == "ok" else []
    row = {"status": found["status"], "sizes": {one["id"]: peak(one, "cpu") for one in trainings}}
    row["where"], row["stop"] = found.get("where"), found.get("stop")
    row["suggested"] = {one["name"]: one.get("suggestion") for one in found["questions"]}
    row["questions"] = [(one["why"], one["cell"], one["line"]) for one in found["questions"]]
    print(json.dumps([name, row]))
"""


@pytest.fixture(scope="module")
def traced(run_code: Callable[[str, object], dict], tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "sub").mkdir()
    (folder / "sub" / "train.py").write_text(SCRIPT)
    (folder / "sub" / "helper.py").write_text(HELPER)
    inner = SCRIPT.replace("from helper", "from .helper").replace("train.py", "inner.py")
    (folder / "sub" / "inner.py").write_text(inner)
    defined = [{"cell_type": "code", "source": one, "metadata": {}, "outputs": []} for one in ("!ls", DEFINED)]
    setup = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": defined}
    (folder / "sub" / "setup.ipynb").write_text(json.dumps(setup))

    def request(name: str) -> dict:
        # Each has a folder to write into: here no guard keeps what is written off the disk.
        own = folder if "sub" in "".join(NOTEBOOKS[name]) else tmp_path_factory.mktemp("own")
        cells = [{"cell_type": "code", "source": one, "metadata": {}, "outputs": []} for one in NOTEBOOKS[name]]
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        facts = inspect_notebook(parse_notebook(content, Path(own) / "a.ipynb"))
        return {**tracer_request(facts, own, EstimateRequest(target="cpu")), "processes": None}

    return run_code(CHILD, {name: request(name) for name in NOTEBOOKS})


@pytest.mark.parametrize(
    "name",
    [
        *("beside", "written", "bash", "run", "launch", "failing", "started", "process", "named", "module", "notebook"),
        *("expression", "variables", "exported", "in a shell"),
    ],
)
def test_a_script_takes_what_it_takes_as_a_cell(name: str, traced: dict) -> None:
    assert traced[name]["status"] == "ok"
    assert traced[name]["sizes"] == traced["cell"]["sizes"]


@pytest.mark.parametrize(
    ("name", "status", "cell", "line", "error"),
    [
        ("leaves behind", "ok", 1, 2, "SystemExit: 3"),
        ("leaves between", "ok", 1, 1, "SystemExit: done"),
        ("another language", "would_stop", 0, 1, "UsageError: Cell magic `%%R` not found."),
        ("a slip of a magic", "ok", 1, 1, "UsageError: Cell magic `%%bahs` not found."),
    ],
)
def test_a_cell_that_surely_ends_the_job_is_told(traced, name, status, cell, line, error):
    stop = traced[name]["stop"]
    assert (traced[name]["status"], stop["cell"], stop["line"], stop["error"]) == (status, cell, line, error)


@pytest.mark.parametrize("name", ["may leave behind", "a loaded language", "a magic of a library"])
def test_one_that_may_go_on_is_not(traced, name):
    assert (traced[name]["status"], traced[name]["stop"]) == ("ok", None)


def test_who_leaves_in_a_cell_ends_the_notebook_there(traced: dict) -> None:
    """It had a figure, of a training to which no job comes; a script's own end is none of the notebook's."""
    stop = traced["leaves"]["stop"]
    assert (traced["leaves"]["status"], stop["cell"], stop["line"]) == ("would_stop", 0, 2)
    assert stop["error"].startswith("SystemExit")
    for name in ("may leave", "leaves a process"):
        assert (traced[name]["status"], traced[name]["stop"]) == ("ok", None)


def test_a_cell_of_the_shell_leaves_the_notebook_where_it_was(traced: dict) -> None:
    """The second program was looked for in `sub/sub`."""
    assert traced["where it was"]["status"] == "ok"
    assert len(traced["where it was"]["sizes"]) == 2


def test_a_training_stands_where_its_command_does(traced: dict) -> None:
    assert traced["written"]["where"] == {"cell": 2, "line": 2}
    assert traced["bash"]["where"] == {"cell": 0, "line": 3}
    assert traced["process"]["where"] == {"cell": 1, "line": 2}


def test_what_paddle_says_of_data_that_is_not_here_is_no_stop_of_a_script(traced: dict) -> None:
    assert (traced["unseen"]["status"], traced["unseen"]["stop"]) == ("ok", None)


def test_a_script_goes_on_without_its_data_at_its_top_level_with_what_it_has_bound(traced: dict) -> None:
    """It asked for a path alone, and its constants were not looked at for what is suggested."""
    assert traced["top"]["suggested"] == {"parts": "float32[10,7]"}


@pytest.mark.parametrize("name", ["signs", "signs in a cell"])
def test_what_a_script_says_of_its_pictures_and_its_loss_is_suggested(name: str, traced: dict) -> None:
    """A batch whose height the model refuses had a step without the model, and was suggested; CTC takes int32."""
    assert traced[name]["suggested"] == {"loader": "float32[4,1,32,32] int32[4,8] int64[4] int64[4]"}


def test_a_script_is_in_no_package(traced: dict) -> None:
    assert traced["package"]["status"] == "would_stop"
    assert traced["package"]["stop"]["error"].startswith("ImportError: attempted relative import")


@pytest.mark.parametrize("name", ["twice", "started twice", "loop"])
def test_two_programs_are_two_trainings_and_the_first_is_over(name: str, traced: dict) -> None:
    assert len(traced[name]["sizes"]) == 2
    assert traced[name]["sizes"]["2"] == traced["cell"]["sizes"]["1"]


@pytest.mark.parametrize(
    ("name", "line", "inner", "error"),
    [
        ("refused", 2, "loss = net(", "ValueError: (InvalidArgument)"),
        ("misspelt", 1, "parse_args(", "ArgumentError: unrecognized arguments"),
    ],
)
def test_where_a_script_would_stop_is_told(name: str, line: int, inner: str, error: str, traced: dict) -> None:
    stop = traced[name]["stop"]
    assert traced[name]["status"] == "would_stop"
    assert (stop["cell"], stop["line"]) == (1, line)
    assert inner in CELL.splitlines()[stop["file_line"] - 1]
    assert stop["error"].startswith(error)
    assert traced["not filled in"]["status"] == "needs_input"  # a shell may know that name


def test_a_cell_of_the_shell_ends_with_its_last_program(traced: dict) -> None:
    for name in ("ends the cell", "ends the cell early"):
        stop = Stop(**{key: value for key, value in traced[name]["stop"].items() if key != "raised"})
        assert (traced[name]["status"], stop.cell, stop.line, stop.ends) == ("would_stop", 1, 3, True)
        assert (
            stop.says(behind=False)
            .render()
            .startswith("What cell 2, line 3 runs would stop in broken.py, line 2: Attr")
        )
        assert "the job ends there" in stop.says(behind=False).hint
    for name in ("may fail", "may fail before"):
        assert (traced[name]["status"], traced[name]["stop"]) == ("ok", None)


def test_a_cell_of_its_own_process_stops_where_it_stands(traced: dict) -> None:
    stop = traced["process refused"]["stop"]
    assert traced["process refused"]["status"] == "would_stop"
    assert stop["cell"] == 0
    assert "loss = net(" in ("\n" + CELL).splitlines()[stop["line"] - 1]


def test_what_a_script_fails_with_is_said_at_its_command(traced: dict) -> None:
    failing = traced["only failing"]
    assert (failing["status"], failing["questions"]) == ("would_stop", [])
    assert (failing["stop"]["cell"], failing["stop"]["line"]) == (1, 2)
    assert "division by zero" in failing["stop"]["error"]
    assert traced["missing"]["questions"] == [["path_missing", 0, 2]]
