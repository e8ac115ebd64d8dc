from __future__ import annotations

import pytest

from jupyter_paddle_gpu.devices.catalogue import accelerators
from jupyter_paddle_gpu.domain.decisions import Choice
from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import Estimate
from jupyter_paddle_gpu.domain.placements import Placement
from jupyter_paddle_gpu.matching.match import match
from jupyter_paddle_gpu.matching.offer import Offer
from jupyter_paddle_gpu.matching.policy import Policy

GB = 10**9
HOST = HostSample(cpu_count=2, cpu_percent=0.0, memory_total=8 * GB, memory_available=4 * GB)


def device(index: int, total: int = 40, used: int = 0, **changes: object) -> Device:
    fields: dict[str, object] = {
        "id": f"GPU-{index}",
        "index": index,
        "vendor": "nvidia",
        "name": "Tesla T4",
        "memory_total": total * GB,
        "memory_used": used * GB,
        "memory_free": (total - used) * GB,
    }
    return Device(**{**fields, **changes})  # type: ignore[arg-type]


def inventory(*devices: Device) -> Inventory:
    return Inventory(time=0, host=HOST, devices=devices)


def estimate(high: float, low: float | None = None, **changes: object) -> Estimate:
    fields: dict[str, object] = {"status": "ok", "evidence": "trace", "allocated_peak_bytes": GB}
    fields |= {"high": int(high * GB), "low": int((low or high) * GB), "peak_bytes": int(high * GB)}
    return Estimate(**{**fields, **changes})  # type: ignore[arg-type]


def codes(placement: Placement) -> list[str]:
    for reason in placement.reasons:
        assert "{" not in reason.render() + reason.render_hint()
    return [reason.code for reason in placement.reasons]


def test_the_device_with_the_most_room_is_chosen() -> None:
    placement = match(estimate(10), inventory(device(0, used=20), device(1, used=5), device(2, used=10)))
    assert placement.device_ids == ("GPU-1",)
    assert codes(placement) == ["chosen_freest"]
    assert [v.fit for v in placement.verdicts] == ["fits", "fits", "fits"]
    assert placement.catalogue == ()


def test_a_device_that_another_users_job_has_is_the_last_choice_and_says_so() -> None:
    devices = inventory(device(0), device(1, used=20))
    held = {"GPU-0": DeviceHolder(job="j1", owner="alice")}
    placement = match(estimate(10), devices, offer=Offer(held=held))
    assert placement.device_ids == ("GPU-1",)
    assert [(verdict.fit, verdict.reason.code) for verdict in placement.verdicts] == [
        ("short", "held_by_other"),
        ("fits", "fits"),
    ]
    assert "alice" in placement.verdicts[0].reason.render()
    assert codes(match(estimate(10), devices, choice=Choice(device_ids=("0",)), offer=Offer(held=held))) == [
        "device_held"
    ]
    assert codes(match(estimate(10), inventory(device(0)), offer=Offer(held=held))) == ["device_held"]


def test_preferences_of_the_place_are_followed() -> None:
    devices = inventory(device(0, used=20), device(1, used=5), device(2, 80, name="NVIDIA A100-SXM4-80GB", used=30))
    needed = estimate(10, flops_per_step=10**12, bytes_moved=GB)
    assert match(needed, devices, policy=Policy(prefer="least_free")).device_ids == ("GPU-0",)
    fastest = match(needed, devices, policy=Policy(prefer="fastest"))
    assert (fastest.device_ids, codes(fastest)) == (("GPU-2",), ["chosen_fastest"])
    assert match(needed, devices, policy=Policy(excluded=("2", "GPU-1"))).device_ids == ("GPU-0",)


def test_a_tight_device_comes_before_a_full_one_and_says_so() -> None:
    here = inventory(device(0, used=30), device(1, used=10))
    placement = match(estimate(34, low=20), here, policy=Policy(plan_for="low"))
    assert placement.device_ids == ("GPU-1",)
    assert codes(placement) == ["chosen_tight"]


def test_where_nothing_is_free_now_the_least_short_one_is_waited_for() -> None:
    placement = match(estimate(30), inventory(device(0, used=39), device(1, used=20)))
    assert placement.device_ids == ("GPU-1",)
    assert codes(placement) == ["chosen_later"]


def test_too_large_for_every_device_is_refused() -> None:
    placement = match(estimate(100), inventory(device(0), device(1)))
    assert (placement.device_ids, placement.decision.outcome) == ((), "refuse")
    assert codes(placement) == ["fits_nowhere"]


def test_no_device_goes_to_the_cpu_with_the_catalogue_beside_it() -> None:
    placement = match(estimate(20), inventory(), accelerators())
    assert placement.device_ids == ()
    assert codes(placement) == ["cpu_no_device"]
    fits = {verdict.device_name: verdict.fit for verdict in placement.catalogue}
    assert (fits["T4 16GB"], fits["A100 SXM 40GB"], fits["RTX 4090 24GB"]) == ("never", "fits", "fits")
    totals = [next(a.memory_bytes for a in accelerators() if a.name == v.device_name) for v in placement.catalogue]
    assert totals == sorted(totals)


