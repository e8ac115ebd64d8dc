"""Errors in plain words: as Paddle 3.3 and Python say them, and what to do."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest
from paddle import nn
from paddle.dataset.common import download
from paddle.metric import accuracy
from paddle.utils.download import get_weights_path_from_url

from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.mistakes.explanations import next_step, plain
from jupyter_paddle_gpu.domain.mistakes.stops import Stop
from jupyter_paddle_gpu.i18n import translator


def twice(loss):
    loss.backward()
    loss.backward()


def learnt():
    return nn.Linear(3, 5)(paddle.rand([4, 3]))


def scheduled():
    rate = paddle.optimizer.lr.StepDecay(0.1, 2)
    return paddle.optimizer.SGD(rate, parameters=nn.Linear(1, 1).parameters())


def on_a_gpu():
    """As its kernel for a linear layer says it, which this machine has not."""
    raise ValueError(
        "(InvalidArgument) The last dimension of X should be equal with Y's first dimension."
        "But received X[-1] = [64], Y[0] = [784]."
    )


MISTAKES = {
    "labels": (lambda: F.cross_entropy(paddle.rand([4, 5]), paddle.to_tensor([1, 2, 9, 3])), "5 outputs"),
    "linear": (lambda: nn.Linear(784, 10)(paddle.rand([32, 64])), "`Linear(64, …)`"),
    "linear on a GPU": (on_a_gpu, "`Linear(64, …)`"),
    "channels": (lambda: nn.Conv2D(1, 8, 3)(paddle.rand([4, 3, 8, 8])), "`Conv2D(3, …)`"),
    "no batch": (lambda: nn.Conv2D(3, 8, 3)(paddle.rand([4, 8])), "has 2 dimensions"),
    "normalization": (lambda: nn.BatchNorm2D(3)(paddle.rand([4, 8, 8, 8])), "Make it for 8."),
    "float64": (lambda: nn.Linear(64, 10)(paddle.to_tensor(np.zeros((4, 64)))), ".astype('float32')"),
    "whole numbers": (lambda: paddle.minimum(paddle.ones([2], "int64"), paddle.ones([2], "int32")), ".astype('int64')"),
    "class numbers": (lambda: F.mse_loss(paddle.rand([4, 5]), paddle.to_tensor([1, 2, 3, 4])), ".astype('float32')"),
    "embedding": (lambda: nn.Embedding(10, 4)(paddle.to_tensor([[1, 20]])), "10 rows"),
    "ranks": (lambda: F.cross_entropy(paddle.rand([4, 5]), paddle.zeros([4, 1, 1], "int64")), "[batch, 1]"),
    "one-hot": (lambda: F.cross_entropy(paddle.rand([4, 5]), paddle.zeros([4, 5], "int64")), "soft_label=True"),
    "shapes": (lambda: paddle.rand([4, 5]) + paddle.rand([4, 3]), "[4, 5] and [4, 3]"),
    "reshape": (lambda: paddle.rand([4, 5]).reshape([3, 7]), "the shape [3, 7]"),
    "samples": (lambda: np.stack([np.zeros(2), np.zeros(3)]), "__getitem__"),
    "an array": (lambda: nn.Linear(4, 2)(np.zeros((2, 4), "float32")), "and numpy.ndarray comes in"),
    "a number for a loss": (lambda: float(paddle.ones([])).backward(), "without `numpy()`"),
    "numpy's number for a loss": (lambda: np.mean(paddle.ones([2]).numpy()).backward(), "without `numpy()`"),
    "backward twice": (lambda: twice((paddle.create_parameter([2], "float32") ** 2).sum()), "retain_graph=True"),
    "nothing to train": (lambda: paddle.optimizer.Adam(0.1), "parameters=net.parameters()"),
    "PyTorch's word": (lambda: paddle.optimizer.Adam(lr=0.1), "`learning_rate`"),
    "Keras's compile": (lambda: paddle.Model(nn.Linear(1, 1)).compile(), "model.prepare("),
    "Keras's layer": (lambda: nn.Dense(3), "`Linear(inputs, outputs)`"),
    "labels with fractions": (lambda: F.cross_entropy(learnt(), paddle.ones([4])).backward(), ".astype('int64')"),
    "numbers with fractions": (lambda: nn.Embedding(10, 4)(paddle.rand([4])), ".astype('int64')"),
    "Paddle 2's loss": (lambda: paddle.rand([4]).mean().numpy()[0], "`loss.item()`"),
    "accuracy": (lambda: accuracy(paddle.rand([4, 5]), paddle.ones([4], "int64")), "unsqueeze(1)"),
    "a gradient of a batch": (lambda: paddle.grad(learnt().sum(), paddle.to_tensor([1.0])), "stop_gradient = False"),
    "a rate beside a scheduler": (lambda: scheduled().set_lr(0.1), "Leave `set_lr` out"),
    "name": (lambda: eval("optimiser"), "optimiser has to be defined"),
    "data set": (lambda: download("http://127.0.0.1:9/mnist.gz", "none", "0"), "`~/.cache/paddle/dataset`"),
    "weights": (lambda: get_weights_path_from_url("http://127.0.0.1:9/a.pdparams"), "`~/.cache/paddle/hapi/weights`"),
    "not installed": (lambda: metadata.version("paddle-of-nobody"), "`pip install -e .`"),
    "file": (lambda: Path("data/train.csv").read_bytes(), "data/train.csv from the notebook's own folder"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_next_step_of_a_newcomers_mistake_is_told(mistake, monkeypatch, tmp_path):
    monkeypatch.setattr("paddle.dataset.common.DATA_HOME", str(tmp_path))
    monkeypatch.setattr("paddle.utils.download.WEIGHTS_HOME", str(tmp_path))
    make, told = MISTAKES[mistake]
    with pytest.raises(Exception) as raised:
        make()
    name, text = type(raised.value).__name__, str(raised.value)
    reason = reasons.cell_error(3, 2, name, text)
    assert told in reason.render_hint()
    assert reason.render_hint().endswith("Then submit again.")
    assert "/paddle/" not in reason.render()
    # The estimate says the same before anything ran, from what is left of the text there.
    stop = Stop(cell=3, line=2, error=f"{name}: {plain(text)}").says(behind=False)
    assert told in stop.render_hint()
    assert "作业" in stop.render_hint(translator("zh"))


def test_what_paddle_says_of_its_own_code_is_left_out():
    text = (
        "(OutOfRange) label value\n  [Hint: Expected lbl < axis_dim_, but received 9] (at /paddle/paddle/phi/a.cc:65)"
    )
    assert plain(text) == "(OutOfRange) label value"
    assert plain("(Fatal) lost (at /paddle/paddle/phi/a.h:2)") == "(Fatal) lost"
    assert plain("my own words [Hint: none]") == "my own words [Hint: none]"


def test_a_process_that_does_not_find_what_it_is_to_run_is_explained():
    reason = reasons.cell_error(2, 2, "Exception", "Process 1 terminated with exit code 1.")
    assert "without `spawn`" in reason.render_hint()
    assert "进程" in reason.render_hint(translator("zh"))


def test_an_error_that_nobody_knows_keeps_the_usual_step():
    assert next_step("ValueError: my own words") is None
    assert "Correct the cell" in reasons.cell_error(1, 3, "ValueError", "my own words").render_hint()
