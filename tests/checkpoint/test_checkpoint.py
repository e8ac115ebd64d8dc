"""Checkpoints with real Paddle: killed and run again, a training ends where it would have ended."""

from __future__ import annotations

import itertools
import json
import os
import pkgutil
import random
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_paddle_gpu import checkpoint
from tests.warm_python import WarmPython

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


@pytest.fixture
def run(paddle_python: WarmPython) -> Callable[[str, Path, int, Path], subprocess.CompletedProcess[str]]:
    def start(code: str, first: Path, kill_at: int, folder: Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, checkpoint.VARIABLE: str(folder)}
        return paddle_python.run("-c", code, str(first), str(kill_at), environment=environment)

    return start


def last(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.paddle
def test_a_killed_loop_goes_on_and_ends_with_the_same_weights(run, tmp_path):
    whole = run(LOOP, SOURCE, -1, tmp_path / "whole")
    killed = run(LOOP, SOURCE, 11, tmp_path / "killed")
    assert killed.returncode == -signal.SIGKILL
    again = run(LOOP, SOURCE, -1, tmp_path / "killed")
    assert "begin 12" in again.stdout
    assert last(again) == last(whole)
    assert len(list((tmp_path / "killed").iterdir())) == checkpoint.KEEP


@pytest.mark.paddle
def test_a_killed_fit_goes_on(run, tmp_path):
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


def values(layer):
    return layer.weight.numpy().tolist()


@pytest.mark.paddle
@pytest.mark.parametrize("name", ["model.pdparams", "optimizer.pdopt", "meta.json", "sums.json"])
def test_damage_anywhere_is_noticed(tmp_path, name):
    """Bits that tipped over, or a block of zeros after a power cut, do not become the weights of a training."""
    import paddle

    model = paddle.nn.Linear(3, 2)
    optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters())
    for step in (1, 2):
        model(paddle.ones([2, 3])).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        checkpoint.save(step=step, model=model, optimizer=optimizer, path=tmp_path)
        if step == 1:
            first = values(model)
    file, dice = tmp_path / "step-000000000002" / name, random.Random(3)
    sound = file.read_bytes()
    for damaged in (b"", sound[:-1], bytes(len(sound)), *(tipped(sound, dice) for _ in range(40))):
        file.write_bytes(damaged)
        assert checkpoint.load(model=model, optimizer=optimizer, path=tmp_path) == {"step": 1}
        assert values(model) == first


def tipped(content, dice):
    """The same with one bit the other way."""
    changed = bytearray(content)
    changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize("keep", [1, 2])
@pytest.mark.parametrize("step", [5, 6], ids=["the same step again", "the next step"])
def test_killed_between_any_two_calls_there_is_always_one(tmp_path, monkeypatch, keep, step):
    """Every rename, removal and write to disk of a save is its last one once."""
    calls = ("pathlib.Path.replace", "shutil.rmtree", "os.fsync", "pathlib.Path.mkdir", "pathlib.Path.write_text")
    for last in range(100):
        root = tmp_path / str(last)
        checkpoint.save(step=5, path=root, value="before", keep=keep)
        left = itertools.count(last, -1)
        with monkeypatch.context() as patch:
            for call in calls:
                patch.setattr(call, deadly(call, left))
            try:
                checkpoint.save(step=step, path=root, value="after", keep=keep)
                done = True
            except Killed:
                done = False
        assert (found := checkpoint.load(path=root)) in (
            {"step": 5, "value": "before"},
            {"step": step, "value": "after"},
        )
        checkpoint.save(step=7, path=root, keep=keep)
        assert checkpoint.load(path=root) == {"step": 7}
        assert len(list(root.iterdir())) <= keep, "nothing is left behind"
        if done:
            assert found == {"step": step, "value": "after"}
            assert last > 5
            return
    raise AssertionError("it never came to an end")


class Killed(BaseException):
    pass


def deadly(name, left):
    """The call of that name, or the end of the process: nothing happens after it, not even putting things in order."""
    module, _, attribute = name.rpartition(".")
    real = getattr(pkgutil.resolve_name(module), attribute)

    def call(*arguments, **named):
        if next(left) <= 0:
            raise Killed
        return real(*arguments, **named)

    return call


def test_what_was_not_saved_is_said(tmp_path):
    checkpoint.save(step=1, path=tmp_path)
    with pytest.raises(ValueError, match=r"has no model\.pdparams"):
        checkpoint.load(model=object(), path=tmp_path)


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
