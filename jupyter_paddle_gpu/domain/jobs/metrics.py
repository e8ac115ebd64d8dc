"""What a training says of itself over time: its metrics as curves, and where its epochs begin."""

from __future__ import annotations

import re
from collections.abc import Iterable

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
"""Metrics that stand for a training at a glance, the first that there is."""


_LESS_IS_BETTER = re.compile("loss|ppl|perplexity|mae|mse|error")


def is_less_better(name: str) -> bool:
    """Whether a smaller value of a metric is the better one."""
    return _LESS_IS_BETTER.search(name) is not None


def main_metric(names: Iterable[str]) -> str | None:
    """The metric that stands for a training at a glance; else one with `loss` in its name, else the first."""
    known = list(names)
    found = [name for name in MAIN if name in known] or [name for name in known if "loss" in name] or known
    return found[0] if found else None
