"""Schedules: making one, changing one, and how each is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...domain.devices import device_called
from ...domain.errors import PaddleGpuError
from ...domain.jobs.job import WantedResources
from ...domain.messages import Message, Param
from ...domain.notebooks import NotebookSource
from ...domain.plans.schedules import Schedule, ScheduleReport, note_of
from ...jobs import names
from ...runner import files
from ..requests import Submission
from .dates import check_cron, local_zone, moment_of, next_dates, zone_of
from .freeing import waits_for_device
from .pricing import amount, waits_for_price, why_not_by_cost
from .tools import Tools
from .wanted import ScheduleRequest, kept, unkept

if TYPE_CHECKING:
    from ...jobs.plans.plan_store import PlanStore

SHOWN_DATES = 3
RESTORE_SECONDS = 86400.0
"""So long a deleted schedule can be restored."""
_change = msgspec.structs.replace


class Schedules:
    """The schedules of one user. Thread-safe; what it answers is read from the store each time."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    @property
    def store(self) -> PlanStore[Schedule]:
        """Their rows."""
        return self._tools.jobs().plans("schedule", Schedule)

    def folder(self, schedule_id: str) -> Path:
        """Holds the notebook of those that run it as it was saved."""
        return self._tools.folder / "plans" / schedule_id

    def create(self, source: NotebookSource, request: ScheduleRequest) -> ScheduleReport:
        """Make one. What would keep its job from being accepted now is said now.

        Raises:
            PaddleGpuError: `moment_wrong`, `moment_passed`, `cron_wrong`, `zone_unknown`, `schedule_unclear` (400),
                `cost_same` (409), and what a submit would be refused with.
        """
        now, jobs = self._tools.clock(), self._tools.jobs()
        asked = [name for name in ("at", "cron", "free", "below") if getattr(request, name) not in (None, "")]
        if len(asked) != 1:
            raise PaddleGpuError(
                "schedule_unclear",
                "A schedule needs one of: a time, a cron expression, a device that becomes free, a price.",
                hint="`--at 22:00`, `--cron '0 2 * * *'`, `--when 'gpu 1 free'` or `--when 'cost<2'`.",
            )
        zone = zone_of(request.zone).key
        schedule = Schedule(
            id="schedule-" + names.new_id(now),
            name=request.submission.name or source.path.stem,
            notebook=str(source.path),
            created=now,
            trigger="at",
            source=request.source,
            submission=kept(_change(request.submission, token="")),
            arguments=request.arguments,
            zone=zone,
            owner=jobs.owner(),
        )
        match asked[0]:
            case "at":
                schedule = _change(schedule, next=moment_of(request.at, zone, now))
            case "cron":
                cron = check_cron(request.cron)
                schedule = _change(schedule, trigger="cron", cron=cron, next=next_dates(cron, zone, now, 1)[0])
            case "free":
                schedule = _change(schedule, trigger="free", device=self._device(request.free))
            case _:
                if (why := self.why_not_by_cost()) is not None:
                    raise PaddleGpuError.of(why, status=409)
                schedule = _change(schedule, trigger="cost", below=request.below)
        # What is wrong with it is to be told while somebody is there to hear it.
        self._tools.settle(source, self.submission_of(schedule), False)
        if request.source == "saved":
            folder = self.folder(schedule.id)
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            files.replace(folder / "source.ipynb", msgspec.json.encode(source.content))
        self.store.add(schedule)
        jobs.nudge()
        return self.report(schedule)

    def why_not_by_cost(self) -> Message | None:
        """Why nobody can wait for a lower price here; None where that can be."""
        return why_not_by_cost(self._tools.inventory(), self._tools.policy())

    def dates(self, *, at: str = "", cron: str = "", zone: str = "") -> tuple[float, ...]:
        """When it would run next. Raises `PaddleGpuError` as `create` does."""
        now = self._tools.clock()
        return next_dates(check_cron(cron), zone, now, SHOWN_DATES) if cron else (moment_of(at, zone, now),)

    def _device(self, text: str) -> str:
        """The id of a device by id or number. Raises `PaddleGpuError` (`device_unknown`, 400; `device_ambiguous`)."""
        real = (device for device in self._tools.inventory().devices if not device.simulated)
        if (device := device_called(text, real)) is not None:
            return device.id
        raise PaddleGpuError(
            "device_unknown",
            "There is no device {device} here.",
            hint="`jupyter paddle-gpu gpus` lists them.",
            device=text[:80],
        )

    def submission_of(self, schedule: Schedule, device: str = "") -> Submission:
        """What its runs are submitted with; one that waits for a device has that device, as has one for `device`."""
        base = unkept(schedule.submission)
        if chosen := device or schedule.device:
            limits = base.resources or WantedResources()
            fields = {name: getattr(limits, name) for name in WantedResources.__struct_fields__}
            base = _change(base, resources=WantedResources(**{**fields, "gpus": 1, "device_ids": (chosen,)}))
        return _change(base, name=schedule.name, plan=schedule.id)

    def read(self, schedule: Schedule) -> NotebookSource:
        """What a run takes now. Raises `PaddleGpuError` where that is not there or no notebook any more."""
        from ...notebook.files.reading import parse_notebook, read_notebook

        if schedule.source == "disk":
            return read_notebook(Path(schedule.notebook), arguments=schedule.arguments)
        try:
            content = (self.folder(schedule.id) / "source.ipynb").read_bytes()
        except OSError as error:
            raise PaddleGpuError(
                "source_missing",
                "The saved notebook of schedule {id} is not in its folder any more.",
                hint="Delete the schedule and make it anew.",
                status=409,
                id=schedule.id,
            ) from error
        return parse_notebook(content, Path(schedule.notebook))

    def list(self) -> tuple[ScheduleReport, ...]:
        """All that were not deleted, the newest first. Whoever lists them sees to it that they are looked after."""
        found = tuple(self.report(one) for one in self.store.all() if one.state != "deleted")
        if any(one.state == "active" for one in found):
            self._tools.jobs().nudge()
        return found

    def get(self, schedule_id: str) -> ScheduleReport:
        """One. Raises `PaddleGpuError` (404)."""
        return self.report(self.find(schedule_id))

    def find(self, text: str) -> Schedule:
        """The row whose id is `text`, or ends with it."""
        rows = self.store.all()
        found = [one for one in rows if one.id == text] or [one for one in rows if text and one.id.endswith(f"-{text}")]
        return found[0] if found else self.store.get(text)

    def pause(self, schedule_id: str) -> ScheduleReport:
        """Nothing of it runs until it is resumed."""
        return self._set(schedule_id, lambda one: _change(one, state="paused") if one.state == "active" else one)

    def resume(self, schedule_id: str) -> ScheduleReport:
        """From now on it runs again; dates that passed meanwhile were meant not to run."""
        now = self._tools.clock()

        def make(one: Schedule) -> Schedule:
            if one.state != "paused":
                return one
            if one.trigger == "cron":
                return _change(one, state="active", next=next_dates(one.cron, one.zone, now, 1)[0])
            if one.trigger == "at" and (one.next or 0) <= now:
                raise PaddleGpuError(
                    "moment_passed",
                    "{typed} has passed.",
                    hint="Write a later moment, or submit it now.",
                    typed=datetime.fromtimestamp(one.next or 0, zone_of(one.zone)).isoformat(" ", "minutes"),
                )
            return _change(one, state="active")

        return self._set(schedule_id, make)

    def delete(self, schedule_id: str) -> ScheduleReport:
        """Nothing of it runs any more; it can be restored for a day. Its jobs stay."""
        now = self._tools.clock()

        def make(one: Schedule) -> Schedule:
            return one if one.state == "deleted" else _change(one, state="deleted", before=one.state, removed=now)

        return self._set(schedule_id, make)

    def restore(self, schedule_id: str) -> ScheduleReport:
        """As it was before it was deleted. Dates that passed meanwhile were meant not to run."""
        now = self._tools.clock()

        def make(one: Schedule) -> Schedule:
            if one.state != "deleted":
                return one
            due = next_dates(one.cron, one.zone, now, 1)[0] if one.trigger == "cron" else one.next
            return _change(one, state=one.before, removed=None, next=due)

        return self._set(schedule_id, make)

    def purge(self) -> None:
        """Forget what was deleted long ago."""
        now = self._tools.clock()
        for one in self.store.all():
            if one.removed is not None and now - one.removed > RESTORE_SECONDS:
                self.store.remove(one.id)
                shutil.rmtree(self.folder(one.id), ignore_errors=True)

    def _set(self, schedule_id: str, make: Callable[[Schedule], Schedule]) -> ScheduleReport:
        schedule = self.store.change(self.find(schedule_id).id, make)
        self._tools.jobs().nudge()
        return self.report(schedule)

    def report(self, schedule: Schedule) -> ScheduleReport:
        """How it is."""
        dates: tuple[float, ...] = ()
        if schedule.state == "active" and schedule.next is not None:
            dates = (schedule.next,)
            if schedule.trigger == "cron":
                dates += next_dates(schedule.cron, schedule.zone, schedule.next, SHOWN_DATES - 1)
        last = schedule.firings[-1] if schedule.firings else None
        return ScheduleReport(
            id=schedule.id,
            name=schedule.name,
            notebook=schedule.notebook,
            created=schedule.created,
            trigger=schedule.trigger,
            state=schedule.state,
            source=schedule.source,
            when=self._when(schedule),
            cron=schedule.cron,
            zone=schedule.zone,
            device=schedule.device,
            below=schedule.below,
            dates=dates,
            last=last,
            note=note_of(last) or self._waits_for(schedule),
            runs=schedule.runs,
            owner=schedule.owner,
        )

    def _waits_for(self, schedule: Schedule) -> Message | None:
        if schedule.state != "active" or schedule.trigger not in ("cost", "free"):
            return None
        inventory = self._tools.inventory()
        if schedule.trigger == "free":
            return waits_for_device(inventory, schedule.device)
        return waits_for_price(inventory, self._tools.policy(), schedule.below or 0.0)

    def _when(self, schedule: Schedule) -> Message:
        match schedule.trigger:
            case "cron":
                text = "by `{cron}` in {zone}" if schedule.zone != local_zone() else "by `{cron}`"
                return Message(code="by_cron", text=text, params={"cron": schedule.cron, "zone": schedule.zone})
            case "free":
                here = self._tools.inventory().devices
                name = next((one.title for one in here if one.id == schedule.device), schedule.device)
                return Message(code="when_free", text="when {device} is free", params={"device": name})
            case "cost":
                price = amount(schedule.below or 0.0)
                params: dict[str, Param] = {"price": price, "currency": self._tools.policy().currency}
                return Message(code="when_cheap", text="when an hour costs less than {price} {currency}", params=params)
            case _:
                return Message(code="at", text="once")
