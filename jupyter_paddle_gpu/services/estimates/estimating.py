"""Estimates of notebooks: for which accelerator, by which worker, and those that were made before."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from ...domain.changes import Changes
from ...domain.decisions import Choice
from ...domain.devices import Accelerator, Device, Inventory
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate
from ...domain.notebooks import NotebookFacts
from ...domain.what_ifs import BY_NAME, EstimateRequest, in_copy
from ...matching.candidates import best_device, usable
from ...matching.decision import without_device
from ...matching.policy import Policy
from . import targets
from .cache import EstimateCache
from .copies import are_values, copied, inspected, refuses_batch, rewriting, trains_several_times
from .live_traces import traced_for

if TYPE_CHECKING:
    from ...domain.measurements.calibrations import CalibrationReport
    from ...domain.messages import Message
    from ...domain.notebooks import NotebookSource
    from ...estimator.service import EstimateService


LOOK_SECONDS = 0.05
"""How often is looked whether a sample is new enough; it is at most two sampling intervals old."""
EITHER = Choice()
"""Nothing was chosen."""


@dataclass(frozen=True)
class Where:
    """What an estimate without a card's name is for.

    Attributes:
        inventory: the devices that the job's engine can give now; None: this machine's.
        choice: the person's.
        policy: which devices may be chosen there; None: as the person's own says.
        together: how many devices its engine can have train together.
        host_bytes: what a job may have of the machine's memory; None: it is not limited, or nobody knows.
    """

    inventory: Callable[[], Inventory] | None = None
    choice: Choice = EITHER
    policy: Policy | None = None
    together: int = 1
    host_bytes: Callable[[], int | None] = lambda: None


ANYWHERE = Where()


@dataclass(frozen=True)
class Estimating:
    """Makes estimates and remembers them.

    Attributes:
        estimator: gives the workers; called when one is needed.
        inventory: this machine's devices now.
        find: the catalogue's row for a name.
        policy: which devices may be chosen.
    """

    estimator: Callable[[], EstimateService]
    inventory: Callable[[], Inventory]
    find: targets.Find
    policy: Callable[[], Policy]
    cache: EstimateCache

    def expect(self, facts: NotebookFacts) -> None:
        """Somebody looks at this notebook: where something trains in it, Paddle's import need not wait for a click.

        Nothing of the notebook runs.
        """
        if facts.imports_paddle and facts.loop != "none":
            self.estimator().expect(facts.kernel_name)

    def begin(self, source: NotebookSource) -> None:
        """What imports Paddle starts at once; a notebook that never names it needs none."""
        if any("paddle" in str(cell.get("source")) for cell in source.content.get("cells", ())):
            self.estimator().begin(source.kernel_name)

    def fresh(
        self, source: NotebookSource, facts: NotebookFacts, request: EstimateRequest, where: Where = ANYWHERE
    ) -> Estimate:
        """What a training step of the notebook takes; runs its model cells in an isolated child process."""
        # The largest batch takes many traces: on the CPU it is sought for whoever asks for the CPU.
        host = where.host_bytes() if request.details and request.target == "cpu" else None
        request, accelerator = self._settled(request, where)
        rewrite = rewriting(source, facts, self._cards(request, where, accelerator))
        estimate = self.estimator().estimate(
            facts,
            source.folder,
            request,
            accelerator,
            rewrite,
            devices=where.together,
            host_bytes=host,
            seen=self.cache.seen(source, request.training),
        )
        self.cache.put(source, request, accelerator, estimate)
        return estimate

    def whole(
        self, source: NotebookSource, facts: NotebookFacts, request: EstimateRequest, where: Where = ANYWHERE
    ) -> Estimate:
        """What a job with this request takes: it runs all of its copy's trainings, of which one may be changed."""
        if request.training is None:
            return self.fresh(source, facts, request, where)
        copy, changed = self.copy(source, request, where, facts=facts)
        left = in_copy(request, changed.written)
        return self.fresh(copy, facts if copy is source else inspected(copy), left, where)

    def copy(
        self,
        source: NotebookSource,
        request: EstimateRequest,
        where: Where = ANYWHERE,
        *,
        facts: NotebookFacts | None = None,
    ) -> tuple[NotebookSource, Changes]:
        """The notebook as a job with this request has it, and what is otherwise in it.

        Args:
            facts: with them, the notebook's model cells may run where only a trace can tell what sizes the batch; None:
                nothing of it runs, and what estimates have found before is used.
        """
        request, accelerator = self._settled(request, where)
        cards = self._cards(request, where, accelerator)

        def made() -> tuple[NotebookSource, Changes]:
            seen, answered = self.cache.seen(source, request.training), self.cache.settings(source, request)
            return copied(source, request, cards, seen, answered or ())

        if facts is not None and facts.loop != "none" and self._may_answer_for_files(source, request):
            with suppress(PaddleGpuError):  # no Paddle, no worker: the job goes on without
                self.fresh(source, facts, request, where)
        copy, changes = made()
        seeks = refuses_batch(changes)  # who asks for a batch knows what trains
        if facts is None or (facts.loop == "none" and not seeks):
            return copy, changes
        _, among = self.cache.seen(source, request.training)
        is_changed = bool(changes.difference or changes.refused)
        if seeks or (is_changed and among is None and trains_several_times(source)):
            self.fresh(source, facts, request, where)
            copy, changes = made()
            if refuses_batch(changes) and self._has_batch(source, facts, request, where):
                said = BY_NAME["batch_size"].said(request.batch_size)
                request = msgspec.structs.replace(request, batch_size=None)
                copy, changes = made()
                changes = msgspec.structs.replace(changes, says=(said, *changes.says))
        return copy, changes

    def _may_answer_for_files(self, source: NotebookSource, request: EstimateRequest) -> bool:
        """Whether answers may stand for what a file says that is not here, and only a trace can tell."""
        return are_values(request) and self.cache.settings(source, request) is None

    def _has_batch(self, source: NotebookSource, facts: NotebookFacts, request: EstimateRequest, where: Where) -> bool:
        """Whether the batch that is asked for is what the notebook has: then nothing has to be written for it."""
        if request.accumulation is not None or request.devices is not None:
            return False
        as_it_is = msgspec.structs.replace(request, batch_size=None)
        return self.fresh(source, facts, as_it_is, where).batch_size == request.batch_size

    def known(self, source: NotebookSource, request: EstimateRequest, where: Where = ANYWHERE) -> Estimate | None:
        """The estimate of the same notebook and request that was made before, where it is still known."""
        return self.cache.get(source, *self._settled(request, where))

    def was_estimated(self, source: NotebookSource) -> bool:
        """Whether this notebook, as it is now, was estimated before: then another estimate takes milliseconds."""
        return self.cache.has_any(source)

    def of_trace(self, trace: dict[str, Any], request: EstimateRequest, where: Where = ANYWHERE) -> Estimate:
        """The estimate of a step that was traced elsewhere (the JSON of `estimator.trace.Trace`): live objects.

        Raises:
            PaddleGpuError: `bad_trace` (400).
        """
        request, accelerator = self._settled(request, where)
        return self.estimator().of_trace(traced_for(trace, request, accelerator), request, accelerator)

    def fits(
        self, source: NotebookSource, facts: NotebookFacts, request: EstimateRequest, devices: tuple[str, ...]
    ) -> Estimate:
        """The estimate with the largest batch on each of the devices in `fits` (see `targets.several`)."""
        accelerators = targets.several(devices, self.inventory, self.find)
        request = msgspec.structs.replace(request, target="gpu")
        estimate = self.fresh(source, facts, request)
        if estimate.status != "ok":
            return estimate
        found = self.estimator().fits(facts, source.folder, request, accelerators)
        return msgspec.structs.replace(estimate, fits=found)

    def fits_of(
        self,
        trace: Callable[[int | None], dict[str, Any]],
        request: EstimateRequest,
        devices: tuple[str, ...],
    ) -> Estimate:
        """The same for steps that are traced elsewhere: `trace` gives the JSON of one at a batch size."""
        accelerators = targets.several(devices, self.inventory, self.find)
        request = msgspec.structs.replace(request, target="gpu")
        estimate = self.of_trace(trace(request.batch_size), request)
        once = cache(trace)
        found = self.estimator().fits_of(lambda on, batch: traced_for(once(batch), request, on), request, accelerators)
        return msgspec.structs.replace(estimate, fits=found)

    def calibrate(self, device: str, kernel_name: str, progress: Callable[[Message], None]) -> CalibrationReport:
        """Run the estimator's suite on a device of this machine and keep what it teaches.

        Args:
            device: Paddle's name, `gpu:0` or `cpu`, or what else a card is called; empty: the first GPU.

        Raises:
            PaddleGpuError: there is no GPU (409), or none that is called so (400), or as the suite.
        """
        from ...estimator.calibration.calibrate import calibrate

        card = targets.to_measure(device, self.inventory().devices)
        accelerator = targets.of_device(card, self.find) if card is not None else None

        def look(since: float) -> Device | None:
            if card is None:
                return None
            while (now := self.inventory()).time < since:
                time.sleep(LOOK_SECONDS)
            return next((item for item in now.devices if item.id == card.id), None)

        return calibrate(
            self.estimator(),
            device="cpu" if card is None else f"{targets.GPU}:{card.number}",
            accelerator=accelerator,
            kernel_name=kernel_name,
            look=look,
            progress=progress,
        )

    def meant(self, request: EstimateRequest, where: Where = ANYWHERE) -> EstimateRequest:
        """The request with its target: where none is asked for, that on which its job would run."""
        if request.target is not None:
            return request
        devices = (where.inventory or self.inventory)().devices
        real = [device for device in devices if device.vendor != "cpu"]
        on_cpu = not request.device and without_device(real, self._policy(where), where.choice) is not None
        return msgspec.structs.replace(request, target="cpu" if on_cpu else "gpu")

    def _policy(self, where: Where) -> Policy:
        return self.policy() if where.policy is None else where.policy

    def _settled(self, request: EstimateRequest, where: Where) -> tuple[EstimateRequest, Accelerator | None]:
        """The request with its target, and the accelerator that it is for."""
        choice = where.choice if where.choice.gpus != 0 else EITHER

        def pick(devices: Sequence[Device]) -> Device | None:
            return best_device(devices, self._policy(where), choice)

        request = self.meant(request, where)
        return request, targets.resolve(request, where.inventory or self.inventory, self.find, pick)

    def _cards(
        self, request: EstimateRequest, where: Where, accelerator: Accelerator | None
    ) -> tuple[Accelerator, ...]:
        """The cards of which a job may be given any: the one that was named, else all that may be chosen."""
        known = () if accelerator is None else (accelerator,)
        if accelerator is None or request.device:
            return known
        devices = (where.inventory or self.inventory)().devices
        chosen = [one for one in devices if one.id in where.choice.device_ids]
        here = chosen or usable(devices, self._policy(where), where.choice.gpus or 1)
        return tuple(card for one in here if (card := targets.of_device(one, self.find)) is not None) or known
