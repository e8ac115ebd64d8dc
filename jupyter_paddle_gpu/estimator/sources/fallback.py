"""When a step cannot be traced: real tiny steps on the CPU, each phase fitted apart over the batch size.

Every phase's peak is close to affine in the batch; which phase is the highest changes with the batch, so that a line
through whole peaks at tiny batches comes out too low. The step at the wanted batch is the highest of the three lines.
"""

from __future__ import annotations

import msgspec

from ...domain.estimates import Estimate, Phase
from ...domain.messages import Message
from .. import messages
from ..trace import Operation, Storage, Trace

BATCHES = (4, 8, 16)
"""Batch sizes that are measured; two would do, the third shows whether the lines are lines."""
LARGER_BATCHES = (32, 64)
"""Measured as well where phases cannot be told apart: what came before the step (making the data) hides small steps."""
PHASES: tuple[Phase, ...] = ("forward", "backward", "update")
FIT_ERROR = 0.1
"""Relative half width of the range that is given with a fitted figure."""
BENT = 0.05
"""Relative distance of a measured peak from its phase's line from which on the fit is called unsure."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What `zygote/measure.py` sends for one batch size. Bytes; `phases` empty where no third step was reached."""

    steps: int
    phases: dict[Phase, int] = {}
    sees_phases: bool = True
    batch_size: int | None = None
    changed: bool = False
    optimizer: str = ""
    parameters: int = 0
    trainable: int = 0
    parameter_bytes: int = 0
    gradient_bytes: int = 0
    state_bytes: int = 0
    paddle_version: str = ""


def widened(estimate: Estimate) -> Estimate:
    """The estimate of a fitted step with the fit's own error in its range."""
    if estimate.evidence != "measured" or estimate.low is None or estimate.high is None:
        return estimate
    reach = round(FIT_ERROR * (estimate.allocated_peak_bytes or 0))
    return msgspec.structs.replace(estimate, low=estimate.low - reach, high=estimate.high + reach)


def fitted(measured: dict[int, Measured], wanted: int | None) -> tuple[Trace, tuple[Message, ...]] | None:
    """A step of three operations whose curve has the fitted peaks, and how sure it is; None where nothing was measured.

    Args:
        measured: by the batch size that was asked for.
        wanted: the batch size of the answer; None takes the notebook's own.
    """
    runs = {batch: run for batch, run in measured.items() if run.phases}
    if not runs:
        return None
    last = runs[max(runs)]
    batch = wanted or last.batch_size
    notes: tuple[Message, ...]
    if batch is None or not last.changed or len(runs) < 2:
        peaks, batch, notes = dict(last.phases), last.batch_size, (messages.MEASURED_AS_IT_IS,)
    else:
        peaks, bent = _extrapolate(runs, batch)
        told = messages.FELL_BACK.filled(batches=", ".join(map(str, sorted(runs))), batch_size=batch)
        notes = (told, messages.FIT_UNSURE) if bent else (told,)
    return _step(last, peaks, batch), notes


def _extrapolate(runs: dict[int, Measured], batch: int) -> tuple[dict[Phase, int], bool]:
    sizes = sorted(runs)
    # Where what came before may hide small steps, the line goes through the two largest.
    low, high = (sizes[0] if runs[sizes[-1]].sees_phases else sizes[-2]), sizes[-1]
    peaks: dict[Phase, int] = {}
    bent = False
    seen = {batch: run for batch, run in runs.items() if batch >= low}
    for phase in PHASES:
        first, second = runs[low].phases.get(phase, 0), runs[high].phases.get(phase, 0)
        slope = (second - first) / (high - low)
        peaks[phase] = max(round(first + slope * (batch - low)), 0)
        for between, run in seen.items():
            line = first + slope * (between - low)
            bent = bent or abs(run.phases.get(phase, 0) - line) > BENT * max(line, 1.0)
    return peaks, bent


def _step(run: Measured, peaks: dict[Phase, int], batch: int | None) -> Trace:
    end = len(PHASES)
    standing = run.parameter_bytes + run.gradient_bytes + run.state_bytes
    storages = [
        Storage(run.parameter_bytes, -1, end, "parameters"),
        Storage(run.gradient_bytes, -1, end, "gradients"),
        Storage(run.state_bytes, -1, end, "optimizer_state"),
    ]
    for index, phase in enumerate(PHASES):
        storages.append(Storage(max(peaks.get(phase, 0) - standing, 0), index, index, "activations", phase))
    return Trace(
        status="ok",
        evidence="measured",
        paddle_version=run.paddle_version,
        batch_size=batch,
        optimizer=run.optimizer or None,
        parameters=run.parameters,
        trainable_parameters=run.trainable,
        operations=tuple(Operation(phase, phase) for phase in PHASES),
        storages=tuple(storages),
    )
