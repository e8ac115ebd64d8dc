"""What cards said when they were asked, and what the estimate makes of it, are the same."""

from __future__ import annotations

import json
from math import ceil
from pathlib import Path

from benchmarks.device.__main__ import ends, units
from jupyter_paddle_gpu.devices.contexts import MIB, of_cuda
from jupyter_paddle_gpu.estimator.memory import evidence
from jupyter_paddle_gpu.estimator.memory.allocator import DRIVER_PAGE, driver_bytes

READING = json.loads((Path(__file__).parents[1] / "benchmarks/results/device_reading.json").read_text())


def test_the_ends_are_those_of_all_trainings() -> None:
    found = units(READING["programs"])
    low, high = ends(found)
    assert (ceil(-10 * low) / 10, ceil(10 * high) / 10) == (evidence.BELOW, evidence.ABOVE)
    assert len(found) == evidence.ANSWERED
    assert sum(-evidence.BELOW <= one <= evidence.ABOVE for one in found) >= 0.9 * len(found)


def test_recurrent_nets_take_what_is_estimated() -> None:
    """Their workspace is known, and what is left open of it small."""
    found = [one for one in READING["programs"] if one["asks"] == "recurrence"]
    assert len(found) == 4
    for one in found:
        width = max(one["largest_workspace"], DRIVER_PAGE)
        assert width < 0.1 * one["estimated"]
        assert abs(one["answered"] / one["estimated"] - 1) < 0.04
        assert -1 < (one["answered"] - one["estimated"]) / width < evidence.ABOVE


def test_what_was_held_out_is_told_as_it_came() -> None:
    """By the ends of the first programs alone, 34 of the 42 that were asked afterwards (docs/device-terms.md)."""
    low, high = ends(units([one for one in READING["programs"] if not one["held_out"]]))
    held_out = units([one for one in READING["programs"] if one["held_out"]])
    assert (sum(low <= one <= high for one in held_out), len(held_out)) == (34, 42)


def test_allocations_take_the_pages_that_were_read() -> None:
    """The driver keeps a page that was given back: the first of the next size may find room in it."""
    for one in READING["pages"]:
        if one["size"] >= 65536:
            kept = DRIVER_PAGE if one["first"] == 0 and one["size"] > MIB else 0
            assert driver_bytes([one["size"]] * one["count"]) == one["all"] + kept, one
        assert one["left"] == 0


def test_a_hopper_context_is_as_it_was_read() -> None:
    steps = {one["step"]: one["process"] for one in READING["contexts"]}
    found = of_cuda((9, 0), (13, 0))
    without_workspace = steps["cuBLAS handle"] - 32 * MIB
    assert found.low == without_workspace + 32 * MIB
    tensors = steps["three tensors of 64 MiB"] - steps["cuBLAS handle"]
    assert found.low <= steps["convolution float16 filter"] - tensors <= found.high


def test_a_batch_normalisation_keeps_nothing_for_its_gradient() -> None:
    as_paddle_asks = [one for one in READING["cudnn"]["normalisations"] if not one["persistent"]]
    assert len(as_paddle_asks) == 30
    assert {(one["reserve"], one["forward"], one["backward"]) for one in as_paddle_asks} == {(0, 0, 0)}
