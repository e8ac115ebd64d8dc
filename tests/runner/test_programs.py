"""A program that a cell starts and that ends badly: the cell goes on behind it, and the result says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Execute = Callable[..., Any]


@pytest.fixture(params=["auto", "plain"])
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("python fails.py", 7),
        ("cd . && python fails.py", 7),
        ("python -m fails", 7),
        ("python fails.py || true", None),
        ("python well.py", None),
        ("python -m pip --no-such-option", None),
        ("ls no-such-file", None),
        ("echo 'an unclosed quote' \"; exit 3", None),
    ],
)
def test_how_a_program_ended_is_told(execute: Execute, shell: str, line: str, status: int | None) -> None:
    files = "open('fails.py', 'w').write('raise SystemExit(7)')\nopen('well.py', 'w').write('')"
    run = execute(files, f"!{line}", "!python -c 'raise SystemExit(3)'\nprint('on')", shell=shell)
    assert run.result["reason"] == "succeeded" and "on" in str(run.outputs(2)), run.log
    assert (run.result.get("program_cell"), run.result.get("program_status")) == (status and 1, status)


def test_the_first_of_them_is_told(execute: Execute, shell: str, tmp_path: Path) -> None:
    files = "open('a.py', 'w').write('raise SystemExit(4)')\nopen('b.py', 'w').write('1 / 0')"
    run = execute(files, "!python a.py", "!python b.py", shell=shell)
    assert (run.result["program_cell"], run.result["program_status"]) == (1, 4)
    assert run.log[-1]["x"].endswith("; the program that cell 2 starts failed: exit status 4."), run.log


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("os.system('python fails.py')", 7),
        ("subprocess.run([sys.executable, 'fails.py'])", 7),
        ("subprocess.call('python fails.py', shell=True)", 7),
        ("for _ in range(1):\n    subprocess.run(args=['python', '-m', 'fails'])", 7),
        ("os.system('python well.py')", None),
        ("os.system('ls no-such-file')", None),
        ("if os.system('python fails.py'):\n    print('again')", None),
        ("done = subprocess.run(['python', 'fails.py'])", None),
        ("assert subprocess.call(['python', 'fails.py']) == 7", None),
    ],
)
def test_a_status_that_the_code_throws_away_is_told(
    execute: Execute, shell: str, line: str, status: int | None
) -> None:
    """What the code takes it may have meant."""
    files = (
        "import os, subprocess, sys\nopen('fails.py', 'w').write('raise SystemExit(7)')\nopen('well.py', 'w').close()"
    )
    run = execute(files, f"{line}\nprint('on')", shell=shell)
    assert run.result["reason"] == "succeeded" and "on" in str(run.outputs(1)), run.log
    assert (run.result.get("program_cell"), run.result.get("program_status")) == (status and 1, status)
