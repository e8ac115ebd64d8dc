"""Where a job would run: engine, devices, image, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from ..devices import catalogue
from ..domain.devices import Inventory
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.placements import Placement
from ..engines.base import Engine
from ..engines.capabilities import accelerators, inventory_of, local_images_of
from .imaging import image_for
from .policies import Policies

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


def place(
    site: Site,
    estimate: Estimate | None,
    *,
    engine: str = "",
    gpus: int | None = None,
    device_ids: tuple[str, ...] = (),
    image: str = "",
    paddle_version: str | None = None,
) -> Placement:
    """The match on the devices that the engine's jobs can have.

    Args:
        estimate: for the GPU target; None where there is none.
        gpus: None leaves the number to the match.
        image: a container image that the person named.
        paddle_version: of the notebook's kernel.
    """
    from ..jobs.scheduling.holders import DeviceHolders
    from ..matching.match import match

    name = engine_name(site.engines, engine)
    chosen = site.engines[name]
    features, inventory = chosen.supported_features(), inventory_of(chosen, site.inventory)
    placement = match(
        estimate,
        inventory,
        catalogue.accelerators(),
        site.policies.matching,
        engine=name,
        gpus=gpus if features.gpus else 0,
        chosen=device_ids,
        held=DeviceHolders(site.engines.values(), patience=HOLDERS_SECONDS).ask() if accelerators(inventory) else {},
    )
    if not (features.containers and features.available):
        return placement
    choice = image_for(
        inventory,
        placement.device_ids,
        paddle_version,
        wanted=image,
        local=local_images_of([chosen]),
        policy=site.policies.images,
    )
    return msgspec.structs.replace(placement, image=choice)
