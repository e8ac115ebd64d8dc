"""All that NVML tells, through its real binary interface (`nvml_stand_in.c`)."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_paddle_gpu.devices.joints import joined
from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.domain.devices import DeviceDetails, DeviceLink

Nvidia = Callable[..., list[Reading]]
GIB = 2**30
TOLD = DeviceDetails(
    memory_reserved=600 << 20,
    clock=1410,
    clock_max=1980,
    memory_clock=1215,
    memory_clock_max=1593,
    throttling=("power_cap", "heat"),
    slowdown_temperature=89,
    ecc=True,
    ecc_corrected=5,
    ecc_uncorrected=2,
    pcie_generation=1,
    pcie_generation_max=4,
    pcie_width=8,
    pcie_width_max=16,
    fans=(30, 31),
    encoder=3,
    decoder=4,
    compute_mode="exclusive_process",
    persistence=True,
    mig=False,
)


def test_everything_a_card_tells(nvidia: Nvidia) -> None:
    (reading,) = nvidia("count 1\nslow 0 36\necc 0 5 2\nfans 0 2")
    assert reading.devices[0].details == TOLD


def test_a_driver_without_the_newer_functions_tells_the_rest(nvidia: Nvidia) -> None:
    (reading,) = nvidia("count 1\nslow 0 36\necc 0 5 2\nfans 0 2", library="old")
    found = reading.devices[0].details
    assert found is not None
    assert (found.memory_reserved, found.fans, found.throttling) == (None, (30,), ("power_cap", "heat"))
    assert (found.clock, found.ecc_uncorrected, found.compute_mode) == (1410, 2, "exclusive_process")


def test_clocks_at_their_highest_are_told_from_clocks_that_are_not_known(nvidia: Nvidia) -> None:
    running, mute = nvidia("count 1", "count 1\nmute 0")
    assert running.devices[0].details is not None
    assert running.devices[0].details.throttling == ()
    assert mute.devices[0].details == DeviceDetails()


def test_every_class_of_error_leaves_the_card_and_the_others(nvidia: Nvidia) -> None:
    codes = [*range(1, 31), 999]
    readings = nvidia(*[f"count 3\nnvlink 0 1 4\nanswer 1 {code}" for code in codes])
    for reading in readings:
        healthy, silent, other = reading.devices
        assert (silent.id, silent.memory_total, silent.details) == ("GPU-1", 80 * GIB, DeviceDetails())
        for card in (healthy, other):
            assert card.details is not None
            assert card.details.clock == 1410
    assert len(readings) == len(codes)


def test_a_slice_tells_its_share(nvidia: Nvidia) -> None:
    (reading,) = nvidia("count 1\nmig 0 2")
    card, part, _ = reading.devices
    assert card.details is not None
    assert part.details is not None
    assert (card.details.mig, card.details.slice_compute) == (True, None)
    assert (part.details.slice_compute, part.details.slice_memory) == (1, 9728 << 20)


def test_sixteen_cards(nvidia: Nvidia) -> None:
    one, many = nvidia("count 1", "count 16\nhandle 7 15")
    assert one.links == ()
    assert [device.index for device in many.devices] == list(range(16))
    assert many.devices[7].problem is not None
    assert len(many.links) == 15 * 14 // 2
    assert {link.joint for link in many.links} == {"system"}


def test_who_is_joined_to_whom(nvidia: Nvidia) -> None:
    (reading,) = nvidia("count 4\nnvlink 0 1 4\nnvlink 2 3 2\nnear 0 10\nnear 1 40")
    lane = 25781e6
    assert reading.links == (
        DeviceLink(devices=("GPU-0", "GPU-1"), joint="nvlink", lanes=4, bandwidth=4 * lane),
        DeviceLink(devices=("GPU-0", "GPU-2"), joint="switch"),
        DeviceLink(devices=("GPU-0", "GPU-3"), joint="switch"),
        DeviceLink(devices=("GPU-1", "GPU-2"), joint="node"),
        DeviceLink(devices=("GPU-1", "GPU-3"), joint="node"),
        DeviceLink(devices=("GPU-2", "GPU-3"), joint="nvlink", lanes=2, bandwidth=2 * lane),
    )
    assert [one.render() for one in joined(reading.devices, reading.links)] == [
        "NVLink joins GPU 0 + GPU 1: 96.0 GiB/s each way.",
        "NVLink joins GPU 2 + GPU 3: 48.0 GiB/s each way.",
    ]
    same = [DeviceLink(devices=pair, joint="nvlink") for pair in (("GPU-0", "GPU-1"), ("GPU-1", "GPU-2"))]
    assert [one.render() for one in joined(reading.devices, same)] == ["NVLink joins GPU 0 + GPU 1, GPU 1 + GPU 2."]


def test_cards_behind_switches_reach_each_other_with_all_their_links(nvidia: Nvidia) -> None:
    (reading,) = nvidia("count 3\nswitch 0 12\nswitch 1 12\nswitch 2 12")
    assert {(link.joint, link.lanes) for link in reading.links} == {("nvlink", 12)}
    (said,) = joined(reading.devices, reading.links)
    assert said.render().startswith("NVLink joins " + " + ".join(one.title for one in reading.devices) + ": ")


def test_links_are_asked_anew_when_the_cards_change(nvidia: Nvidia) -> None:
    before, after = nvidia("count 2\nnvlink 0 1 4", "count 3\nnvlink 0 1 4")
    assert [len(reading.links) for reading in (before, after)] == [1, 3]
