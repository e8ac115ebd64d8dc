"""Each training is seen whose code is in a file: imported, run in place, found by its name, called by a thread; what it
returns is there for the cells behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

CHILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, (folder, cells) in json.load(sys.stdin).items():
    os.chdir(folder)
    for known in [module for module in sys.modules if module.split(".")[0] in {"lib", "flat", "listing", "pkg"}]:
        del sys.modules[known]
    asked = {"cells": [{"index": i, "source": cell} for i, cell in enumerate(cells)], "folder": folder, "answers": {}}
    sys.path.insert(0, folder)
    found = tracer.trace_notebook({**asked, "target": "cpu"})
    sys.path.remove(folder)
    seen = [found, *found.get("others", ())]
    row = {key: found.get(key) for key in ("status", "stop", "unreached")}
    row["widths"] = [one.get("parameters") for one in sorted(seen, key=lambda one: int(one.get("id", 1)))]
    row["places"] = [one.get("where") for one in sorted(seen, key=lambda one: int(one.get("id", 1)))]
    print(json.dumps([name, row]))
"""
LOOP = """
    net = paddle.nn.Linear(width, 1, bias_attr=False)
    optimizer = paddle.optimizer.SGD(parameters=net.parameters())
    for step in range(4):
        net(paddle.rand([8, width])).mean().backward(); optimizer.step(); optimizer.clear_grad()
"""
LIB = f"""
import paddle
class Result:
    def __init__(self, net): self.net = net
def fit(width):{LOOP}    return Result(net)
class Late:
    def __init__(self, width): self.width = width
    def __enter__(self): return self
    def __exit__(self, *problem): fit(self.width)
    @property
    def result(self): return fit(self.width)
class Base:
    def __init__(self, width): self.width = width
    def __call__(self): return fit(self.width)
kinds = {{}}
def run(name, width): return kinds[name](width)()
if __name__ == "__main__":
    fit(11)
"""
FLAT = LOOP.replace("\n    ", "\n").replace("    net(", "    net(")
FILES = {
    "lib.py": LIB,
    "pkg/__init__.py": "from .core import fit\n",
    "pkg/core.py": LIB,
    "listing.py": f"import inspect, sys\n{LIB}"
    "own = inspect.getmembers(sys.modules[__name__], inspect.isfunction)\n"
    "__all__ = [one.__name__ for _, one in own]\n",
    "flat.py": f"import paddle\nwidth = 12\n{FLAT}",
}
LAST = f"import paddle\nwidth = 40\n{FLAT}"
CASES = {
    "what a module's function gives": (["import lib", "one = lib.fit(13)", "one.net.weight.shape[0]", LAST], [13, 40]),
    "a comprehension": (["from pkg import fit", "found = {n: fit(n).net for n in (13, 30)}", LAST], [13, 30, 40]),
    "exec": (["exec(open('flat.py').read())\nwidth + 1", LAST], [12, 40]),
    "exec of names": (["exec(open('flat.py').read(), globals())", "print(net.weight)", LAST], [12, 40]),
    "an import": (["import flat", "flat.net", LAST], [12, 40]),
    "an import once": (["import flat", "import flat", LAST], [12, 40]),
    "run_path": (["import runpy", "names = runpy.run_path('flat.py')", "names['width']", LAST], [12, 40]),
    "run_module": (["import runpy", "runpy.run_module('lib', run_name='__main__')", LAST], [11, 40]),
    "import_module": (
        ["import importlib\nlib = importlib.import_module('lib')", "lib.fit(13)", "importlib.reload(lib).fit(14)"],
        [13, 14],
    ),
    "getattr": (["import lib\nname = 'fit'", "getattr(lib, name)(13)", LAST], [13, 40]),
    "globals": (["from lib import fit", "globals()['fit'](13)", LAST], [13, 40]),
    "a thread": (
        ["import lib, threading\nt = threading.Thread(target=lib.fit, args=(13,))\nt.start()\nt.join()", LAST],
        [13, 40],
    ),
    "a function that calls what it is given": (
        ["import lib\ndef timed(call, *given):\n    return call(*given)", "timed(lib.fit, 13).net\ntimed(lib.fit, 14)"],
        [13, 14],
    ),
    "a property": (["import lib", LAST, "lib.Late(50).result"], [40, 50]),
    "a function that calls itself": (
        ["from lib import fit\ndef grow(width):\n    fit(width)\n    return width if width > 20 else grow(width * 2)",
         "grow(13)"],
        [13, 26],
    ),
    "a module that lists its functions": (
        ["from listing import *\nimport listing", "assert listing.__all__ == ['fit', 'run']", "listing.fit(13)", LAST],
        [13, 40],
    ),
    "a cell that lists its names": (
        ["import lib\nfound = dict(globals())",
         "kinds = {str(getattr(one, '__module__', '')) for one in found.values()}\n"
         "assert not [one for one in kinds if one.startswith('tracer.notebook.cells.p')]",
         "lib.fit(13)", LAST],
        [13, 40],
    ),
    "a call that is inherited": (
        ["import lib\nclass Own(lib.Base):\n    pass", "own = Own(13)\nown()", "Own(14)().net"],
        [13, 14],
    ),
    "a registry, of which reading tells nothing": (
        ["import lib\nclass Own(lib.Base):\n    pass\nlib.kinds['own'] = Own", "print(1)", "lib.run('own', 13)",
         "print(2)", "lib.run('own', 30)"],
        [13, 30],
    ),
    "what reading does not tell": (["import lib", "with lib.Late(13) as late:\n    print(late.width)", LAST], [13, 40]),
}  # fmt: skip


@pytest.fixture(scope="module")
def found(run_code, tmp_path_factory) -> dict:
    folder: Path = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return run_code(CHILD, {name: (str(folder), cells) for name, (cells, _) in CASES.items()})


@pytest.mark.parametrize("name", CASES)
def test_each_training_is_seen(name: str, found: dict) -> None:
    row = found[name]
    assert (row["status"], row["stop"], row["unreached"]) == ("ok", None, [])
    assert row["widths"] == CASES[name][1]


def test_one_in_a_module_stands_at_the_line_that_calls_it(found: dict) -> None:
    assert found["what a module's function gives"]["places"][0] == {"cell": 1, "line": 1}
    assert found["run_path"]["places"][0] == {"cell": 1, "line": 1}
    assert found["an import"]["places"][0] == {"cell": 0, "line": 1}
