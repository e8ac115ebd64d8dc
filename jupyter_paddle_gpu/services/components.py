"""The components, each built when it is first asked for: what a command does not use it does not pay for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from ..domain.errors import PaddleGpuError
from .settings import POLICY_VARIABLE, Settings

if TYPE_CHECKING:
    from ..devices.service import DeviceService
    from ..domain.images import LocalImage
    from ..engines.base import Engine
    from ..engines.docker import DockerEngine
    from ..estimator.service import EstimateService
    from ..jobs.service import JobService
    from ..matching.policy import Policy
    from .policies import Policies

T = TypeVar("T")

DISPATCHER = f"{__package__}.dispatching:job_service"
"""What looks after the queue where neither a server nor a terminal does."""


class Components:
    """Holds the settings and what is built from them; knows how they are wired, nothing else."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._built: dict[str, Any] = {}
        self._lock = threading.RLock()

    def _once(self, name: str, build: Callable[[], T]) -> T:
        with self._lock:
            if name not in self._built:
                self._built[name] = build()
            return cast("T", self._built[name])

    @property
    def devices(self) -> DeviceService:
        """Live inventory with its one sampler."""

        def build() -> DeviceService:
            from ..devices.service import DeviceService

            return DeviceService(self.settings.data_folder, interval=self.settings.device_seconds)

        return self._once("devices", build)

    @property
    def estimator(self) -> EstimateService:
        """Estimates, with a warm worker for each interpreter."""

        def build() -> EstimateService:
            from ..estimator.service import EstimateService, EstimateSettings

            return EstimateService(EstimateSettings(calibration=self.settings.data_folder / "calibration.json"))

        return self._once("estimator", build)

    @property
    def policies(self) -> Policies:
        """What the policy file settles. Raises `PaddleGpuError` where it is wrong: nothing runs by half a policy."""

        def build() -> Policies:
            from .policies import load_policies

            return load_policies(self.settings.policy_file, self.settings.data_folder)

        return self._once("policies", build)

    @property
    def policy(self) -> Policy:
        """How matching chooses."""
        return self.policies.matching

    @property
    def engines(self) -> dict[str, Engine]:
        """The engines by name, the default first: the policy's, else the embedded one."""

        def build() -> dict[str, Engine]:
            from ..engines.local import LocalEngine

            engines: list[Engine] = [LocalEngine(), self.docker]
            engines.sort(key=lambda engine: engine.name != self.policies.engine)
            return {engine.name: engine for engine in engines}

        return self._once("engines", build)

    @property
    def docker(self) -> DockerEngine:
        """The Docker engine, which asks this house for an image where a job names none."""

        def build() -> DockerEngine:
            from ..engines.docker import DockerEngine
            from .imaging import chooser

            policies = self.policies
            settings = msgspec.structs.replace(policies.docker, store=str(self.settings.data_folder / "jobs"))
            inventory = lambda: self.devices.snapshot()  # noqa: E731, PLW0108  # built when asked
            return DockerEngine(settings, choose=chooser(inventory, policies.images, policies.matching))

        return self._once("docker", build)

    def _dispatcher_environment(self) -> dict[str, str]:
        """The policy that holds here holds for whoever goes on with these jobs."""
        file = self.settings.policy_file
        return {} if file is None else {POLICY_VARIABLE: str(file.absolute())}

    def local_images(self) -> tuple[LocalImage, ...]:
        """What the container daemon has; nothing where there is none, or none that answers."""
        try:
            return self.docker.local_images()
        except PaddleGpuError:
            return ()

    @property
    def jobs(self) -> JobService:
        """Store, queue, logs and results of this user's jobs."""

        def build() -> JobService:
            from ..jobs.service import JobService
            from .learning import learn

            return JobService.open(
                self.engines,
                data_folder=self.settings.data_folder,
                inventory=lambda: self.devices.snapshot(),  # noqa: PLW0108  # built when a job asks for a device
                factory=DISPATCHER,
                dispatcher_environment=self._dispatcher_environment(),
                learn=lambda job, result: learn(lambda: self.estimator, self.devices.snapshot, job, result),
                policy=self.policy,
            )

        return self._once("jobs", build)

    def close(self) -> None:
        """Stop threads and workers of whatever was built. Jobs go on."""
        with self._lock:
            built, self._built = self._built, {}
        if "jobs" in built:
            built["jobs"].stop()
        if "estimator" in built:
            built["estimator"].close()
        if "devices" in built:
            built["devices"].close()
