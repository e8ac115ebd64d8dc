"""What the tracer in the kernel's interpreter sends back: one training step as allocations over time.

The tracer cannot import this module (its interpreter may not have us); it writes the same shape as JSON. Time is the
index of an operation in the step: 0 is the first operation of the forward pass, `operations[i]` happens at time i.
Rows come in ten thousands and hold numbers and strings only: the collector need not follow them (`gc=False`).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..domain.estimates import BatchPlace, Evidence, Phase, QuestionKind
from ..domain.mistakes.stops import Stop
from ..domain.notebooks import FactValue, Place
from ..domain.what_ifs import AmpLevel
from .refusal_notes import LEFT_EARLY

ON_CPU = "on_cpu"
"""Under this name the trace of live objects for a GPU holds the one for the CPU: who traced does not know which of them
will be shown."""
BOTH_KEPT = "both_kept"
"""Under this name, likewise, the one for devices whose Paddle keeps both operands of a product (`Maker.keeps_factors`),
where such a step is another one."""
Kind = Literal["parameters", "gradients", "optimizer_state", "activations", "inputs"]


class Storage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One allocation. Alive from `start` to `end`, both inclusive; -1: before the step; `len(operations)`: after it.

    A steady step is meant: gradients that `clear_grad()` keeps, optimiser state and the batch are there at -1.
    """

    bytes: int
    start: int
    end: int
    kind: Kind
    op: str = ""
    layer: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""


class Operation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One operation of the step.

    `flops` with multiply-add = 2; `bytes_moved`: operands read plus results written. `workspace_cpu`: transient bytes
    of the CPU kernel, by rule; `workspace_low`/`workspace_high`: range of the GPU kernel's transient bytes.
    """

    name: str
    phase: Phase
    layer: str = ""
    flops: int = 0
    bytes_moved: int = 0
    workspace_cpu: int = 0
    workspace_low: int = 0
    workspace_high: int = 0


class TracedLayer(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A node of the model's tree: dotted path (empty for the root), class name, own parameters and their bytes."""

    path: str
    type: str
    parameters: int
    parameter_bytes: int


class TracedQuestion(msgspec.Struct, frozen=True):
    """What the tracer could not get past: `name` to answer for, `why` a code with parameters of its own."""

    name: str
    why: str
    params: dict[str, str | int | float] = {}
    cell: int | None = None
    line: int | None = None
    suggestion: FactValue = None
    kind: QuestionKind = "value"
    holders: tuple[str, ...] = ()


class AbsentModule(msgspec.Struct, frozen=True):
    """A module that a stand-in took the place of, with cell and line of its import, and what is imported of it with
    commas in between."""

    module: str
    cell: int | None = None
    line: int | None = None
    parts: str = ""


class TracedNote(msgspec.Struct, frozen=True):
    """Something assumed or ignored: `code` is looked up in the estimator's table of sentences."""

    code: str
    params: dict[str, str | int | float] = {}


class TracedField(msgspec.Struct, frozen=True):
    """What a program takes of a file of settings: the keys to it, and as JSON what is answered for it; empty for a
    mapping of which nothing is."""

    keys: tuple[str | int, ...]
    value: str


class TracedSettings(msgspec.Struct, frozen=True):
    """A file of settings that is not here and of which answers say something.

    Attributes:
        path: where the program looks for it.
        kind: the form in which it can be written; empty where it cannot.
        lacks: names by which what else the program takes would be answered.
    """

    path: str
    kind: Literal["json", "yaml", "toml", "ini", ""]
    fields: tuple[TracedField, ...] = ()
    lacks: tuple[str, ...] = ()


class TracedHost(msgspec.Struct, frozen=True):
    """What the program takes of the machine's own memory, as far as the tracer sees it. Sizes in bytes.

    Attributes:
        workers: processes that DataLoaders start.
        batch, waiting: the largest batch; those that wait on their way to the model.
        stand_ins: data sets that are known by their shapes and are not on this machine.
        objects: how many small objects Python had made when the workers started.
        allocated: the most that Paddle's CPU allocator would hold in the whole run so far.
        grown: the most memory of its own that the child took that ran the cells; None where that cannot be told.
    """

    workers: int = 0
    batch: int = 0
    waiting: int = 0
    stand_ins: int = 0
    objects: int = 0
    allocated: int = 0
    grown: int | None = None


