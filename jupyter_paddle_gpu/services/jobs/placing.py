"""Where a job would run: engine, devices, image, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from ...devices import catalogue
from ...domain.changes import Changes
from ...domain.decisions import Choice, Decision, Limits, RefusedError, need_of
from ...domain.devices import Inventory, divided, shares_of, whole_of
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate, processes_of
from ...domain.jobs.job import Resources
from ...domain.messages import Message
from ...domain.notebooks import LAUNCHED, NotebookFacts
from ...domain.placements import Placement
from ...domain.what_ifs import EstimateRequest, only_estimated
from ...engines.base import Engine
from ...engines.capabilities import (
    accelerators,
    assigns_devices,
    defaults_of,
    inventory_of,
    limits_of,
    local_images_of,
    sees_more,
    shared_memory_of,
)
from ...jobs.scheduling.queue import Standing
from ...matching.candidates import together as together_of
from ...matching.candidates import usable
from ...matching.decision import without_device
from ...matching.match import resolved
from ...matching.offer import Offer
from ...matching.policy import Policy
from ...matching.shares import is_shared, wanted_share
from ..policies.files import Policies
from .imaging import image_for

if TYPE_CHECKING:
    from ...claims.claims import Claims

MOST_TOGETHER = 2
"""More than one: a process gets one slice of a divided card at most, so slices are none of them."""
HOLDERS_SECONDS = 2.0
"""How long an engine may take to say which devices other users' jobs have; somebody waits for the answer."""


class Standings(Protocol):
    """What a job for an engine with these devices would find, that wants a share of them or whole ones."""

    def __call__(self, engine: str, devices: Inventory, share: float | None = None, /) -> Standing:
        """See `jobs.scheduling.planning.Planner.standing`."""
        ...


@dataclass(frozen=True)
class Site:
    """What a placement is made from.

    Attributes:
        engines: by name, the default first.
        inventory: this machine's devices now.
        standing: what a job for an engine with these devices finds behind this store's own.
        content: of the notebook that is placed (nbformat JSON).
    """

    engines: Mapping[str, Engine]
    inventory: Callable[[], Inventory]
    policies: Policies
    standing: Standings
    claims: Claims | None = None
    content: Mapping[str, Any] = field(default_factory=dict)


def engine_name(engines: Mapping[str, Engine], wanted: str) -> str:
    """The engine that was asked for, or the default: the first one.

    Raises:
        PaddleGpuError: `unknown_engine` (400).
    """
    name = wanted or next(iter(engines))
    if name not in engines:
        raise PaddleGpuError(
            "unknown_engine",
            "There is no engine “{engine}” (there are: {known}).",
            hint="Choose one of them.",
            engine=name,
            known=", ".join(engines),
        )
    return name


def offer_of(
    chosen: Engine,
    inventory: Inventory,
    others: Iterable[Engine] = (),
    claims: Claims | None = None,
    standing: Standing | None = None,
) -> Offer:
    """What an engine has for a job.

    Args:
        others: engines that are asked which devices other users' jobs have; `claims` tells those that share a folder.
        standing: what this store's own jobs have and wait for; None: the job is first in the queue.
    """
    from ...jobs.scheduling.holders import DeviceHolders
    from ...jobs.scheduling.supplies import trouble_of

    holders = DeviceHolders(others, claims, patience=HOLDERS_SECONDS).ask() if accelerators(inventory) else {}
    shared = shares_of(holders)
    offer = Offer(
        devices=inventory.devices,
        held=whole_of(holders),
        shared=shared,
        trouble=trouble_of(inventory),
        assigned=assigns_devices(chosen),
        memory=inventory.host.memory_total or None,
        judged=sees_more(chosen),
    )
    if standing is None:
        return offer
    mine = standing.shared
    both = {one: tuple(dict.fromkeys((*mine.get(one, ()), *shared.get(one, ())))) for one in {**mine, **shared}}
    return msgspec.structs.replace(
        offer,
        taken=standing.taken,
        shared=both,
        kept=standing.kept,
        ahead=standing.ahead,
        left=standing.left,
        after=standing.after,
        jobs=standing.jobs,
        rules=standing.rules,
    )


