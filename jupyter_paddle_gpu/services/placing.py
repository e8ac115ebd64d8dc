"""Where a job would run: engine, devices, image, each with its reasons."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import msgspec

from ..domain.devices import Accelerator, Inventory, Vendor
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.placements import ImageChoice, Placement
from . import targets

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
    if not features.containers:
        return placement
    return msgspec.structs.replace(
        placement, image=_image(services, inventory, placement.device_ids, image, paddle_version)
    )


def images(services: Services, paddle_version: str, device: str) -> tuple[ImageChoice, ...]:
    """For an accelerator by name, else for this machine's first real device and for the CPU."""
    from ..images.choice import choose_image

    version, inventory = paddle_version or None, services.inventory()
    if device:
        accelerator = _accelerator(services, device)
        capability, vendor = accelerator.compute_capability, accelerator.vendor
        return (choose_image(version, None, capability, vendor, machine=platform.machine()),)
    real = [item for item in inventory.devices if not item.simulated][:1]
    wanted: list[tuple[tuple[int, int] | None, Vendor | None]]
    wanted = [(item.compute_capability, item.vendor) for item in real] + [(None, None)]
    return tuple(
        choose_image(
            version,
            inventory.driver_version,
            capability,
            vendor,
            machine=platform.machine(),
            local=services.local_images(),
        )
        for capability, vendor in wanted
    )


def _accelerator(services: Services, device: str) -> Accelerator:
    from ..domain.estimates import EstimateRequest

    found = targets.resolve(EstimateRequest(device=device), services.inventory, services.find_accelerator)
    if found is None:  # a device of this machine that gives no data
        raise PaddleGpuError(
            "device_without_data",
            "The device “{device}” tells nothing about itself.",
            hint="Name the accelerator's model, for example A100-80GB.",
            status=409,
            device=device,
        )
    return found


def _image(
    services: Services, inventory: Inventory, device_ids: tuple[str, ...], wanted: str, paddle_version: str | None
) -> ImageChoice:
    from ..images.choice import choose_image

    device = next((item for item in inventory.devices if item.id in device_ids), None)
    return choose_image(
        paddle_version,
        inventory.driver_version,
        device.compute_capability if device else None,
        device.vendor if device else None,
        machine=platform.machine(),
        wanted=wanted,
        local=services.local_images(),
    )