Sides = tuple[tuple[int, ...], ...]
"""The shapes of a batch's tensors."""


class OtherStep(msgspec.Struct, frozen=True):
    """The same step with a batch of other shapes."""

    sides: Sides
    operations: tuple[Operation, ...]
    storages: tuple[Storage, ...]


class Batches(msgspec.Struct, frozen=True):
    """Batches whose shapes differ from step to step.

    Attributes:
        sides: of the first ones, in their order.
        traced: of the batch that the step was traced with.
        assumed: the data is not here, and they were made up: between half and all of the longest, or around the mean
            that is published of such texts.
    """

    sides: tuple[Sides, ...]
    traced: Sides
    other: OtherStep | None = None
    assumed: Literal["", "half", "texts"] = ""


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A traced training step (or the reason why there is none, in `questions`/`notes` with status other than `ok`).

    Attributes:
        id, where: of the training, and the statement that holds it.
        others: the notebook's other trainings, without questions and notes.
        unreached: where it may train besides, and was not seen to.
    """

    status: Literal["ok", "needs_input", "no_model", "static_graph", "would_stop"]
    evidence: Evidence = "trace"
    paddle_version: str = ""
    python: str = ""
    allocator_flags: dict[str, str | int | float | bool] = {}
    """What program and environment set of the flags of Paddle's allocator (`memory.allocator_flags`)."""
    model: str | None = None
    batch_size: int | None = None
    batch_from: tuple[BatchPlace, ...] = ()
    """What sizes the batch in the cells, where a batch size was asked for and it was found."""
    batch_candidates: tuple[BatchPlace, ...] = ()
    """What may size it, where that alone was asked for."""
    counted: tuple[tuple[int, int], ...] = ()
    """Cells and lines that count the samples of a batch, where that was asked for (`eager.counted`)."""
    fed_batch_size: int | None = None
    """That of the batches of the loader that feeds the step, of which the step may put several together."""
    own_batch_size: int | None = None
    """That of the loader that feeds the step, whatever was asked for and however many samples it has."""
    optimizer: str | None = None
    convolves: bool = False
    """Whether an operation of it is a convolution."""
    loss: str | None = None
    amp: AmpLevel | None = None
    distribution: str | None = None
    devices: int | None = None
    parameters: int = 0
    trainable_parameters: int = 0
    inputs: tuple[str, ...] = ()
    shared_memory: int = 0
    """Bytes of /dev/shm that DataLoader workers fill."""
    batches_ahead: int = 0
    """Bytes of batches that a loader holds on a GPU beside the current one, where it reads faster than the step."""
    begins_whole: bool = False
    """Whether all that stays from step to step is made before the first one, as a startup program makes it."""
    steps_per_epoch: int | None = None
    """Updates in one pass of the loader that feeds them; None where its length is not known."""
    host: TracedHost | None = None
    image_size: tuple[int, int] | None = None
    sequence_length: int | None = None
    operations: tuple[Operation, ...] = ()
    storages: tuple[Storage, ...] = ()
    layers: tuple[TracedLayer, ...] = ()
    questions: tuple[TracedQuestion, ...] = ()
    absent_modules: tuple[AbsentModule, ...] = ()
    settings: tuple[TracedSettings, ...] = ()
    stop: Stop | None = None
    notes: tuple[TracedNote, ...] = ()
    own_notes: tuple[TracedNote, ...] = ()
    """Those that are of this training alone, also of the others."""
    seconds: dict[str, float] = {}
    """Where the time went: `import`, `cells`, `forward`, `backward`, `lifetimes`."""
    id: str = "1"
    where: Place | None = None
    others: tuple[Trace, ...] = ()
    unreached: tuple[Place, ...] = ()
    batches: Batches | None = None
    """Where their shapes differ."""
    extra: dict[str, Any] = {}

    @property
    def batch_sizes(self) -> set[int]:
        """Those of all the notebook's trainings: of their models, and of the loaders that feed them."""
        found = {size for one in (self, *self.others) for size in (one.batch_size, one.fed_batch_size)}
        return {size for size in found if size is not None}

    @property
    def says_why(self) -> bool:
        """Whether a note says why no training was found."""
        return any(one.code == LEFT_EARLY for one in self.notes)
