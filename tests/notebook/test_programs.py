"""What the commands of a notebook run and write, and what is read of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.notebooks import NotebookFacts, Place
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

Inspect = Callable[..., NotebookFacts]
TRAIN = """import paddle
from paddle import nn
net = nn.Linear(4, 1)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
BATCH_SIZE = 32
loader = paddle.io.DataLoader(data, batch_size=BATCH_SIZE)
for x in loader:
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("!python train.py", [("python", "train.py", (), "")]),
        ("!python3 -u -W ignore train.py --lr 0.1 'a b'", [("python", "train.py", ("--lr", "0.1", "a b"), "")]),
        ("!CUDA_VISIBLE_DEVICES=0 python tools/train.py -c c.yml", [("python", "tools/train.py", ("-c", "c.yml"), "")]),
        ("!cd repo && python train.py > log.txt 2>&1", [("python", "train.py", (), "repo")]),
        ("!python -m paddle.distributed.launch --gpus 0,1 train.py -e 2", [("launch", "train.py", ("-e", "2"), "")]),
        ("!fleetrun --gpus=0,1 train.py", [("launch", "train.py", (), "")]),
        ("%run train.py 3", [("run", "train.py", ("3",), "")]),
        ("get_ipython().run_line_magic('run', 'train.py 3')", [("run", "train.py", ("3",), "")]),
        ("%cd repo\n!python train.py", [("folder", "repo", (), ""), ("python", "train.py", (), "")]),
        (
            "%%bash\ncd repo\npython train.py",
            [("folder", "repo", (), ""), ("python", "train.py", (), ""), ("folder", "..", (), "")],
        ),
        (
            "%%bash\ncd repo && python train.py",
            [("folder", "repo", (), ""), ("python", "train.py", (), ""), ("folder", "..", (), "")],
        ),
        (
            "%%bash\ncd repo\ncd ..\npython train.py",
            [
                ("folder", "repo", (), ""),
                ("folder", "..", (), ""),
                ("python", "train.py", (), ""),
            ],
        ),
        ("!bash -c 'python train.py -e 2'", [("python", "train.py", ("-e", "2"), "")]),
        ("!python train.py -w {width * 2} -n $n", [("python", "train.py", ("-w", "{width*2}", "-n", "$n"), "")]),
        ("%%writefile net.py\nimport paddle", [("write", "net.py", (), "")]),
        ("!nohup python train.py -e 2 > log 2>&1 &", [("python", "train.py", ("-e", "2"), "")]),
        (
            "!for w in 8 16; do python train.py -w $w; done",
            [("python", "train.py", ("-w", w), "") for w in ("8", "16")],
        ),
        (
            "%%bash\nB=4\nfor a in {1..2}; do for b in $(seq 2)\n do\n python train.py $a$b $B\ndone; done\n"
            "python train.py",
            [("python", "train.py", (one, "4"), "") for one in ("11", "12", "21", "22")]
            + [("python", "train.py", (), "")],
        ),
        ("%%bash\nfor a in $(ls); do\npython train.py $a\ndone", [("python", "train.py", ("$a",), "")]),
        ("%%python\nimport paddle", [("cell", "cell-1.py", (), "")]),
        ("%%script --bg python3 -u\nimport paddle", [("cell", "cell-1.py", (), "")]),
        ("%%script bash\npython train.py", [("python", "train.py", (), "")]),
        ("%%script node\npython\n", []),
        ("!time nice -n 5 env A=1 timeout 60 python train.py", [("python", "train.py", (), "")]),
        ("!uv run --with paddlepaddle train.py -e 2", [("python", "train.py", ("-e", "2"), "")]),
        ("!conda run -n base python train.py", [("python", "train.py", (), "")]),
        ("!chmod +x train.py && ./train.py -e 2", [("python", "./train.py", ("-e", "2"), "")]),
        ("%time !python train.py", [("python", "train.py", (), "")]),
        ("%sx python train.py", [("python", "train.py", (), "")]),
        ("!uv pip install rich\n!conda run ls *.py", []),
        ("!pip install rich\n!python -c 'print(1)'\n!python -m pip list\n!ls *.py", []),
    ],
)
def test_commands(inspect: Inspect, source: str, expected: list[tuple[object, ...]]) -> None:
    found = inspect(source).commands
    assert [(one.kind, one.path, one.arguments, one.folder) for one in found] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("!BATCH=8 LR=0.1 python train.py", [("python", (("BATCH", "8"), ("LR", "0.1")))]),
        ("!env BATCH=8 nice python train.py", [("python", (("BATCH", "8"),))]),
        ("!python train.py", [("python", ())]),
        (
            "%%bash\nexport BATCH=8\nWIDTH=3\nfor n in 1 2; do\n N=$n python train.py -w $WIDTH\ndone",
            [("python", (("BATCH", "8"), ("N", "1"))), ("python", (("BATCH", "8"), ("N", "2")))],
        ),
        ("%%bash\nBATCH=8\nexport BATCH\npython train.py", [("python", (("BATCH", "8"),))]),
        ("%env BATCH=8", [("variable", ())]),
        ("%env BATCH 8", [("variable", ())]),
        ("%set_env BATCH 8", [("variable", ())]),
        ("%env BATCH", []),
        ("%env", []),
    ],
)
def test_variables_that_a_program_is_given(inspect: Inspect, source: str, expected: list[tuple[object, ...]]) -> None:
    found = inspect(source).commands
    assert [(one.kind, one.environment) for one in found] == expected
    assert all((one.path, one.text) == ("BATCH", "8") for one in found if one.kind == "variable")


