"""What a submission takes of the machine: its engine, devices and memory, decided once for all faces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ...domain.decisions import Choice, Decision, Need, RefusedError, need_of
from ...domain.devices import Inventory
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate
from ...domain.jobs.job import Resources
from ...domain.messages import Message
from ...domain.notebooks import NotebookFacts, own_processes
from ...engines.base import Engine
from ...engines.capabilities import accelerators, host_bytes_of, inventory_of, limits_of, takes_options
from ...matching.decision import decide
from ...matching.offer import Offer
from ...matching.policy import Policy
from ...matching.sentences import named
from ...matching.shares import wanted_share
from ...matching.ways import ways_now, ways_out
from ..estimates.estimating import Estimating, Where
from ..policies.files import Policies
from ..requests import Submission
from .placing import (
    Standings,
    as_chosen,
    as_submitted,
    check_share,
    choice_of,
    engine_name,
    granted,
    limited,
    offer_of,
    whole_devices,
)

if TYPE_CHECKING:
    from ...claims.claims import Claims


@dataclass(frozen=True)
class Desk:
    """What a submission is settled with.

    Attributes:
        engines: by name, the default first.
        inventory: this machine's devices now.
        estimates: those that were shown, and new ones.
        standing: what a job for an engine with these devices finds behind this store's own.
    """

    engines: Mapping[str, Engine]
    inventory: Callable[[], Inventory]
    policies: Policies
    estimates: Estimating
    standing: Standings
    claims: Claims | None = None


class Taken(NamedTuple):
    """What a job takes where it goes; `insisted`: why it would have been refused, had the person not insisted."""

    need: Need | None
    resources: Resources
    decision: Decision
    insisted: Message | None


class Place:
    """Where one submission goes: its engine, the devices that this has now, and the person's choice of them."""

    def __init__(self, desk: Desk, submission: Submission, facts: NotebookFacts, *, runs: bool) -> None:
        self.name = engine_name(desk.engines, submission.engine)
        self.engine = desk.engines[self.name]
        self.inventory = inventory_of(self.engine, desk.inventory)
        self._desk, self._submission, self._runs = desk, submission, runs
        self._own = own_processes(facts)
        self._policy = desk.policies.matching
        _check_unused(self.engine, submission)

    def choose(self) -> None:
        """Take the person's choice, and see whether the job would have a device by it."""
        self._choice, self._share = _chosen(self.engine, self.inventory, self._submission, self._policy, self._own)
        self._offer = self._offered()
        self.on_gpu = decide(None, self._offer, self._policy, self._choice).outcome != "cpu"

    def where(self) -> Where:
        """The same for an estimate."""
        asked = self._submission.resources or Resources()
        host_bytes = partial(host_bytes_of, self.engine, asked, self.inventory)
        return Where(lambda: self.inventory, self._choice, self._policy, host_bytes=host_bytes)

    def names(self, device_ids: tuple[str, ...]) -> dict[str, Message]:
        """What devices are called, by id: one of them may be gone when the job's turn comes."""
        return {device.id: named(device) for device in self.inventory.devices if device.id in device_ids}

    def _offered(self) -> Offer:
        """What others have now is for who only asks: a job that is made takes its place in the queue, which knows."""
        if self._runs:
            return offer_of(self.engine, self.inventory)
        desk, standing = self._desk, None
        if accelerators(self.inventory):
            standing = desk.standing(self.name, self.inventory, self._choice.share)
        return offer_of(self.engine, self.inventory, desk.engines.values(), desk.claims, standing)

    def taken(self, estimate: Estimate | None) -> Taken:
        """What the job takes here, by its estimate. Raises `RefusedError`."""
        need, share, asked = _need(self._submission, estimate), self._share, self._submission.resources
        if self.on_gpu and self.engine.supported_features().shares:
            usual = wanted_share(share, need, self.inventory.devices, self._policy)
            if usual != share:
                share = usual
                self._choice = msgspec.structs.replace(self._choice, share=usual)
                self._offer = self._offered()
        gpus = (self._choice.gpus or 1) if self.on_gpu else 0
        resources = _resources(asked, gpus, self._choice.device_ids, share if self.on_gpu else None)
        limits = limits_of(self.engine, resources, estimate, whole_devices(self.inventory))
        offer = limited(self._offer, limits, estimate, resources)
        decision, insisted = self._decided(need, offer, estimate, self._choice), None
        if decision.outcome == "refuse":
            if not self._submission.anyway or decision.final:
                raise RefusedError(decision)
            insisted = decision.reason
            decision = self._decided(need, offer, estimate, msgspec.structs.replace(self._choice, anyway=True))
        decision = granted(self.engine, decision, limits, estimate, resources)
        resources = msgspec.structs.replace(resources, shm_bytes=decision.shared_memory_bytes)
        return Taken(need, resources, decision, insisted)

    def _decided(self, need: Need | None, offer: Offer, estimate: Estimate | None, choice: Choice) -> Decision:
        decision = decide(
            need,
            offer,
            self._policy,
            choice,
            lambda limit: ways_out(estimate, limit),
            smaller=lambda room: ways_now(estimate, room),
            host=estimate.allocated_peak_bytes if estimate else None,
        )
        request = self._submission.request
        return as_submitted(decision if estimate is None else as_chosen(decision, request, estimate), request)


def _chosen(
    engine: Engine, inventory: Inventory, submission: Submission, policy: Policy, own: int
) -> tuple[Choice, float | None]:
    """The person's choice of devices, and the share of them as it was asked for."""
    asked = submission.resources
    gpus, ids, share = (None, (), None) if asked is None else (asked.gpus, asked.device_ids, asked.share)
    if ids and gpus is None:
        gpus = len(ids)
    check_share(engine, share, policy)
    return choice_of(engine, inventory, submission.request, gpus, ids, share=share, own=own), share


def _check_unused(engine: Engine, submission: Submission) -> None:
    """Refuse what an engine would leave aside without a word: an image without containers, options without any."""
    unused = sorted(submission.options) if not takes_options(engine) else []
    if submission.image and not engine.supported_features().containers:
        unused.insert(0, "image")
    if unused:
        raise PaddleGpuError(
            "option_unknown",
            "The engine {engine} knows no “{option}”.",
            hint="Leave it out, or choose an engine that knows it.",
            engine=engine.name,
            option=unused[0][:100],
        )


def _need(submission: Submission, estimate: Estimate | None) -> Need | None:
    """What the job needs of each of its devices: what the person asks for, else the estimate."""
    asked = submission.resources.gpu_memory_bytes if submission.resources is not None else None
    return Need(low=asked, high=asked) if asked else need_of(estimate)


def _resources(asked: Resources | None, gpus: int, device_ids: tuple[str, ...], share: float | None) -> Resources:
    """The limits that were asked for, with the devices that were settled."""
    limits = {name: getattr(asked, name) for name in Resources.__struct_fields__} if asked is not None else {}
    return Resources(**{**limits, "gpus": gpus, "device_ids": device_ids, "share": share})
