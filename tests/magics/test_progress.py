"""The bar of a job that a cell follows."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec, Progress
from jupyter_paddle_gpu.magics import progress


def test_the_bar_moves_while_one_cell_trains(monkeypatch) -> None:
    made = {name: lambda *_, **fields: SimpleNamespace(**fields) for name in ("FloatProgress", "Label", "HBox")}
    made["FloatProgress"] = lambda **fields: SimpleNamespace(layout=SimpleNamespace(), **fields)
    monkeypatch.setattr(progress, "widgets", lambda: SimpleNamespace(**made))
    spec = JobSpec(name="a", notebook="/a.ipynb", output="/o.ipynb", folder="/", engine="local")
    job = Job(id="a", spec=spec, state="running", created=0, updated=0)
    bar = progress.JobProgress(job, Speech("en"))
    shown = []
    for share in (0.2, 0.4):
        at = Progress(cells_done=0, cells_total=2, epoch=1, epochs=5, share=share)
        bar.show(msgspec.structs.replace(job, progress=at))
        shown.append((bar._bar.value, bar._label.value))
    assert shown == [(0.2, "running · epoch 1/5"), (0.4, "running · epoch 1/5")]
    last = Progress(cell=1, cells_done=1, cells_total=2, share=0.9)
    bar.show(msgspec.structs.replace(job, progress=last))
    assert (bar._bar.layout.visibility, bar._label.value) == ("hidden", "running · last cell, length unknown")
    bar.show(msgspec.structs.replace(job, progress=last, state="succeeded"))
    assert bar._bar.layout.visibility == "visible"
    assert (bar._bar.value, bar._bar.bar_style, bar._label.value) == (1, "success", "done")
