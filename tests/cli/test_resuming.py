"""A job that was killed in mid-training goes on where it stopped when it is run again, as if nothing had happened."""

from __future__ import annotations

import pytest

LOOP = """
import os, signal
import paddle
from jupyter_paddle_gpu import checkpoint
paddle.seed(1)
net = paddle.nn.Linear(4, 1)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
state = checkpoint.load(model=net, optimizer=optimizer)
first = state["step"] + 1 if state else 0
print("begins at", first)
for step in range(first, 9):
    paddle.seed(step)
    net(paddle.rand([8, 4])).mean().backward()
    if step == 6 and state is None and "WHOLE" not in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
    optimizer.step()
    optimizer.clear_grad()
    if step % 2 == 0:
        checkpoint.save(step=step, model=net, optimizer=optimizer)
print("weights", net.weight.numpy().ravel().tolist())
"""

FIT = """
import os, signal
import numpy as np
import paddle
from jupyter_paddle_gpu import checkpoint
class Rows(paddle.io.Dataset):
    def __getitem__(self, index):
        return np.full([4], index / 16, "float32"), np.full([1], index % 3, "float32")
    def __len__(self):
        return 16
paddle.seed(1)
model = paddle.Model(paddle.nn.Linear(4, 1))
model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), paddle.nn.MSELoss())
saver = checkpoint.fit_callback(model)
print("begins at", saver.epochs_done)
class Killer(paddle.callbacks.Callback):
    def on_train_batch_end(self, step, logs=None):
        if saver.epochs_done == 2 and step == 1 and not os.environ.get("WHOLE") and not resumed:
            os.kill(os.getpid(), signal.SIGKILL)
resumed = saver.epochs_done > 0
model.fit(Rows(), epochs=4 - saver.epochs_done, batch_size=4, shuffle=False, verbose=0, callbacks=[saver, Killer()])
print("weights", model.network.weight.numpy().ravel().tolist())
"""


@pytest.mark.paddle
@pytest.mark.parametrize(("source", "resumes_at"), [(LOOP, 5), (FIT, 2)], ids=["loop", "fit"])
def test_a_killed_job_goes_on_where_it_stopped(cli, notebook, source, resumes_at):
    name = notebook(source)
    whole = cli("submit", name, "--follow", "--no-estimate", "--env", "WHOLE=1")
    assert whole.status == 0, whole.out
    killed = cli("submit", name, "--follow", "--no-estimate")
    assert killed.status == 1
    assert "begins at 0" in killed.out
    assert "weights" not in killed.out
    again = cli("rerun", "last", "--follow")
    assert again.status == 0, again.out
    assert f"begins at {resumes_at}" in again.out
    assert weights(again.out) == pytest.approx(weights(whole.out), abs=1e-7)


def weights(out: str) -> list[float]:
    line = next(line for line in out.splitlines() if line.startswith("weights "))
    return [float(number) for number in line.removeprefix("weights [").rstrip("]").split(", ")]
