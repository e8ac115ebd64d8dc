"""A job: what was asked for, the state it is in, the moves it may make, and what it left."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..decisions import Limits, Need, Placed
from ..devices import DeviceShare
from ..errors import PaddleGpuError
from ..estimates import DeviceTerms
from ..messages import Message
from ..notebooks import FactValue, Place
from ..variables import Difference, Settings
from .metrics import Final, final_of
from .notices import Notice
from .statistics import StatisticsSummary

JobState = Literal["queued", "preparing", "running", "stopping", "succeeded", "failed", "cancelled"]
MOVES: dict[JobState, frozenset[JobState]] = {
    "queued": frozenset({"preparing", "stopping", "cancelled", "failed"}),
    "preparing": frozenset({"queued", "running", "stopping", "succeeded", "failed", "cancelled"}),
    "running": frozenset({"stopping", "succeeded", "failed", "cancelled"}),
    "stopping": frozenset({"succeeded", "failed", "cancelled"}),
    "succeeded": frozenset(),
    "failed": frozenset(),
    "cancelled": frozenset(),
}
"""Every allowed move. `preparing -> queued` is a retry after a passing fault, `queued -> stopping` a cancel while it
waits for that; a re-run is a new job."""

NEWEST = "last"
"""What a person types for the newest job, instead of an id."""
ENDED: frozenset[JobState] = frozenset({"succeeded", "failed", "cancelled"})
ACTIVE: frozenset[JobState] = frozenset({"preparing", "running", "stopping"})


def check_move(old: JobState, new: JobState) -> None:
    """Raise `PaddleGpuError` (409) where the table does not allow the move; staying is always allowed."""
    if new != old and new not in MOVES[old]:
        raise PaddleGpuError("bad_move", "A job that is {old} cannot become {new}.", status=409, old=old, new=new)


class Resources(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Limits for a job. None: no limit of ours; what numbers a person may ask for is in `bounds`.

    Attributes:
        gpus: number of devices; 0 runs on the CPU.
        device_ids: devices the person chose; empty lets the match choose.
        gpu_memory_bytes: what must be free on each device, whatever the estimate says.
        share: of each device's memory, which the job then shares with others: up to 1 a fraction of what may be planned
            for there (1: all of it, alone), above 1 bytes. None: whole devices, or what the policy gives.
        memory_bytes, cpus, shm_bytes: host memory, processors, shared memory.
        seconds: wall time after which the job is stopped.
    """

    gpus: int = 0
    device_ids: tuple[str, ...] = ()
    gpu_memory_bytes: int | None = None
    share: float | None = None
    memory_bytes: int | None = None
    cpus: float | None = None
    shm_bytes: int | None = None
    seconds: float | None = None


class WantedResources(Resources, frozen=True, kw_only=True):
    """What a person asks for: `gpus` None leaves their number to the policy, also where only a limit is asked for."""

    gpus: int | None = None  # type: ignore[assignment]