def limited(offer: Offer, limits: Limits | None, estimate: Estimate | None, wanted: Resources | None = None) -> Offer:
    """The offer with what each process of a job may have of the machine's memory: of what the job asks for, else of
    what policy gives at most."""
    asked = wanted.memory_bytes if wanted is not None else None
    most = asked or (limits.most_memory_bytes if limits is not None else None) or offer.memory
    processes = processes_of(estimate, 0) if estimate is not None else 1
    return msgspec.structs.replace(offer, memory=most and most // processes)


def granted(
    engine: Engine, decision: Decision, limits: Limits | None, estimate: Estimate | None, resources: Resources
) -> Decision:
    """The decision with what the job gets of the machine's memory, processors and /dev/shm."""
    shared = resources.shm_bytes
    if estimate is not None and shared is None:
        shared = shared_memory_of(engine, estimate.shared_memory_bytes * processes_of(estimate, resources.gpus))
    return msgspec.structs.replace(decision, limits=limits, shared_memory_bytes=shared)


def as_submitted(decision: Decision, request: EstimateRequest) -> Decision:
    """The decision with what of the request it was made without, as no job has it."""
    notes = tuple(
        Message(
            code="decided_without",
            text="A job keeps the notebook's own data: {asked} is of the estimate alone, and this is decided without.",
            params={"asked": said},
        )
        for said in only_estimated(request)
    )
    return msgspec.structs.replace(decision, notes=(*decision.notes, *notes)) if notes else decision


def as_shown(decision: Decision, shown: Estimate, judged: Estimate) -> Decision:
    """The decision with the training that it rests on, where another one is shown.

    Args:
        judged: of all trainings that the job runs; `shown`: of the one that was chosen.
    """
    return decision if judged.training == shown.training else _by_most(decision, judged)


def as_chosen(decision: Decision, request: EstimateRequest, judged: Estimate) -> Decision:
    """The same for who submits with one training chosen."""
    return decision if request.training in {None, judged.training} else _by_most(decision, judged)


def _by_most(decision: Decision, judged: Estimate) -> Decision:
    """With the training that was judged named, and with ways out that change that one."""
    if judged.model is None or judged.training is None:
        return decision
    most = Message(
        code="decided_by_most",
        text="A job runs all of these trainings: {model} needs most of them and decides where it fits.",
        params={"model": judged.model},
    )
    ways = tuple(
        msgspec.structs.replace(way, request={"training": judged.training, **way.request}) if way.request else way
        for way in decision.ways
    )
    return msgspec.structs.replace(decision, ways=ways, notes=(most, *decision.notes))


def together_on(engine: Engine, inventory: Inventory, policy: Policy) -> int:
    """How many devices an engine can have train together: as many as may be chosen, where it starts a process each."""
    if not engine.supported_features().several_devices:
        return 1
    found = together_of(usable(inventory.devices, policy, MOST_TOGETHER), MOST_TOGETHER)
    return max((1, *map(len, found)))


def whole_devices(inventory: Inventory) -> int:
    """How many accelerators there are, of a divided one its slices."""
    real = accelerators(inventory)
    cut = divided(real)
    return sum(device.id not in cut for device in real)


def choice_of(
    engine: Engine,
    inventory: Inventory,
    request: EstimateRequest,
    gpus: int | None = None,
    device_ids: tuple[str, ...] = (),
    *,
    share: float | None = None,
    own: int = 1,
) -> Choice:
    """What a person chose of an engine's devices. Who says nothing chose as many as are to train together, and none for
    cells that take the CPU.

    Args:
        share: as `Resources.share`.
        own: processes that the notebook starts by itself (`domain.notebooks.own_processes`).

    Raises `PaddleGpuError` for a device that cannot be chosen.
    """
    gives_none = gpus is None and not device_ids and not engine.supported_features().gpus
    if gives_none:
        gpus = 0  # who asks for devices in spite of that is told by the engine why it gives none
    elif gpus is None and not device_ids and request.on_cpu:
        gpus = 0
    elif gpus is None and (count := request.devices or own) > 1 and accelerators(inventory):
        gpus = count
    part = share if is_shared(share) else None
    chosen = Choice(gpus=gpus, device_ids=device_ids, share=part, gives_none=gives_none and not request.on_cpu)
    return resolved(chosen, inventory.devices)


def together(request: EstimateRequest, facts: NotebookFacts, choice: Choice) -> EstimateRequest:
    """The request for as many processes as the chosen devices make of a notebook that each of them runs once."""
    count = len(choice.device_ids) or choice.gpus or 1
    kind = facts.distribution.value if facts.distribution is not None else None
    if request.devices is not None or count == 1 or kind not in LAUNCHED:
        return request
    return msgspec.structs.replace(request, devices=count)


def as_asked_in(
    content: Mapping[str, Any], engine: Engine, request: EstimateRequest, image: str
) -> tuple[EstimateRequest, str]:
    """Request and image of a job with what the notebook itself asks for, below what a person says."""
    own = defaults_of(engine, content)
    environment = {**own.environment, **request.environment}
    return msgspec.structs.replace(request, environment=environment), image or own.image


def check_share(engine: Engine, share: float | None, policy: Policy) -> None:
    """Refuse a share of a device's memory where none can be had.

    Raises:
        RefusedError: `share_not_allowed` (403), `share_unknown` (400).
    """
    if not is_shared(share):
        return
    if policy.sharing == "exclusive":
        why = Message(
            code="share_not_allowed",
            text="The policy gives whole devices, and a share of one is asked for.",
            hint="Leave the share out, or change `sharing` in the policy.",
        )
        raise RefusedError.whoever_insists(why, status=403)
    if not engine.supported_features().shares:
        why = Message(
            code="share_unknown",
            text="The engine {engine} gives whole devices, and a share of one is asked for.",
            hint="Leave the share out, or choose another engine.",
            params={"engine": engine.name},
        )
        raise RefusedError.whoever_insists(why, status=400)


def check_precision(request: EstimateRequest, policies: Policies) -> None:
    """Refuse a precision that the policy does not allow. Raises `RefusedError` (403)."""
    if request.amp not in ("O1", "O2") or policies.matching.allow_mixed_precision:
        return
    why = Message(
        code="precision_not_allowed",
        text="The policy allows no mixed precision, and {level} is asked for.",
        hint="Submit it without, or change `allow_mixed_precision` in {file}.",
        params={"level": request.amp, "file": policies.beside_file or policies.policy_file},
    )
    raise RefusedError.whoever_insists(why, status=403)


def check_changes(changes: Changes) -> None:
    """Refuse a job whose copy of the notebook cannot have what is asked for. Raises `RefusedError` (422)."""
    for refusal in changes.refused:
        raise RefusedError.whoever_insists(refusal.why, status=422)


def place(
    site: Site,
    estimate: Estimate | None,
    *,
    engine: str = "",
    choice: Choice = Choice(),  # noqa: B008  # frozen
    share: float | None = None,
    image: str = "",
    paddle_version: str | None = None,
    settling: Estimate | None = None,
) -> Placement:
    """The match on the devices that the engine's jobs can have.

    Args:
        estimate: for the GPU target, by which each device is judged; None where there is none.
        share: as it was asked for (`choice` has none for whole devices).
        settling: of the job as a submit makes it, by which is decided what becomes of it; None, or one for the other
            target than it would run on: that is not known.
        image: a container image that the person named.
        paddle_version: of the notebook's kernel.
    """
    from ...matching.match import match

    name = engine_name(site.engines, engine)
    chosen = site.engines[name]
    features, inventory = chosen.supported_features(), inventory_of(chosen, site.inventory)
    policy = site.policies.matching
    alone = without_device(inventory.devices, policy, choice) is not None
    if settling is not None and (settling.status != "ok" or (settling.target == "cpu") != alone):
        settling = None
    if features.shares:
        share = wanted_share(share, need_of(settling), inventory.devices, policy)
        choice = msgspec.structs.replace(choice, share=share if is_shared(share) else None)
    standing = site.standing(name, inventory, choice.share) if accelerators(inventory) else None
    resources = Resources(gpus=0 if alone else choice.gpus or 1, device_ids=choice.device_ids)
    limits = limits_of(chosen, resources, settling, whole_devices(inventory))
    placement = match(
        estimate,
        inventory,
        catalogue.usual(),
        policy,
        choice=choice,
        offer=limited(offer_of(chosen, inventory, site.engines.values(), site.claims, standing), limits, settling),
        engine=name,
        settling=settling,
    )
    decision = granted(chosen, placement.decision, limits, settling, resources)
    placement = msgspec.structs.replace(placement, decision=decision)
    if not (features.containers and features.available):
        return placement
    image_choice = image_for(
        inventory,
        placement.device_ids,
        paddle_version,
        wanted=image,
        local=local_images_of([chosen]),
        policy=site.policies.images,
    )
    return msgspec.structs.replace(placement, image=image_choice)
