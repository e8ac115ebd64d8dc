"""Which container image a job or a device needs: the meeting of devices, kernels and the image catalogue."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ...devices import catalogue
from ...domain.containers.images import AskRegistry, LocalImage
from ...domain.containers.references import parse_reference
from ...domain.decisions import Choice
from ...domain.devices import Accelerator, Inventory
from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import Job
from ...domain.placements import ImageChoice
from ...domain.what_ifs import EstimateRequest
from ...engines.base import Engine
from ...engines.capabilities import local_images_of
from ...matching.candidates import best_device
from ...matching.decision import decide
from ...matching.offer import Offer
from ...matching.policy import Policy
from ..estimates import targets
from ..policies.files import Policies

if TYPE_CHECKING:
    from ...images.choice import ImagePolicy


def image_for(
    inventory: Inventory,
    device_ids: tuple[str, ...],
    paddle_version: str | None,
    *,
    wanted: str = "",
    local: tuple[LocalImage, ...] = (),
    ask: AskRegistry | None = None,
    policy: ImagePolicy | None = None,
) -> ImageChoice:
    """The image for devices of this machine (none: the CPU's)."""
    from ...images.choice import choose_image

    device = next((item for item in inventory.devices if item.id in device_ids), None)
    driver = inventory.drivers.get(device.vendor) if device else None
    return choose_image(
        paddle_version,
        driver.version if driver else None,
        device.compute_capability if device else None,
        device.vendor if device else None,
        machine=platform.machine(),
        wanted=wanted,
        local=local,
        ask=ask,
        policy=policy,
    )


def is_reference(image: str) -> bool:
    """Whether what a person named can be the name of an image; that it cannot is told before a submit."""
    try:
        return bool(image and parse_reference(image))
    except PaddleGpuError:
        return False


def with_release(
    request: EstimateRequest,
    engine: Engine,
    inventory: Inventory,
    choice: Choice,
    *,
    policies: Policies,
    kernel_name: str = "",
    paddle_version: str = "",
    image: str = "",
) -> EstimateRequest:
    """The request with the release of Paddle that an engine's job has on a device, unless it says one itself.

    Args:
        kernel_name: whose Paddle decides where no image was named; `paddle_version`: its version, where it is known.
        image: that the person or the notebook named.
    """
    features = engine.supported_features()
    device = best_device(inventory.devices, policies.matching, choice)
    if request.release != "" or device is None or not (features.containers and features.available):
        return request
    from ...images.releases import release_of

    own, local = paddle_version or kernel_paddle(kernel_name), local_images_of([engine])
    found = image_for(inventory, (device.id,), own, wanted=image, local=local, policy=policies.images)
    if not found.reference:
        return request
    release = release_of(found.reference, local, policies.images)
    is_own = own is not None and release == own.split("+")[0]
    return request if is_own else msgspec.structs.replace(request, release=release)


def chooser(
    inventory: Callable[[], Inventory], policy: ImagePolicy | None = None, matching: Policy | None = None
) -> Callable[[Job, tuple[LocalImage, ...], AskRegistry], ImageChoice]:
    """What the Docker engine asks when a job names no image: the version of the notebook's own kernel decides."""

    def choose(job: Job, local: tuple[LocalImage, ...], ask: AskRegistry) -> ImageChoice:
        now = inventory()
        devices = expected_devices(job, now, matching or Policy())
        return image_for(now, devices, kernel_paddle(job.spec.kernel_name), local=local, ask=ask, policy=policy)

    return choose


def expected_devices(job: Job, inventory: Inventory, policy: Policy) -> tuple[str, ...]:
    """The job's devices; before it has any, those it would be given if all were free and its turn came now."""
    wanted = job.spec.resources
    if job.device_ids or wanted.device_ids or not wanted.gpus:
        return job.device_ids or wanted.device_ids
    from ...jobs.scheduling.queue import choice_of, need_of

    offer, choice = Offer(devices=inventory.devices), choice_of(job)
    decision = decide(need_of(job), offer, policy, choice)
    if decision.outcome == "refuse":  # nothing is large enough now: what it would get whatever it needs
        decision = decide(None, offer, policy, choice)
    return decision.device_ids


def kernel_paddle(kernel_name: str) -> str | None:
    """The version of Paddle in a kernel's interpreter; None where there is none."""
    from ...estimator.workers.interpreters import find_interpreter

    try:
        version = find_interpreter(kernel_name).paddle_version
    except PaddleGpuError:  # a container does not need the kernel that is here
        return None
    return None if version == "unknown" else version


def images(
    inventory: Callable[[], Inventory],
    local_images: Callable[[], tuple[LocalImage, ...]],
    policy: ImagePolicy,
    *,
    paddle_version: str,
    device: str,
) -> tuple[ImageChoice, ...]:
    """For an accelerator by name, else for this machine's first real device and for the CPU."""
    from ...images.choice import choose_image

    version = _typed(paddle_version) or kernel_paddle("python3")
    if device:
        card = _accelerator(inventory, device)
        machine = platform.machine()
        return (choose_image(version, None, card.compute_capability, card.vendor, machine=machine, policy=policy),)
    now, local = inventory(), local_images()
    real = [item for item in now.devices if not item.simulated][:1]
    chosen: list[tuple[str, ...]] = [(item.id,) for item in real]
    return tuple(image_for(now, ids, version, local=local, policy=policy) for ids in [*chosen, ()])


def _typed(version: str) -> str:
    """A version that a person wrote. Raises `PaddleGpuError` (400) for what is none (PEP 440)."""
    if not version:
        return ""
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(version))
    except InvalidVersion as error:
        raise PaddleGpuError(
            "bad_paddle_version",
            "“{version}” is not a version of Paddle.",
            hint="Write it as 3.3.1.",
            version=version[:100],
        ) from error


def _accelerator(inventory: Callable[[], Inventory], device: str) -> Accelerator:
    found = targets.resolve(EstimateRequest(device=device), inventory, catalogue.find)
    if found is None:  # a device of this machine that gives no data
        raise PaddleGpuError(
            "device_without_data",
            "The device “{device}” tells nothing about itself.",
            hint="Name the accelerator's model, for example A100-80GB.",
            status=409,
            device=device,
        )
    return found
