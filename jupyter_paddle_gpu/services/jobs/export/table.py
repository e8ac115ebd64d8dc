"""A job's metrics as CSV: a row for each thing that was said, in the order of time."""

from __future__ import annotations

import csv
import io

from ....domain.jobs.metrics import JobMetrics

HEAD = ("time", "epochs", "metric", "value")


def metrics_csv(metrics: JobMetrics) -> str:
    """Times in seconds since the epoch, `epochs` through then (empty where the training does not tell)."""
    rows = [
        (time, at, curve.name, value)
        for curve in metrics.curves
        for time, at, value in zip(curve.times, curve.epochs, curve.values, strict=True)
    ]
    rows.sort(key=lambda row: row[0])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows((time, "" if at is None else at, name, value) for time, at, name, value in rows)
    return text.getvalue()
