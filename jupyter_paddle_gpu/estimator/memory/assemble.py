"""From a trace to the answer: replay, allocator, device terms, breakdown. Pure; sizes in bytes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...devices.makers.registry import communication_range, context_range
from ...domain.devices import Accelerator
from ...domain.estimates import AliveTensor, Breakdown, DeviceTerms, Estimate, LayerMemory, Phase, TimelinePoint
from ...domain.messages import Message
from ..trace import Operation, Trace
from . import allocator_flags, evidence, overheads, replay
from .allocator import aligned
from .calibration import Calibration, Key, Range
from .changing import beyond, replay_orders
from .host import host_memory
from .mix import matrix_flops
from .reserved import Reserved, replay_changing, replay_reserved


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a step on one target; `terms`, `reserved` and `notes` on its allocator on a GPU only.

    Attributes:
        counted: what Paddle's own figure has for a tensor of so many bytes.
    """

    replayed: replay.Replay
    allocated: int
    breakdown: Breakdown
    likely: int
    low: int
    high: int
    reserved: int | None = None
    terms: DeviceTerms | None = None
    notes: tuple[Message, ...] = ()
    counted: Callable[[int], int] = replay.exact


def cpu_peak(trace: Trace) -> Peak:
    """The peak of Paddle's CPU allocator, which counts what is asked for; there is nothing beside it."""
    result = replay.replay(trace, workspace=lambda operation: operation.workspace_cpu)
    return Peak(
        replayed=result,
        allocated=result.peak,
        breakdown=Breakdown(**result.kinds, workspace=result.workspace),
        likely=result.peak,
        low=max(result.peak - _other_branches(trace) - _fewer(trace), 0),
        high=result.peak + _more(trace) + beyond(trace, lambda operation: operation.workspace_cpu),
    )


