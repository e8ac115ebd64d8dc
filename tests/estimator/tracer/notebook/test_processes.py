"""A program that is followed several times, or starts others, finds its process each time as a new Python has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_paddle_gpu.estimator.tracer.notebook import assigned

pytestmark = pytest.mark.paddle

CHILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, (folder, cells) in json.load(sys.stdin).items():
    os.chdir(folder)
    cells = [{"index": index, "source": source} for index, source in enumerate(cells)]
    asked = {"cells": cells, "folder": folder, "target": "cpu", "absorbs": False}
    before = os.getcwd(), dict(os.environ), sys.path[:], sys.argv[:]
    found = tracer.trace_notebook(asked)
    is_as_before = before == (os.getcwd(), dict(os.environ), sys.path, sys.argv)
    left = [one for one in ("once", "kinds", "nets", "spread") if one in sys.modules]
    row = [found["status"], found.get("stop"), [one["why"] for one in found["questions"]], is_as_before, left]
    print(json.dumps([name, row]))
"""
FILES = {
    "once.py": """
made = None
def init():
    global made
    assert made is None, 'initialized twice'
    made = 1
""",
    "kinds.py": """
KNOWN = {}
def register(kind):
    if kind.__name__ in KNOWN:
        raise KeyError(f'{kind.__name__} is registered already')
    KNOWN[kind.__name__] = kind
    return kind
""",
    "nets/__init__.py": """
NETS = []
def add(kind):
    assert kind not in NETS
    NETS.append(kind)
from .one import *
""",
    "nets/one.py": "from . import add\nadd('one')\n",
    "spread/inner/state.py": "made = []\n",
    "libs/taken/__init__.py": "import colorsys\nassert not hasattr(colorsys, 'taken')\ncolorsys.taken = True\n",
    "libs/taken-1.0.dist-info/RECORD": "taken/__init__.py,,\n",
    "broken/__init__.py": "from .parts.one import *\nraise ImportError('no')\n",
    "broken/parts/one.py": "",
    "sub/rows.txt": "",
}
KINDS = {
    "a module that is made once": "import once\nonce.init()",
    "a registry": "import paddle\nfrom kinds import register\n@register\nclass Own(paddle.nn.Linear):\n    pass",
    "a registry in a package": "import nets\nnets.add('two')",
    "a folder of modules": "from spread.inner import state\nassert not state.made\nstate.made.append(1)",
    "a module beside a library that is imported anew": "import json, sys\nimport once\ndel sys.modules['json']\n"
    "import json\nonce.init()",
    "the newest of all modules": "import sys\nsys.modules.pop(list(sys.modules)[-1])\nimport once\nonce.init()",
    "a library in a folder of its own": "import sys\nsys.path.append('libs')\nimport taken",
    "a package that fails behind a folder of its own": "try:\n    import broken\nexcept ImportError:\n    pass",
    "a handler": "import logging\nlog = logging.getLogger('mine')\nassert not log.handlers\n"
    "log.addHandler(logging.StreamHandler())",
    "a handler of all": "import logging\nassert logging.NullHandler not in map(type, logging.root.handlers)\n"
    "logging.root.addHandler(logging.NullHandler())",
    "a variable": "import os\nassert 'MY_FLAG' not in os.environ\nos.environ.setdefault('MY_FLAG', '1')",
    "a folder": "import os\nos.chdir('sub')\nassert os.listdir('.') == ['rows.txt']",
    "the command line": "import sys\nassert 'own' not in sys.argv\nsys.argv.append('own')",
    "folders of modules": "import sys\nassert 'lib' not in sys.path\nsys.path.append('lib')",
    "the start method": "import multiprocessing\nmultiprocessing.set_start_method('spawn')",
    "a signal": "import signal\nassert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
    "signal.signal(signal.SIGTERM, lambda *_: None)",
    "the default type": "import paddle\nassert paddle.get_default_dtype() == 'float32'\n"
    "paddle.set_default_dtype('float64')",
    "a name of all modules": "import builtins\nassert not hasattr(builtins, 'tag')\nbuiltins.tag = 1",
    "a method of tensors": "import paddle\nassert not hasattr(paddle.Tensor, 'own_max')\n"
    "paddle.Tensor.own_max = paddle.Tensor.max\nsetattr(paddle.nn.Layer, 'tag', 1)",
    "a class of a library": "import paddle.nn as nn\nassert nn.Conv2D.__name__ == 'Conv2D'\n"
    "class Other(nn.Conv2D):\n    pass\nnn.Conv2D = Other",
    "what is called at an error": "import sys\nassert sys.excepthook.__name__ != 'own'\ndef own(*_): pass\n"
    "sys.excepthook = own",
    "a module that answers for any name": "import sys, types\nassert 'lazy' not in vars(sys)\n"
    "class Lazy(types.ModuleType):\n    def __getattr__(self, name):\n        return None\n"
    "sys.modules['lazy'] = Lazy('lazy')",
    "names of layers": "import paddle\nassert paddle.nn.Linear(2, 2).full_name() == 'linear_0'",
    "how numpy prints": "import numpy\nassert numpy.get_printoptions()['precision'] == 8\n"
    "numpy.set_printoptions(precision=3)",
}
OF_RUNS = {
    "a flag": "import paddle\nassert paddle.get_flags('FLAGS_set_to_1d')['FLAGS_set_to_1d'] is False\n"
    "paddle.set_flags({'FLAGS_set_to_1d': True})",
}
INHERITED = ("a variable", "a folder")
"""What a process has of the one that starts it."""
ABSENT = """
import numpy as np, paddle
class Rows(paddle.io.Dataset):
    def __init__(self, path):
        self.lines = open(path).read().splitlines()
    def __len__(self):
        return len(self.lines)
    def __getitem__(self, i):
        parts = self.lines[i].split(',')
        return np.array(parts[:6], paddle.get_default_dtype()), np.array(parts[6], 'int64')
def train(path):
    net = paddle.nn.Linear(6, 2)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for x, y in paddle.io.DataLoader(Rows(path), batch_size=8):
        paddle.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        optimizer.clear_grad()
train('/absent/rows.csv')
"""
STEP = """
import paddle
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for i in range(4):
    net(paddle.rand([8, 4])).mean().backward(); optimizer.step(); optimizer.clear_grad()
"""


