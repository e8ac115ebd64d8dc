"""What notebooks print and raise besides lines of text: log and notebook stay readable, valid and bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nbformat
import pytest

Execute = Callable[..., Any]


@pytest.fixture(params=["auto", "plain"])
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_binary_garbage_does_no_harm_to_a_terminal(execute: Execute, shell: str) -> None:
    run = execute(
        "import os\nos.write(1, bytes(range(256)) * 50)\nprint()\nprint('a\\x07b\\tc\\x1b[31mred\\x9b')", shell=shell
    )
    assert run.texts()[-1] == "ab\tcred"
    assert all(sign.isprintable() or sign == "\t" for text in run.texts() for sign in text)
    nbformat.validate(nbformat.read(run.folder / "notebook.ipynb", as_version=4))


def test_an_error_with_a_huge_text_is_bounded(execute: Execute, shell: str) -> None:
    run = execute(
        "def deep(n):\n    return deep(n - 1) if n else 1 / 0\nraise ValueError('x' * 5_000_000)", shell=shell
    )
    assert run.result["failure"]["line"] == 3
    assert run.result["failure"]["value"].startswith("xxx")
    assert "characters left out" in run.result["failure"]["value"]
    for name in ("result.json", "log.jsonl", "notebook.ipynb"):
        assert (run.folder / name).stat().st_size < 300_000
    assert max(len(line["x"]) for line in run.log) <= 10_000
    nbformat.validate(nbformat.read(run.folder / "notebook.ipynb", as_version=4))


def test_the_traceback_of_a_result_begins_in_the_cell(execute: Execute, shell: str) -> None:
    run = execute("1 / 0", shell=shell)
    lines = run.result["failure"]["traceback"].splitlines()
    assert len([line for line in lines if line.startswith("  File ")]) == 1


@pytest.mark.parametrize("source", ["name = input('name? ')", "import getpass\ngetpass.getpass('name? ')"])
def test_who_asks_is_told_that_nobody_answers(execute: Execute, shell: str, source: str) -> None:
    run = execute(source, shell=shell)
    assert (run.result["reason"], run.result["failure"]["name"]) == ("cell_error", "EOFError")
    assert "nobody is there to answer" in run.result["message"]
    assert any("name? " in text for text in run.texts() + run.texts("stderr"))


def test_a_breakpoint_is_passed_over(execute: Execute, shell: str) -> None:
    run = execute("breakpoint()\nprint('on')\nimport sys\nprint(repr(sys.stdin.read()))", shell=shell)
    assert run.texts() == ["on", "''"]
    assert "passed over" in run.texts("stderr")[0]


def test_a_thread_that_prints_after_its_cell(execute: Execute, shell: str) -> None:
    run = execute(
        "import threading\ngo, gone = threading.Event(), threading.Event()\n"
        "def late():\n    go.wait()\n    print('late')\n    gone.set()\n"
        "threading.Thread(target=late).start()\nprint('first')",
        "go.set()\ngone.wait()",
        shell=shell,
    )
    assert (run.stream(0), run.stream(1)) == ("first\n", "late\n")
    assert run.texts() == ["first", "late"]


def test_bars_on_stderr_and_results_of_many_lines(execute: Execute, shell: str) -> None:
    """A bar like tqdm's: carriage returns on stderr, thousands of states, one line at the end."""
    run = execute(
        "import sys\nfor n in range(3001):\n    print(f'\\r{n}/3000', end='', file=sys.stderr)\nprint(file=sys.stderr)",
        "class Wide:\n    def __repr__(self):\n        return 'a' * 25_000 + '\\nend'\nWide()",
        shell=shell,
    )
    states = [line for line in run.log if line["s"] == "stderr"]
    assert len(states) < 300 and states[-1]["x"] == "3000/3000"
    assert all(line["p"] for line in states[:-1]) and "p" not in states[-1]
    assert all(line["r"] for line in states[1:])
    assert run.stream(0, "stderr") == "3000/3000\n"
    assert [len(text) for text in run.texts("result")] == [10_000, 10_000, 5_000, 3]
