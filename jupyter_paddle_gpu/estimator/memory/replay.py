"""A traced step's allocations laid over time: the peak, the curve, and what is alive at the peak. Sizes in bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import accumulate

import msgspec

from ...domain.estimates import AliveTensor, LayerMemory, TimelinePoint
from ..trace import Kind, Operation, Storage, Trace

MAX_POINTS = 300
"""Points of a timeline that is sent to a browser."""
MAX_LAYERS = 2
"""Layers that are named at each of them."""
MAX_ALIVE = 20
"""The largest allocations at the peak that are listed one by one."""

Size = Callable[[int], int]
"""From the bytes a tensor asks for to the bytes its allocator counts."""


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """One step over time.

    Attributes:
        curve: allocated bytes at each operation, its transient workspace included.
        peak: the maximum of `curve` (what stands before the step where there are no operations); `at` its index.
        kinds: bytes alive at `at` by kind, without the workspace; `workspace` the operation's transient.
    """

    curve: tuple[int, ...]
    peak: int
    at: int
    kinds: dict[Kind, int]
    workspace: int


def exact(size: int) -> int:
    """The CPU allocator's count: what was asked for."""
    return size


def replay(trace: Trace, *, size: Size = exact, workspace: Callable[[Operation], int]) -> Replay:
    """Lay all storages over the step's operations.

    A storage counts from `start` to `end`, both inclusive, as `trace.Storage` defines them; one sum over a difference
    array gives every moment, so the cost is linear in storages plus operations.
    """
    transients = [workspace(operation) for operation in trace.operations] or [0]
    curve = _curve(trace.storages, transients, size)
    peak = max(curve)
    at = curve.index(peak)
    kinds: dict[Kind, int] = defaultdict(int)
    for storage in alive(trace, at):
        kinds[storage.kind] += size(storage.bytes)
    return Replay(curve=curve, peak=peak, at=at, kinds=dict(kinds), workspace=transients[at])


def peak_of(storages: Sequence[Storage], transients: Sequence[int]) -> int:
    """The most bytes at once of these allocations with the operations' transients."""
    return max(_curve(storages, transients or [0], exact))


def _curve(storages: Sequence[Storage], transients: Sequence[int], size: Size) -> tuple[int, ...]:
    moments = len(transients)
    changes = [0] * (moments + 1)
    for storage in storages:
        counted = size(storage.bytes)
        changes[max(storage.start, 0)] += counted
        changes[min(storage.end, moments - 1) + 1] -= counted
    return tuple(map(sum, zip(list(accumulate(changes))[:moments], transients, strict=True)))


def alive(trace: Trace, at: int) -> list[Storage]:
    """The storages that stand at an operation."""
    return [storage for storage in trace.storages if max(storage.start, 0) <= at <= storage.end]


def timeline(trace: Trace, result: Replay, *, size: Size = exact, most: int = MAX_POINTS) -> tuple[TimelinePoint, ...]:
    """The curve in at most `most` points: of each stretch its lowest and highest, so that no extreme is lost."""
    count = len(trace.operations)
    if count == 0:
        return ()
    chosen = {0, count - 1, result.at}
    if count <= most:
        chosen = set(range(count))
    else:
        stretches = (most - 3) // 2
        for number in range(stretches):
            stretch = range(number * count // stretches, (number + 1) * count // stretches)
            chosen |= {min(stretch, key=result.curve.__getitem__), max(stretch, key=result.curve.__getitem__)}
    return tuple(_told(trace, result, sorted(chosen), size))


def _told(trace: Trace, result: Replay, chosen: list[int], size: Size) -> Iterator[TimelinePoint]:
    """The moments with what stands at each: one walk over the storages, in the order of their first operation."""
    coming = sorted(trace.storages, key=lambda storage: storage.start)
    going = sorted(trace.storages, key=lambda storage: storage.end)
    kinds: defaultdict[str, int] = defaultdict(int)
    layers: defaultdict[str, int] = defaultdict(int)

    def count(storage: Storage, sign: int) -> None:
        counted = sign * size(storage.bytes)
        kinds[storage.kind] += counted
        if storage.kind == "activations":
            layers[storage.layer] += counted

    come = gone = 0
    for index in chosen:
        while come < len(coming) and coming[come].start <= index:
            count(coming[come], 1)
            come += 1
        while gone < len(going) and going[gone].end < index:
            count(going[gone], -1)
            gone += 1
        transient = result.curve[index] - sum(kinds.values())
        standing = {kind: amount for kind, amount in kinds.items() if amount}
        yield msgspec.structs.replace(
            point(trace, result, index),
            kinds={**standing, **({"workspace": transient} if transient else {})},
            layers={name: layers[name] for name in nlargest(MAX_LAYERS, layers, layers.__getitem__) if layers[name]},
        )


def point(trace: Trace, result: Replay, index: int) -> TimelinePoint:
    """One moment of the curve."""
    operation = trace.operations[index]
    return TimelinePoint(
        index=index, bytes=result.curve[index], phase=operation.phase, op=operation.name, layer=operation.layer
    )


def largest_alive(trace: Trace, at: int, *, size: Size = exact, most: int = MAX_ALIVE) -> tuple[AliveTensor, ...]:
    """The largest allocations that stand at an operation, largest first."""
    standing = sorted(alive(trace, at), key=lambda storage: -storage.bytes)[:most]
    return tuple(
        AliveTensor(
            bytes=size(storage.bytes),
            kind=storage.kind,
            op=storage.op,
            layer=storage.layer,
            shape=storage.shape,
            dtype=storage.dtype,
        )
        for storage in standing
    )


def by_layer(trace: Trace, at: int, *, size: Size = exact) -> tuple[LayerMemory, ...]:
    """The model's tree in the model's own order; every figure of a node includes the nodes below it.

    What has no layer (the loss, operations between layers) counts for the root.
    """
    activations = _up_the_tree(
        (storage.layer, size(storage.bytes)) for storage in alive(trace, at) if storage.kind == "activations"
    )
    flops = _up_the_tree(
        (operation.layer, operation.flops) for operation in trace.operations if operation.phase == "forward"
    )
    counts = _up_the_tree((layer.path, layer.parameters) for layer in trace.layers)
    sizes = _up_the_tree((layer.path, layer.parameter_bytes) for layer in trace.layers)
    return tuple(
        LayerMemory(
            path=layer.path,
            type=layer.type,
            parameters=counts[layer.path],
            parameter_bytes=sizes[layer.path],
            activation_bytes=activations[layer.path],
            flops=flops[layer.path],
        )
        for layer in trace.layers
    )


def _up_the_tree(leaves: Iterable[tuple[str, int]]) -> defaultdict[str, int]:
    """Sums by dotted path, each leaf counted for itself and for every node above it."""
    totals: defaultdict[str, int] = defaultdict(int)
    own: defaultdict[str, int] = defaultdict(int)
    for path, amount in leaves:
        own[path] += amount
    for path, amount in own.items():
        node = path
        while node:
            totals[node] += amount
            node = node.rpartition(".")[0]
        totals[""] += amount
    return totals
