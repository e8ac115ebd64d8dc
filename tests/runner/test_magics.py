"""Magics without IPython: the common ones work, the others are an error that names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_paddle_gpu.runner.shells import magics

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


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_time_keeps_what_it_binds_and_gives_the_value_on(execute: Execute, shell: str) -> None:
    run = execute(
        "%time x = sum(range(10))  # a comment\nprint(x)",
        "%%time\ny = 3\ny + x",
        "z = %time y * 2\nprint(z)",
        "%time for n in range(2): print('turn', n)",
        "%time x;",
        shell=shell,
    )
    assert run.result["reason"] == "succeeded", run.log
    timed = [text for text in run.texts() if text.startswith(("CPU times: user ", "Wall time: "))]
    assert len(timed) == 10
    assert [text for text in run.texts() if text not in timed] == ["45", "6", "turn 0", "turn 1"]
    assert run.texts("result") == ["48"]
    assert [out["output_type"] for out in run.outputs(1)] == ["stream", "execute_result"]


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_timeit(execute: Execute, shell: str) -> None:
    run = execute(
        "%timeit -n 10 -r3 sum(range(10))",
        "%%timeit -n 2 -r 1 base = 5\nbase + 1",
        "kept = %timeit -n 4 -r 2 -q -o 1 + 1\nprint(kept.loops, len(kept.all_runs), kept.best <= kept.worst)",
        shell=shell,
    )
    lines = [text for text in run.texts() if "slowest run" not in text]
    assert lines[0].endswith("per loop (mean ± std. dev. of 3 runs, 10 loops each)")
    assert lines[1].endswith("per loop (mean ± std. dev. of 1 run, 2 loops each)")
    assert lines[2:] == ["4 2 True"]


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
