"""What numbers and names a person may ask with: one table for REST, terminal, magic and Python.

A value that limits nothing although it looks like a limit (`seconds: 0`) is refused as one that is misspelt is. Rows of
jobs are not looked at: what was accepted once stays readable.
"""

from __future__ import annotations

import re

from .errors import PaddleGpuError
from .jobs.job import Resources
from .what_ifs import WHAT_IFS, EstimateRequest

MOST = (1 << 53) - 1
"""The largest whole number that JSON carries exactly everywhere."""

OF_RESOURCES = {"gpus": 0, "gpu_memory_bytes": 1, "memory_bytes": 1, "shm_bytes": 1}
OF_REQUEST = {row.name: row.least for row in WHAT_IFS if row.kind == "count"}
"""Whole numbers: the least that each may be."""
POSITIVE = ("cpus", "seconds", "share")
"""What may have a fraction and must be more than 0."""

_DEVICE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")
_NO_DEVICE = frozenset({"all", "none", "void"})
"""Words by which a maker's runtime means every card or no card; a comma, by which it means several, is no id either."""


def check_resources(wanted: Resources) -> None:
    """Refuse (400) what cannot be meant: the first field of it, by its name."""
    _check_numbers(wanted, OF_RESOURCES, POSITIVE)
    for device in wanted.device_ids:
        if not _DEVICE.fullmatch(device) or device.lower() in _NO_DEVICE:
            raise PaddleGpuError(
                "device_name",
                "“{device}” in “device_ids” cannot be the name of one device.",
                hint="Name each device by its id or its index.",
                device=device[:100],
            )
        if wanted.device_ids.count(device) > 1:
            raise device_twice(device)
    named = len(wanted.device_ids)
    if named and wanted.gpus not in (None, 0, named):
        raise PaddleGpuError(
            "devices_disagree",
            "“gpus” is {gpus}, but “device_ids” names {named}.",
            hint="Leave one of the two out.",
            gpus=wanted.gpus,
            named=named,
        )


def check_request(request: EstimateRequest) -> None:
    """Refuse (400) what cannot be meant: the first field of it, by its name."""
    _check_numbers(request, OF_REQUEST)
    for name in request.answers:
        if not name.isidentifier():
            raise PaddleGpuError(
                "answer_name", "“{name}” in “answers” cannot be a name in a notebook.", name=name[:100]
            )
    for name, value in request.environment.items():
        if not name or "=" in name or "\0" in name + value:
            raise PaddleGpuError("variable_name", "“{name}” cannot be the name of a variable.", name=name[:100])


def device_twice(device: str) -> PaddleGpuError:
    """One card that was named twice, whether by one name or by two."""
    return PaddleGpuError(
        "device_twice",
        "The device {device} is named twice in “device_ids”.",
        hint="Name each device once.",
        device=device[:100],
    )


def _check_numbers(asked: Resources | EstimateRequest, whole: dict[str, int], positive: tuple[str, ...] = ()) -> None:
    for field in (*whole, *positive):
        value = getattr(asked, field)
        least = whole.get(field)
        # Not-a-number is neither less nor more.
        if value is None or (0 < value <= MOST if least is None else least <= value <= MOST):
            continue
        raise PaddleGpuError(
            "out_of_bounds",
            "“{field}” is {value}; it must be more than 0 and at most {most}."
            if least is None
            else "“{field}” is {value}; it must be a whole number from {least} to {most}.",
            hint="Leave “{field}” out where you ask for nothing special.",
            field=field,
            value=str(value),
            least=least or 0,
            most=MOST,
        )