def test_a_written_script_is_read_where_it_is_written(inspect: Inspect) -> None:
    facts = inspect("%%writefile train.py\n" + TRAIN, "!python train.py")
    assert (facts.loop, facts.imports_paddle) == ("custom", True)
    assert facts.batch_size is not None
    assert facts.batch_size.value == 32
    assert facts.batch_size.place is not None
    assert (facts.batch_size.place.cell, facts.batch_size.name) == (0, "")  # no cell binds it: a job cannot


def test_scripts_and_helpers_beside_the_notebook_are_read(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "loops.py").write_text(
        "def train(net, opt):\n    for i in range(3):\n        net(i).backward()\n        opt.step()\n"
    )
    (tmp_path / "train.py").write_text(TRAIN)

    def facts(source: str) -> NotebookFacts:
        cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []}]
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        return inspect_notebook(parse_notebook(content, tmp_path / "a.ipynb"))

    assert facts("!python train.py").loop == "custom"
    assert facts("import paddle\nfrom parts.loops import train\ntrain(1, 2)").loop == "custom"
    assert facts("!python other.py").loop == "none"


def test_a_model_of_a_module_of_many_classes_is_the_one_that_is_made_in_the_cells(tmp_path: Path) -> None:
    (tmp_path / "lib.py").write_text(
        "import paddle\nfrom paddle import nn\n"
        "class Encoder(nn.Layer):\n    def __init__(self, size):\n        super().__init__()\n"
        "class MaskedLoss(nn.CrossEntropyLoss):\n    pass\n"
        "def train(net, loader):\n    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())\n"
        "    loss = MaskedLoss()\n    for x, y in loader:\n        loss(net(x), y).backward()\n        opt.step()\n"
    )
    source = "import lib\nnets = {'small': lib.Encoder(8)}\nlib.train(nets['small'], loader)"
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []}]
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    facts = inspect_notebook(parse_notebook(content, tmp_path / "a.ipynb"))
    assert facts.model is not None
    assert (facts.model.value, facts.model.place) == ("Encoder", Place(0, 2))
    assert facts.optimizer is not None and facts.optimizer.value == "SGD"
    other = "def tune(net):\n    opt = paddle.optimizer.Adam(parameters=net.parameters())\n    opt.step()\n"
    (tmp_path / "lib.py").write_text((tmp_path / "lib.py").read_text() + other)
    facts = inspect_notebook(parse_notebook(content, tmp_path / "a.ipynb"))
    assert facts.optimizer is not None and facts.optimizer.value == "SGD", "nothing speaks of the other one"
    content["cells"] = [{**cells[0], "source": f"{source}\nlib.tune(nets['small'])"}]
    assert inspect_notebook(parse_notebook(content, tmp_path / "a.ipynb")).optimizer is None, "which one is not read"


