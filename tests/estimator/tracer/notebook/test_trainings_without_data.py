"""Trainings behind the first one whose data is not on this machine are seen as well, or asked for beside the figure."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PIL import Image

pytestmark = pytest.mark.paddle

FIRST = """
import os, random, numpy as np, paddle, paddle.nn.functional as F
from PIL import Image
from paddle import nn
small = nn.Linear(8, 4)
adam = paddle.optimizer.Adam(parameters=small.parameters())
for step in range(3):
    x, y = paddle.rand([16, 8]), paddle.zeros([3000])  # freed where the second training binds these names
    loss = small(x).mean()
    loss.backward()
    adam.step()
    adam.clear_grad()
#---
"""
READER = """
FOLDER = '../absent/pictures'
def reader(folder, batch_size=10):
    names = os.listdir(folder)
    def read():
        random.shuffle(names)
        pictures, labels = [], []
        for name in names:
            picture = np.array(Image.open(os.path.join(folder, name)).resize((24, 24)))
            pictures.append(picture.transpose(2, 0, 1))
            labels.append(0 if name[0] == 'N' else 1)
            if len(pictures) == batch_size:
                yield np.array(pictures).astype('float32'), np.array(labels).astype('int64').reshape(-1, 1)
                pictures, labels = [], []
    return read
"""
SECOND = """
large = nn.Sequential(nn.Flatten(), nn.Linear(1728, 500), nn.ReLU(), nn.Linear(500, 2))
momentum = paddle.optimizer.Momentum(parameters=large.parameters())
#---
for epoch in range(2):
    for x, y in reader(FOLDER)():
        loss = F.cross_entropy(large(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        momentum.step()
        momentum.clear_grad()
"""
LOADED = """
rows = np.load('../absent/rows.npy')
large = nn.Sequential(nn.Linear(13, 500), nn.ReLU(), nn.Linear(500, 1))
momentum = paddle.optimizer.Momentum(parameters=large.parameters())
class Rows(paddle.io.Dataset):
    def __getitem__(self, i):
        return rows[i]
    def __len__(self):
        return len(rows)
for x in paddle.io.DataLoader(Rows(), batch_size=20):
    loss = large(x).mean()
    loss.backward()
    momentum.step()
    momentum.clear_grad()
"""
SOURCES = {
    "absent": FIRST + READER + SECOND,
    "asked": FIRST + LOADED,
    "answered": FIRST + LOADED,
    "stopped": FIRST + "print(undefined)\n#---\n" + READER + SECOND,
    "never": FIRST + READER + "if False:\n    " + SECOND.replace("\n", "\n    ").replace("    #---", "    pass"),
}


@pytest.fixture(scope="module")
def traced(run_child: Callable[..., dict], tmp_path_factory: pytest.TempPathFactory) -> dict:
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(40):
        Image.new("RGB", (40, 30)).save(folder / f"N{number}.png")
    here = SOURCES["absent"].replace("../absent/pictures", str(folder))
    return run_child("trace", {**SOURCES, "here": here}, {"answered": {"answers": {"loader": "float32[20,13]"}}})


def test_its_batch_follows_from_the_code(traced: dict) -> None:
    found = traced["absent"]
    assert (found["status"], found["unreached"], found["questions"]) == ("ok", [], [])
    assert found["trainings"] == traced["here"]["trainings"]
    assert found["batch_size"] == 10


def test_what_it_needs_is_asked_beside_the_figure(traced: dict) -> None:
    found, answered = traced["asked"], traced["answered"]
    assert (found["status"], len(found["unreached"]), list(found["trainings"])) == ("ok", 1, ["1"])
    assert [one["suggestion"] for one in found["questions"]] == ["float32[20,13]"]
    assert (answered["status"], answered["unreached"], answered["batch_size"]) == ("ok", [], 20)


def test_what_a_job_does_not_reach_is_not_counted(traced: dict) -> None:
    for name in ("stopped", "never"):
        assert (traced[name]["status"], list(traced[name]["trainings"])) == ("ok", ["1"]), name
    assert traced["stopped"]["stop"]["error"].startswith("NameError")
