"""What is said before a submit, and to whom it matters."""

from __future__ import annotations

import json
import sys

import nbformat
import pytest

from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.services import Services, Settings, Submission

NOTE = Message(code="paddle_for_cpu", text="The kernel's Paddle is for the CPU.")


@pytest.mark.parametrize(("code", "said"), [("import paddle", ["paddle_for_cpu"]), ("import torch", [])])
def test_which_paddle_there_is_matters_to_a_notebook_that_uses_it(tmp_path, monkeypatch, code, said) -> None:
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=None))
    monkeypatch.setattr(services.jobs, "preflight", lambda *_: (NOTE,))
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)]), path)
    found = services.preflight(services.open(path), Submission(engine="local"))
    services.close()
    assert ([note.code for note in found.notes], found.problems) == (said, ())


def test_of_a_kernel_without_paddle_it_is_not_told_which_one_it_has(tmp_path, monkeypatch) -> None:
    services = Services(Settings(data_folder=tmp_path / "data", policy_file=None))
    monkeypatch.setattr(services.jobs, "preflight", lambda *_: (NOTE,))
    folder = tmp_path / "kernels" / "bare"
    folder.mkdir(parents=True)
    (tmp_path / "bare").write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    (tmp_path / "bare").chmod(0o755)
    (folder / "kernel.json").write_text(
        json.dumps(
            {"argv": [str(tmp_path / "bare"), "-m", "ipykernel_launcher"], "display_name": "Bare", "language": "python"}
        )
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    path = tmp_path / "a.ipynb"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import paddle")])
    book.metadata["kernelspec"] = {"name": "bare", "display_name": "Bare", "language": "python"}
    nbformat.write(book, path)
    found = services.preflight(services.open(path), Submission(engine="local"))
    services.close()
    assert found.decision is not None and not found.notes and not found.problems
