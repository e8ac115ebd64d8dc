"""The use cases that REST, the command line, the magic and Python share. Nothing here knows of any of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..domain.devices import Accelerator, Inventory
from ..domain.estimates import Estimate, EstimateRequest
from ..domain.jobs import Job
from ..domain.messages import Message
from ..domain.notebooks import NotebookFacts
from ..domain.placements import ImageChoice, Placement
from . import targets
from .kept import KeptEstimates
from .locations import contents_file, contents_path
from .requests import Check, Matched, Submission
from .rooms import Rooms
from .settings import Settings

if TYPE_CHECKING:
    from ..engines.base import Features
    from ..estimator.calibrate import CalibrationReport
    from ..notebook.reading import NotebookSource


class Services(Rooms):
    """Everything that can be asked of the product.

    All methods block and are safe to call from several threads. Building one costs nothing: a room is made when it is
    first needed. Refusals are `PaddleGpuError`s.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings or Settings())
        self._kept = KeptEstimates(self.settings.estimates_kept)

    # Notebooks

    def open(self, path: str | Path, content: dict[str, Any] | None = None) -> NotebookSource:
        """The notebook at `path`, or its unsaved `content` (nbformat 4 JSON) as if it lay there.

        With a root in the settings, `path` is a contents path below it; without, a path of the file system.
        """
        from ..notebook import reading

        root = self.settings.root
        if root is not None:
            file = contents_file(str(path), root, allow_hidden=self.settings.allow_hidden)
        else:
            file = Path(path).expanduser().absolute()
        if content is not None:
            return reading.parse_notebook(content, file)
        limit = self.settings.max_notebook_bytes
        sizes = {} if limit is None else {"max_bytes": limit}
        return reading.read_notebook(file, root=root, **sizes)

    def contents_path(self, file: str | Path) -> str | None:
        """A file's path as Jupyter's contents API has it; None where it lies outside the root or there is none."""
        return None if self.settings.root is None else contents_path(Path(file), self.settings.root)

    def inspect(self, source: NotebookSource) -> NotebookFacts:
        """What a reader finds in the notebook; nothing is executed."""
        from ..notebook.inspection import inspect_notebook

        return inspect_notebook(source)

    def expect_estimate(self, facts: NotebookFacts) -> None:
        """Somebody looks at this notebook: where something trains in it, Paddle's import need not wait for a click.

        Nothing of the notebook runs.
        """
        if facts.imports_paddle and facts.loop != "none":
            self.estimator.expect(facts.kernel_name)

    # Estimates

    def estimate(self, source: NotebookSource, request: EstimateRequest | None = None) -> Estimate:
        """What a training step of the notebook takes; runs its model cells in an isolated child process."""
        self._begin(source)
        return self._estimate(source, self.inspect(source), request or EstimateRequest())

    def _begin(self, source: NotebookSource) -> None:
        """What imports Paddle starts at once; a notebook that never names it needs none."""
        if any("paddle" in str(cell.get("source")) for cell in source.content.get("cells", ())):
            self.estimator.begin(source.kernel_name)

    def _estimate(self, source: NotebookSource, facts: NotebookFacts, request: EstimateRequest) -> Estimate:
        accelerator = targets.resolve(request, self.inventory, self.find_accelerator)
        estimate = self.estimator.estimate(facts, source.path.parent, request, accelerator)
        self._kept.put(source, request, estimate)
        return estimate

    def match(
        self,
        source: NotebookSource,
        request: EstimateRequest | None = None,
        *,
        engine: str = "",
        gpus: int | None = None,
        device_ids: tuple[str, ...] = (),
    ) -> Matched:
        """Read, estimate and match: the verdict on each device, the choice, and why."""
        from .placing import place

        self._begin(source)
        facts, request = self.inspect(source), request or EstimateRequest()
        self.engines  # noqa: B018 - importing them takes a moment, which the worker needs as well
        estimate = self._estimate(source, facts, request)
        # The CPU allocator's number says nothing of a card: devices are judged by the GPU's, from the same trace.
        judged = estimate
        if request.target == "cpu" and estimate.status == "ok":
            judged = self._estimate(source, facts, msgspec.structs.replace(request, target="gpu"))
        placement = place(
            self,
            judged if judged.status == "ok" else None,
            engine=engine,
            gpus=gpus,
            device_ids=device_ids,
            paddle_version=estimate.paddle_version,
        )
        return Matched(facts=facts, estimate=estimate, placement=placement)

    def estimate_trace(self, trace: dict[str, Any], request: EstimateRequest) -> Estimate:
        """The estimate of a step that was traced elsewhere (the JSON of `estimator.trace.Trace`): live objects."""
        from ..estimator.trace import Trace

        accelerator = targets.resolve(request, self.inventory, self.find_accelerator)
        return self.estimator.of_trace(msgspec.convert(trace, Trace), request, accelerator)

    def calibrate(
        self, device: str = "", kernel_name: str = "python3", progress: Callable[[str], None] = lambda program: None
    ) -> CalibrationReport:
        """Run the estimator's suite on a device of this machine and keep what it teaches.

        Args:
            device: Paddle's name, `gpu:0` or `cpu`; empty: the first GPU, the CPU where there is none.
        """
        from ..estimator.calibrate import calibrate

        real = [item for item in self.inventory().devices if not item.simulated and item.vendor != "cpu"]
        chosen = device or ("gpu:0" if real else "cpu")
        index = chosen.removeprefix("gpu:")
        card = next((item for item in real if str(item.index) == index and item.parent is None), None)
        accelerator = targets.of_device(card, self.find_accelerator) if card is not None else None
        return calibrate(
            self.estimator, device=chosen, accelerator=accelerator, kernel_name=kernel_name, progress=progress
        )

    def place(self, estimate: Estimate) -> Placement:
        """The verdict on each device for an estimate that is there already."""
        from .placing import place

        judged = estimate if estimate.status == "ok" and estimate.target == "gpu" else None
        return place(self, judged, paddle_version=estimate.paddle_version)

    # Devices, images, engines

    def inventory(self) -> Inventory:
        """This machine's devices now."""
        return self.devices.snapshot()

    def accelerators(self) -> tuple[Accelerator, ...]:
        """The catalogue of known accelerators."""
        from ..devices import catalogue

        return catalogue.accelerators()

    def find_accelerator(self, name: str) -> Accelerator | None:
        """The catalogue's row for a name, forgiving about spelling."""
        from ..devices import catalogue

        return catalogue.find(name)

    def images(self, paddle_version: str = "", device: str = "") -> tuple[ImageChoice, ...]:
        """Container images for this machine, or for an accelerator by name, best first."""
        from .imaging import images

        return images(self, paddle_version, device)

    def features(self) -> tuple[Features, ...]:
        """What each engine can do here and now."""
        return tuple(engine.supported_features() for engine in self.engines.values())

    def doctor(self, kernel_name: str = "python3") -> tuple[Check, ...]:
        """Everything that work here depends on, each with its finding and next step."""
        from .doctor import examine

        return examine(self, kernel_name)

    # Jobs

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
        from .submitting import specify

        spec = specify(self, source, submission or Submission())
        accepting()
        return self.jobs.submit(spec, source.content)

    def preflight(self, source: NotebookSource, submission: Submission | None = None) -> tuple[Message, ...]:
        """What would keep this submission's job from its first cell, each with its next step; nothing is submitted."""
        from .submitting import preflight

        return preflight(self, source, submission or Submission())

    def find_job(self, text: str) -> Job:
        """The job whose id is `text`, or begins or ends with it; `last` is the newest.

        Raises:
            PaddleGpuError: `no_such_job` (404), `ambiguous_job` (400).
        """
        from .finding import find_job

        return find_job(self.jobs, text)

    def start_jobs(self) -> None:
        """From now on start queued jobs and keep the rows right, in threads of this process, until `close`."""
        self.jobs.start()

    def kept_estimate(self, source: NotebookSource, request: EstimateRequest) -> Estimate | None:
        """The estimate of the same notebook and request that was made before, where it is still known."""
        return self._kept.get(source, request)

    def was_estimated(self, source: NotebookSource) -> bool:
        """Whether this notebook, as it is now, was estimated before: then another estimate takes milliseconds."""
        return self._kept.knows(source)

    def fresh_estimate(self, source: NotebookSource, facts: NotebookFacts, request: EstimateRequest) -> Estimate:
        """An estimate for facts that are known already."""
        return self._estimate(source, facts, request)