def gpu_peak(
    trace: Trace,
    accelerator: Accelerator | None,
    calibration: Calibration,
    *,
    key: Key | None,
    release: str | None = "",
) -> Peak:
    """What the driver will show for the process: allocator, its chunks in the driver's pages, context, as a range.

    `breakdown.workspace` holds the kernels' transients and what the allocator keeps beyond what is in use.

    Args:
        release: of Paddle, where it is another than the traced one; None: not known.
    """
    context = context_range(
        accelerator.vendor if accelerator else None, accelerator.compute_capability if accelerator else None
    )
    room = max((accelerator.usable_bytes or accelerator.memory_bytes) - context.high, 0) if accelerator else 0
    setup = allocator_flags.setup_in(release, trace.allocator_flags, trace.paddle_version, room=room)
    result = replay.replay(trace, size=setup.counted, workspace=_likely_workspace)
    least = replay_reserved(trace, lambda operation: operation.workspace_low, setup.new)
    most = least
    if any(operation.workspace_high != operation.workspace_low for operation in trace.operations):
        most = replay_reserved(trace, lambda operation: operation.workspace_high, setup.new)
    changing = evidence.drawn(trace)
    if changing:
        most = max(most, replay_changing(trace, _likely_workspace, setup.new), key=lambda one: one.mapped)
    reserved, mapped = (_likely(least.reserved, most.reserved), _likely(least.mapped, most.mapped))
    orders = () if trace.batches is None else replay_orders(trace, trace.batches, _likely_workspace, setup.new)
    is_assumed = trace.batches is not None and trace.batches.assumed != ""
    if not is_assumed:
        most = max((most, *orders), key=lambda one: one.mapped)
    between = communication_range(accelerator.vendor if accelerator else None, trace.devices or 1)
    terms = DeviceTerms(
        mapped_low=least.mapped,
        mapped_high=max(most.mapped, least.mapped),
        context_low=context.low,
        context_high=context.high,
        source="; ".join(filter(None, (context.source, between.source))),
        communication_low=between.low,
        communication_high=between.high,
    )
    spread = calibration.predict(key, terms)
    if orders and is_assumed:
        spread = _up_to(orders[-1], terms, spread)
    elif orders:
        middle = orders[len(orders) // 2]  # other batches make it no less than the largest alone
        reserved, mapped = max(middle.reserved, reserved), max(middle.mapped, mapped)
        spread = _of_orders(orders, terms, spread, mapped)
    logs, low, high = ((), spread.low, spread.high) if setup.arena else _ends(trace, reserved, least, terms, spread)
    terms = msgspec.structs.replace(
        terms,
        observations=spread.observations,
        jobs=spread.jobs,
        logs=len(logs),
        mixed_logs=len(set(logs) & set(evidence.MIXED)),
        answered=0 if spread.observations or setup.arena or not evidence.ends(trace, reserved) else evidence.ANSWERED,
        changing_shapes=changing,
        orders=0 if is_assumed else len(orders),
        batches_ahead=trace.batches_ahead,
    )
    standing = sum(result.kinds.values())
    return Peak(
        replayed=result,
        allocated=result.peak,
        breakdown=Breakdown(
            **result.kinds,
            workspace=spread.likely - spread.context - between.likely - standing,
            context=spread.context + between.likely,
        ),
        likely=spread.likely,
        low=max(low - _other_branches(trace) - _fewer(trace), 0),
        high=high + _more(trace),
        reserved=reserved,
        terms=terms,
        notes=(*setup.notes, *allocator_flags.refusal(setup, least.refused or reserved)),
        counted=setup.counted,
    )


def _likely(least: int, most: int) -> int:
    return least + round(overheads.WORKSPACE_SHARE * (most - least))


def _of_orders(orders: tuple[Reserved, ...], terms: DeviceTerms, spread: Range, mapped: int) -> Range:
    """The range where batches of several shapes were replayed in several orders: about what is likely `mapped`, up to
    the largest. What a machine measured itself counts for more.
    """
    if spread.observations:
        return spread
    likely = mapped + spread.context + (terms.communication_low + terms.communication_high) // 2
    return msgspec.structs.replace(_up_to(orders[-1], terms, spread), likely=likely)


def _up_to(largest: Reserved, terms: DeviceTerms, spread: Range) -> Range:
    """The range up to what the largest replay maps."""
    high = max(largest.mapped, terms.mapped_high) + terms.context_high + terms.communication_high
    return msgspec.structs.replace(spread, high=max(high, spread.high))


def _ends(
    trace: Trace, reserved: int, least: Reserved, terms: DeviceTerms, spread: Range
) -> tuple[tuple[evidence.Seen, ...], int, int]:
    """(the public logs that speak for the range, its ends); a machine's own measurements count for more.

    A loader that is slower than the step has no batch ahead (PaddleOCR#16562): the low end leaves them out.
    """
    if spread.observations:
        return (), spread.low, spread.high
    pages = least.mapped - least.reserved
    low_terms = pages + terms.context_low + terms.communication_low - trace.batches_ahead
    high_terms = pages + terms.context_high + terms.communication_high
    if answered := evidence.ends(trace, reserved):
        low, high = answered[0] + low_terms, answered[1] + high_terms
        return (), max(min(spread.likely, low), 0), max(spread.likely, high)
    logs = evidence.like(trace, reserved)
    factors = evidence.limits(logs)
    lowest = max(spread.low - trace.batches_ahead, 0)
    if factors is None:
        return (), lowest, spread.high
    ahead = trace.batches_ahead
    low = round((reserved - ahead) * factors[0]) + low_terms + ahead
    high = round(reserved * factors[1]) + high_terms
    return logs, min(spread.likely, low, lowest), max(spread.likely, high, spread.high)


def _other_branches(trace: Trace) -> int:
    """By how much the smallest way through conditions on unknown values stays below the largest, which is traced."""
    branches = trace.extra.get("branches")
    return int(branches["high"] - branches["low"]) if branches else 0


def _fewer(trace: Trace) -> int:
    """By how much the step stays below the traced one where the least is selected by masks of unknown values, and where
    nothing of earlier rounds waits for Python's collector."""
    extents = trace.extra.get("extents")
    selected = int(extents["likely"] - extents["low"]) if extents else 0
    return selected + int(trace.extra.get("waiting", 0))


def _more(trace: Trace) -> int:
    """By how much the step is above the traced one where such masks select everything, or how much more is alive
    elsewhere: in an evaluation between epochs, or in later ones."""
    extents = trace.extra.get("extents")
    selected = int(extents["high"] - extents["likely"]) if extents else 0
    return max(selected, int(trace.extra.get("beyond", 0)))


def _likely_workspace(operation: Operation) -> int:
    width = operation.workspace_high - operation.workspace_low
    return aligned(operation.workspace_low + round(overheads.WORKSPACE_SHARE * width))


def _flops(trace: Trace, phase: Phase) -> int:
    return sum(operation.flops for operation in trace.operations if operation.phase == phase)


def answer(trace: Trace, peak: Peak) -> Estimate:
    """The whole answer of a traced step, but for what only the service knows (notes, device, seconds)."""
    size = peak.counted
    flops = sum(operation.flops for operation in trace.operations)
    moved = sum(operation.bytes_moved for operation in trace.operations)
    curve: tuple[TimelinePoint, ...] = replay.timeline(trace, peak.replayed, size=size)
    alive: tuple[AliveTensor, ...] = replay.largest_alive(trace, peak.replayed.at, size=size)
    layers: tuple[LayerMemory, ...] = replay.by_layer(trace, peak.replayed.at, size=size)
    return Estimate(
        status="ok",
        evidence=trace.evidence,
        model=trace.model,
        batch_size=trace.batch_size,
        batch_from=trace.batch_from,
        optimizer=trace.optimizer,
        loss=trace.loss,
        amp=trace.amp,
        distribution=trace.distribution,
        devices=trace.devices,
        target="cpu" if peak.terms is None else "gpu",
        parameters=trace.parameters,
        trainable_parameters=trace.trainable_parameters,
        allocated_peak_bytes=peak.allocated,
        reserved_peak_bytes=peak.reserved,
        peak_bytes=peak.likely,
        low=peak.low,
        high=peak.high,
        breakdown=peak.breakdown,
        timeline=curve,
        peak_at=replay.point(trace, peak.replayed, peak.replayed.at) if trace.operations else None,
        alive_at_peak=alive,
        layers=layers,
        flops_per_step=flops,
        flops_forward=_flops(trace, "forward"),
        flops_backward=_flops(trace, "backward"),
        bytes_moved=moved,
        matrix_flops=matrix_flops(trace.operations),
        operations=len(trace.operations),
        steps_per_epoch=trace.steps_per_epoch,
        arithmetic_intensity=flops / moved if moved else None,
        inputs=trace.inputs,
        shared_memory_bytes=trace.shared_memory,
        host=host_memory(trace, peak.breakdown, cpu_peak=peak.high if peak.terms is None else None),
        image_size=trace.image_size,
        sequence_length=trace.sequence_length,
        terms=peak.terms,
        paddle_version=trace.paddle_version or None,
        python=trace.python or None,
    )
