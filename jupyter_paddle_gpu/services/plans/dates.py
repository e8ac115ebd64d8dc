"""Dates as people say them: a time of the day, so long from now, a cron expression in a time zone.

cronsim knows what daylight saving does to cron (as Debian's cron: an hour that is left out is run right after, one that
comes twice is run once) and has no dependencies; croniter, the other one, runs an hour that comes twice two times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ...domain.errors import PaddleGpuError

MOST_COUNTED = 10_000
"""Missed dates that are counted; more are so many."""
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


@lru_cache(maxsize=1)
def local_zone() -> str:
    """The IANA name of this machine's time zone."""
    from tzlocal import get_localzone_name

    try:
        return str(get_localzone_name() or "UTC")
    except ZoneInfoNotFoundError:
        return "UTC"


def zone_of(name: str) -> ZoneInfo:
    """The time zone of a name; empty: this machine's. Raises `PaddleGpuError` (`zone_unknown`, 400)."""
    try:
        return ZoneInfo(name or local_zone())
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise PaddleGpuError(
            "zone_unknown",
            "There is no time zone “{zone}”.",
            hint="Names look like Asia/Shanghai or Europe/Berlin.",
            zone=name[:80],
        ) from error


def check_cron(expression: str) -> str:
    """The expression, tidied. Raises `PaddleGpuError` (`cron_wrong`, 400)."""
    from cronsim import CronSim, CronSimError

    tidy = " ".join(expression.split())
    try:
        found = CronSim(tidy, datetime(2024, 1, 1))
        if len(tidy.split()) == 5:
            next(found)
            return tidy
    except (CronSimError, StopIteration):
        pass
    raise PaddleGpuError(
        "cron_wrong",
        "“{cron}” is no cron expression that ever comes true.",
        hint="It has five fields: minute, hour, day, month, day of the week; `0 2 * * *` is every night at 2.",
        cron=expression[:80],
    )


def cron_dates(expression: str, zone: str, after: float) -> Iterator[float]:
    """When it comes true after a moment, seconds since the epoch, for ever."""
    from cronsim import CronSim

    for date in CronSim(expression, datetime.fromtimestamp(after, zone_of(zone))):
        yield date.timestamp()


def next_dates(expression: str, zone: str, after: float, count: int) -> tuple[float, ...]:
    """The next so many."""
    return tuple(islice(cron_dates(expression, zone, after), count))


def passed(expression: str, zone: str, due: float, now: float) -> list[float]:
    """The dates from `due` until now, both with them."""
    dates = [due]
    for date in cron_dates(expression, zone, due):
        if date > now or len(dates) >= MOST_COUNTED:
            break
        dates.append(date)
    return dates


def moment_of(text: str, zone: str, now: float) -> float:
    """A moment as a person types it: `22:00`, `2026-11-23 02:00`, `+2h`; a time of the day is the next one.

    Raises:
        PaddleGpuError: `moment_wrong`, `moment_passed` (400).
    """
    typed = text.strip()
    place = zone_of(zone)
    here = datetime.fromtimestamp(now, place)
    if found := re.fullmatch(r"\+\s*(\d+(?:\.\d+)?)\s*([a-z]+)", typed.lower()):
        unit = _UNITS.get(found[2])
        if unit is not None:
            return now + float(found[1]) * unit
    if found := re.fullmatch(r"(\d{1,2}):(\d{2})", typed):
        hour, minute = int(found[1]), int(found[2])
        if hour < 24 and minute < 60:
            day = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
            if day.timestamp() <= now:
                day = (day.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=place)
            return day.timestamp()
    try:
        date = datetime.fromisoformat(typed)
    except ValueError:
        date = None
    if date is None:
        raise PaddleGpuError(
            "moment_wrong",
            "“{typed}” is no moment.",
            hint="Write `22:00`, `2026-11-23 02:00` or `+2h`.",
            typed=typed[:80],
        )
    moment = (date if date.tzinfo else date.replace(tzinfo=place)).timestamp()
    if moment <= now:
        raise PaddleGpuError(
            "moment_passed", "{typed} has passed.", hint="Write a later moment, or submit it now.", typed=typed
        )
    return moment
