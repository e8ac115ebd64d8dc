"""Magics without IPython: the common ones work, the others are an error that names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_paddle_gpu.runner import magics

Execute = Callable[..., Any]


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("name = 'world'\n!echo hello {name} $name $HOME_OF_NOBODY", ["hello world world"]),
        ("x = !printf 'a\\nb'\nprint(x)", ["['a', 'b']"]),
        ("!exit 3\nprint(_exit_code)", ["3"]),
        ("!echo one \\\n  two", ["one two"]),
        ("%env MINE=5\nimport os\nprint(os.environ['MINE'])", ["env: MINE=5", "5"]),
        ("if True:\n    !echo inside\n    print('x')", ["inside", "x"]),
        ("text = '''\n!not a command\n%nor a magic\n'''\nprint(len(text.split()))", ["6"]),
        ("x = 7\ny = (x\n % 4)\nprint(y)", ["3"]),
        ("%load_ext autoreload\n%autoreload 2\n%config InlineBackend.figure_format = 'retina'\nprint('on')", ["on"]),
        ("print?\nprint('help is for people')", ["help is for people"]),
        ("%%bash\necho from bash\nfor i in 1 2; do echo $i; done", ["from bash", "1", "2"]),
        ("%%sh\necho from sh", ["from sh"]),
        ("%%capture out\nprint('hidden')", []),
        ("%%writefile made.txt\nline\n", ["Writing made.txt"]),
        ("%%python3\nprint(6 * 7)", ["42"]),
    ],
)
def test_common_magics(execute: Execute, source: str, printed: list[str]) -> None:
    run = execute(source, shell="plain")
    assert run.result["reason"] == "succeeded", run.log
    assert run.texts() == printed


def test_time_keeps_what_it_binds(execute: Execute) -> None:
    run = execute("%time x = sum(range(10))\nprint(x)", "%%time\ny = 3", "print(y)", shell="plain")
    assert run.texts()[1].startswith("Wall time: ") and "45" in run.texts() and run.texts()[-1] == "3"


def test_cd_and_run(execute: Execute) -> None:
    source = "%mkdir -p sub\n%%writefile sub/made.py\nvalue = 8"
    run = execute("%mkdir -p sub", source.split("\n", 1)[1], "%cd sub\n%run made.py\nprint(value)", shell="plain")
    assert run.texts()[-1] == "8", run.log


def test_captured_output(execute: Execute) -> None:
    run = execute("%%capture out\nprint('kept')", "print(out.stdout.upper())", shell="plain")
    assert run.texts() == ["KEPT", ""]


def test_unknown_magic_names_itself_its_line_and_its_cell(execute: Execute) -> None:
    run = execute("1", "x = 1\n%prun f()", shell="plain")
    failure = run.result["failure"]
    assert (failure["name"], failure["cell"], failure["line"]) == ("MagicError", 1, 2)
    assert "%prun in line 2 needs IPython" in failure["value"]


def test_unknown_cell_magic(execute: Execute) -> None:
    run = execute("\n%%cython\ncdef int x", shell="plain")
    assert "%%cython in line 2" in run.result["failure"]["value"]


def test_failed_pip_install_stops(execute: Execute) -> None:
    run = execute("%pip install --no-index surely-not-there", "print('on')", shell="plain")
    assert run.result["reason"] == "cell_error" and run.texts()[-1:] != ["on"]


def test_lines_stay_where_they_are() -> None:
    source = "a = 1\n!ls \\\n -l\nb = 2\n%matplotlib inline\nc = 3"
    assert [line[:1] for line in magics.transform(source).split("\n")] == ["a", "_", "", "b", "_", "c"]
