"""Where a job would run: engine, devices, image, each with its reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.placements import Placement
from .imaging import image_for

if TYPE_CHECKING:
    from .service import Services


def engine_name(services: Services, wanted: str) -> str:
    """The engine that was asked for, or the default: the first one.

    Raises:
        PaddleGpuError: `unknown_engine` (400).
    """
    name = wanted or next(iter(services.engines))
    if name not in services.engines:
        raise PaddleGpuError(
            "unknown_engine",
            "There is no engine “{engine}” (there are: {known}).",
            hint="Choose one of them.",
            engine=name,
            known=", ".join(services.engines),
        )
    return name


def place(
    services: Services,
    estimate: Estimate | None,
    *,
    engine: str = "",
    gpus: int | None = None,
    device_ids: tuple[str, ...] = (),
    image: str = "",
    paddle_version: str | None = None,
) -> Placement:
    """The match on this machine.

    Args:
        estimate: for the GPU target; None where there is none.
        gpus: None leaves the number to the match.
        image: a container image that the person named.
        paddle_version: of the notebook's kernel.
    """
    from ..matching.match import match

    name = engine_name(services, engine)
    features, inventory = services.engines[name].supported_features(), services.inventory()
    placement = match(
        estimate,
        inventory,
        services.accelerators(),
        services.policy,
        engine=name,
        gpus=gpus if features.gpus else 0,
        chosen=device_ids,
    )
    if not (features.containers and features.available):
        return placement
    choice = image_for(
        inventory,
        placement.device_ids,
        paddle_version,
        wanted=image,
        local=services.local_images(),
        policy=services.policies.images,
    )
    return msgspec.structs.replace(placement, image=choice)
