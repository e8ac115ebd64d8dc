"""How long a run is: updates of a pass over the data as the loader gives them, passes as the notebook says."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.domain.notebooks import CodeCell, Fact, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings

pytestmark = pytest.mark.paddle

HEAD = """
import numpy as np, paddle
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.zeros([8], "float32")
    def __len__(self):
        return 1000
model = paddle.nn.Linear(8, 4)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
epochs = 3
"""
TRAIN = """
for epoch in range(epochs):
    for at, x in enumerate({batches}):
        loss = model(x).mean()
        loss.backward()
        if at % {every} == {every} - 1:
            optimizer.step()
            optimizer.clear_grad()
"""
LOADER = "paddle.io.DataLoader(Data(), batch_size=16)"
EVALUATED = "    for x in paddle.io.DataLoader(Data(), batch_size=2):\n        model(x)\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    service = EstimateService(EstimateSettings(calibration=tmp_path_factory.mktemp("data") / "calibration.json"))
    yield service
    service.close()


@pytest.mark.parametrize(
    ("batches", "every", "behind", "steps"),
    [
        (LOADER, 1, "", 63),
        (LOADER.replace("16)", "16, drop_last=True)"), 1, "", 62),
        (LOADER, 7, "", 9),
        (LOADER, 1, EVALUATED, 63),
        ("[paddle.zeros([16, 8])] * 20", 1, "", None),
    ],
    ids=["rest-kept", "rest-dropped", "accumulated", "evaluated-between", "no-loader"],
)
def test_updates_of_an_epoch_are_counted(service, tmp_path, batches, every, behind, steps):
    source = HEAD + TRAIN.format(batches=batches, every=every) + behind
    facts = NotebookFacts(
        kernel_name="python3",
        language="python",
        cells=(CodeCell(index=0, id="a", source=source),),
        imports_paddle=True,
        loop="custom",
        epochs=Fact(value=3, source="epochs", place=None, how="constant", name="epochs"),
    )
    found = service.estimate(facts, tmp_path, EstimateRequest(target="cpu"))
    assert (found.status, found.steps_per_epoch) == ("ok", steps)
    assert found.steps == (None if steps is None else 3 * steps)
    answered = service.estimate(facts, tmp_path, EstimateRequest(target="cpu", answers={"epochs": 5}))
    assert answered.steps == (None if steps is None else 5 * steps)
    assert 0 < found.matrix_flops < found.flops_per_step and found.operations > 3
