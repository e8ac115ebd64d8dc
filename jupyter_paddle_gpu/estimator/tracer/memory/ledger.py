"""The record of a run: operations in order, and storages with the operations between which they lived.

Time is the number of operations recorded so far. An operation that runs at index i allocates its results at i; a
storage whose last reference goes away while `now == n` was last alive at operation n - 1.
"""

from __future__ import annotations

from typing import Any

from .allocator_flags import in_environment

Shape = tuple[int, ...]


class Record:
    """What is remembered of a storage after it is gone. `end` is None while it is alive."""

    __slots__ = ("bytes", "dtype", "end", "kind", "layer", "op", "shape", "start")

    def __init__(self, size: int, start: int, kind: str, origin: tuple[str, str], meta: tuple[Shape, str]) -> None:
        self.bytes, self.start, self.kind = size, start, kind
        self.op, self.layer = origin
        self.shape, self.dtype = meta
        self.end: int | None = None


class Storage:
    """One allocation. It lives exactly as long as something in the traced program refers to it."""

    __slots__ = ("__weakref__", "ledger", "record", "version")

    def __init__(self, ledger: Ledger, record: Record) -> None:
        self.ledger = ledger
        self.record = record
        self.version = 0
        """How often an operator in place has written into it, through any of its views (`InplaceVersionCounter`)."""

    def __del__(self) -> None:
        self.record.end = max(self.ledger.now - 1, self.record.start)


class Operation:
    """One operation that ran: a row of the trace."""

    __slots__ = ("bytes_moved", "flops", "layer", "name", "phase", "workspace_cpu", "workspace_high", "workspace_low")

    def __init__(self, name: str, phase: str, layer: str) -> None:
        self.name, self.phase, self.layer = name, phase, layer
        self.flops = self.bytes_moved = 0
        self.workspace_cpu = self.workspace_low = self.workspace_high = 0


class Ledger:
    """Operations and storages of one run."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.records: list[Record] = []
        self.now = 0
        self.kind = "activations"
        self.phase = "forward"
        self.layer = ""
        self.faults: dict[str, str] = {}
        """By kernel, how its rule failed."""
        self.convolutions: dict[tuple[Any, Any], tuple[bool, float]] = {}
        """What flags say of convolutions (`kernels.gpu_flags`), by what the program has set."""
        self.environment: dict[str, str] = {}
        """The allocator's flags in the environment as it was when the first storage, and the allocator, was made."""

    def allocate(self, size: int, op: str, shape: Shape, dtype: str) -> Storage:
        """A new storage, alive from the operation that runs now."""
        if not self.records:
            self.environment = in_environment()
        record = Record(size, self.now, self.kind, (op, self.layer), (shape, dtype))
        self.records.append(record)
        return Storage(self, record)

    def held(self) -> int:
        """Bytes that are alive now."""
        return sum(record.bytes for record in self.records if record.end is None)

    def begin(self, name: str) -> Operation:
        """Start an operation at time `now`; `finish` moves time on."""
        return Operation(name, self.phase, self.layer)

    def finish(self, operation: Operation) -> None:
        """The operation is over: everything released from here on was last alive at it."""
        self.operations.append(operation)
        self.now += 1

    def failed(self, name: str, problem: Exception) -> None:
        """The rule of a kernel has failed: a fault of ours, which the trace tells of."""
        self.faults.setdefault(name, f"{type(problem).__name__}: {problem}")

    def allocating(self, kind: str) -> Within:
        """Storages allocated inside are of `kind`."""
        return Within(self, "kind", kind)

    def during(self, phase: str) -> Within:
        """Operations inside belong to `phase`: forward, backward or update."""
        return Within(self, "phase", phase)


class Within:
    """Has a ledger note down something else for a while. (A generator as a context takes two and a half times as
    long, and each tensor of an optimizer's state is allocated in one.)"""

    __slots__ = ("_before", "_ledger", "_name", "_value")

    def __init__(self, ledger: Ledger, name: str, value: str) -> None:
        self._ledger, self._name, self._value = ledger, name, value

    def __enter__(self) -> None:
        self._before = getattr(self._ledger, self._name)
        setattr(self._ledger, self._name, self._value)

    def __exit__(self, *_: object) -> None:
        setattr(self._ledger, self._name, self._before)
