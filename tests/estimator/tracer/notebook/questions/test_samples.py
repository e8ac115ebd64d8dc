"""A repository's own sample of its data, which a configuration beside the program's names."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.paddle

READERS = """
import numpy as np, os, paddle
class Stream(paddle.io.IterableDataset):
    def __init__(self, folder):
        self.files = [os.path.join(folder, name) for name in os.listdir(folder)]
    def __iter__(self):
        for file in self.files:
            with open(file) as rows:
                for row in rows:
                    numbers = [float(number) for number in row.split(",")]
                    yield np.array(numbers[:-1], "float32"), np.array(numbers[-1:], "float32")
class Table(paddle.io.Dataset):
    def __init__(self, folder):
        self.rows = [row for row in Stream(folder)]
    def __getitem__(self, index):
        return self.rows[index]
    def __len__(self):
        return len(self.rows)
"""
TRAIN = """
import os, sys
import paddle, readers
path = "models/{name}.yaml"
config = {{}}
with open(path) as file:
    for line in file:
        key, _, value = line.partition(":")
        config[key.strip()] = value.strip().strip('"')
folder = os.path.join(os.path.dirname(path), config["train_data_dir"])
loader = paddle.io.DataLoader(getattr(readers, config["reader"])(folder), batch_size=int(config["batch_size"]))
model = paddle.nn.Linear(3, 1)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for epoch in range(2):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
CONFIG = """runner:
  # what is read
  train_data_dir: "{folder}"
  reader: {reader}
  batch_size: {size}
"""
CONFIGS = {
    "stream": ("../sample", "Stream", 4), "stream_big": ("../../elsewhere/big", "Stream", 64),
    "table": ("../sample", "Table", 4), "table_big": ("../../elsewhere/big", "Table", 64),
    "mixed": ("../sample", "Table", 4), "mixed_big": ("../../elsewhere/big", "Stream", 64),
    "alone": ("../../elsewhere/big", "Stream", 64), "alone_too": ("../../elsewhere/other", "Stream", 64),
}  # fmt: skip
CHILD = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import tracer
from tracer.undecided.branches import peak
for name, request in json.load(sys.stdin).items():
    os.chdir(request["folder"])
    sys.modules.pop("readers", None)
    found = tracer.trace_notebook(request)
    row = {key: found.get(key) for key in ("status", "batch_size", "inputs")}
    row["peak"] = peak(found, "cpu") if found["status"] == "ok" else None
    row["notes"] = {note["code"]: note["params"] for note in found["notes"]}
    print(json.dumps([name, row]))
"""


@pytest.fixture(scope="module")
def found(run_code, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """All of them, and one of which the data is here."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("without", "with")}
    for name, folder in folders.items():
        _lay_out(folder / "program", "sample", 6)
        if name == "with":
            _lay_out(folder / "program", "../elsewhere/big", 640)
    asked = {name: _request(folders["without"] / "program", name) for name in CONFIGS if name != "stream"}
    return run_code(CHILD, {**asked, "with data": _request(folders["with"] / "program", "stream_big")})


def _lay_out(folder: Path, data: str, rows: int) -> None:
    (folder / data).mkdir(parents=True)
    (folder / data / "part-0").write_text("0.5,1.5,2.5,1\n" * rows)
    (folder / "models").mkdir(exist_ok=True)
    (folder / "readers.py").write_text(READERS)
    for name, (place, reader, size) in CONFIGS.items():
        (folder / "models" / f"{name}.yaml").write_text(CONFIG.format(folder=place, reader=reader, size=size))


def _request(folder: Path, name: str) -> dict:
    cells = [{"index": 0, "source": TRAIN.format(name=name)}]
    return {"cells": cells, "answers": {}, "target": "cpu", "folder": str(folder)}


@pytest.mark.parametrize("name", ["stream_big", "table_big"])
def test_a_batch_is_looked_at_with_the_sample(found, name):
    """As many samples as the program takes, however few the sample has; of PaddleRec three of four had a question
    without a suggestion."""
    row = found[name]
    assert (row["status"], row["batch_size"], row["inputs"]) == ("ok", 64, ["float32[64, 3]", "float32[64, 1]"])
    assert row["notes"]["data_sampled"] == {"wanted": "../../elsewhere/big", "sample": "../sample"}


def test_the_figure_is_that_of_the_data_itself(found):
    assert found["with data"]["status"] == "ok"
    assert found["with data"]["peak"] == found["stream_big"]["peak"]
    assert "data_sampled" not in found["with data"]["notes"]


@pytest.mark.parametrize("name", ["mixed_big", "alone"])
def test_what_is_read_otherwise_is_no_sample(found, name):
    """A sample for another reader, and none at all."""
    assert "data_sampled" not in found[name]["notes"]


def test_a_sample_that_the_program_names_itself_is_its_data(found):
    row = found["table"]
    assert (row["batch_size"], row["notes"]) == (4, {})
