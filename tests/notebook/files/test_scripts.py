"""A script is read as a notebook that does what `python script.py arguments` does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.changes import Changes
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.notebook.files.reading import read_notebook
from jupyter_paddle_gpu.notebook.files.writing import write
from jupyter_paddle_gpu.notebook.inspection import inspect_notebook

SCRIPT = """from __future__ import annotations
import sys
import paddle
net = paddle.nn.Linear(2, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    net(paddle.rand([8, 2])).mean().backward()
    optimizer.step()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def test_lines_of_the_second_cell_are_lines_of_the_script(script: Path) -> None:
    source = read_notebook(script, arguments=("--lr", "0.1"))
    assert [cell["source"] for cell in source.content["cells"]][1] == SCRIPT
    facts = inspect_notebook(source)
    assert (facts.loop, facts.problems, facts.kernel_name) == ("custom", (), "python3")
    assert facts.optimizer is not None
    assert facts.optimizer.place is not None
    assert (facts.optimizer.place.cell, facts.optimizer.place.line) == (1, 5)


def test_the_first_cell_gives_file_arguments_and_folder(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["kernel"])
    monkeypatch.setattr(sys, "path", ["elsewhere"])
    names: dict[str, object] = {}
    exec(read_notebook(script, arguments=("--name", "a b")).content["cells"][0]["source"], names)
    assert names["__file__"] == str(script)
    assert sys.argv == [str(script), "--name", "a b"]
    assert sys.path[0] == str(script.parent)


def test_the_same_script_is_the_same_notebook(script: Path) -> None:
    assert read_notebook(script, arguments=("1",)).content == read_notebook(script, arguments=("1",)).content
    assert read_notebook(script, arguments=("1",)).content != read_notebook(script).content


def test_a_script_is_never_overwritten_by_a_notebook(script: Path) -> None:
    with pytest.raises(PaddleGpuError) as refused:
        write(read_notebook(script), Changes())
    assert refused.value.code == "script_not_written"
    assert script.read_text() == SCRIPT
