"""What a training step takes, and what the answer rests on; `what_ifs` has the request. Sizes in bytes."""

from __future__ import annotations

from typing import Literal

import msgspec

from .messages import Message
from .mistakes.stops import Stop
from .notebooks import FactValue, Place
from .what_ifs import AmpLevel, Target

Evidence = Literal["trace", "measured", "scan"]
"""`trace`: the step was traced and replayed; `measured`: tiny real steps were run and fitted; `scan`: only read."""
Status = Literal[
    "ok", "needs_input", "no_model", "no_paddle", "no_package", "static_graph", "unsupported", "would_stop"
]  # fmt: skip
"""`ok`: there is a figure; `needs_input`: there are questions that can be answered; `no_model`: nothing trains;
`no_paddle`: the kernel's Python has no Paddle; `no_package`: it lacks a module that the training needs
(`Estimate.packages`); `static_graph`: what trains is a static graph, which is not followed (`notes` say where it is);
`unsupported`: the trace goes no further, and no answer would help (`notes` say where and what to do); `would_stop`: the
notebook ends with an error before its training is through (`Estimate.stop`)."""
QuestionKind = Literal["value", "environment", "path", "batch"]
"""`value`: a variable's; `environment`: an environment variable's; `path`: where a file is; `batch`: what one batch of
a loader looks like, as `float32[10,3,224,224] int64[10,1]`."""
Phase = Literal["forward", "backward", "update"]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Something that code and data here do not tell. Answered with `--set name=value`.

    Attributes:
        holders: names that hold the parts of one batch in a kernel in which the notebook has run.
    """

    name: str
    kind: QuestionKind = "value"
    why: Message
    where: Place | None = None
    suggestion: FactValue = None
    holders: tuple[str, ...] = ()


class AnsweredFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of settings that is not here: a job reads what was answered of it where none is there either.

    Attributes:
        path: where the program looks for it.
        text: what the job reads.
    """

    path: str
    text: str


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """A module that the notebook imports and the kernel's Python lacks.

    Attributes:
        module: as it is imported.
        install: the name by which pip knows it; None where the module may be a file of the notebook's own.
        where: the line that imports it, or that needs it.
        is_needed: whether the training goes no further without it; else a stand-in took its place.
    """

    module: str
    install: str | None
    where: Place | None
    is_needed: bool
    why: Message


class BatchPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A number in a cell, or in a file of settings, that sizes the batch: writing another one there changes the step's
    inputs.

    Attributes:
        cell, line: index among all cells, from 0 (-1 of a number in a file), and line in that cell or file, from 1.
        column, end: bytes of that line, in UTF-8, between which the number stands.
        how: `name`, `default` (of a function), `field` (of a class or a mapping), `parser` (default of an argument),
            `argument` (of a call), `keyword` (that a call leaves to the default of an imported function), `literal`.
        name: what it is called there; empty for a plain literal.
        default: of an option `name` that a script is not given, or of such a keyword; it would be written at `column`,
            which is `end`.
        file: path of a file of settings, in which the keys to the number are `name`, with points between.
        digest: tells whether that file still is the one that was read.
        value: the number in it.
    """

    cell: int
    line: int
    column: int
    end: int
    how: Literal["name", "default", "field", "parser", "argument", "keyword", "literal"]
    name: str = ""
    default: int | None = None
    file: str = ""
    digest: str = ""
    value: int | None = None


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """One of the trainings of a notebook.

    Attributes:
        id: names it in `--training`; counts from 1 in the order in which the notebook runs them.
        where: the line that trains.
        allocated_peak_bytes: None where its step was not reached.
    """

    id: str
    model: str | None
    batch_size: int | None
    where: Place | None
    allocated_peak_bytes: int | None = None


class Among(msgspec.Struct, frozen=True, kw_only=True):
    """Which of several trainings changes of the cells are of.

    Attributes:
        id: its number in the list of all.
        where: the line that trains; `others`: those of the others.
    """

    id: str
    where: Place
    others: tuple[Place, ...] = ()


class Breakdown(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes alive at the peak by kind; the sum is `peak_bytes`."""

    parameters: int = 0
    gradients: int = 0
    optimizer_state: int = 0
    activations: int = 0
    inputs: int = 0
    workspace: int = 0
    context: int = 0

    @property
    def total(self) -> int:
        """The sum over all kinds."""
        return sum(getattr(self, name) for name in self.__struct_fields__)


