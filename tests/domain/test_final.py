"""What came out of a training: one rule, by which a row's Final and a sweep's best go."""

import msgspec
import pytest

from jupyter_paddle_gpu.domain.jobs.job import Progress
from jupyter_paddle_gpu.domain.jobs.metrics import Final


@pytest.mark.parametrize(
    ("metrics", "final"),
    [
        ({"loss": 1.0, "lr": 0.1, "acc": 0.5, "eval_acc": 0.4}, ("eval_acc", 0.4, "max")),
        ({"lr": 0.1, "loss": 1.0}, ("loss", 1.0, "min")),
        ({"loss": 1.0, "ppl": 7.0}, ("ppl", 7.0, "min")),
        ({"reward": 3.0, "score": 1.0}, ("reward", 3.0, "max")),
        ({"acc": float("nan"), "loss": 2.0}, ("loss", 2.0, "min")),
        ({"lr": 0.1, "loss": float("inf")}, None),
        ({}, None),
    ],
)
def test_an_accuracy_comes_before_a_loss_and_no_number_is_none(metrics, final):
    wanted = final and Final(name=final[0], value=final[1], better=final[2])
    assert Progress(metrics=metrics).final == wanted


def test_a_row_of_an_earlier_version_has_it_too():
    assert msgspec.convert({"metrics": {"acc": 0.5}}, Progress).final == Final(name="acc", value=0.5, better="max")
    changed = msgspec.structs.replace(Progress(metrics={"acc": 0.5}), metrics={"loss": 1.0})
    assert changed.final == Final(name="loss", value=1.0, better="min")
