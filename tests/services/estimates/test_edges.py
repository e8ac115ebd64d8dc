"""Where an estimate once looked at the wrong training, invented a batch or went past what Paddle refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.services import Services, Settings
from tests.services.estimates.test_several_trainings import notebook
from tests.services.test_advice_fits import MIB, Cards

pytestmark = pytest.mark.paddle

STEP = """
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
FIT = """
model = paddle.Model({model})
model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), paddle.nn.CrossEntropyLoss())
model.fit(Pictures({shape}), batch_size={batch}, epochs=1, verbose=0)
"""
PICTURES = """
import numpy as np, paddle
class Pictures(paddle.io.Dataset):
    def __init__(self, *shape):
        self.shape = shape
    def __len__(self):
        return 512
    def __getitem__(self, index):
        return np.zeros(self.shape, "float32"), np.array([1])
"""
CONVOLUTIONS = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 16, 3), paddle.nn.Conv2D(32, 64, 3){more})
opt = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(3):
    loss = net(paddle.rand([8, 3, 32, 32])).mean()""" + (STEP)
VARIABLE = """
import os, paddle
net = paddle.nn.Linear(13, 1)
opt = paddle.optimizer.Adam(parameters=net.parameters())
batch = int(os.environ["BATCH"])
for step in range(3):
    loss = net(paddle.rand([batch, 13])).mean()""" + (STEP)
TABLE = """
import pandas as pd, paddle
rows = pd.read_csv("houses/train.csv").values.astype("float32")
data = paddle.io.TensorDataset([paddle.to_tensor(rows[:, :-1]), paddle.to_tensor(rows[:, -1:])])
loader = paddle.io.DataLoader(data, batch_size=32)
net = paddle.nn.Sequential(paddle.nn.Linear(13, 2600), paddle.nn.Linear(2600, 1))
opt = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    loss = paddle.nn.functional.mse_loss(net(x), y)""" + (STEP)
FOLDER = """
!unzip -q flowers.zip -d flowers
import paddle
from paddle.vision import transforms
tools = transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()])
data = paddle.vision.datasets.DatasetFolder("flowers/train", transform=tools)
loader = paddle.io.DataLoader(data, batch_size=10)
net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 8, 3), paddle.nn.Flatten(), paddle.nn.Linear(8 * 62 * 62, 5))
opt = paddle.optimizer.Adam(parameters=net.parameters())
for x, y in loader:
    loss = paddle.nn.functional.cross_entropy(net(x), y)""" + (STEP)
CORPUS = """
import paddle
words = open("corpus/wiki.txt").read().split()
table = sorted(set(words))
net = paddle.nn.Sequential(paddle.nn.Embedding(len(table), 16), paddle.nn.Flatten(), paddle.nn.Linear(128, 9))
opt = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(3):
    x = paddle.randint(0, len(table), [32, 8])
    loss = net(x).mean()""" + (STEP)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("services")
    made = Services(Settings(data_folder=folder, system_policy_file=folder / "none"))
    made._built["devices"] = DeviceService(folder, simulate="", readers=[Cards((24 << 10, 0))])
    yield made
    made.close()


def test_a_second_larger_fit_gives_the_figure_and_places_the_job(services: Services, tmp_path: Path) -> None:
    lenet = FIT.format(model="paddle.vision.models.LeNet()", shape="1, 28, 28", batch=64)
    wide = "paddle.nn.Sequential(paddle.nn.Flatten(), paddle.nn.Linear(3072, 4096), paddle.nn.Linear(4096, 10))"
    source = notebook(services, tmp_path, PICTURES + lenet, FIT.format(model=wide, shape="3, 32, 32", batch=256))
    estimate = services.estimate(source, EstimateRequest(target="cpu"))
    assert [(one.model, one.batch_size, one.where.cell) for one in estimate.trainings if one.where] == [
        ("LeNet", 64, 0),
        ("Sequential", 256, 1),
    ]
    assert (estimate.training, estimate.batch_size) == ("2", 256)
    small, large = (one.allocated_peak_bytes or 0 for one in estimate.trainings)
    assert estimate.allocated_peak_bytes == large > 10 * small


@pytest.mark.parametrize("more", ["", ", paddle.nn.ReLU(), paddle.nn.Conv2D(64, 128, 3), paddle.nn.BatchNorm2D(128)"])
def test_channels_that_do_not_match_are_refused_in_paddles_words(services: Services, tmp_path: Path, more: str) -> None:
    estimate = services.estimate(notebook(services, tmp_path, CONVOLUTIONS.format(more=more)))
    assert estimate.status == "would_stop" and estimate.peak_bytes is None
    stop = estimate.stop
    assert stop is not None and (stop.cell, stop.line) == (0, 6)
    assert "input's channels should be equal to filter's channels" in stop.error
    assert "16" in stop.error and "[64, 32, 3, 3]" in stop.error, "the layer itself, not the next"


def test_a_variable_that_is_not_set_is_a_question_and_no_batch_of_ours(services: Services, tmp_path: Path) -> None:
    source = notebook(services, tmp_path, VARIABLE)
    estimate = services.estimate(source)
    assert (estimate.status, estimate.batch_size, estimate.peak_bytes) == ("needs_input", None, None)
    assert [(one.name, one.kind) for one in estimate.questions] == [("BATCH", "environment")]
    answered = services.estimate(source, EstimateRequest(answers={"BATCH": "24"}, target="cpu"))
    assert (answered.status, answered.batch_size, answered.evidence) == ("ok", 24, "trace")


@pytest.mark.parametrize(
    ("cell", "asked", "suggestion", "batch"),
    [
        (FOLDER, None, None, 10),
        (CORPUS, "len_table", None, 32),
        (TABLE, "loader", "float32[32,13] float32[32,1]", 32),
    ],
    ids=["pictures that an earlier line unzips", "a corpus", "a table"],
)
def test_a_file_that_is_not_here_asks_at_most_what_can_be_said_without_it(
    services: Services, tmp_path: Path, cell: str, asked: str | None, suggestion: str | None, batch: int
) -> None:
    source = notebook(services, tmp_path, cell)
    estimate = services.estimate(source, EstimateRequest(target="cpu"))
    assert [one.name for one in estimate.questions] == ([asked] if asked else [])
    if asked:
        given = estimate.questions[0].suggestion
        assert given is not None and suggestion in (None, given)
        estimate = services.estimate(source, EstimateRequest(answers={asked: given}, target="cpu"))
    assert (estimate.status, estimate.batch_size) == ("ok", batch)
    assert (estimate.allocated_peak_bytes or 0) > MIB / 4
