"""Cells are executed and their outputs land in notebook and log, with IPython and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

import jupyter_paddle_gpu.runner

RUNNER = Path(jupyter_paddle_gpu.runner.__file__).parent
Execute = Callable[..., Any]


def code(source: str, **metadata: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source,
        "metadata": metadata,
        "outputs": [],
        "execution_count": None,
        "id": "c",
    }


@pytest.fixture(params=["auto", "plain"])
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_streams_are_merged_and_in_order(execute: Execute, shell: str) -> None:
    run = execute(
        "import os, sys\n"
        "print('one')\nprint('two', file=sys.stderr)\nprint('three')\nos.system('echo four')\n"
        "os.write(1, b'five\\n')\nprint('six')",
        shell=shell,
    )
    assert run.result["reason"] == "succeeded", run.log
    shown = [(out["name"], "".join(out["text"])) for out in run.outputs(0) if out["output_type"] == "stream"]
    assert shown == [("stdout", "one\n"), ("stderr", "two\n"), ("stdout", "three\nfour\nfive\nsix\n")]
    assert [line["x"] for line in run.log if line["s"] != "system"] == ["one", "two", "three", "four", "five", "six"]
    assert [line["n"] for line in run.log] == list(range(len(run.log)))


def test_native_stderr_is_kept(execute: Execute, shell: str) -> None:
    run = execute("import os\nos.write(2, b'from C++\\n')\nx = 1", "print('next')", shell=shell)
    assert run.stream(0, "stderr") == "from C++\n"
    assert run.stream(1) == "next\n"


def test_result_display_and_table(execute: Execute, shell: str) -> None:
    run = execute(
        "class Table:\n    def _repr_html_(self):\n        return '<b>t</b>'\n"
        "    def __repr__(self):\n        return 'T'\n"
        "display(Table())\nprint('between')\nTable()",
        "1;",
        "None",
        shell=shell,
    )
    first, between, last = run.outputs(0)
    assert first["output_type"] == "display_data" and first["data"] == {"text/html": "<b>t</b>", "text/plain": "T"}
    assert "".join(between["text"]) == "between\n"
    assert last["output_type"] == "execute_result" and last["execution_count"] == 1
    assert run.outputs(1) == run.outputs(2) == []
    assert run.texts("result") == ["T", "T"]


def test_figures_become_png(execute: Execute, shell: str) -> None:
    run = execute(
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n"
        "plt.plot([3, 4]);\nprint('end')",
        shell=shell,
    )
    images = [out["data"]["image/png"] for out in run.outputs(0) if "image/png" in out.get("data", {})]
    assert len(images) == 2 and all(image.startswith("iVBOR") for image in images), run.log
    assert run.result["reason"] == "succeeded"


def test_pandas_table_as_html(execute: Execute, shell: str) -> None:
    run = execute("import pandas as pd\npd.DataFrame({'epoch': [1, 2]})", shell=shell)
    assert "<table" in run.outputs(0)[0]["data"]["text/html"]


def test_error_names_cell_and_line_and_stops(execute: Execute, shell: str) -> None:
    run = execute("def f(x):\n    return 1 / x", "print('a')\n\nf(0)\nprint('b')", "print('never')", shell=shell)
    failure = run.result["failure"]
    assert (run.result["reason"], failure["cell"], failure["line"]) == ("cell_error", 1, 3)
    assert (failure["name"], failure["value"]) == ("ZeroDivisionError", "division by zero")
    assert "return 1 / x" in failure["traceback"]
    assert run.process and run.process.returncode == 1
    assert run.outputs(1)[-1]["ename"] == "ZeroDivisionError"
    assert run.outputs(2) == []
    assert run.notebook["cells"][2]["execution_count"] is None
    assert any("ZeroDivisionError" in text for text in run.texts("stderr"))


def test_syntax_error_has_its_line(execute: Execute, shell: str) -> None:
    run = execute("x = 1\ny = = 2", shell=shell)
    assert (run.result["failure"]["name"], run.result["failure"]["line"]) == ("SyntaxError", 2)


def test_tags(execute: Execute, shell: str) -> None:
    run = execute(
        code("raise ValueError('meant')", tags=["raises-exception"]),
        code("print('not run')", tags=["skip-execution"]),
        "print('after')",
        shell=shell,
    )
    assert run.result["reason"] == "succeeded"
    assert run.outputs(0)[0]["ename"] == "ValueError"
    assert run.outputs(1) == []
    assert run.stream(2) == "after\n"


def test_notebook_is_valid_and_published(execute: Execute, shell: str) -> None:
    run = execute(
        "print(1)\n2", {"cell_type": "markdown", "source": "# m", "metadata": {}, "id": "m"}, "3", shell=shell
    )
    out = Path(json.loads((run.folder / "spec.json").read_text())["output"])
    nbformat.validate(nbformat.read(run.folder / "notebook.ipynb", as_version=4))
    assert out.read_bytes() == (run.folder / "notebook.ipynb").read_bytes()
    assert [cell.get("execution_count") for cell in run.notebook["cells"]] == [1, None, 2]
    assert run.notebook["cells"][0]["metadata"]["execution"]["iopub.status.busy"].endswith("Z")


def test_await_at_top_level(execute: Execute, shell: str) -> None:
    run = execute("import asyncio\nawait asyncio.sleep(0)\nprint('awaited')", shell=shell)
    assert run.stream(0) == "awaited\n"


def test_what_comes_of_the_future_holds_in_later_cells(execute: Execute, shell: str) -> None:
    later = "class Tree:\n    left: Leaf\nclass Leaf: ...\nprint(Tree.__annotations__)"
    run = execute("from __future__ import annotations", later, shell=shell)
    assert run.stream(1) == "{'left': 'Leaf'}\n", run.log


def test_classes_of_the_notebook_can_be_pickled(execute: Execute, shell: str) -> None:
    run = execute("class A: pass", "import pickle\nprint(type(pickle.loads(pickle.dumps(A()))).__name__)", shell=shell)
    assert run.stream(1) == "A\n", run.log


def test_workers_print_into_the_log(execute: Execute, shell: str) -> None:
    run = execute(
        "import multiprocessing, sys\n"
        "def work(n):\n    print('worker', n)\n    print('err', n, file=sys.stderr)\n    sys.stdout.flush()\n"
        "context = multiprocessing.get_context('fork')\n"
        "for n in range(3):\n    p = context.Process(target=work, args=(n,)); p.start(); p.join()",
        shell=shell,
    )
    assert run.texts() == ["worker 0", "worker 1", "worker 2"], run.log
    assert run.texts("stderr") == ["err 0", "err 1", "err 2"]


def test_modules_of_the_runner_are_not_in_the_users_way(execute: Execute, shell: str) -> None:
    run = execute(
        "import sys\nfound = []\n"
        "for name in ('session', 'recorder', 'document', 'events', 'sets'):\n"
        "    try:\n        __import__(name)\n        found.append(name)\n    except ImportError:\n        pass\n"
        "print(found, sys.argv[1:], __name__)",
        shell=shell,
    )
    assert run.stream(0) == "[] [] __main__\n"


def test_variables_of_the_job(execute: Execute, shell: str) -> None:
    run = execute(
        "from os import environ, path\n"
        "print(path.isdir(environ['PADDLE_GPU_CHECKPOINTS']), environ['PADDLE_GPU_JOB_ID'], environ['MINE'])",
        environment={"MINE": "yes"},
        shell=shell,
    )
    assert run.stream(0) == "True job0 yes\n"


def test_helper_module_beside_the_notebook(prepare: Execute, shell: str) -> None:
    run = prepare("import helper\nprint(helper.NAME)", shell=shell)
    folder = Path(json.loads((run.folder / "spec.json").read_text())["folder"])
    (folder / "helper.py").write_text("NAME = 'beside'")
    run.start().wait()
    assert run.stream(0) == "beside\n", run.log


def test_exit_of_the_process_is_told(execute: Execute, shell: str) -> None:
    run = execute("import os\nprint('x')\nos._exit(3)", shell=shell)
    assert (run.result["reason"], run.result["status"]) == ("exited", 3)
    assert run.stream(0) == "x\n"


def test_system_exit_is_an_error_of_the_cell(execute: Execute, shell: str) -> None:
    run = execute("import sys\nsys.exit('enough')", "print(1)", shell=shell)
    assert (run.result["reason"], run.result["failure"]["name"]) == ("cell_error", "SystemExit")


def test_display_handles_are_updated(execute: Execute) -> None:
    run = execute("from IPython.display import display\nh = display('old', display_id=True)", "h.update('new')")
    assert run.outputs(0)[0]["data"]["text/plain"] == "'new'"


def test_clear_output(execute: Execute) -> None:
    run = execute("from IPython.display import clear_output\nprint('a')\nclear_output(wait=True)\nprint('b')")
    assert run.stream(0) == "b\n"


def test_plain_python_without_ipython(execute: Execute) -> None:
    """The system's Python has neither IPython nor anything else: what a bare container has."""
    system = "/usr/bin/python3"
    if not Path(system).exists():
        pytest.skip("needs /usr/bin/python3, a Python without packages")
    run = execute("%time x = 2\nx + 1", "!echo from the shell", python=(system, "-I", "-S"))
    assert run.outputs(0)[-1]["data"] == {"text/plain": "3"}
    assert run.stream(1) == "from the shell\n"
    assert any("without IPython" in text for text in run.texts("system"))


