"""A training that fits no card here: the cell says what would, of the notebook's cells and of the kernel's objects."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from .test_panel import PANEL, ask

GIB = 1 << 30
WIDE = """
import paddle
BATCH_SIZE = 100_000
net = paddle.nn.Sequential(paddle.nn.Linear(1000, 4000), paddle.nn.ReLU(), paddle.nn.Linear(4000, 10))
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
x = paddle.zeros([4, 1000])
"""


@pytest.mark.paddle
def test_what_would_fit_is_said_of_live_objects(kernel, stand_in, tmp_path):
    world = tmp_path / "world"
    world.write_text(f"count 2\ntotal 0 {2 * GIB}\ntotal 1 {2 * GIB}\n")
    running = kernel(NVML_STAND_IN=str(world), LD_LIBRARY_PATH=str(stand_in / "new"))
    assert not running.run(WIDE)[2]
    text, rich, errors = running.run("%paddle_gpu estimate net optimizer x --batch-size 100000")
    assert not errors
    said = text + rich[0]["text/plain"]
    assert re.search(r"Needs .* GiB; the largest card here offers at most 1\.20 GiB\.", said), said
    assert re.search(r"Fits with batch size [\d,]+\.", said), said
    assert "--details" not in said


LOADER = """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return paddle.zeros([1000]).numpy(), 1
    def __len__(self):
        return 400_000
loader = paddle.io.DataLoader(Data(), batch_size=BATCH_SIZE)
loss_fn = paddle.nn.CrossEntropyLoss()
del x
"""
MATCH = """
import json, sys
from pathlib import Path
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.notebook.files.reading import read_notebook
from jupyter_paddle_gpu.services import Services, Settings
services = Services(Settings(data_folder=Path("services")))
source = read_notebook(Path("train.py").absolute())
found = services.match(source, EstimateRequest(details=True), trace=Path("trace").read_text())
ways = [way.request for way in found.placement.decision.ways]
print(json.dumps([found.estimate.live, found.placement.decision.reason.render(str), ways]))
services.close()
"""


@pytest.mark.paddle
def test_beside_live_objects_the_panel_has_the_ways_out_of_the_cells(kernel, stand_in, tmp_path):
    """The job runs the cells."""
    running = kernel()
    assert not running.run(WIDE + LOADER)[2]
    (tmp_path / "trace").write_text(ask(running, f"{PANEL}.trace('net', '{{}}')")[0]["trace"])
    step = "for x, y in loader:\n    loss_fn(net(x), y).backward()\n    optimizer.step()\n"
    (tmp_path / "train.py").write_text(WIDE + LOADER + step + "    optimizer.clear_grad()\n")
    (tmp_path / "world").write_text(f"count 1\ntotal 0 {2 * GIB}\n")
    cards = {"NVML_STAND_IN": str(tmp_path / "world"), "LD_LIBRARY_PATH": str(stand_in / "new")}
    done = subprocess.run(
        [sys.executable, "-c", MATCH], cwd=tmp_path, env={**os.environ, **cards}, capture_output=True, text=True,
        check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    is_live, reason, ways = json.loads(done.stdout.splitlines()[-1])
    assert is_live and reason.startswith("Needs "), reason
    assert any(set(way) == {"batch_size"} for way in ways), ways
