"""Makers' tools as programs on PATH: scripts that print what was recorded."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from jupyter_paddle_gpu.devices.makers import registry
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.devices.tool_reader import ToolReader
from jupyter_paddle_gpu.domain.devices import Driver

RECORDED = Path(__file__).parent / "recorded"
MIB = 2**20


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH but the shell's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return folder


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def reader(maker: str, root: Path) -> ToolReader:
    return ToolReader(registry.makers().rows[maker], root, least_seconds=0)


@pytest.mark.parametrize(
    ("maker", "name", "recording", "devices"),
    [
        ("ascend", "npu-smi", "npu-smi-23.0.3-910B2C.txt", ["ascend-0", "ascend-1"]),
        ("kunlun", "xpu-smi", "xpu-smi-q-5.0.21-P800.txt", ["kunlun-0"]),
        ("kunlun", "xpu_smi", "xpu_smi-4.0-R300.txt", ["kunlun-0", "kunlun-1"]),
        ("hygon", "hy-smi", "hy-smi-24.04.3.json", ["hygon-0"]),
        ("hygon", "rocm-smi", "hy-smi-24.04.3.json", ["hygon-0"]),
        ("amd", "rocm-smi", "rocm-smi-6.2.4-RX7800XT.json", ["amd-0"]),
        ("cambricon", "cnmon", "cnmon-5.10.13-MLU370-X8.txt", ["cambricon-0", "cambricon-1"]),
        ("enflame", "efsmi", "efsmi-q-1.4.3.4-S60.txt", ["enflame-0"]),
    ],
)
def test_each_maker_is_read_and_marked(
    programs: Path, tmp_path: Path, maker: str, name: str, recording: str, devices: list[str]
) -> None:
    program(programs, name, f"cat '{RECORDED / recording}'")
    service = DeviceService(tmp_path, simulate="", readers=[reader(maker, tmp_path)])
    found = service.snapshot().devices
    service.close()
    assert [device.id for device in found] == devices
    for device in found:
        assert (device.vendor, device.checked, device.problem) == (maker, False, None)
        assert device.memory_total == (device.memory_used or 0) + (device.memory_free or 0)
        assert registry.makers().of_device(device.id).name == maker


@pytest.mark.parametrize(
    ("recording", "vendor"), [("rocm-smi-6.2.4-RX7800XT.json", "amd"), ("hy-smi-24.04.3.json", "hygon")]
)
def test_a_tool_of_two_makers_names_a_card_once(programs: Path, tmp_path: Path, recording: str, vendor: str) -> None:
    program(programs, "rocm-smi", f"cat '{RECORDED / recording}'")
    for maker in ("amd", "hygon"):
        found = reader(maker, tmp_path).read()
        assert [device.vendor for device in found.devices] == [vendor] * (maker == vendor)
        assert found.problems == ()


def test_where_the_tool_names_no_vendor_the_bus_tells_whose_a_card_is(programs: Path, tmp_path: Path) -> None:
    program(programs, "rocm-smi", """echo '{"card0": {"PCI Bus": "0000:03:00.0", "GPU use (%)": "3"}}'""")
    card = tmp_path / "sys" / "bus" / "pci" / "devices" / "0000:03:00.0"
    card.mkdir(parents=True)
    (card / "vendor").write_text("0x1002\n")
    assert [device.id for device in reader("amd", tmp_path).read().devices] == ["amd-0000:03:00.0"]
    assert reader("hygon", tmp_path).read().devices == ()


def test_amd_by_its_newer_tool_with_three_questions(programs: Path, tmp_path: Path) -> None:
    program(programs, "amd-smi", f"cat '{RECORDED}'/amd-smi-26.2.1-MI355X-$1.json")
    program(programs, "rocm-smi", "exit 1")  # not asked where the newer one is
    (device,) = reader("amd", tmp_path).read().devices
    assert (device.id, device.power_limit, device.processes[0].pid) == ("amd-0000:05:00.0", 1400.0, 42)


def test_questions_that_an_old_version_does_not_know_cost_only_their_figures(programs: Path, tmp_path: Path) -> None:
    recording = RECORDED / "hy-smi-24.04.3.json"
    program(programs, "hy-smi", f"case $1 in --showproductname) cat '{recording}';; *) exit 2;; esac")
    reading = reader("hygon", tmp_path).read()
    assert [device.memory_total for device in reading.devices] == [65520 * MIB]
    assert reading.drivers == {}


def test_driver_and_processes_with_their_owners(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "proc/self/ns").mkdir(parents=True)
    (tmp_path / "proc/self/ns/pid").symlink_to("pid:[4026531836]")
    text = (RECORDED / "npu-smi-24.1.RC2-910.txt").read_text().replace("37656", str(os.getpid()))
    (tmp_path / "out").write_text(text)
    program(programs, "npu-smi", f"cat '{tmp_path}/out'")
    reading = reader("ascend", tmp_path).read()
    assert reading.drivers == {"ascend": Driver(version="24.1.RC2")}
    processes = {process.pid: process for process in reading.devices[0].processes}
    assert processes[os.getpid()].user == psutil.Process().username()
    assert processes[37664].command == "hlt_host_devmm_"  # the tool's word where the process is not to be seen
    unwell = reading.devices[1].problem
    assert unwell is not None
    assert unwell.code == "card_unwell"


def test_a_card_keeps_its_identity_when_its_tool_fails(programs: Path, tmp_path: Path) -> None:
    program(programs, "cnmon", f"cat '{RECORDED}/cnmon-5.10.13-MLU370-X8.txt'")
    asked = reader("cambricon", tmp_path)
    before = [device.id for device in asked.read().devices]
    for script, code in (("echo broken >&2; exit 3", "vendor_tool_failed"), ("echo hello", "vendor_tool_unknown")):
        program(programs, "cnmon", script)
        asked.close()
        reading = asked.read()
        assert [device.id for device in reading.devices] == before
        for device in reading.devices:
            assert device.problem is not None
            assert (device.problem.code, device.memory_total) == (code, None)
            assert "{" not in device.problem.render() + device.problem.render_hint()


def test_a_tool_that_never_worked_leaves_its_word(programs: Path, tmp_path: Path) -> None:
    program(programs, "efsmi", "echo 'no device found' >&2; exit 1")
    reading = reader("enflame", tmp_path).read()
    assert reading.devices == ()
    assert [problem.render() for problem in reading.problems] == [
        "The tool efsmi of Enflame does not answer: no device found"
    ]


def test_a_tool_is_not_started_for_everybody_who_looks(programs: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    program(programs, "npu-smi", f"echo x >> '{count}'; cat '{RECORDED}/npu-smi-23.0.3-910B2C.txt'")
    asked = ToolReader(registry.makers().rows["ascend"], tmp_path, least_seconds=3600)
    for _ in range(5):
        asked.read()
    assert count.read_text().split() == ["x"]
    asked.close()
    asked.read()
    assert count.read_text().split() == ["x", "x"]


def test_a_slow_tool_holds_up_nobody_who_has_an_answer(programs: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    go.touch()
    recording = RECORDED / "npu-smi-23.0.3-910B2C.txt"
    program(programs, "npu-smi", f"while [ ! -e '{go}' ]; do sleep 0.02; done; sed s/3317/4444/ '{recording}'")
    asked = reader("ascend", tmp_path)
    first = asked.read()
    go.unlink()
    for _ in range(5):
        assert asked.read() == first, "the tool does not answer, and nobody waits for it"
    go.touch()
    asked.close()
    assert asked.read().devices[0].memory_used == 4444 * MIB


def test_without_the_tool_the_bus_is_read(programs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sys/bus/pci/devices/0000:29:00.0"
    folder.mkdir(parents=True)
    for name, text in {"vendor": "0x19e5", "device": "0xd802", "class": "0x120000", "numa_node": "1"}.items():
        (folder / name).write_text(text + "\n")
    (device,) = reader("ascend", tmp_path).read().devices
    assert (device.id, device.name, device.checked) == ("ascend-0000:29:00.0", "Ascend 910B", False)
    assert device.problem is not None
    assert device.problem.code == "vendor_tool_missing"
    program(programs, "npu-smi", f"cat '{RECORDED}/npu-smi-23.0.3-910B2C.txt'")
    assert [device.numa_node for device in reader("ascend", tmp_path).read().devices] == [None, 1]


def test_nodes_of_the_kernels_graphics_are_looked_up_by_address(tmp_path: Path) -> None:
    drm = tmp_path / "sys/bus/pci/devices/0000:33:00.0/drm"
    for name in ("card2", "renderD130"):
        (drm / name).mkdir(parents=True)
    maker = registry.makers().rows["amd"]
    assert maker.nodes(maker.container, ("amd-0000:33:00.0",), tmp_path) == [  # type: ignore[arg-type]
        "/dev/dri/renderD130",
        "/dev/dri/card2",
    ]
    assert maker.nodes(maker.container, ("amd-1",), tmp_path) == ["/dev/dri/renderD129", "/dev/dri/card1"]  # type: ignore[arg-type]


def test_a_tool_that_hangs_is_given_up(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_paddle_gpu.devices.tool_reader.LONGEST_SECONDS", 0.2)
    program(programs, "npu-smi", "exec sleep 600")
    reading = reader("ascend", tmp_path).read()
    assert [problem.code for problem in reading.problems] == ["vendor_tool_failed"]