def test_runner_as_a_zip(prepare: Execute, tmp_path: Path) -> None:
    import zipapp

    zipapp.create_archive(RUNNER, tmp_path / "runner.pyz", filter=lambda path: path.suffix == ".py")
    run = prepare("print('zipped')")
    run.entry = tmp_path / "runner.pyz"
    run.start().wait()
    assert run.stream(0) == "zipped\n", (run.folder / "runner.log").read_text()


def test_runner_is_valid_python_3_8() -> None:
    import ast

    for path in RUNNER.rglob("*.py"):
        ast.parse(path.read_text(), str(path), feature_version=(3, 8))


def test_not_a_notebook(prepare: Execute) -> None:
    run = prepare("1")
    (run.folder / "source.ipynb").write_text(json.dumps({"nbformat": 3, "worksheets": []}))
    assert run.start().wait() == 1
    assert run.result["reason"] == "runner_error"


def test_a_picture_stands_in_the_log_where_it_was_drawn(execute: Execute) -> None:
    run = execute(
        "from IPython.display import SVG, clear_output, display\nprint('before')\n"
        "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))\nprint('between')\n"
        "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))\nclear_output()\n"
        "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'))",
        "SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')",
    )
    assert run.result["reason"] == "succeeded", run.log
    shown = [line.get("f") or line["x"] for line in run.log if line["s"] != "system"]
    assert shown == [
        "before",
        {"cell": 0, "line": 1},
        "between",
        {"cell": 0, "line": 2},
        {"cell": 0, "line": 1},  # what was drawn before is cleared
        {"cell": 1, "line": 1},
    ]


def test_our_own_sentences_can_be_read_in_other_languages(execute: Execute) -> None:
    from jupyter_paddle_gpu.i18n import translator

    run = execute("1 / 0")
    last = run.log[-1]
    assert last["x"].startswith("Ended after") and "cell 1: ZeroDivisionError: division by zero" in last["x"]
    assert last["m"]["text"].format(**last["m"]["params"]) == last["x"]
    script = execute("1 / 0", original="train.py"), execute("1", original="train.py")
    words = [run.log[-1]["x"] for run in script]
    assert words[0].endswith(" s: ZeroDivisionError: division by zero") and "script ran to its end in" in words[1]
    for line in [*run.log, *script[0].log, *script[1].log]:
        if line["s"] == "system":
            template = line["m"]["text"]
            assert translator("zh-CN")(template) != template, template
