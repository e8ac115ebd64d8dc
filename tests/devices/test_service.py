from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from jupyter_paddle_gpu.devices.makers.nvidia.reader import NvidiaReader
from jupyter_paddle_gpu.devices.makers.registry import makers
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.devices.simulated import SimulatedReader
from jupyter_paddle_gpu.domain.devices import Inventory


def card(root: Path, address: str, vendor: str, device: str, kind: str = "0x120000") -> None:
    folder = root / "sys/bus/pci/devices" / address
    folder.mkdir(parents=True)
    for name, text in {"vendor": vendor, "device": device, "class": kind}.items():
        (folder / name).write_text(text + "\n")


def test_a_machine_without_a_gpu_still_has_a_host_and_a_reason(tmp_path: Path) -> None:
    service = DeviceService(tmp_path, simulate="", readers=makers().readers(tmp_path))
    inventory = service.snapshot()
    service.close()
    assert inventory.devices == ()
    assert [p.code for p in inventory.problems] == ["no_gpu"]
    assert inventory.host.memory_total > 0
    assert inventory.host.disk_free


def test_other_vendors_are_seen_on_the_bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card(tmp_path, "0000:01:00.0", "0x19e5", "0xd802")
    card(tmp_path, "0000:02:00.0", "0x19e5", "0xd802")
    card(tmp_path, "0000:03:00.0", "0x1d22", "0x3687")
    card(tmp_path, "0000:04:00.0", "0x19e5", "0x1711", "0x030000")  # a server console's graphics
    card(tmp_path, "0000:05:00.0", "0x1002", "0x1638", "0x030000")  # a desktop processor's graphics
    card(tmp_path, "0000:06:00.0", "0x8086", "0x1572", "0x020000")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "npu-smi").write_text("#!/bin/sh\n")
    (tools / "npu-smi").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(tools))
    service = DeviceService(simulate="", readers=makers().readers(tmp_path))
    inventory = service.snapshot()
    service.close()
    assert [(d.vendor, d.index, d.name) for d in inventory.devices] == [
        ("ascend", 0, "Ascend 910B"),
        ("ascend", 1, "Ascend 910B"),
        ("kunlun", 0, "Kunlun P800"),
    ]
    assert [d.problem.code for d in inventory.devices if d.problem] == [
        "vendor_tool_unknown",  # npu-smi is there and says nothing
        "vendor_tool_unknown",
        "vendor_tool_missing",
    ]
    assert "xpu-smi" in inventory.devices[2].problem.render()  # type: ignore[union-attr]
    assert inventory.problems == ()  # "no GPU" would be wrong beside them


def test_simulated_devices_are_marked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PADDLE_GPU_SIMULATE", "A100 80GB x2, T4")
    service = DeviceService(readers=[NvidiaReader(tmp_path)])
    inventory = service.snapshot()
    service.close()
    assert [(d.id, d.name, d.simulated) for d in inventory.devices] == [
        ("simulated-0", "A100 SXM 80GB", True),
        ("simulated-1", "A100 SXM 80GB", True),
        ("simulated-2", "T4 16GB", True),
    ]
    assert inventory.devices[0].memory_free == 80 * 2**30
    assert [p.code for p in inventory.problems] == ["no_gpu"]


def test_a_name_with_an_x_is_no_number_of_cards() -> None:
    reading = SimulatedReader("RTX 4090, RTX 4090 x2").read()
    assert reading.problems == ()
    assert len({device.name for device in reading.devices}) == 1 and len(reading.devices) == 3


def test_a_wish_that_cannot_be_simulated_is_told() -> None:
    reading = SimulatedReader("A100*3, Voodoo 2").read()
    assert len(reading.devices) == 3
    assert "Voodoo 2" in reading.problems[0].render()
    assert len(SimulatedReader("T4 x 1000000").read().devices) == 64


def test_subscribers_and_snapshots_share_samples(tmp_path: Path) -> None:
    service = DeviceService(tmp_path, simulate="T4", readers=[], interval=3600)
    got = threading.Event()
    inventories: list[Inventory] = []

    def callback(inventory: Inventory) -> None:
        inventories.append(inventory)
        got.set()

    leave = service.subscribe(callback)
    assert got.wait(60)
    assert service.snapshot() is inventories[0]
    leave()
    service.close()
    assert service.snapshot() is not inventories[0]


def test_this_machine_is_read_without_a_fault() -> None:
    service = DeviceService(simulate="")
    inventory = service.snapshot()
    service.close()
    assert inventory.devices or inventory.problems
