"""Processes that a job's script begins anew run that script with the answers in it, as the job does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

SCRIPT = """
import argparse
import multiprocessing

WIDTH = 2
parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int, default=1)
DEPTH = parser.parse_args([]).depth


def tell(again):
    print(WIDTH, DEPTH, flush=True)
    if again:
        begin(tell, False)


def begin(function, again):
    one = multiprocessing.get_context(METHOD).Process(target=function, args=(again,))
    one.start()
    one.join()


if __name__ == "__main__":
    begin(tell, True)
"""


@pytest.mark.parametrize("shell", ["plain", "auto"])
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_what_a_script_begins_anew_has_the_answers(prepare: Callable[..., Any], method: str, shell: str) -> None:
    """The script itself is the job; the one that a cell starts is a process more."""
    source = SCRIPT.replace("METHOD", repr(method))
    run = prepare("", source, f"!{sys.executable} own.py", shell=shell, sets={"WIDTH": 8, "depth": 4})
    script = run.folder.parent / run.folder.name.replace("job", "work") / "own.py"
    script.write_text(source)
    head = f"import sys; __file__ = {str(script)!r}; sys.path.insert(0, {str(script.parent)!r})"
    (run.folder / "source.ipynb").write_text(
        (run.folder / "source.ipynb").read_text().replace('"source": ""', f'"source": "{head}"', 1)
    )
    run.start()
    run.wait()
    assert run.texts() == ["8 4"] * 4, run.log
