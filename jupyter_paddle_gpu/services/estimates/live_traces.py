"""Traces that a kernel made of its live objects, as they come through a browser."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from ...domain.decoding import convert
from ...domain.errors import PaddleGpuError

if TYPE_CHECKING:
    from ...domain.devices import Accelerator
    from ...domain.what_ifs import EstimateRequest
    from ...estimator.trace import Trace

MOST_BYTES = 256 << 20
"""Longest trace, unpacked; that of a model with a thousand layers takes a tenth of it."""


def unpacked(text: str) -> dict[str, Any]:
    """The JSON of `estimator.trace.Trace` out of base64 of its deflated form (`magics.panel.trace`).

    Raises:
        PaddleGpuError: `bad_trace` (400): it is none, or it is longer than any trace.
    """
    try:
        packed = zlib.decompressobj()
        data = packed.decompress(base64.b64decode(text, validate=True), MOST_BYTES)
        trace = msgspec.json.decode(data) if packed.eof else None
    except (binascii.Error, ValueError, zlib.error, msgspec.DecodeError):
        trace = None
    if not isinstance(trace, dict):
        raise _bad_trace()
    return trace


def traced(trace: dict[str, Any]) -> Trace:
    """The trace as a value; raises as `unpacked`."""
    from ...estimator.trace import Trace

    try:
        return convert(trace, Trace)
    except msgspec.ValidationError:
        raise _bad_trace() from None


def traced_for(trace: dict[str, Any], request: EstimateRequest, accelerator: Accelerator | None) -> Trace:
    """Of the traces that came together the one of where it is shown for, as a value; raises as `unpacked`."""
    from ...devices.makers.registry import keeps_factors
    from ...estimator.trace import BOTH_KEPT, ON_CPU

    kind = ON_CPU if request.target == "cpu" else BOTH_KEPT if keeps_factors(accelerator) else ""
    one = trace.get(kind)
    return traced(one or {name: value for name, value in trace.items() if name not in {ON_CPU, BOTH_KEPT}})


def _bad_trace() -> PaddleGpuError:
    return PaddleGpuError(
        "bad_trace",
        "What the kernel sent is no trace.",
        hint="The kernel's jupyter_paddle_gpu may be of another version: install the same there.",
    )