class TimelinePoint(msgspec.Struct, frozen=True, kw_only=True):
    """Allocated bytes just after an operation of the step (transients included).

    Attributes:
        kinds: those bytes by kind of memory (`workspace`: the operation's transient ones).
        layers: the layers whose activations take most of them, the largest first.
    """

    index: int
    bytes: int
    phase: Phase
    op: str = ""
    layer: str = ""
    kinds: dict[str, int] = {}
    layers: dict[str, int] = {}


class LayerMemory(msgspec.Struct, frozen=True, kw_only=True):
    """One node of the model's own tree: its parameters, its activations alive at the peak, its forward FLOPs."""

    path: str
    type: str
    parameters: int
    parameter_bytes: int
    activation_bytes: int
    flops: int


class AliveTensor(msgspec.Struct, frozen=True, kw_only=True):
    """One allocation alive at the peak."""

    bytes: int
    kind: str
    op: str
    layer: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """A change that would save memory, with what it was computed to give (not guessed).

    Attributes:
        change: name of the what-if that makes it.
        says: the change in words.
        request: what has to be asked for.
        refused: why it cannot be handed to a job; None where the figure is that of the changed cells.
    """

    change: str
    says: Message
    request: dict[str, FactValue]
    peak_bytes: int
    saves_bytes: int
    largest_batch: int | None = None
    refused: Message | None = None


LARGEST_BATCH = 1 << 20
"""Where the search for the largest batch ends: beyond it a batch is limited by its data, not by a device's memory."""


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """The largest batch that stays under `limit_bytes` on an accelerator; None where not even one sample does. The
    driver would show `high_bytes` at most at that batch; None where that was not kept. `checked`: as of `Device`."""

    device: str
    checked: bool = True
    limit_bytes: int
    largest_batch: int | None
    high_bytes: int | None = None


class BatchPoint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The same step at another batch size, traced; bytes as of `Estimate`, of its own device."""

    batch: int
    low: int
    bytes: int
    high: int


class DeviceTerms(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What stands between the allocator and the driver, so that a measured peak can teach the next estimate.

    Attributes:
        mapped_low, mapped_high: bytes that the driver maps for the allocator's chunks, with the smallest and the
            largest workspace that the kernels of the step may ask for.
        context_low, context_high: CUDA context and library handles; `source` says where the range stands.
        communication_low, communication_high: buffers of NCCL between several devices, in no allocator of Paddle's.
        observations: measured peaks that narrowed the range (0: the table's alone), `jobs` of them of finished jobs.
        logs: public logs of trainings by which both ends were set; 0: they are the table's.
        mixed_logs: how many of them are of mixed precision; with some, the logs do not narrow the range.
        answered: trainings replayed with a card's own answers by which both ends were set; 0: none.
        batches_ahead: bytes of batches that wait on the device, for a loader that keeps up; not in the low end.
        changing_shapes: the range has what a size that is drawn for each batch leaves in the allocator.
        orders: in how many orders batches of several shapes were replayed for the range; 0: all have one shape.
    """

    mapped_low: int
    mapped_high: int
    context_low: int
    context_high: int
    source: str
    communication_low: int = 0
    communication_high: int = 0
    observations: int = 0
    jobs: int = 0
    logs: int = 0
    mixed_logs: int = 0
    answered: int = 0
    batches_ahead: int = 0
    changing_shapes: bool = False
    orders: int = 0


class HostMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What one process of the training and its DataLoader workers take of the machine's own memory, in bytes.

    Not to the byte: `data` is measured, and what the training takes after its first steps is not in it. What limits of
    jobs are derived from.

    Attributes:
        bytes: the sum of all that follows.
        process: Python with Paddle and its companions, on a GPU also what CUDA keeps on the host.
        data: what the cells made when they ran for the estimate, and data sets known by their shapes alone.
        tensors: the peak of Paddle's CPU allocator in the whole run, with what malloc keeps beside it (CPU target).
        batches: batches on their way to the model.
        checkpoint: a copy of parameters and optimizer state, as saving and loading makes it.
        workers: DataLoader workers, each with its copies of Python's objects.
        shared_memory: what they fill of /dev/shm.
        loader_workers: how many there are.
    """

    bytes: int
    process: int
    data: int
    tensors: int
    batches: int
    checkpoint: int
    workers: int
    shared_memory: int
    loader_workers: int = 0


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, as `jupyter paddle-gpu estimate --json` prints it.

    Attributes:
        allocated_peak_bytes: what Paddle's allocator will report as its peak in a steady training step.
        reserved_peak_bytes: what that allocator will hold from the driver (GPU target).
        peak_bytes, low, high: what the driver will show for the process on `device` (CPU target: the allocator's peak).
        flops_per_step: forward + backward + update, multiply-add = 2; `flops_forward`, `flops_backward`: those parts.
        bytes_moved: bytes read and written by the step's operations, each operand counted once per operation.
        matrix_flops: of them, those of products of matrices and convolutions; `operations`: of how many operations a
            step is made.
        steps_per_epoch: updates in one pass over the data; `epochs`: passes of the run; `steps`: updates of the run.
            None where the notebook does not tell.
        arithmetic_intensity: FLOPs for a byte moved, the abscissa of the roofline model (Williams, Waterman, Patterson
            2009); below a card's own ratio of FLOP/s to byte/s the step waits for its memory.
        notes: what was assumed, and what makes the number less sure.
        seconds: what this estimate took.
    """

    status: Status
    evidence: Evidence
    live: bool = False
    """Of live objects of a kernel, not of the notebook's cells."""
    is_script: bool = False
    """Of a script: places have lines of its file, and no cells that people know."""
    questions: tuple[Question, ...] = ()
    packages: tuple[Package, ...] = ()
    """What the notebook imports and the kernel's Python lacks."""
    stop: Stop | None = None
    """Where the notebook would end with an error; with a figure (`ok`) that lies behind the step it is for, or at a
    device that a job on the CPU does not have (`Stop.device`)."""
    trainings: tuple[Training, ...] = ()
    """All that train, in the notebook's order; the other fields are of the one in `training`."""
    training: str | None = None
    notes: tuple[Message, ...] = ()
    model: str | None = None
    batch_size: int | None = None
    batch_from: tuple[BatchPlace, ...] = ()
    """What sizes the batch in the cells, where another size was asked for and it was found."""
    settings: tuple[AnsweredFile, ...] = ()
    """What a job reads in place of files that are not here."""
    among: Among | None = None
    """Of several trainings the one that a job's changes are made to; None where there is one."""
    optimizer: str | None = None
    loss: str | None = None
    amp: AmpLevel | None = None
    distribution: str | None = None
    devices: int | None = None
    """Processes that the figure is for, one a device (the one that holds most); None where nothing is distributed."""
    target: Target = "gpu"
    device: str | None = None
    device_checked: bool = True
    """False: what is said of devices of its maker, nobody has checked on one."""
    parameters: int | None = None
    trainable_parameters: int | None = None
    allocated_peak_bytes: int | None = None
    reserved_peak_bytes: int | None = None
    peak_bytes: int | None = None
    low: int | None = None
    high: int | None = None
    breakdown: Breakdown | None = None
    timeline: tuple[TimelinePoint, ...] = ()
    peak_at: TimelinePoint | None = None
    alive_at_peak: tuple[AliveTensor, ...] = ()
    layers: tuple[LayerMemory, ...] = ()
    flops_per_step: int | None = None
    flops_forward: int | None = None
    flops_backward: int | None = None
    bytes_moved: int | None = None
    arithmetic_intensity: float | None = None
    matrix_flops: int | None = None
    operations: int | None = None
    steps_per_epoch: int | None = None
    epochs: int | None = None
    steps: int | None = None
    inputs: tuple[str, ...] = ()
    """The batch as the loader gave it, for display: `float32[64, 1, 28, 28]`."""
    shared_memory_bytes: int = 0
    """What DataLoader workers fill of /dev/shm, which is small in many containers."""
    host: HostMemory | None = None
    """What the training takes of the machine's own memory; None where nothing was traced in a process of its own."""
    image_size: tuple[int, int] | None = None
    """Height and width of the images that the model is called with; None where it is called with none."""
    sequence_length: int | None = None
    """Tokens or time steps of the sequences that the model is called with; None where it is called with none."""
    remedies: tuple[Remedy, ...] = ()
    fits: tuple[Fit, ...] = ()
    curve: tuple[BatchPoint, ...] = ()
    """The step at larger batches, where details were asked for: what lies between is near the straight line."""
    terms: DeviceTerms | None = None
    """How the allocator's peak became the driver's (GPU target)."""
    paddle_version: str | None = None
    python: str | None = None
    """The interpreter that was asked."""
    seconds: float = 0.0


def processes_of(estimate: Estimate, gpus: int) -> int:
    """Processes that train together in one job with so many devices."""
    return max(estimate.devices or 1, gpus if estimate.distribution else 1)