def test_the_card_that_is_asked_for_is_judged_as_well() -> None:
    asked = "Ascend 910B 64GB"
    for here in (inventory(), inventory(device(0))):
        placement = match(estimate(20, device=asked), here, accelerators()[:2])
        assert [(v.device_name, v.fit) for v in placement.catalogue][-1] == (asked, "fits")
        assert asked not in {v.device_name for v in match(estimate(20), here, accelerators()[:2]).catalogue}
    own = device(0)
    assert match(estimate(20, device=own.name), inventory(own), accelerators()[:2]).catalogue == ()
    # Where no card here would ever hold it, known ones that would are named.
    known = match(estimate(60), inventory(own), accelerators()).catalogue
    assert {verdict.device_name for verdict in known if verdict.fit == "fits"} >= {"A100 SXM 80GB"}


def test_the_machine_itself_may_be_too_small_as_well() -> None:
    assert codes(match(estimate(20, allocated_peak_bytes=6 * GB), inventory())) == ["cpu_no_device", "host_short"]


def test_the_cpu_on_request() -> None:
    placement = match(estimate(1), inventory(device(0)), choice=Choice(gpus=0))
    assert (placement.device_ids, codes(placement)) == ((), ["cpu_on_request"])


def test_several_devices() -> None:
    devices = inventory(device(0, used=30), device(1), device(2, used=5))
    assert match(estimate(10), devices, choice=Choice(gpus=2)).device_ids == ("GPU-1", "GPU-2")
    assert codes(match(estimate(10), devices, choice=Choice(gpus=4))) == ["too_few_devices"]


def test_several_devices_are_of_one_maker() -> None:
    others = [device(index, 64, id=f"NPU-{index}", vendor="ascend", name="Ascend 910B") for index in (2, 3)]
    mixed = inventory(device(0, 80), device(1, 40, used=20), *others)
    assert match(estimate(20), mixed, choice=Choice(gpus=2)).device_ids == ("NPU-2", "NPU-3")
    assert match(estimate(10), mixed, choice=Choice(gpus=2)).device_ids == ("GPU-0", "GPU-1")
    waits = match(estimate(20), inventory(*mixed.devices[:3]), choice=Choice(gpus=2)).decision
    assert (waits.outcome, waits.device_ids) == ("wait", ("GPU-0", "GPU-1"))
    apart = match(estimate(10), inventory(device(0), others[0]), choice=Choice(gpus=2)).decision
    assert apart.reason.render().startswith("2 GPUs were asked for; of one maker 1 can be used here")
    with pytest.raises(PaddleGpuError, match="several makers"):
        match(estimate(10), mixed, choice=Choice(device_ids=("GPU-0", "NPU-2")))


def test_simulated_devices_are_judged_and_never_chosen() -> None:
    simulated = device(0, simulated=True, id="simulated-0")
    placement = match(estimate(10), inventory(simulated), accelerators())
    assert placement.device_ids == ()
    assert [(v.fit, v.simulated) for v in placement.verdicts] == [("fits", True)]
    assert codes(placement) == ["cpu_no_device"]
    assert placement.catalogue
    with pytest.raises(PaddleGpuError) as caught:
        match(estimate(10), inventory(simulated), choice=Choice(device_ids=("simulated-0",)))
    assert caught.value.code == "device_simulated"


def test_the_persons_choice_wins_and_is_commented() -> None:
    devices = inventory(device(0, used=38), device(1), device(2, 8))
    assert codes(match(estimate(10), devices, choice=Choice(device_ids=("1",)))) == ["your_choice"]
    short = match(estimate(10), devices, choice=Choice(device_ids=("GPU-0",)))
    assert (short.device_ids, codes(short)) == (("GPU-0",), ["your_choice_short"])
    assert codes(match(estimate(10), devices, choice=Choice(device_ids=("2",)))) == ["fits_not_there"]
    for chosen, refusal in ((["1", "GPU-1"], ("device_twice", 400)), (["7"], ("device_unknown", 404))):
        with pytest.raises(PaddleGpuError) as caught:
            match(estimate(10), devices, choice=Choice(device_ids=tuple(chosen)))
        assert (caught.value.code, caught.value.status) == refusal


