"""A job's curves from its events, as they grow."""

import json

import pytest

from jupyter_paddle_gpu.jobs.folder import metrics
from jupyter_paddle_gpu.jobs.folder.metrics import MetricHistory
from jupyter_paddle_gpu.jobs.folder.progress import SPARKLINE_POINTS, ProgressReader
from jupyter_paddle_gpu.runner.records.events import Events


@pytest.fixture
def write(tmp_path):
    def append(*events, fresh=False):
        path = tmp_path / "events.jsonl"
        with path.open("w" if fresh else "a") as file:
            file.writelines(json.dumps(event) + "\n" for event in events)
        return path

    return append


def metric(t, **fields):
    return {"type": "metric", "t": t, **fields}


def test_curves_go_on_where_they_were_and_know_the_epochs(write):
    path = write(
        {"type": "cell", "state": "started", "cell": 3, "t": 9.0},
        metric(10, epoch=1, epochs=2, step=1, steps=4, metrics={"loss": 2.0}),
        metric(11, step=4, metrics={"loss": 1.5, "acc": 0.5}),
    )
    history = MetricHistory(path)
    first = history.read()
    assert [(curve.name, curve.values, curve.epochs) for curve in first.curves] == [
        ("loss", (2.0, 1.5), (0.25, 1.0)),
        ("acc", (0.5,), (1.0,)),
    ]
    write(
        metric(12, metrics={"eval_acc": 0.6}),
        metric(13, epoch=2, step=2, metrics={"loss": 1.0}),
        {"type": 3},
        "no event",
    )
    curves = {curve.name: curve for curve in history.read().curves}
    assert curves["loss"].times == (10.0, 11.0, 13.0)
    assert curves["loss"].epochs == (0.25, 1.0, 1.5)
    assert curves["eval_acc"].epochs == (1.0,), "an evaluation stands where the training stands"
    assert [(mark.epoch, mark.time) for mark in history.read().marks] == [(1, 10.0), (2, 13.0)]
    assert MetricHistory(path).read() == history.read()
    write(metric(20, metrics={"loss": 9.0}), fresh=True)
    assert [curve.values for curve in history.read().curves] == [(9.0,)], "another attempt begins anew"


def test_lines_that_sum_epochs_up_stand_at_their_end(write):
    path = write(*(metric(n, epoch=n, epochs=3, metrics={"loss": 1 / n}) for n in (1, 2, 3)))
    assert MetricHistory(path).read().curves[0].epochs == (1.0, 2.0, 3.0)
    counted_from_0 = write(*(metric(n, epoch=n, metrics={"loss": 1.0}) for n in (0, 1)), fresh=True)
    assert MetricHistory(counted_from_0).read().curves[0].epochs == (1.0, 2.0)


def test_a_long_curve_is_thinned_and_keeps_its_ends(write, monkeypatch):
    monkeypatch.setattr(metrics, "POINTS", 100)
    path = write(*(metric(n, metrics={"loss": float(n)}) for n in range(1, 5001)))
    told = MetricHistory(path).read()
    values = told.curves[0].values
    assert told.thinned
    assert (values[0], values[-1]) == (1.0, 5000.0)
    assert 50 <= len(values) <= 102
    row = ProgressReader(path).read(0).sparkline
    assert row.name == "loss"
    assert (row.values[0], row.values[-1]) == (1.0, 5000.0)
    assert len(row.values) <= SPARKLINE_POINTS + 1


def test_a_row_shows_the_loss_where_there_is_one(write):
    path = write(metric(1, metrics={"lr": 0.1}), metric(2, metrics={"lr": 0.1, "loss": 3.0}))
    row = ProgressReader(path).read(0).sparkline
    assert (row.name, row.values) == ("loss", (3.0,))
    path = write({"type": "cell", "state": "started", "cell": 0, "t": 3.0})
    assert ProgressReader(path).read(0).sparkline.values == (3.0,), "the next cell takes nothing away"


def test_many_metrics_at_once_are_kept_until_they_are_too_many(tmp_path):
    path = tmp_path / "events.jsonl"
    events = Events(path, metric_seconds=3600, metric_burst=50)
    for step in range(200):
        events.metric({"step": step, "metrics": {"loss": float(step)}})
    events.close()
    values = MetricHistory(path).read().curves[0].values
    assert values == (*map(float, range(50)), 199.0), "the newest of the others at the end"


def test_a_loss_that_is_no_number_is_told_until_it_is_one_again(write):
    path = write(
        {"type": "cell", "state": "started", "cell": 0, "t": 1.0},
        metric(2, epoch=1, epochs=4, step=9, metrics={"loss": 2.0, "auc": None}),
    )
    reader = ProgressReader(path)
    assert reader.read(0).warning is None, "an AUC may rightly be none"
    write(metric(3, epoch=2, step=5, metrics={"loss": None, "acc": 0.1}))
    write(metric(4, epoch=3, step=5, metrics={"loss": None, "acc": 0.1}))
    row = reader.read(0)
    assert (row.epoch, row.step) == (3, 5), "epochs go on"
    assert row.warning.render() == "loss is no number (nan) since epoch 2, step 5."
    assert row.metrics == {"acc": 0.1} and row.final.name == "acc", "the last number before it is no result"
    curves = {curve.name: curve.values for curve in MetricHistory(path).read().curves}
    assert curves == {"loss": (2.0,), "acc": (0.1, 0.1)}
    write(metric(5, epoch=4, step=5, metrics={"loss": 1.5}))
    assert reader.read(0).warning is None