def test_of_a_library_beside_the_notebook_only_what_it_speaks_of_is_read(tmp_path: Path) -> None:
    """A textbook's library has the models and trainings of all of its chapters."""
    (tmp_path / "lib.py").write_text(
        "import paddle\nfrom paddle import nn\n"
        "class Residual(nn.Layer):\n    pass\n"
        "class Coder(nn.Layer):\n    pass\n"
        "def resnet():\n    return nn.Sequential(Residual(), nn.Linear(4, 2))\n"
        "def train_on_all(net, loader):\n    net = paddle.DataParallel(net)\n    train(net, loader)\n"
        "def train(net, loader):\n    opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())\n"
        "    for x in loader:\n        net(x).mean().backward()\n        opt.step()\n"
    )

    def facts(source: str) -> NotebookFacts:
        cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []}]
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        return inspect_notebook(parse_notebook(content, tmp_path / "a.ipynb"))

    def told(source: str) -> tuple[object, object, list[str]]:
        found = facts(source)
        model, distribution = (one and one.value for one in (found.model, found.distribution))
        return model, distribution, [one.name for one in found.layers]

    assert told("import lib\nnet = lib.Coder()\nlib.train(net, loader)") == ("Coder", "none", ["Coder"])
    both = "import lib\nnet = lib.Coder()\nlib.train_on_all(net, loader)"
    assert told(both) == ("Coder", "data_parallel", ["Coder"])
    by_name = "import lib, sys\nnet = lib.Coder()\ngetattr(lib, sys.argv[1])(net, loader)"
    assert told(by_name)[1:] == ("data_parallel", ["Residual", "Coder"])


def test_who_launches_processes_is_launch_whatever_those_do(inspect: Inspect) -> None:
    script = "%%writefile train.py\nfrom paddle.distributed import fleet\nfleet.init(is_collective=True)\n" + TRAIN
    launched = inspect(script, "!python -m paddle.distributed.launch --devices 0,1 train.py")
    assert launched.distribution is not None
    assert launched.distribution.value == "launch"
    alone = inspect(script, "!python train.py")
    assert alone.distribution is not None
    assert alone.distribution.value == "fleet"


def test_notebooks_that_it_runs_and_relative_imports_are_read(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in ("!pip list", TRAIN)]
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "setup.ipynb").write_text(json.dumps(content))
    for place, text in {"deep/inner/go.py": "from ..loops import run\n", "deep/loops.py": TRAIN}.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    (tmp_path / "own").mkdir()

    def loop(source: str) -> str:
        cell = {**cells[0], "source": source}
        return inspect_notebook(parse_notebook({**content, "cells": [cell]}, tmp_path / "own" / "a.ipynb")).loop

    assert loop("%run ../common/setup.ipynb") == "custom"
    assert loop("%run ../common/other.ipynb") == "none"
    above = {**content, "cells": [{**cells[0], "source": "import paddle\nimport deep.inner.go"}]}
    assert inspect_notebook(parse_notebook(above, tmp_path / "b.ipynb")).loop == "custom"


def test_a_script_that_is_not_here_is_told_of(inspect: Inspect) -> None:
    def told(*sources: str) -> list[str]:
        return [one.code for one in inspect(*sources).problems]

    assert told("!git clone https://example.org/a\n%cd a", "!python tools/train.py") == ["script_absent"]
    assert told("%run other.ipynb") == ["script_absent"]
    assert told("import os\nos.system('cd tools && python train.py --epochs 3')") == ["script_absent"]
    assert told("import subprocess, sys\nsubprocess.run([sys.executable, 'train.py'])") == ["script_absent"]
    assert not told("import subprocess, sys\nsubprocess.run([sys.executable, sys.argv[1] + '.py'])")
    assert not told("%%writefile train.py\nprint(1)", "!python train.py")
    assert not told("name = 'train'\n!python {name}.py")


def test_scripts_of_a_shell_and_modules_are_read(tmp_path: Path) -> None:
    files = {
        "runs/all.sh": "export BATCH=8\ncd src\npython train.py \\\n  -b $BATCH -w ${WIDTH:-30} $1\nsh more.sh\n",
        "src/more.sh": "python -m mine.inner.train\n",
        "src/mine/inner/train.py": TRAIN,
    }
    for place, text in files.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    cell = {"cell_type": "code", "source": "!bash runs/all.sh", "metadata": {}, "outputs": []}
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    facts = inspect_notebook(parse_notebook(content, tmp_path / "a.ipynb"))
    assert [(one.kind, one.path, one.arguments, one.folder) for one in facts.commands] == [
        ("python", "train.py", ("-b", "8", "-w", "30", "$1"), "src"),
        ("module", "mine/inner/train.py", (), "src"),
    ]
    assert facts.loop == "custom"


