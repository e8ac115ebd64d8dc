"""The trials of a sweep as a table to be saved."""

from __future__ import annotations

import csv
import io

from ...domain.plans.sweeps import SweepReport


def csv_of(report: SweepReport) -> str:
    """CSV with a heading: the trial, its values, how it ended, every metric, time (s), estimated peak (bytes), job."""
    names = [one.name for one in report.dimensions]
    metrics = list(report.metrics)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", *names, "state", "best", *metrics, "seconds", "estimated_peak_bytes", "devices", "job"])
    for row in report.trials:
        best = "yes" if row.number == report.best else ""
        seconds = "" if row.seconds is None else round(row.seconds, 3)
        placed = "" if row.placed is None else row.placed
        values = [_safe(row.values[name]) for name in names]
        told = [row.metrics.get(name, "") for name in metrics]
        writer.writerow(
            [row.number, *values, row.state, best, *told, seconds, placed, " ".join(row.device_ids), row.job_id]
        )
    return text.getvalue()


def _safe(value: object) -> object:
    """A text that a spreadsheet would take for a formula stays a text."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value
