"""Moments and cron expressions, in time zones whose clocks are set."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.services.plans.dates import check_cron, moment_of, next_dates, passed

BERLIN = "Europe/Berlin"


def at(text: str, zone: str = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def told(moments, zone: str = BERLIN) -> list[str]:
    return [datetime.fromtimestamp(one, ZoneInfo(zone)).strftime("%m-%d %H:%M %Z") for one in moments]


def test_the_hour_that_is_left_out_in_spring_is_run_right_after():
    dates = next_dates("30 2 * * *", BERLIN, at("2026-03-28 12:00"), 3)
    assert told(dates) == ["03-29 03:00 CEST", "03-30 02:30 CEST", "03-31 02:30 CEST"]


def test_the_hour_that_comes_twice_in_autumn_is_run_once():
    dates = next_dates("30 2 * * *", BERLIN, at("2026-10-24 12:00"), 3)
    assert told(dates) == ["10-25 02:30 CEST", "10-26 02:30 CET", "10-27 02:30 CET"]


def test_the_same_expression_is_another_moment_in_another_zone():
    after = at("2026-11-22 12:00", "UTC")
    here = next_dates("0 2 * * *", "Asia/Shanghai", after, 1)
    assert here[0] - next_dates("0 2 * * *", "UTC", after, 1)[0] == -8 * 3600


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("22:00", "2026-03-28 22:00"),
        ("9:30", "2026-03-29 09:30"),  # has passed today; the clock is set in between
        ("2026-04-01 02:00", "2026-04-01 02:00"),
        ("2026-04-01T02:00", "2026-04-01 02:00"),
        ("2026-04-01T00:00+00:00", "2026-04-01 02:00"),
        ("+2h", "2026-03-28 14:00"),
        ("+90 min", "2026-03-28 13:30"),
    ],
)
def test_moments_as_people_type_them(typed, moment):
    assert moment_of(typed, BERLIN, at("2026-03-28 12:00")) == at(moment)


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("soon", "moment_wrong"),
        ("25:00", "moment_wrong"),
        ("+3 moons", "moment_wrong"),
        ("2020-01-01", "moment_passed"),
    ],
)
def test_what_is_no_moment_is_refused(typed, code):
    with pytest.raises(PaddleGpuError) as refusal:
        moment_of(typed, BERLIN, at("2026-03-28 12:00"))
    assert refusal.value.code == code


@pytest.mark.parametrize(
    "expression", ["", "* * * *", "0 26 * * *", "* * * * * *", "0 0 31 2 *", "@daily", "a b c d e"]
)
def test_what_never_comes_true_is_refused(expression):
    with pytest.raises(PaddleGpuError) as refusal:
        check_cron(expression)
    assert refusal.value.code == "cron_wrong"


def test_an_unknown_zone_is_refused():
    with pytest.raises(PaddleGpuError) as refusal:
        next_dates("0 2 * * *", "Moon/Tranquillity", 0, 1)
    assert refusal.value.code == "zone_unknown"


def test_dates_that_passed_are_counted():
    due = at("2026-11-01 02:00")
    assert passed("0 2 * * *", BERLIN, due, due + 10) == [due]
    assert len(passed("0 2 * * *", BERLIN, due, at("2026-11-04 01:59"))) == 3
    assert passed("0 2 * * *", BERLIN, due, at("2026-11-04 02:00"))[3:] == [at("2026-11-04 02:00")]