MAKEFILE = """SIZE ?= 7
WIDTH := 3$(ZERO)
ZERO = 0
.PHONY: all train
all: data train
data:
\t@python fetch.py
train: ; @echo begin
\t-CUDA_VISIBLE_DEVICES=0 python train.py -b $(SIZE) \\
\t  -w ${WIDTH}
\tcd src && python -m other
"""
GIVEN = 'set -e\nSIZE=${1:-10}\npython train.py -b $SIZE "${@}"\npython train.py -w $2\n'
MADE = ("train.py", "-b", "7", "-w", "30")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("!bash given.sh 20 30", [("train.py", "-b", "20", "20", "30"), ("train.py", "-w", "30")]),
        ("!./given.sh", [("train.py", "-b", "10"), ("train.py", "-w", "$2")]),
        ("!make", [("fetch.py",), MADE]),
        ("!make train SIZE=9", [(*MADE[:2], "9", *MADE[3:])]),
        ("!cd .. && make -C work data", [("fetch.py",)]),
        ("!make -f Makefile nothing", []),
        ("!{sys.executable} train.py -b 2", [("train.py", "-b", "2")]),
    ],
)
def test_what_a_script_is_given_and_what_make_runs(
    tmp_path: Path, source: str, expected: list[tuple[str, ...]]
) -> None:
    """`!bash run.sh 20` was estimated with the script's own 10, of `!make train` nothing was seen."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "Makefile").write_text(MAKEFILE)
    (tmp_path / "work" / "given.sh").write_text(GIVEN)
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    facts = inspect_notebook(parse_notebook(content, tmp_path / "work" / "a.ipynb"))
    assert [(one.path, *one.arguments) for one in facts.commands if one.kind == "python"] == expected


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nsys.path.append('../lib')\nimport loops",
        "import os, sys\nsys.path.insert(0, os.path.join('..', 'lib'))\nfrom loops import net",
        "import importlib\nimportlib.import_module('lib.loops')",
        "import runpy\nrunpy.run_path('../lib/loops.py')",
        "exec(open('../lib/loops.py').read())",
        "import runpy\nrunpy.run_module('lib.loops', run_name='__main__')",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'lib.loops'])",
        "%run ../lib/loops",
    ],
)
def test_modules_from_elsewhere_are_read(tmp_path: Path, source: str) -> None:
    for place in ("lib/loops.py", "own/lib/loops.py"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text(TRAIN)
    (tmp_path / "own" / "lib").rename(tmp_path / "own" / ("lib" if "lib.loops" in source else "other"))
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    assert inspect_notebook(parse_notebook(content, tmp_path / "own" / "a.ipynb")).loop == "custom"


@pytest.mark.parametrize("magic", ["%%python", "%%python3 -u", "%%script python"])
def test_a_training_in_a_process_of_the_cells_own_is_found(inspect: Inspect, magic: str) -> None:
    assert inspect(f"{magic}\n{TRAIN}").loop == "custom"
    assert inspect(f"{magic.replace('python', 'perl')}\n{TRAIN}").loop == "none"


@pytest.mark.parametrize(
    ("line", "launcher"),
    [
        ("!torchrun --nproc_per_node 2 train.py --lr 1", "torchrun"),
        ("%%bash\nA=1 accelerate launch train.py", "accelerate launch"),
        ("!python3 -m torch.distributed.run train.py", "python -m torch.distributed.run"),
        ("import os\nos.system('torchrun train.py')", "torchrun"),
        ("print('torchrun train.py')", ""),
        ("!torchrun other.py", ""),
    ],
)
def test_a_launcher_of_pytorchs_in_front_of_a_training_with_paddle_is_told(
    inspect: Inspect, line: str, launcher: str
) -> None:
    facts = inspect("%%writefile train.py\n" + TRAIN, "%%writefile other.py\nimport torch", line)
    assert [one.params["launcher"] for one in facts.problems if one.code == "other_launcher"] == [launcher] * bool(
        launcher
    )
