"""What a training says of itself over time: its metrics as curves, and where its epochs begin."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec


class MetricCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One metric, column by column; all columns have the same length.

    Attributes:
        name: as the training says it, in lower case (`loss`, `val_acc`).
        times: seconds since the epoch.
        values: what was said then.
        epochs: how many epochs were through then, with the share of the running one (2.5: half of the third); None
            where the training tells no epochs, or not its steps.
    """

    name: str
    times: tuple[float, ...]
    values: tuple[float, ...]
    epochs: tuple[float | None, ...]


class EpochMark(msgspec.Struct, frozen=True):
    """The moment (seconds since the epoch) at which an epoch, counted from 1, was first heard of."""

    epoch: int
    time: float


class JobMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """All curves of a job, in the order in which their names appeared, and its epochs.

    Attributes:
        marks: where epochs begin.
        thinned: whether points were left out for the sake of size; the first and the last are always there.
    """

    curves: tuple[MetricCurve, ...] = ()
    marks: tuple[EpochMark, ...] = ()
    thinned: bool = False


MAIN = ("loss", "train_loss", "avg_loss", "mean_loss")
"""Metrics whose curve stands for a training at a glance, the first that there is."""
QUALITY = (
    *("test_acc", "test_accuracy", "eval_acc", "eval_accuracy", "val_acc", "val_accuracy", "acc", "accuracy"),
    *("miou", "map", "f1", "auc", "ppl", "perplexity", "bleu", "psnr"),
    *("eval_loss", "val_loss", "test_loss", "loss", "train_loss"),
)
"""Metrics that say how good a training is, those first that say most."""
Direction = Literal["min", "max"]
_LESS_IS_BETTER = re.compile("loss|ppl|perplexity|mae|mse|error")


def is_less_better(name: str) -> bool:
    """Whether a smaller value of a metric is the better one."""
    return _LESS_IS_BETTER.search(name) is not None


class Final(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What came out of a training: the metric that says how good it is.

    Attributes:
        better: whether less of it or more is the better one.
    """

    name: str
    value: float
    better: Direction


def direction_of(name: str) -> Direction:
    """Whether less or more of a metric is better, by its name."""
    return "min" if is_less_better(name) else "max"


def final_metric(names: Iterable[str]) -> str | None:
    """The one rule by which trainings are compared: an accuracy before a loss, one of a test before one of the
    training; else the first that is no learning rate. A row's *Final* and a sweep's best go by it."""
    known = [name for name in names if name != "lr"]
    return next((name for name in QUALITY if name in known), known[0] if known else None)


def final_of(metrics: Mapping[str, float]) -> Final | None:
    """What came out, of the newest values of a training; None where it has told no number."""
    name = final_metric(name for name, value in metrics.items() if math.isfinite(value))
    return None if name is None else Final(name=name, value=metrics[name], better=direction_of(name))


def main_metric(names: Iterable[str]) -> str | None:
    """The metric whose curve stands for a training at a glance; else one with `loss` in its name, else the first."""
    known = list(names)
    found = [name for name in MAIN if name in known] or [name for name in known if "loss" in name] or known
    return found[0] if found else None
