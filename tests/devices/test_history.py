"""The ring of the last half hour."""

from __future__ import annotations

from pathlib import Path

from jupyter_paddle_gpu.devices.history import History
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory

HOST = HostSample(cpu_count=1, cpu_percent=0, memory_total=1, memory_available=1)


def seen(time: float, *loads: int | None) -> Inventory:
    devices = (
        Device(id=f"GPU-{n}", index=n, vendor="nvidia", name="card", utilization=load, memory_used=7 << 30, power=61.5)
        for n, load in enumerate(loads)
    )
    return Inventory(time=time, host=HOST, devices=tuple(devices))


def test_every_sample_is_kept_for_so_long_and_no_longer() -> None:
    history = History(kept_seconds=10)
    for time in range(100, 120):
        history.add(seen(time, time - 100, None))
    first, second = history.read(119).devices
    assert (first.id, first.times) == ("GPU-0", tuple(map(float, range(109, 120))))
    assert first.utilization == tuple(map(float, range(9, 20)))
    assert second.utilization == (None,) * 11
    assert set(first.memory_used) == {float(7 << 30)}
    assert set(first.temperature) == {None}
    assert set(second.power) == {61.5}
    assert history.read(119, seconds=2).devices[0].times == (117.0, 118.0, 119.0)


def test_many_samples_are_told_as_means_of_equal_spans() -> None:
    history = History()
    for time in range(1000, 1100):
        history.add(seen(time, 10 if time < 1050 else 90))
    (device,) = history.read(1100, seconds=100, points=2).devices
    assert (device.times, device.utilization) == ((1049.0, 1099.0), (10.0, 90.0))
    (few,) = history.read(1100, seconds=3, points=50).devices
    assert few.times == (1097.0, 1098.0, 1099.0)


def test_a_time_in_which_nobody_looked_is_a_gap_and_no_line() -> None:
    history = History()
    for time in (1000, 1001, 1060, 1061):
        history.add(seen(time, 50))
    (device,) = history.read(1062, seconds=62, points=3).devices
    assert device.times == (1001.0, 1061.0)


def test_a_device_that_went_is_forgotten_and_a_clock_set_back_begins_anew() -> None:
    history = History(kept_seconds=10)
    history.add(seen(100, 1, 2))
    history.add(seen(111, 3))
    assert [device.id for device in history.read(111).devices] == ["GPU-0"]
    history.add(seen(50, 4))
    (device,) = history.read(50).devices
    assert (device.times, device.utilization) == ((50.0,), (4.0,))


def test_the_inventory_keeps_what_it_reads(tmp_path: Path) -> None:
    service = DeviceService(tmp_path, simulate="T4 x2", readers=())
    service.snapshot()
    service.snapshot()
    history = service.history(seconds=60)
    service.close()
    assert [(device.id, len(device.times)) for device in history.devices] == [("simulated-0", 2), ("simulated-1", 2)]
    assert history.since < history.devices[0].times[0] <= history.until
