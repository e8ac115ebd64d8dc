"""What a person would vary in a notebook is found, and what two runs have otherwise is told."""

from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.notebooks import NotebookSource
from jupyter_paddle_gpu.domain.variables import differences
from jupyter_paddle_gpu.notebook.files.comparing import compare_code
from jupyter_paddle_gpu.notebook.files.reading import parse_notebook, read_notebook
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook
from jupyter_paddle_gpu.notebook.variables import read_settings

EXAMPLES = Path(__file__).parents[2] / "examples"
LOOP = """
import paddle
net = paddle.nn.Linear(8, 2)
opt = paddle.optimizer.Adam(learning_rate=learning_rate, parameters=net.parameters())
for epoch in range(epochs):
    for x in paddle.io.DataLoader(data, batch_size=BATCH):
        loss = net(x).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
"""


def notebook(*cells: str, parameters: int | None = None) -> NotebookSource:
    content = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{number}",
                "metadata": {"tags": ["parameters"]} if number == parameters else {},
                "source": source,
                "outputs": [],
                "execution_count": None,
            }
            for number, source in enumerate(cells)
        ],
    }
    return parse_notebook(content, Path("/nowhere/train.ipynb"))


def settings(source: NotebookSource, **sets):
    return read_settings(source, inspect_notebook(source), sets)


def told(source: NotebookSource, **sets):
    return [(one.name, one.value, one.role) for one in settings(source, **sets).variables]


def test_variables_with_a_role_come_first_and_answers_are_their_values():
    source = notebook("seed = 1\nBATCH = 64\nepochs, _x = 3, 4\nlearning_rate = -0.5\nname: str = 'a'", LOOP)
    assert told(source, BATCH=128)[:5] == [
        ("BATCH", 128, "batch_size"),
        ("learning_rate", -0.5, "learning_rate"),
        ("epochs", 3, "epochs"),  # not bound while it runs, but written into the cell
        ("seed", 1, ""),
        ("name", "a", ""),
    ]


def test_the_cell_of_parameters_comes_before_all_others():
    source = notebook("BATCH = 64", "width = 3\nwidth = 4", LOOP, parameters=1)
    found = settings(source).variables
    assert [(one.name, one.value, one.parameter) for one in found[:2]] == [("width", 4, True), ("BATCH", 64, False)]


@pytest.mark.parametrize(
    "code",
    [
        "value = 1\nvalue = value + 1",  # it changes on the way
        "for value in range(3): pass",
        "def f():\n    value = 1",
        "value = len('abc')",
        "value = " + repr("x" * 500),
    ],
)
def test_what_is_no_choice_is_not_offered(code):
    assert all(name != "value" for name, _, _ in told(notebook(code)))


def test_a_batch_that_stands_in_the_call_is_a_fact_without_a_name():
    found = told(notebook("epochs = 2\nlearning_rate = 0.1", LOOP.replace("=BATCH", "=16")))
    assert ("", 16, "batch_size") in found
    assert ("epochs", 2, "epochs") in found


def test_what_differs_of_two_runs():
    one = settings(notebook("BATCH = 64\nwidth = 2\nepochs = 1\nlearning_rate = 1.0", LOOP))
    other = settings(notebook("BATCH = 128\nwidth = 2.0\nepochs = 1 # as before\nlearning_rate = 1.0\ndepth = 3", LOOP))
    found = [(each.kind, each.name, each.before, each.after) for each in differences(one, other)]
    assert found == [
        ("variable", "BATCH", 64, 128),
        ("variable", "width", 2, 2.0),
        ("variable", "depth", None, 3),
        ("code", "", None, None),
    ]
    assert differences(one, one) == ()


def test_a_comment_and_another_value_are_the_same_code():
    one, other = settings(notebook("width = 2  # narrow")), settings(notebook("width = 64"))
    assert one.code == other.code
    assert one.code != settings(notebook("width = 2\nprint(width)")).code


def test_an_example_tells_what_its_authors_would_vary():
    source = read_notebook(EXAMPLES / "digits_fit.ipynb")
    assert ("BATCH_SIZE", 64, "batch_size") in told(source)


def test_code_is_compared_cell_by_cell():
    one = notebook("import paddle", "a = 1\nb = 2", "print(a)")
    other = notebook("import paddle", "new = 0", "a = 1\nb = 3", "print(a)")
    found = compare_code(one, other)
    assert [(cell.before, cell.after) for cell in found] == [(1, 1), (None, 2)] or [
        (cell.before, cell.after) for cell in found
    ] == [(None, 1), (1, 2)]
    assert "+b = 3" in "\n".join(cell.difference for cell in found)
    assert compare_code(one, one) == ()
    (gone,) = compare_code(one, notebook("import paddle", "a = 1\nb = 2"))
    assert (gone.before, gone.after) == (2, None)
    assert gone.difference.split("\n")[1:] == ["-print(a)"]
