"""Where a job would run: engine, devices, image, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from ...devices import catalogue
from ...domain.decisions import Choice
from ...domain.devices import Inventory
from ...domain.errors import PaddleGpuError
from ...domain.estimates import Estimate
from ...domain.placements import Placement
from ...domain.what_ifs import EstimateRequest
from ...engines.base import Engine
from ...engines.capabilities import accelerators, assigns_devices, inventory_of, local_images_of
from ...matching.decision import Offer
from ...matching.match import resolved
from ..policies.files import Policies
from .imaging import image_for

if TYPE_CHECKING:
    from ...claims.claims import Claims

HOLDERS_SECONDS = 2.0
"""How long an engine may take to say which devices other users' jobs have; somebody waits for the answer."""


@dataclass(frozen=True)
class Site:
    """What a placement is made from.

    Attributes:
        engines: by name, the default first.
        inventory: this machine's devices now.
    """

    engines: Mapping[str, Engine]
    inventory: Callable[[], Inventory]
    policies: Policies
    claims: Claims | None = None


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
    chosen: Engine, inventory: Inventory, others: Iterable[Engine] = (), claims: Claims | None = None
) -> Offer:
    """What an engine has for a job that is first in the queue.

    Args:
        others: engines that are asked which devices other users' jobs have; `claims` tells those that share a folder.
    """
    from ...jobs.scheduling.holders import DeviceHolders
    from ...jobs.scheduling.supplies import trouble_of

    held = DeviceHolders(others, claims, patience=HOLDERS_SECONDS).ask() if accelerators(inventory) else {}
    return Offer(devices=inventory.devices, held=held, trouble=trouble_of(inventory), assigned=assigns_devices(chosen))


def choice_of(
    engine: Engine,
    inventory: Inventory,
    request: EstimateRequest,
    gpus: int | None = None,
    device_ids: tuple[str, ...] = (),
) -> Choice:
    """What a person chose of an engine's devices. Who says nothing chose as many as are to train together.

    Raises `PaddleGpuError` for a device that cannot be chosen.
    """
    if gpus is None and not device_ids and not engine.supported_features().gpus:
        gpus = 0  # who asks for devices in spite of that is told by the engine why it gives none
    elif gpus is None and (request.devices or 1) > 1 and accelerators(inventory):
        gpus = request.devices
    return resolved(Choice(gpus=gpus, device_ids=device_ids), inventory.devices)


def place(
    site: Site,
    estimate: Estimate | None,
    *,
    engine: str = "",
    choice: Choice = Choice(),  # noqa: B008  # frozen
    image: str = "",
    paddle_version: str | None = None,
) -> Placement:
    """The match on the devices that the engine's jobs can have.

    Args:
        estimate: for the GPU target; None where there is none.
        image: a container image that the person named.
        paddle_version: of the notebook's kernel.
    """
    from ...matching.match import match

    name = engine_name(site.engines, engine)
    chosen = site.engines[name]
    features, inventory = chosen.supported_features(), inventory_of(chosen, site.inventory)
    placement = match(
        estimate,
        inventory,
        catalogue.usual(),
        site.policies.matching,
        choice=choice,
        offer=offer_of(chosen, inventory, site.engines.values(), site.claims),
        engine=name,
    )
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
