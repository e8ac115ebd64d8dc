"""What a calibration found: estimate beside measurement for each program of the suite."""

from __future__ import annotations

import msgspec


class CalibrationRow(msgspec.Struct, frozen=True, kw_only=True):
    """One program: estimate beside measurement, in bytes. `driver`, `low`, `high` on a GPU only."""

    program: str
    estimated_allocated: int
    measured_allocated: int
    estimated_reserved: int | None = None
    measured_reserved: int | None = None
    low: int | None = None
    high: int | None = None
    measured_driver: int | None = None


class CalibrationReport(msgspec.Struct, frozen=True, kw_only=True):
    """The whole suite; `learned` counts the peaks that went into the machine's constants."""

    device: str
    paddle_version: str
    cuda: str
    rows: tuple[CalibrationRow, ...]
    learned: int
