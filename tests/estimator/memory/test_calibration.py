"""Ranges that narrow with what was measured."""

import random
from concurrent.futures import ThreadPoolExecutor

import msgspec

from jupyter_paddle_gpu.devices.contexts import of_nccl
from jupyter_paddle_gpu.domain.estimates import DeviceTerms
from jupyter_paddle_gpu.estimator.memory.calibration import Calibration, Key, Observation, predict

GIB = 1 << 30
MIB = 1 << 20
TERMS = DeviceTerms(
    mapped_low=4 * GIB, mapped_high=5 * GIB, context_low=300 * MIB, context_high=700 * MIB, source="a table"
)
KEY = Key("NVIDIA A100-SXM4-80GB", "12.6", "3.3.1")


def observed(context, share, count, seed=1):
    chance = random.Random(seed)
    for number in range(count):
        low = chance.randint(1, 30) * 256 * MIB
        high = low + chance.randint(0, 8) * 64 * MIB
        exact = context + low + share * (high - low)
        yield Observation(
            mapped_low=low, mapped_high=high, measured=round(exact * chance.gauss(1, 0.01)), time=float(number)
        )


def test_without_observations_it_is_the_published_range():
    spread = predict(TERMS, ())

    assert spread.context == 500 * MIB
    assert spread.low >= TERMS.mapped_low and spread.high <= TERMS.mapped_high + TERMS.context_high
    assert spread.low < spread.likely < spread.high


def test_what_lies_between_several_devices_widens_the_range_and_nothing_else():
    """Two cards: 32 channels, one connection of the ring and one of the tree, 10 MiB received and 2 sent."""
    alone, two, eight = (of_nccl(devices) for devices in (1, 2, 8))
    assert (alone.low, alone.high, alone.source) == (0, 0, "")
    assert (two.low, two.high, eight.high) == (0, 32 * 2 * 12 * MIB, 32 * 3 * 12 * MIB)
    between = msgspec.structs.replace(TERMS, communication_low=two.low, communication_high=two.high)
    one, both = predict(TERMS, ()), predict(between, ())
    assert both.context == one.context
    assert both.likely == one.likely + two.likely
    assert both.low >= TERMS.mapped_low
    assert one.high < both.high <= TERMS.mapped_high + TERMS.context_high + two.high
    for seen in (1, 50):  # jobs on one card teach nothing of it
        observations = tuple(observed(350 * MIB, 0.6, seen))
        assert predict(between, observations).likely == predict(TERMS, observations).likely + two.likely


def test_the_range_narrows_and_closes_on_the_truth():
    context, share = 350 * MIB, 0.6
    truth = context + TERMS.mapped_low + share * (TERMS.mapped_high - TERMS.mapped_low)
    widths = []
    for count in (0, 1, 10, 100):
        spread = predict(TERMS, tuple(observed(context, share, count)))
        widths.append(spread.high - spread.low)
        assert spread.low <= truth <= spread.high
    assert widths == sorted(widths, reverse=True)
    assert abs(spread.likely - truth) < 0.01 * truth
    assert abs(spread.context - context) < 100 * MIB


def test_one_outlier_does_not_turn_the_estimate():
    wild = Observation(mapped_low=4 * GIB, mapped_high=4 * GIB, measured=40 * GIB, time=0.0)
    sane = tuple(observed(400 * MIB, 0.3, 40))

    assert predict(TERMS, (*sane, wild)).likely < 1.2 * predict(TERMS, sane).likely


def test_observations_are_kept_by_device_and_version_and_by_several_writers(tmp_path):
    path = tmp_path / "data" / "calibration.json"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: Calibration(path).observe(KEY, TERMS, 5 * GIB + number), range(20)))
    calibration = Calibration(path)

    assert sorted(one.measured - 5 * GIB for one in calibration.observations(KEY)) == list(range(20))
    assert calibration.observations(Key("T4", "12.6", "3.3.1")) == ()
    assert calibration.predict(KEY, TERMS).observations == 20
    assert calibration.predict(None, TERMS).observations == 0
    assert [entry.name for entry in path.parent.iterdir()] == ["calibration.json"]


def test_a_damaged_file_means_the_published_range(tmp_path):
    path = tmp_path / "calibration.json"
    path.write_text("{not json")
    calibration = Calibration(path)

    assert calibration.predict(KEY, TERMS) == predict(TERMS, ())
    calibration.observe(KEY, TERMS, 5 * GIB)
    assert len(calibration.observations(KEY)) == 1


def test_what_cannot_be_a_measurement_is_not_kept(tmp_path):
    calibration = Calibration(tmp_path / "calibration.json")
    calibration.observe(KEY, TERMS, 0)
    assert calibration.observations(KEY) == ()
