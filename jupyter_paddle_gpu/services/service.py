"""The use cases that REST, the command line, the magic and Python share. Nothing here knows of any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..devices import catalogue
from ..domain.bounds import check_request, check_resources
from ..domain.changes import Changes
from ..domain.decisions import RefusedError
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate, Fit
from ..domain.jobs.job import Job, Resources
from ..domain.jobs.reasons import is_note
from ..domain.notebooks import NotebookFacts
from ..domain.placements import Placement
from ..domain.what_ifs import EstimateRequest
from .estimates.cache import EstimateCache
from .estimates.estimating import Estimating
from .locations import contents_path
from .machine import Machine
from .notebooks import open_notebook
from .requests import Comparison, Matched, Preflight, Rerun, Submission
from .settings import Settings

if TYPE_CHECKING:
    from ..domain.jobs.notices import ReceiverRow
    from ..domain.learned import LearnedReport
    from ..domain.measurements.calibrations import CalibrationReport
    from ..domain.measurements.gpu_logs import GpuLog, Kind
    from ..domain.messages import Message
    from ..domain.notebooks import NotebookSource
    from ..engines.engine_type import EngineType
    from .jobs.explaining import JobExplained
    from .jobs.export.exports import Exports
    from .jobs.matching import Traced
    from .jobs.placing import Site
    from .jobs.submitting import Settled
    from .jobs.taking import Desk
    from .metrics import Metrics
    from .plans.plans import Plans


class Services(Machine):
    """Everything that can be asked of the product: a facade, which gives each use case what it needs.

    All methods block and are safe to call from several threads. Building one costs nothing: a component is made when
    it is first needed. Refusals are `PaddleGpuError`s.
    """

    def __init__(self, settings: Settings | None = None, engine_types: Iterable[EngineType[Any]] | None = None) -> None:
        super().__init__(settings or Settings(), engine_types)
        cache = EstimateCache(self.settings.estimates_kept)
        self.estimates = Estimating(
            lambda: self.estimator, self._devices_now, catalogue.find, lambda: self.shown_policies().matching, cache
        )

    # Notebooks

    def open(
        self, path: str | Path, content: dict[str, Any] | str | None = None, arguments: Sequence[str] = ()
    ) -> NotebookSource:
        """The notebook or the script at `path`, or its unsaved `content` as if it lay there.

        Args:
            content: nbformat 4 JSON; of a script its text.
            arguments: of a script.

        With a root in the settings, `path` is a contents path below it; without, a path of the file system.
        """
        return open_notebook(self.settings, path, content, arguments)

    def contents_path(self, file: str | Path) -> str | None:
        """A file's path as Jupyter's contents API has it; None where it lies outside the root or there is none."""
        return None if self.settings.root is None else contents_path(Path(file), self.settings.root)

    def inspect(self, source: NotebookSource) -> NotebookFacts:
        """What a reader finds in the notebook; nothing is executed."""
        from ..notebook.inspection import inspect_notebook

        return inspect_notebook(source)

    def expect_estimate(self, facts: NotebookFacts) -> None:
        """Somebody looks at this notebook: what an estimate of it needs may start. Nothing of the notebook runs."""
        self.estimates.expect(facts)

    # Estimates

    def estimate(self, source: NotebookSource, request: EstimateRequest | None = None, **job: str) -> Estimate:
        """What a training step takes; runs the model cells in an isolated child. `job`: its engine, image."""
        check_request(request := request or EstimateRequest())
        self.estimates.begin(source)
        from .jobs.matching import as_usual  # as `match`

        facts = self.inspect(source)
        return self.estimates.fresh(source, facts, *as_usual(self._site(source), facts, request, **job))

    def fits(
        self, source: NotebookSource, request: EstimateRequest | None = None, devices: tuple[str, ...] = (), **job: str
    ) -> Estimate:
        """The estimate with the largest batch on each device in `fits`; `job` as for `estimate`.

        Args:
            devices: names, ids or indices; empty: this machine's, else one of the catalogue for each size of memory.
        """
        check_request(request := request or EstimateRequest())
        self.estimates.begin(source)
        from .jobs.matching import as_usual  # as `match`

        facts = self.inspect(source)
        return self.estimates.fits(source, facts, as_usual(self._site(source), facts, request, **job)[0], devices)

    def match(
        self,
        source: NotebookSource,
        request: EstimateRequest | None = None,
        *,
        engine: str = "",
        gpus: int | None = None,
        device_ids: tuple[str, ...] = (),
        share: float | None = None,
        image: str = "",
        trace: str = "",
    ) -> Matched:
        """Read, estimate and match: the verdict on each device, the choice, and why.

        Args:
            trace: of live objects of the notebook's kernel (`live_traces`), instead of one of its cells.
        """
        check_request(request := request or EstimateRequest())
        check_resources(Resources(gpus=gpus or 0, device_ids=device_ids, share=share))
        live = self._estimated_from(trace) if trace else None
        if live is None:
            self.estimates.begin(source)
        facts = self.inspect(source)
        from .jobs.matching import match  # importing the engines takes a moment, which the worker needs as well

        return match(
            self._site(source),
            facts,
            partial(live or self.estimates.fresh, source, facts),
            request,
            whole=partial(live or self.estimates.whole, source, facts),
            cells=partial(self.estimates.whole, source, facts) if live else None,
            meant=self.estimates.meant,
            changed=lambda asked, where: self.estimates.copy(source, asked, where, facts=None if live else facts)[1],
            engine=engine,
            gpus=gpus,
            device_ids=device_ids,
            share=share,
            image=image,
        )

    def estimate_trace(self, trace: dict[str, Any], request: EstimateRequest) -> Estimate:
        """The estimate of a step that was traced elsewhere (the JSON of `estimator.trace.Trace`): live objects."""
        check_request(request)
        return self.estimates.of_trace(trace, request)

    def fits_of(self, trace: Traced, request: EstimateRequest, devices: tuple[str, ...] = (), **job: str) -> Estimate:
        """The same as `fits` for steps that are traced elsewhere; `trace` gives the JSON of one at a batch size."""
        from .jobs.matching import fits_of_traces

        return fits_of_traces(self._site(), self.estimates.fits_of, trace, request, devices, **job)

    def calibrate(
        self, device: str = "", kernel_name: str = "python3", progress: Callable[[Message], None] = lambda message: None
    ) -> CalibrationReport:
        """Run the estimator's suite on a device (`gpu:0`, `cpu`; empty: the first GPU) and keep what it teaches."""
        return self.estimates.calibrate(device, kernel_name, progress)

    def place_trace(
        self, trace: dict[str, Any], request: EstimateRequest, *, fits: tuple[Fit, ...] = (), **job: str
    ) -> tuple[Estimate, Placement]:
        """The estimate of a step that was traced elsewhere, and the verdict on each device; `fits`: as `fits_of`."""
        from .jobs.matching import match_trace

        return match_trace(self._site(), self.estimates.of_trace, trace, request, fits=fits, **job)

    # Jobs

    def metrics(self) -> Metrics:
        """A collector of this installation's figures for Prometheus; whoever makes one closes it."""
        from .metrics import Metrics

        boards = self.boards
        jobs = lambda: self.jobs.list()  # noqa: E731, PLW0108  # built late
        return Metrics(self.devices, jobs, tuple if boards is None else boards.read)

    def submit(
        self,
        source: NotebookSource,
        submission: Submission | None = None,
        *,
        accepting: Callable[[], None] = lambda: None,
    ) -> Job:
        """Turn a notebook into a job. It starts as soon as there is room for it.

        Args:
            accepting: called when all is read and estimated and the job is about to be made.
        """
        from .jobs.submitting import settle

        spec, content, _ = settle(self.desk(source), source, submission or Submission())
        accepting()
        return self.jobs.submit(spec, content)

    def changes(self, source: NotebookSource, submission: Submission | None = None, *, runs: bool = False) -> Changes:
        """What such a job has otherwise than the notebook, and what cannot be changed so.

        Args:
            runs: whether the notebook's model cells may run, where only a trace can tell what sizes the batch.
        """
        from .jobs.submitting import changes

        return changes(self.desk(source), source, submission or Submission(), runs=runs)

    def write(self, source: NotebookSource, changes: Changes) -> None:
        """Write changed cells into the notebook's file, which must be as it was read."""
        from ..notebook.files.writing import write

        write(source, changes)

    def preflight(self, source: NotebookSource, submission: Submission | None = None) -> Preflight:
        """What a submit would lead to now, and what it would be refused with, each with its next step.

        It goes the way of a submit up to the point where that would make the job: nothing is submitted, and nothing of
        a notebook runs that was not estimated before. An engine may try out with a container of its own whether it
        sees the folders and hands out the devices.
        """
        from .jobs.submitting import settle, uses_paddle

        try:
            spec, content, decision = settle(self.desk(source), source, submission or Submission(), runs=False)
        except RefusedError as error:
            return Preflight(problems=(error.message,), decision=error.decision)
        except PaddleGpuError as error:
            return Preflight(problems=(error.message,))
        found = self.jobs.preflight(spec, content)
        if not uses_paddle(self.inspect(source)):
            found = tuple(message for message in found if message.code != "paddle_for_cpu")
        problems = tuple(message for message in found if not is_note(message))
        notes = (*self.policy_notes(), *spec.unanswered, *filter(is_note, found))
        return Preflight(problems=problems, notes=notes, decision=decision)

    def rerun(self, job_id: str, wanted: Rerun | None = None) -> Job:
        """Run a job again. Without a wish it goes on from its checkpoints; with other values it is a run of its own.

        Raises `PaddleGpuError`: as `submit`, `no_such_job` (404), `source_missing` (409), `rerun_unknown` (400).
        """
        from .jobs.reruns import is_the_same, source_of, submission_of

        _ = self.policies  # which must be whole
        if wanted is None or is_the_same(wanted):
            return self.jobs.rerun(job_id)
        job = self.jobs.get(job_id)
        return self.submit(source_of(self.jobs, job), submission_of(job, wanted))

    def compare(self, before: str, after: str) -> Comparison:
        """What the second job has otherwise than the first, code included. Raises `PaddleGpuError` (404, 409)."""
        from .jobs.comparing import compare

        return compare(self.jobs, before, after)

    @property
    def exports(self) -> Exports:
        """Jobs to be taken elsewhere: a page, an archive, a table."""
        from .jobs.export.exports import Exports

        return Exports(self.jobs)

    def find_job(self, text: str) -> Job:
        """The job whose id is `text`, or begins or ends with it; `last` is the newest.

        Raises:
            PaddleGpuError: `no_such_job` (404), `ambiguous_job` (400).
        """
        from .jobs.finding import find_job

        return find_job(self.jobs, text)

    def is_job(self, text: str) -> bool:
        """Whether this names a job, and no file."""
        from .jobs.finding import is_job

        return is_job(self.jobs, text)

    def open_viewer(self, job_id: str, viewer: str, prefix: str, *, again: bool = False) -> Path:
        """The socket on which VisualDL or TensorBoard shows what a job wrote (`services.jobs.viewing`)."""
        from .jobs.viewing import open_viewer

        return open_viewer(self.jobs, self.viewers, job_id, viewer, prefix, again=again)

    @property
    def plans(self) -> Plans:
        """Sweeps and schedules: what makes jobs by itself."""

        def build() -> Plans:
            from .plans.plans import Plans
            from .plans.tools import Tools

            return Plans(
                Tools(
                    jobs=lambda: self.jobs,
                    submit=self.submit,
                    settle=self._settle,
                    inventory=self._devices_now,
                    policy=lambda: self.policy,
                    notices=lambda: self.policies.notices,
                    folder=self.settings.data_folder,
                    clock=self.settings.clock,
                )
            )

        return self._once("plans", build)

    def _periodic(self) -> Plans:
        return self.plans

    def _settle(self, source: NotebookSource, submission: Submission, runs: bool) -> Settled:
        from .jobs.submitting import settle

        return settle(self.desk(source), source, submission, runs=runs)

    def explain_job(self, job_id: str) -> JobExplained:
        """Why a job has its devices, or which it would get now: every device, chosen, possible or ruled out by what.

        Raises `PaddleGpuError` (404, 400), or that its engine does not answer.
        """
        from .jobs.explaining import explain

        job, queue = self.find_job(job_id), self.jobs.queue.view
        jobs, engines, policies = self.jobs.list(), self.engines, self.shown_policies()
        found = explain(job, jobs, engines, self._devices_now, policies.matching, claims=self.claims, queue=queue)
        if policies.scheduler.algorithm != "learned" or (proof := self.learned.proof()).proven:
            return found
        return msgspec.structs.replace(found, notes=(*found.notes, proof.reason))

    def learned_report(self, *, replayed: bool = False) -> LearnedReport:
        """What finished jobs have taught here, and whether it decides; with each job seen again where asked for."""
        return self.learned.report(self.policies, replayed=replayed)

    def learned_export(self, file: Path) -> int:
        """Write the kept jobs into a file, a JSON object a line; how many. Raises `OSError`."""
        runs = self.learned.history.runs()
        file.write_bytes(b"".join(msgspec.json.encode(run) + b"\n" for run in runs))
        return len(runs)

    def learned_reset(self) -> Path:
        """Forget all jobs; the file into which they were put aside. Raises `PaddleGpuError` (409)."""
        return self.learned.reset()

    def contribute(self, job_id: str, kind: Kind = "", file: Path | None = None) -> GpuLog:
        """What a finished job says of its training on a GPU, as a line for the public collection; written where told.

        Raises `PaddleGpuError` (404, 400), `nothing_to_contribute` (409), `cannot_write`.
        """
        from .jobs.contributing import facts_of, write

        log = facts_of(self.find_job(job_id), self._devices_now, kind)
        if file is not None:
            write(log, file)
        return log

    def receivers(self) -> tuple[ReceiverRow, ...]:
        """Who can be told of a job's end."""
        from .jobs.notifications import receivers

        return receivers(self.policies.notices)

    def start_jobs(self) -> None:
        """From now on start queued jobs and keep the rows right, in threads of this process, until `close`."""
        _ = self.policies  # which must be whole
        self.jobs.start()

    # What use cases are given

    def desk(self, source: NotebookSource | None = None) -> Desk:
        """What a submission is settled with; of a notebook with the policy beside it."""
        from .jobs.taking import Desk

        policies = self.policies if source is None else self.policies_in(source.path.parent)
        return Desk(self.engines, self._devices_now, policies, self.estimates, self.standing, self.claims)

    def _estimated_from(self, trace: str) -> Callable[..., Estimate]:
        from .estimates.live_traces import unpacked

        live = unpacked(trace)
        return lambda _source, _facts, request, where: self.estimates.of_trace(live, request, where)

    def _site(self, source: NotebookSource | None = None) -> Site:
        from .jobs.placing import Site

        content = {} if source is None else source.content
        policies = self.shown_policies(None if source is None else source.path.parent)
        return Site(self.engines, self._devices_now, policies, self.standing, self.claims, content)
