from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.domain.decisions import Need, need_of
from jupyter_paddle_gpu.domain.devices import Accelerator, Device, DeviceDetails, DeviceProcess
from jupyter_paddle_gpu.domain.estimates import Estimate, Fit
from jupyter_paddle_gpu.matching.fit import judge, judge_model
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.matching.roofline import seconds_per_step

GIB = 2**30


def device(total: int, used: int, *processes: DeviceProcess) -> Device:
    return Device(
        id="GPU-0",
        index=0,
        vendor="nvidia",
        name="Tesla T4",
        memory_total=total,
        memory_used=used,
        memory_free=total - used,
        processes=processes,
    )


def estimate(high: int, low: int | None = None, **more: object) -> Estimate:
    return Estimate(status="ok", evidence="trace", high=high, low=low, peak_bytes=high, **more)  # type: ignore[arg-type]


def model(name: str) -> Accelerator:
    found = find(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("used", "high", "low", "fit", "sentence"),
    [
        (0, 6, 6, "fits", "Fits with 12.0 GiB to spare: 6.00 GiB of 18.0 GiB that may be planned for."),
        (0, 18, 18, "fits", "Fits with 0 B to spare: 18.0 GiB of 18.0 GiB that may be planned for."),
        (10, 9, 7, "tight", "May just fit: 7.00 GiB to 9.00 GiB are needed, 8.00 GiB can be had."),
        (10, 12, 11, "short", "4.00 GiB short: 12.0 GiB are needed, 8.00 GiB can be had now."),
        (20, 12, 11, "short", "12.0 GiB short: 12.0 GiB are needed, 0 B can be had now."),
        (0, 30, 19, "never", "Too small: 30.0 GiB are needed, and even the empty card offers 18.0 GiB."),
    ],
)
def test_verdicts_at_a_threshold_of_nine_tenths(used: int, high: int, low: int, fit: str, sentence: str) -> None:
    verdict = judge(device(20 * GIB, used * GIB), estimate(high * GIB, low * GIB), Policy(memory_threshold=0.9))
    assert verdict.fit == fit
    assert verdict.reason.render() == sentence
    assert verdict.needed_bytes == high * GIB


def test_what_the_driver_keeps_is_not_waited_for() -> None:
    # Read on an idle H200: of 143,771 MiB the driver keeps 615, and the rest is free.
    total, kept = 143_771 * 2**20, 615 * 2**20
    idle = replace(
        device(total, 0), memory_free=total - kept, details=DeviceDetails(memory_reserved=kept), name="NVIDIA H200"
    )
    everything = Policy(memory_threshold=1)
    assert judge(idle, estimate(total - kept), everything).fit == "fits"
    assert judge(idle, estimate(total - kept + 1), everything).fit == "never"


def test_what_a_driver_calls_free_but_keeps_is_not_to_be_had() -> None:
    """The card's own line and the sentence of the decision are of the same bytes."""
    idle = replace(device(24 * GIB, 0), details=DeviceDetails(memory_reserved=GIB))
    for asked in (estimate(30 * GIB), estimate(23 * GIB, 22 * GIB)):
        verdict = judge(idle, asked, Policy(memory_threshold=0.9))
        assert verdict.free_bytes == int(23 * GIB * 0.9)
        assert verdict.fit == "never" and verdict.missing_bytes == asked.high - verdict.free_bytes


