"""What `make` and a shell would run is read by the server: no file of a folder that somebody opens may take its memory
or time."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.notebook import makefiles
from jupyter_paddle_gpu.notebook.shell_lines import Flow

ENDLESS = f"X = {'$(X)' * 8}a\nall:\n\tpython train.py $(X)\n\tpython next.py\n"
LONG = f"{':' * 4_000}=\nBIG = {'b' * 5_000}\nall:\n\tpython train.py $(BIG) 8\n"
NESTED = "A = 8\nB = $(A)\nall:\n\tpython train.py ${B} $$HOME\n"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (NESTED, ["python train.py 8 $HOME"]),
        (ENDLESS, ["", "python next.py"]),
        (LONG, ["python train.py  8"]),
    ],
    ids=["variables of variables", "a variable that names itself", "lines that nobody writes"],
)
def test_lines_of_a_recipe(text, steps):
    assert list(makefiles.recipe(text, [], {})) == steps


def test_a_variable_of_a_shell_that_doubles_itself_ends():
    flow = Flow()
    for line in ["x=ab", *["x=$x$x"] * 60]:
        assert flow.texts(line) == []
    (text,) = flow.texts("python train.py --name $x")
    assert len(text) < 2 * makefiles.LONG
    assert Flow(["8"]).texts("python train.py $1") == ["python train.py 8"]
