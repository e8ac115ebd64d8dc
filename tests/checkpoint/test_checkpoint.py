"""Checkpoints with real Paddle: killed and run again, a training ends where it would have ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_paddle_gpu import checkpoint

SOURCE = Path(checkpoint.__file__)

LOOP = """
import sys, os, signal, importlib.util
spec = importlib.util.spec_from_file_location("checkpoint", sys.argv[1])
checkpoint = importlib.util.module_from_spec(spec); spec.loader.exec_module(checkpoint)
import paddle
paddle.seed(7)
model = paddle.nn.Linear(3, 1)
optimizer = paddle.optimizer.Adam(0.05, parameters=model.parameters())
state = checkpoint.load(model=model, optimizer=optimizer)
begin = state["step"] + 1 if state else 0
print("begin", begin, flush=True)
for step in range(begin, 30):
    x = paddle.full([4, 3], step / 30.0)
    loss = ((model(x) - 1) ** 2).mean()
    loss.backward(); optimizer.step(); optimizer.clear_grad()
    checkpoint.save(step=step, model=model, optimizer=optimizer, loss=float(loss))
    if step == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
print("weights", [round(float(v), 6) for v in model.weight.numpy().ravel()])
"""

FIT = """
import sys, os, signal
sys.path.insert(0, sys.argv[1])
from jupyter_paddle_gpu import checkpoint
import paddle
from paddle.io import TensorDataset
paddle.seed(3)
network = paddle.nn.Linear(2, 1)
model = paddle.Model(network)
model.prepare(paddle.optimizer.Adam(0.1, parameters=network.parameters()), paddle.nn.MSELoss())
saver = checkpoint.fit_callback(model)
print("done", saver.epochs_done, flush=True)
class Killer(paddle.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == int(sys.argv[2]): os.kill(os.getpid(), signal.SIGKILL)
data = TensorDataset([paddle.ones([8, 2]), paddle.ones([8, 1])])
model.fit(data, epochs=5 - saver.epochs_done, batch_size=4, shuffle=False, verbose=0, callbacks=[saver, Killer()])
print("weights", [round(float(v), 6) for v in network.weight.numpy().ravel()], saver.epochs_done)
"""


def run(code: str, first: Path, kill_at: int, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, checkpoint.VARIABLE: str(folder)}
    return subprocess.run(
        [sys.executable, "-c", code, str(first), str(kill_at)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def last(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.paddle
def test_a_killed_loop_goes_on_and_ends_with_the_same_weights(tmp_path):
    whole = run(LOOP, SOURCE, -1, tmp_path / "whole")
    killed = run(LOOP, SOURCE, 11, tmp_path / "killed")
    assert killed.returncode == -signal.SIGKILL
    again = run(LOOP, SOURCE, -1, tmp_path / "killed")
    assert "begin 12" in again.stdout
    assert last(again) == last(whole)
    assert len(list((tmp_path / "killed").iterdir())) == checkpoint.KEEP


@pytest.mark.paddle
def test_a_killed_fit_goes_on(tmp_path):
    # As in a container: the one file is all there is of the package.
    library = tmp_path / "lib" / "jupyter_paddle_gpu"
    library.mkdir(parents=True)
    (library / "checkpoint.py").symlink_to(SOURCE)
    whole = run(FIT, library.parent, -1, tmp_path / "whole")
    assert run(FIT, library.parent, 2, tmp_path / "killed").returncode == -signal.SIGKILL
    again = run(FIT, library.parent, -1, tmp_path / "killed")
    assert "done 3" in again.stdout
    assert last(again) == last(whole)
    assert last(again).endswith(" 5")


def test_a_torn_checkpoint_is_passed_over(tmp_path):
    checkpoint.save(step=1, path=tmp_path, note="first")
    checkpoint.save(step=2, path=tmp_path)
    (tmp_path / "step-000000000002" / "meta.json").write_text("{")
    (tmp_path / "part-99").mkdir()
    assert checkpoint.load(path=tmp_path) == {"step": 1, "note": "first"}


def test_the_same_step_again_replaces_it(tmp_path):
    checkpoint.save(step=5, path=tmp_path, value=1)
    checkpoint.save(step=5, path=tmp_path, value=2)
    assert checkpoint.load(path=tmp_path) == {"step": 5, "value": 2}
    assert [entry.name for entry in tmp_path.iterdir()] == ["step-000000000005"]


def test_only_the_first_of_several_processes_saves(tmp_path, monkeypatch):
    monkeypatch.setenv("PADDLE_TRAINER_ID", "1")
    assert checkpoint.save(step=1, path=tmp_path) is None
    assert checkpoint.load(path=tmp_path) is None


def test_nothing_there_and_nothing_bad_goes_in(tmp_path, monkeypatch):
    monkeypatch.setenv(checkpoint.VARIABLE, str(tmp_path / "job"))
    assert checkpoint.folder() == tmp_path / "job"
    assert checkpoint.load() is None
    with pytest.raises(ValueError, match="negative"):
        checkpoint.save(step=-1)
    with pytest.raises(TypeError):
        checkpoint.save(step=1, what=object())
    assert checkpoint.load() is None
    checkpoint.save(step=1)
    assert json.loads((tmp_path / "job" / "step-000000000001" / "meta.json").read_text()) == {"step": 1}