def _run(path: str) -> str:
    return f"__command__('python', {{cell}}, 1, {path!r}, (), '', '', False)"


def _programs(folder: Path) -> dict[str, tuple[str, list[str]]]:
    found: dict[str, tuple[str, list[str]]] = {}
    for number, (name, source) in enumerate((KINDS | OF_RUNS).items()):
        place = folder / str(number)
        for path, text in {**FILES, "first.py": source, "train.py": f"{source}\n{STEP}"}.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        found[f"{name}: twice"] = str(place), [f"{source}\n{ABSENT}"]
        if name in KINDS:
            found[f"{name}: two processes"] = str(place), [_run("first.py"), _run("train.py")]
        if name in KINDS.keys() - INHERITED:
            found[f"{name}: a process of the notebook's"] = str(place), [source, _run("train.py")]
    return {
        name: (place, [cell.replace("{cell}", str(index)) for index, cell in enumerate(cells)])
        for name, (place, cells) in found.items()
    }


@pytest.fixture(scope="module")
def traced(run_code, tmp_path_factory):
    return run_code(CHILD, _programs(tmp_path_factory.mktemp("programs")))


@pytest.mark.parametrize("name", KINDS | OF_RUNS)
def test_what_a_program_has_set_it_does_not_find_when_it_is_followed_again(traced, name):
    status, stop, asked, is_as_before, left = traced[f"{name}: twice"]
    assert (status, stop, asked) == ("ok", None, [])
    assert (is_as_before, left) == (True, [])


@pytest.mark.parametrize("name", KINDS)
def test_what_one_program_has_set_the_next_one_does_not_find(traced, name):
    status, stop, _, is_as_before, left = traced[f"{name}: two processes"]
    assert (status, stop, is_as_before, left) == ("ok", None, True, [])


@pytest.mark.parametrize("name", sorted(KINDS.keys() - INHERITED))
def test_what_a_notebook_has_set_its_programs_do_not_find(traced, name):
    status, stop, _, is_as_before, left = traced[f"{name}: a process of the notebook's"]
    assert (status, stop, is_as_before, left) == ("ok", None, True, [])


def test_the_places_of_libraries_that_code_assigns_are_found():
    source = "import paddle as p\nimport numpy\nfrom paddle import nn\nx = 1\np.Tensor.a = 1\nnn.Layer.b = nn.c = 2\n"
    source += "setattr(numpy, 'float', float)\nx.d = 3\nclass A:\n    def f(self):\n        self.e = 4\n"
    found = [("paddle.Tensor", "a"), ("paddle.nn.Layer", "b"), ("paddle.nn", "c"), ("numpy", "float")]
    assert assigned.places([source]) == found