class JobSpec(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a person submitted. Nothing in it changes afterwards.

    Attributes:
        notebook: absolute path of the source notebook.
        output: absolute path to which the executed notebook is published.
        folder: absolute working folder (mounted in place by container engines).
        processes: how many of them train together: each runs the notebook, on a device of its own or all on the CPU.
        sets: answers bound in the notebook before it runs, as `--set` gives them.
        changes: what is otherwise in the job's copy of the notebook, in words.
        environment: further environment variables.
        token: idempotency token: a second submit with the same one returns the first job.
        estimated_peak_bytes: the estimate's `peak_bytes` at submit, to stand beside the measured one.
        estimated_low_bytes, estimated_high_bytes: its range, as the person was shown it.
        device_names: what the devices that the person chose are called, by id: one may be gone when its turn comes.
        estimated_device, estimated_paddle_version: what that estimate was for: a card's name, Paddle's version.
        estimated_terms: how its allocator's peak became the driver's, by which the measured peak teaches the next
            estimate; None where the step was not traced, or for the CPU.
        estimated_batch_size, estimated_largest_batch: the batch that the estimate is for, and the largest that fits
            `estimated_device` when it is empty, where the estimate was asked for it.
        estimated_precision, estimated_size: `float32`, `O1` or `O2`; sides of the pictures, or the length of sequences.
        trainer: which public trainer the code is of, by its package: `PaddleOCR` of `ppocr`; empty: of none known.
        need: what a training step takes of each device; None: not known, any device will do.
        insisted: why it does not fit, as the person was told who submitted it all the same; no figure keeps it from a
            device.
        on_cpu: why it has no device, where it has none.
        placed: how it was decided when it was submitted.
        would_stop: where the estimate says that the notebook would end with an error; None: nowhere, or nobody knows.
        unanswered: questions that the estimate left open, each with what the job does about it; answers that nothing
            takes.
        limits: of memory and processors, settled with their reasons; None: the engine's own.
        plan: the id of the sweep or the schedule that submitted it; empty: a person did.
        trial: its number in the sweep, from 1; None: it is no trial.
        settings: the notebook's variables with the values of this run, and a digest of its other code.
        differs: what this run has otherwise than the one of the same notebook that was submitted before it.
        differs_from: the id of that one; empty: there was none.
        priority: among one's own jobs the larger the earlier; below 0 others pass as well.
    """

    name: str
    notebook: str
    output: str
    folder: str
    engine: str
    kernel_name: str = "python3"
    python: str = ""
    image: str = ""
    resources: Resources = Resources()
    processes: int = 1
    sets: dict[str, FactValue] = {}
    changes: tuple[Message, ...] = ()
    environment: dict[str, str] = {}
    token: str = ""
    rerun_of: str = ""
    device_names: dict[str, Message] = {}
    estimated_peak_bytes: int | None = None
    estimated_allocated_bytes: int | None = None
    estimated_reserved_bytes: int | None = None
    estimated_low_bytes: int | None = None
    estimated_high_bytes: int | None = None
    estimated_device: str = ""
    estimated_paddle_version: str = ""
    estimated_terms: DeviceTerms | None = None
    estimated_batch_size: int | None = None
    estimated_largest_batch: int | None = None
    estimated_precision: Literal["", "float32", "O1", "O2"] = ""
    estimated_size: tuple[int, ...] = ()
    trainer: str = ""
    need: Need | None = None
    insisted: Message | None = None
    on_cpu: Message | None = None
    placed: Placed | None = None
    would_stop: Message | None = None
    unanswered: tuple[Message, ...] = ()
    limits: Limits | None = None
    plan: str = ""
    trial: int | None = None
    settings: Settings = Settings()
    differs: tuple[Difference, ...] = ()
    differs_from: str = ""
    notify: tuple[str, ...] = ()
    """Who is told when it has ended: names of receivers of the policy, or mail addresses."""
    priority: int = 0
    options: dict[str, Any] = {}
    """Engine-specific settings that were allowed by policy (image layers, network, data folders)."""


class Sparkline(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The metric that stands for a training at a glance: some of its values, the first and the newest among them."""

    name: str
    values: tuple[float, ...]


class EventFiles(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A folder in which the notebook keeps its curves for a viewer (`visualdl`, `tensorboard`)."""

    viewer: str
    folder: str


class Progress(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How far a job is. Cells count code cells only, from 0; `cell` is the index among all cells of the running one.

    Attributes:
        share: of the run's time the part that is over, 0 to 1, by its training's epochs and steps where it tells them.
        seconds_left: to the end of the running cell.
        final: what has come out until now; follows from `metrics`.
        warning: that a loss is no number any more, or that a device was not used.
    """

    cell: int | None = None
    cells_done: int = 0
    cells_total: int = 0
    epoch: int | None = None
    epochs: int | None = None
    step: int | None = None
    steps: int | None = None
    metrics: dict[str, float] = {}
    sparkline: Sparkline | None = None
    share: float = 0.0
    seconds_left: float | None = None
    event_files: tuple[EventFiles, ...] = ()
    final: Final | None = None
    warning: Message | None = None

    def __post_init__(self) -> None:
        """Also of rows that were kept by an earlier version."""
        msgspec.structs.force_setattr(self, "final", final_of(self.metrics))

    @property
    def is_open(self) -> bool:
        """Whether the last cell runs and nobody knows how long it takes: a bar would stand near its end."""
        return self.cell is not None and self.cells_done >= self.cells_total - 1 and self.seconds_left is None


class CellFailure(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The cell that ended a job: index among all cells, line in it, error name, message and plain traceback."""

    cell: int
    line: int | None
    name: str
    value: str
    traceback: str = ""


class JobResult(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the runner saw: exit, wall time (s), and real peaks in bytes as Paddle's allocators report them.

    Attributes:
        reason: how it ended, a code of `domain.jobs.reasons`.
        rank: of a training by several processes the one whose word this is: the one that failed first, else 0.
        signal: the signal that ended the notebook's process, where one did.
        host_allocated_bytes: peak of the whole run (data sets, validation and the first step included).
        step_allocated_bytes: peak of the usual training step on the host allocator (the first steps left out; of
            several usual ones the largest, the median where no two are alike): what an estimate for the CPU target is
            to be held against. None with too few steps.
        rank_allocated_bytes: of a training by several processes the peak of each, by rank: on its device, or of a step
            on the host allocator; the other peaks are those of the process that held most. None: it told nothing.
        step_seconds: wall time from one update of the optimizer to the next, with what lies between them (reading data,
            validation), mean over all but the first steps; `steps_seen`: how many updates there were.
        process_rss_bytes: largest resident size of the notebook's process.
        cuda_version: of the Paddle that ran (`12.6`); None for one without CUDA.
        program_status: how the first program that a cell started ended badly, `program_cell`: that cell, from 0.
        statistics: what all its processes used, as engine and driver saw it from outside.
        notes: what the measurement says of the estimate, in sentences.
    """

    reason: str = ""
    rank: int = 0
    exit_code: int | None = None
    signal: int | None = None
    seconds: float | None = None
    host_allocated_bytes: int | None = None
    host_reserved_bytes: int | None = None
    step_allocated_bytes: int | None = None
    rank_allocated_bytes: tuple[int | None, ...] = ()
    steps_measured: int = 0
    steps_seen: int = 0
    step_seconds: float | None = None
    device_allocated_bytes: int | None = None
    device_reserved_bytes: int | None = None
    process_rss_bytes: int | None = None
    paddle_version: str | None = None
    cuda_version: str | None = None
    failure: CellFailure | None = None
    program_cell: int | None = None
    program_status: int | None = None
    statistics: StatisticsSummary | None = None
    notes: tuple[Message, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the training ran to its end, as far as anybody knows: in the cells, and in programs of theirs."""
        return self.reason == "succeeded" and not self.program_status


class QueuePlace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a job waits.

    Attributes:
        number: from 1, among the jobs of all users that wait for the same.
        starts: when it is thought to start (seconds since the epoch); None: nobody knows.
    """

    number: int
    starts: float | None = None


class Price(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What an hour of a job's devices costs, as it was when they were given: a price that changes later is a later
    job's."""

    hour: float
    currency: str


class Job(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A row of the store. `handle` is the engine's own (pid, container id …); times in seconds since the epoch.

    Attributes:
        device_names: what each of `device_ids` was called when it was given, by id.
        shares: of the memory of each of `device_ids`; empty: they are its own as a whole.
        attempts: how often it was started; more than one after a passing fault.
        not_before: earliest time of the next attempt.
        force: the person asked to end it without saving.
        server_id: the process that looks after it now (host and pid), for people who search.
        priority: as submitted, or as it was moved since.
        position: among one's own of the same priority, where somebody moved one of them; those without come last.
        held: it does not start until it is released.
        place: in the queue, while it waits.
        price: of its devices; None: it has none, or nobody says what one of them costs.
    """

    id: str
    spec: JobSpec
    state: JobState
    created: float
    updated: float
    started: float | None = None
    ended: float | None = None
    reason: Message | None = None
    """Why it is where it is: what it waits for, or why it ended."""
    handle: dict[str, Any] = {}
    device_ids: tuple[str, ...] = ()
    device_names: dict[str, Message] = {}
    shares: tuple[DeviceShare, ...] = ()
    progress: Progress = Progress()
    result: JobResult | None = None
    attempts: int = 0
    not_before: float | None = None
    force: bool = False
    server_id: str = ""
    owner: str = ""
    note: str = ""
    """What a person wrote down about it."""
    starred: bool = False
    notices: tuple[Notice, ...] = ()
    """What became of telling those of `spec.notify`; empty until it has ended."""
    priority: int = 0
    position: int | None = None
    held: bool = False
    place: QueuePlace | None = None
    price: Price | None = None

    def cost(self, now: float) -> float | None:
        """What it has cost until now, or in all, in the currency of its price; None: nobody says."""
        if self.price is None or self.started is None:
            return None
        return self.price.hour * max(0.0, (self.ended or now) - self.started) / 3600


_LOG_NAMES = {
    **{"seq": "n", "time": "t", "stream": "s", "text": "x", "replaces": "r", "passing": "p"},
    **{"coloured": "c", "place": "at", "says": "m", "figure": "f"},
}


class Phrase(msgspec.Struct, frozen=True):
    """A sentence of ours in a log: an English template with its fields, so that it is read in any language."""

    text: str
    params: dict[str, str | int | float] = {}


class LogLine(msgspec.Struct, frozen=True, kw_only=True, rename=_LOG_NAMES, omit_defaults=True):
    """One line of a job's log; on disk one JSON object a line, so that line number and `seq` agree.

    Attributes:
        seq: from 0, without gaps.
        stream: `stdout`, `stderr`, `result` (a cell's rich output as text), `system` (engine and runner).
        replaces: a newer state of an in-place line (progress bar): it takes the place of the last line of the same
            stream. The first state of such a line comes without the flag, the last one with it.
        passing: a state of a line that is not complete yet: another one of the same stream will take its place.
        coloured: the text with its terminal colours, where it has any: `text` has none.
        place: the cell, and the line in it, that a traceback's line names.
        says: what `text` says, where it is a sentence of ours.
        figure: the picture that stands here: its cell, and the how-manieth of that cell it is, from 1.
    """

    seq: int
    time: float
    stream: Literal["stdout", "stderr", "result", "system"]
    text: str
    replaces: bool = False
    passing: bool = False
    coloured: str = ""
    place: Place | None = None
    says: Phrase | None = None
    figure: Place | None = None


class LogPage(msgspec.Struct, frozen=True):
    """Some lines; `next` is the `since` that goes on after them, `total` the lines written so far. A page may end
    before its limit where its lines are long. `ended`: no line will come any more and this page reaches the last one.
    """

    lines: tuple[LogLine, ...]
    next: int
    total: int
    ended: bool = False
