"""The components, each built when it is first asked for: what a command does not use it does not pay for."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from ..domain.errors import PaddleGpuError
from ..domain.messages import Message
from .settings import POLICY_VARIABLE, Settings

if TYPE_CHECKING:
    from pathlib import Path

    from ..claims.boards import Boards
    from ..claims.claims import Claims
    from ..devices.service import DeviceService
    from ..domain.containers.images import LocalImage
    from ..domain.devices import Inventory
    from ..domain.jobs.job import Job, JobResult
    from ..engines.base import Engine
    from ..engines.engine_type import EngineType
    from ..engines.registry import Registry
    from ..estimator.service import EstimateService
    from ..jobs.monitoring.notifying import Tell
    from ..jobs.scheduling.queue import Standing
    from ..jobs.service import JobService
    from ..matching.policy import Policy
    from ..notices.settings import NoticePolicy
    from ..viewers.running import Viewers
    from .learned import Learned
    from .plans.plans import Plans
    from .policies.files import Policies
    from .policies.market import Market
    from .policies.overview import PolicyReport, Scope

T = TypeVar("T")

DISPATCHER = f"{__package__}.dispatching:job_service"
"""What looks after the queue where neither a server nor a terminal does."""


class Components:
    """Holds the settings and what is built from them; knows how they are wired, nothing else.

    Args:
        engine_types: our engines; None: all there are (`engines.registry.BUILT_IN`).
    """

    def __init__(self, settings: Settings, engine_types: Iterable[EngineType[Any]] | None = None) -> None:
        self.settings = settings
        self._engine_types = engine_types
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
            from .device_holders import DeviceHolders

            folder, seconds = self.settings.data_folder, self.settings.device_seconds
            holders = self._once("device_holders", lambda: DeviceHolders(folder, self.claims))
            return DeviceService(folder, interval=seconds, holders=holders)

        return self._once("devices", build)

    @property
    def estimator(self) -> EstimateService:
        """Estimates, with a warm worker for each interpreter."""

        def build() -> EstimateService:
            from ..estimator.service import EstimateService, EstimateSettings

            settings = EstimateSettings(calibration=self.settings.data_folder / "calibration.json")
            with contextlib.suppress(PaddleGpuError):  # a policy that is wrong is told by whoever matches and submits
                share = self.policy.memory_threshold
                settings = msgspec.structs.replace(settings, usable_share=share)
            return EstimateService(settings)

        return self._once("estimator", build)

    @property
    def learned(self) -> Learned:
        """What finished jobs have taught."""

        def build() -> Learned:
            from .learned import Learned

            return Learned(self.settings.data_folder)

        return self._once("learned", build)

    @property
    def policies(self) -> Policies:
        """What the policy file settles, with what was learned by now and the prices of now.

        Raises `PaddleGpuError` where it is wrong: nothing runs by half a policy.
        """
        from .policies.following import Prices

        def build() -> Policies:
            from .policies.files import load_policies

            settings, types = self.settings, self.registry.types
            return load_policies(settings.policy_file, settings.data_folder, types, settings.system_policy_file)

        read = self._once("policies", build)
        prices = self._once("prices", lambda: Prices(self.settings, self.registry.types))
        matching, changed = prices.within(read.matching)
        found = self.learned.within(msgspec.structs.replace(read, matching=matching))
        if changed and "jobs" in self._built:
            self.jobs.use(found.matching)
        return found

    def shown_policies(self, folder: Path | None = None) -> Policies:
        """The same for whoever only looks (in a notebook's folder): while a file is wrong, what stands without it."""
        try:
            return self.policies if folder is None else self.policies_in(folder)
        except PaddleGpuError:
            from .policies.files import shown_policies

            return shown_policies(self.registry.types, self.settings.system_policy_file)

    @property
    def _whole(self) -> bool:
        """Whether the policy files can be gone by: what was made while one was wrong is not kept beyond that."""
        try:
            return bool(self.policies)
        except PaddleGpuError:
            return False

    def policy_notes(self) -> tuple[Message, ...]:
        """What became wrong in the policy files since they were read: what was read then goes on."""
        from .policies.files import load_policies

        settings = self.settings
        try:
            load_policies(settings.policy_file, settings.data_folder, self.registry.types, settings.system_policy_file)
        except PaddleGpuError as error:
            return (_POLICY_KEPT.filled(why=error.message),)
        return ()

    def policies_in(self, folder: Path) -> Policies:
        """The same within what a file in a notebook's own folder says; read anew, as it is edited beside it."""
        from .policies.files import find_beside, load_policies

        if not find_beside(folder).exists():
            return self.policies
        settings, types = self.settings, self.registry.types
        fixed = settings.system_policy_file
        found = load_policies(settings.policy_file, settings.data_folder, types, fixed, beside=find_beside(folder))
        return self.learned.within(self._priced(found))

    def _priced(self, policies: Policies) -> Policies:
        """With the market's prices where some were fetched."""
        from .policies import market

        kept = market.load(self.settings.data_folder)
        return msgspec.structs.replace(policies, matching=market.within(policies.matching, kept))

    def prices(self, *, update: bool = False) -> Market:
        """The market's prices as they were kept, or fetched anew, which takes the network. Raises `PaddleGpuError`."""
        from .policies import market

        folder = self.settings.data_folder
        return market.update(folder) if update else market.load(folder)

    def policy_report(
        self, folder: Path | None = None, *, file: Path | None = None, scope: Scope | None = None
    ) -> PolicyReport:
        """The policy files that count for notebooks in a folder, what they settle together, and what is wrong.

        Args:
            file: one that is to take the place of the system's, the user's or the notebook's (`scope`; None: of the one
                that it is by its place).
        """
        from .policies.overview import report

        found = report(self.settings, self.registry.types, folder, file=file, scope=scope)
        asked = found.settled.get("scheduler", {}).get("algorithm") == "learned"
        if not asked or (proof := self.learned.proof()).proven:
            return found
        return msgspec.structs.replace(found, notes=(*found.notes, proof.reason))

    def policy_init(self, folder: Path | None = None) -> Path:
        """Write a first policy file into a folder, by default the data folder. Raises `PaddleGpuError` (409)."""
        from .policies.overview import initial

        return initial(folder or self.settings.data_folder)

    @property
    def policy(self) -> Policy:
        """How matching chooses."""
        return self.policies.matching

    @property
    def registry(self) -> Registry:
        """The engines that are installed."""

        def build() -> Registry:
            from ..engines import registry

            return registry.load(self._engine_types)

        return self._once("registry", build)

    @property
    def engines(self) -> dict[str, Engine]:
        """The engines by name, the default first: the policy's, else the first of the registry."""

        def build() -> dict[str, Engine]:
            policies, types = self.shown_policies(), self.registry.types
            order = sorted(types, key=lambda name: name != policies.engine)
            return {name: self._engine(types[name], policies) for name in order}

        return self._once("engines" if self._whole else "shown_engines", build)

    def _engine(self, kind: EngineType[Any], policies: Policies) -> Engine:
        from ..engines.capabilities import inventory_of
        from ..engines.engine_type import EngineContext
        from .jobs.imaging import chooser

        def inventory() -> Inventory:
            return inventory_of(self.engines[kind.name], self.devices.snapshot)

        context = EngineContext(
            jobs_folder=self.settings.data_folder / "jobs",
            inventory=lambda: self.devices.snapshot(),  # noqa: PLW0108  # built when asked
            choose_image=chooser(inventory, policies.images, policies.matching),
            place_images=policies.images.patterns,
            policy_file=policies.policy_file,
        )
        return kind.make(policies.of_engine(kind), context)

    def _dispatcher_environment(self) -> dict[str, str]:
        """The policy that holds here holds for whoever goes on with these jobs."""
        file = self.settings.policy_file
        return {} if file is None else {POLICY_VARIABLE: str(file.absolute())}

    def local_images(self) -> tuple[LocalImage, ...]:
        """The images that engines have here; nothing of one that does not answer."""
        from ..engines.capabilities import local_images_of

        return local_images_of(self.engines.values())

    def standing(self, engine: str, devices: Inventory, share: float | None = None, /) -> Standing:
        """What a job for an engine with these devices would find, behind all jobs of this store.

        A store that cannot be read holds up no placement: whoever submits is told what is wrong with it.
        """
        from ..jobs.scheduling.queue import Standing

        try:
            return self.jobs.standing(engine, devices, share)
        except (OSError, sqlite3.Error, PaddleGpuError):
            return Standing()

    @property
    def jobs(self) -> JobService:
        """Store, queue, logs and results of this user's jobs; while a policy file is wrong, to be looked at."""
        whole = self._whole

        def build() -> JobService:
            from ..jobs.service import JobService
            from ..jobs.settings import JobSettings
            from .policies.following import Following

            policies, follow = self.shown_policies(), Following(self.settings, self.registry.types)
            return JobService.open(
                self.engines,
                data_folder=self.settings.data_folder,
                settings=JobSettings(follow=follow).within(policies.jobs),
                inventory=lambda: self.devices.snapshot(),  # noqa: PLW0108  # built when a job asks for a device
                factory=DISPATCHER if whole else "",
                dispatcher_environment=self._dispatcher_environment(),
                learn=self._learn,
                claims=self.claims,
                boards=self.boards,
                policy=policies.matching,
                tell=self._telling(),
                periodic=self._periodic() if whole else None,
            )

        return self._once("jobs" if whole else "shown_jobs", build)

    def _telling(self) -> Tell:
        from .jobs.notifications import Telling
        from .policies.files import load_policies

        def policy() -> NoticePolicy:
            settings, types = self.settings, self.registry.types
            return load_policies(settings.policy_file, settings.data_folder, types, settings.system_policy_file).notices

        plans = self._periodic() if self._whole else None
        return Telling(policy) if plans is None else Telling(policy, plans.sweeps.over)

    def _periodic(self) -> Plans | None:
        """What makes jobs by itself."""
        return None

    @property
    def claims(self) -> Claims | None:
        """What is agreed with other users' stores; None where this system has no such users."""

        def build() -> Claims | None:
            if not hasattr(os, "geteuid"):
                return None
            from ..claims.claims import Claims

            return Claims(self.settings.claims_folder, self.settings.data_folder)

        return self._once("claims", build)

    @property
    def boards(self) -> Boards | None:
        """The queue that all users of this machine share; None as for `claims`."""

        def build() -> Boards | None:
            if not hasattr(os, "geteuid"):
                return None
            from ..claims.boards import Boards

            return Boards(self.settings.queue_folder, self.settings.data_folder)

        return self._once("boards", build)

    @property
    def viewers(self) -> Viewers:
        """The viewers of event files that run."""

        def build() -> Viewers:
            from ..viewers.running import Viewers

            return Viewers()

        return self._once("viewers", build)

    def _learn(self, job: Job, result: JobResult) -> tuple[Message, ...]:
        from ..engines.capabilities import inventory_of
        from .jobs.learned_runs import remembered
        from .jobs.learning import learn

        inventory = partial(inventory_of, self.engines[job.spec.engine], self.devices.snapshot)
        if job.device_ids and (run := remembered(job, result, inventory(), self.policy)) is not None:
            self.learned.history.add(run)
            self.jobs.use(self.policy)
        return learn(lambda: self.estimator, inventory, job, result)

    def close(self) -> None:
        """Stop threads and workers of whatever was built. Jobs go on."""
        with self._lock:
            built, self._built = self._built, {}
        for name in {"jobs", "shown_jobs"} & built.keys():
            built[name].stop()
        if "estimator" in built:
            built["estimator"].close()
        if "devices" in built:
            built["devices"].close()
        if "viewers" in built:
            built["viewers"].close()
        if "device_holders" in built:
            built["device_holders"].close()


_POLICY_KEPT = Message(
    code="policy_kept",
    text="{why} The policy that was read before goes on.",
    hint="Mend the file; a server that is started anew would start no jobs with it.",
)
