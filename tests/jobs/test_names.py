"""Names of jobs and of what they leave can be written, whatever the notebook is called."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.jobs.names import NAME_BYTES, output_of
from jupyter_paddle_gpu.jobs.service import JobService


@given(st.text("ab-.字é🦆 ", max_size=300), st.sampled_from(["-{id}.ipynb", ".ipynb"]))
def test_a_name_fits_and_tells_jobs_apart(stem: str, ending: str) -> None:
    output = "/home/ada/runs/x" + stem + ending
    first, second = output_of(output, "20260101-000000-aaaaaa"), output_of(output, "20260101-000000-bbbbbb")
    assert len(os.fsencode(Path(first).name)) <= NAME_BYTES and Path(first).parent == Path("/home/ada/runs")
    assert Path(first).suffix == Path(output).suffix
    assert (first != second) == ("{id}" in ending)
    if len(os.fsencode(stem)) < NAME_BYTES - 40:
        assert first == output.replace("{id}", "aaaaaa")


@pytest.mark.parametrize("letter", ["n", "字"])
def test_a_notebook_with_the_longest_name_is_published(
    service: JobService, spec: Any, make_notebook: Any, work: Path, letter: str
) -> None:
    stem = letter * ((255 - len(".ipynb")) // len(letter.encode()))
    notebook = work / f"{stem}.ipynb"
    notebook.write_text(make_notebook("print('done')"))
    output = str(work / "paddle-gpu-runs" / f"{stem}-{{id}}.ipynb")
    job = service.submit(spec(stem, notebook=str(notebook), output=output), notebook.read_text())
    assert service.wait(job.id, 180).state == "succeeded"
    assert "done" in Path(job.spec.output).read_text()
    again = service.rerun(job.id)
    assert service.wait(again.id, 180).state == "succeeded"
    assert again.spec.output != job.spec.output and Path(again.spec.output).exists()
    assert service.publish(job.id) == Path(job.spec.output)