def test_who_holds_the_memory_is_named() -> None:
    mine = DeviceProcess(pid=7, memory_bytes=2 * GIB, user="li")
    other = DeviceProcess(pid=8, memory_bytes=11 * GIB, user="alice")
    verdict = judge(device(20 * GIB, 13 * GIB, mine, other), estimate(9 * GIB), Policy())
    assert verdict.reason.render_hint() == "alice holds 11.0 GiB of it (process 8). Wait, or choose another device."
    job = DeviceProcess(pid=9, memory_bytes=13 * GIB, user="li", job_id="20260101-a")
    verdict = judge(device(20 * GIB, 13 * GIB, job), estimate(9 * GIB), Policy())
    assert verdict.reason.render_hint().startswith("The job 20260101-a holds 13.0 GiB of it.")
    nameless = DeviceProcess(pid=9, memory_bytes=13 * GIB)
    verdict = judge(device(20 * GIB, 13 * GIB, nameless), estimate(9 * GIB), Policy())
    assert verdict.reason.render_hint() == "Process 9 holds 13.0 GiB of it. Wait, or choose another device."


def test_an_estimate_for_the_cpu_judges_no_gpu() -> None:
    verdict = judge(device(20 * GIB, 0), estimate(GIB, target="cpu"), Policy())
    assert (verdict.fit, verdict.reason.code) == ("unknown", "estimate_for_cpu")


def test_the_threshold_is_the_policys() -> None:
    assert judge(device(20 * GIB, 0), estimate(19 * GIB), Policy()).fit == "never"
    assert judge(device(20 * GIB, 0), estimate(19 * GIB), Policy(memory_threshold=1.0)).fit == "fits"


@given(
    total=st.integers(1, 10**12),
    share=st.floats(0, 1),
    high=st.integers(1, 10**12),
    spread=st.floats(0, 1),
    threshold=st.floats(0.1, 1),
)
def test_a_verdict_never_contradicts_its_figures(
    total: int, share: float, high: int, spread: float, threshold: float
) -> None:
    used = int(total * share)
    verdict = judge(device(total, used), estimate(high, int(high * spread)), Policy(memory_threshold=threshold))
    assert verdict.free_bytes is not None
    assert 0 <= verdict.free_bytes <= total - used
    assert (verdict.fit == "fits") == (high <= verdict.free_bytes)
    if verdict.fit == "fits":
        assert used + high <= total * threshold
        assert verdict.missing_bytes is None
    else:
        assert verdict.missing_bytes == high - verdict.free_bytes


def test_largest_batch_and_step_time_come_along() -> None:
    fits = (Fit(device="T4 16GB", limit_bytes=1, largest_batch=48),)
    verdict = judge(device(20 * GIB, 0), estimate(GIB, flops_per_step=81 * 10**11, fits=fits), Policy(), model("T4"))
    assert verdict.largest_batch == 48
    assert verdict.seconds_per_step == pytest.approx(1.0)
    on_empty = judge_model(model("T4"), estimate(GIB, fits=fits), Policy())
    assert (on_empty.fit, on_empty.largest_batch, on_empty.seconds_per_step) == ("fits", 48, None)


def need(step: Estimate) -> Need:
    found = need_of(step)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("card", "amp", "flops", "moved", "seconds"),
    [
        ("T4", "off", 8.1e12, 0, 1.0),
        ("T4", "O1", 65e12, 0, 1.0),
        ("A100 SXM 80GB", "off", 156e12, 0, 1.0),  # TF32
        ("A100 SXM 80GB", "O2", 312e12, 0, 1.0),
        ("A100 SXM 80GB", "off", 1e12, 2039e9, 1.0),  # bound by memory
        ("P40", "off", 11.8e12, 0, 1.0),
        ("P40", "O1", 11.8e12, 0, 1.0),  # its FP16 units are slower than computing in FP32
    ],
)
def test_the_roofline(card: str, amp: str, flops: float, moved: float, seconds: float) -> None:
    step = estimate(GIB, amp=amp, flops_per_step=int(flops), bytes_moved=int(moved))
    assert seconds_per_step(need(step), model(card)) == pytest.approx(seconds)


def test_no_figures_no_bound() -> None:
    assert seconds_per_step(need(estimate(GIB)), model("T4")) is None
    assert seconds_per_step(need(estimate(GIB, flops_per_step=10**12, bytes_moved=GIB)), model("Ascend 910B")) is None
