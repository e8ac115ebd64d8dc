"""What can be asked of this machine: its devices, the cards that are known, images, engines, and what is wrong."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from ..devices import catalogue
from ..devices.makers.registry import with_names
from ..domain.containers.images import PADDLE_IMAGES
from ..domain.containers.references import is_allowed, parse_reference
from ..domain.devices import Accelerator, DeviceHistory, Inventory
from ..domain.placements import ImageChoice
from .components import Components
from .requests import Check

if TYPE_CHECKING:
    from ..domain.engines import Features


class Machine(Components):
    """The part of `Services` that needs neither a notebook nor a job."""

    def inventory(self, engine: str = "") -> Inventory:
        """This machine's devices now and how busy it is, or the devices that the jobs of an engine can have.

        Raises:
            PaddleGpuError: there is no such engine, or it does not answer.
        """
        from ..engines.capabilities import inventory_of
        from .jobs.placing import engine_name

        here = partial(self.devices.snapshot, load=True)
        if not engine:
            return here()
        found = inventory_of(self.engines[engine_name(self.engines, engine)], here)
        return msgspec.structs.replace(found, devices=with_names(found.devices))

    def device_history(self, seconds: float = 1800, points: int = 0) -> DeviceHistory:
        """The last minutes (at most thirty) of this machine's devices, as far as somebody looked.

        Args:
            points: at most so many of each device, means of equal spans; 0: each sample.
        """
        return self.devices.history(seconds, points)

    def accelerators(self) -> tuple[Accelerator, ...]:
        """The catalogue of known accelerators."""
        return catalogue.accelerators()

    def find_accelerator(self, name: str) -> Accelerator | None:
        """The catalogue's row for a name, forgiving about spelling."""
        return catalogue.find(name)

    def images(self, paddle_version: str = "", device: str = "") -> tuple[ImageChoice, ...]:
        """Container images for this machine, or for an accelerator by name, best first."""
        from .jobs.imaging import images

        return images(
            self._devices_now,
            self.local_images,
            self.policies.images,
            paddle_version=paddle_version,
            device=device,
        )

    def image_names(self) -> tuple[str, ...]:
        """What jobs here may be given as their image: those that would be chosen, then what else engines have."""
        allowed = (*PADDLE_IMAGES, *self.policies.images.allowed)
        here = (name for image in self.local_images() for name in image.references)
        chosen = (choice.reference for choice in self.images() if choice.reference)
        return tuple(dict.fromkeys((*chosen, *(name for name in here if is_allowed(parse_reference(name), allowed)))))

    def features(self) -> tuple[Features, ...]:
        """What each engine can do here and now."""
        from ..engines.capabilities import features_of, slots_of
        from ..jobs.settings import JobSettings

        settings = JobSettings().within(self.shown_policies().jobs)
        return tuple(
            msgspec.structs.replace(features_of(engine), cpu_slots=slots_of(engine, settings.slots(name)))
            for name, engine in self.engines.items()
        )

    def doctor(self, kernel_name: str = "python3") -> tuple[Check, ...]:
        """Everything that work here depends on, each with its finding and next step."""
        from .doctor import examine

        return examine(
            kernel_name,
            greeting=lambda: self.estimator.greeting(kernel_name),
            inventory=self.inventory,
            registry=lambda: self.registry,
            engines=lambda: self.engines,
            policies=lambda: self.policies,
            data_folder=self.settings.data_folder,
            claims_folder=self.settings.claims_folder,
            queue_folder=self.settings.queue_folder,
        )

    def _devices_now(self) -> Inventory:
        """As `inventory`, for those who do not wait for the machine's load."""
        return self.devices.snapshot()
