"""What each engine has for its jobs: devices and places. An engine that does not answer holds up nobody else's jobs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping

import msgspec

from ...domain.devices import Inventory
from ...domain.errors import PaddleGpuError
from ...domain.jobs import reasons
from ...domain.messages import Message
from ...engines.base import Engine
from ...engines.capabilities import OwnDevices, assigns_devices, sees_more, slots_of
from ..settings import JobSettings
from .queue import ANOTHERS
from .room import Supply

PASSING = frozenset({"driver_failed", "driver_no_answer", "driver_mismatch", "driver_not_loaded"})
"""A driver that is there and does not answer: jobs that want a device wait until it does, and say so."""


class Supplies:
    """Asks engines with devices of their own, each in a thread, and this machine for the others.

    Args:
        here: this machine's devices now; None: they are not known here.
    """

    def __init__(
        self, engines: Mapping[str, Engine], settings: JobSettings, here: Callable[[], Inventory] | None
    ) -> None:
        self._engines, self._settings, self._here = engines, settings, here
        self._late: dict[str, _Question] = {}

    def ask(self, engines: Collection[str]) -> Callable[[str], Supply]:
        """What there is now, by engine; the devices only of those named, for which somebody wants one."""
        own = {name for name in engines if isinstance(self._engines.get(name), OwnDevices)}
        answers = self._own(own)
        seen = self._here() if self._here is not None and set(engines) - own else None
        here = Supply() if seen is None else Supply(devices=seen.devices, links=seen.links, trouble=trouble_of(seen))
        return lambda name: self._of(name, here, answers)

    def _of(self, name: str, here: Supply, answers: Mapping[str, Inventory | Message]) -> Supply:
        if name == ANOTHERS:
            return here
        engine = self._engines.get(name)
        default = self._settings.slots(name)
        if engine is None:
            return Supply(slots=default)
        slots = slots_of(engine, default)
        if not isinstance(engine, OwnDevices):
            return msgspec.structs.replace(here, slots=slots, judged=sees_more(engine))
        answer, assigned = answers.get(name), assigns_devices(engine)
        if isinstance(answer, Inventory):
            return Supply(
                pool=name,
                devices=answer.devices,
                links=answer.links,
                trouble=trouble_of(answer),
                assigned=assigned,
                slots=slots,
                judged=True,
            )
        return Supply(pool=name, trouble=answer, assigned=assigned, slots=slots)

    def _own(self, names: Collection[str]) -> dict[str, Inventory | Message]:
        self._late = {name: asked for name, asked in self._late.items() if asked.thread.is_alive()}
        asked = {
            name: _Question(engine)
            for name in names
            if name not in self._late and isinstance(engine := self._engines[name], OwnDevices)
        }
        patience = self._settings.engine_seconds
        deadline, answers = time.monotonic() + patience, dict[str, Inventory | Message]()
        for name, question in asked.items():
            question.thread.join(max(0.0, deadline - time.monotonic()))
            if question.thread.is_alive():
                self._late[name] = question
            elif question.answer is not None:
                answers[name] = question.answer
        for name in self._late.keys() & set(names):
            answers[name] = reasons.engine_unreachable(name, f"no answer for {patience:g} s")
        return answers


class _Question:
    """One engine asked for its devices."""

    def __init__(self, engine: OwnDevices) -> None:
        self.answer: Inventory | Message | None = None
        self._engine = engine
        self.thread = threading.Thread(target=self._ask, name="paddle-gpu devices of an engine", daemon=True)
        self.thread.start()

    def _ask(self) -> None:
        try:
            self.answer = self._engine.inventory()
        except PaddleGpuError as error:
            self.answer = error.message
        except Exception as error:  # an engine of another package: its jobs wait and say why
            self.answer = reasons.engine_unreachable(type(self._engine).__name__, f"{type(error).__name__}: {error}")


def supply_of(engine: Engine, name: str, seen: Inventory) -> Supply:
    """What an engine has, where its devices were asked for already."""
    return Supply(
        pool=name if isinstance(engine, OwnDevices) else "",
        devices=seen.devices,
        trouble=trouble_of(seen),
        assigned=assigns_devices(engine),
        judged=sees_more(engine),
    )


def trouble_of(seen: Inventory) -> Message | None:
    """Why not all devices can be seen just now, where that passes."""
    return next((problem for problem in seen.problems if problem.code in PASSING), None)