def test_of_two_makers_a_number_needs_the_makers_word() -> None:
    here = inventory(device(0), device(0, id="ascend-0", vendor="ascend", kind="npu", name="910B2C", checked=False))
    with pytest.raises(PaddleGpuError) as caught:
        match(estimate(5), here, choice=Choice(device_ids=("0",)))
    assert (caught.value.code, caught.value.status) == ("device_ambiguous", 409)
    assert str(caught.value) == "“0” may be any of GPU 0 (Tesla T4), NPU 0 (910B2C)."
    assert caught.value.message.render_hint() == "Say which by its maker's word, as `npu:0`, or by its id."
    for word in ("npu:0", "NPU 0", "npu0", "ascend-0"):
        placement = match(estimate(5), here, choice=Choice(device_ids=(word,)))
        assert placement.device_ids == ("ascend-0",)
        assert placement.reasons[0].render() == "NPU 0 (910B2C, not checked on hardware) is your choice."
    kept_out = Policy(excluded=("gpu:0",))
    assert match(estimate(5), here, policy=kept_out).device_ids == ("ascend-0",)


def test_a_divided_card_gives_way_to_its_slices() -> None:
    whole = device(0)
    parts = [device(0, 10, id=f"MIG-{i}", parent="GPU-0", used=i) for i in range(2)]
    placement = match(estimate(5), inventory(whole, *parts))
    assert placement.device_ids == ("MIG-0",)
    assert [v.reason.code for v in placement.verdicts] == ["divided", "fits", "fits"]
    for chosen, code in ((["0"], "device_divided"), (["GPU-0"], "device_divided")):
        with pytest.raises(PaddleGpuError) as caught:
            match(estimate(5), inventory(whole, *parts), choice=Choice(device_ids=tuple(chosen)))
        assert caught.value.code == code
    assert match(estimate(5), inventory(whole, *parts), choice=Choice(device_ids=("MIG-1",))).device_ids == ("MIG-1",)
    refused = match(estimate(5), inventory(whole, *parts), choice=Choice(gpus=2)).decision.reason
    assert refused.code == "too_few_devices" and "slices" in refused.render()
    for several in (("MIG-0", "MIG-1"), ("MIG-0", "GPU-1")):
        with pytest.raises(PaddleGpuError) as caught:
            match(estimate(5), inventory(whole, *parts, device(1)), choice=Choice(device_ids=several))
        assert caught.value.code == "slices_together", "CUDA shows a process the first of them alone"


def test_without_an_estimate_the_freest_device_is_taken() -> None:
    placement = match(None, inventory(device(0, used=3), device(1)))
    assert (placement.device_ids, codes(placement)) == (("GPU-1",), ["chosen_unjudged"])
    assert placement.decision.reason.render().startswith("GPU 1")
    two = match(None, inventory(device(0, used=3), device(1)), choice=Choice(gpus=2))
    assert len(two.device_ids) == 2
    assert two.decision.reason.render().startswith("2 devices are chosen")
    open_questions = Estimate(status="needs_input", evidence="trace", high=5)
    assert match(open_questions, inventory(device(0))).verdicts[0].fit == "unknown"


def test_the_reason_for_several_devices_speaks_of_all_of_them() -> None:
    devices = (device(0, used=20), device(1, used=5), device(2, used=10))
    needed = estimate(10, flops_per_step=10**12, bytes_moved=GB)

    def told(*here: Device, named: tuple[str, ...] = (), peak: Estimate = needed, **changes: object) -> str:
        choice = Choice(device_ids=named, gpus=None if named else 2)
        policy = Policy(**changes)  # type: ignore[arg-type]
        return match(peak, inventory(*here), choice=choice, policy=policy).decision.reason.render()

    assert told(*devices).startswith("2 devices fit and have the most free memory: at least 22.")
    # Of the smallest rooms the roomier one comes last, and the smaller one is what each has at least.
    assert told(*devices, prefer="least_free").startswith("2 devices are the smallest rooms that fit: at least 13.")
    assert told(*devices, prefer="fastest") == "2 devices are the fastest of those that fit."
    assert told(*devices, prefer="score").startswith("2 devices fit and serve the policy's aims best: at least ")
    assert told(*devices[1:]) == "2 devices have room for it."
    assert told(*devices, excluded=("0",)) == "2 devices have room for it, and no other here may be chosen by itself."
    assert told(*devices, named=("1", "2")) == "2 devices are your choice."
    tight = estimate(25, low=20)
    assert "but GPU 2" in told(*devices[1:], peak=tight, plan_for="low")
    assert "but GPU 2" in told(*devices, named=("2", "1"), peak=tight, plan_for="low")


def test_devices_without_figures_are_chosen_where_there_is_no_other() -> None:
    mute = device(0, vendor="ascend", memory_total=None, memory_used=None, memory_free=None)
    placement = match(estimate(1), inventory(mute))
    assert (placement.device_ids, codes(placement)) == (("GPU-0",), ["chosen_silent"])
    assert match(estimate(1), inventory(mute, device(1))).device_ids == ("GPU-1",)
    assert placement.verdicts[0].reason.code == "no_memory_figures"
    assert match(estimate(1), inventory(mute), choice=Choice(device_ids=("0",))).device_ids == ("GPU-0",)
