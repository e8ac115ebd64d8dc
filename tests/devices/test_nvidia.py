from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.domain.devices import Driver

Nvidia = Callable[..., list[Reading]]
GIB = 2**30


def node(root: Path, address: str, **files: str) -> None:
    folder = root / "sys/bus/pci/devices" / address
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text + "\n")


def on_host(root: Path) -> None:
    (root / "proc/self/ns").mkdir(parents=True)
    (root / "proc/self/ns/pid").symlink_to("pid:[4026531836]")


def test_cards_with_everything_they_can_tell(nvidia: Nvidia, tmp_path: Path) -> None:
    node(tmp_path / "root", "0000:3b:01.0", numa_node="1", vendor="0x10de")
    (reading,) = nvidia(f"count 2\nused 1 {5 * GIB}")
    assert (reading.drivers, reading.problems) == ({"nvidia": Driver(version="550.54.15", runtime="12.4")}, ())
    first, second = reading.devices
    assert (first.id, first.index, first.name, first.vendor) == ("GPU-0", 0, "NVIDIA A100-SXM4-80GB", "nvidia")
    assert (second.memory_total, second.memory_used, second.memory_free) == (80 * GIB, 5 * GIB, 75 * GIB)
    assert (second.utilization, second.temperature, second.power, second.power_limit) == (37, 41, 61.5, 400.0)
    assert (second.compute_capability, first.numa_node, second.numa_node) == ((8, 0), None, 1)
    assert second.problem is None


def test_processes_are_named_where_their_numbers_mean_something(nvidia: Nvidia, tmp_path: Path) -> None:
    on_host(tmp_path / "root")
    gone = max(psutil.pids()) + 100_000
    (reading,) = nvidia(f"count 1\nprocess 0 {gone} {GIB}\nprocess 0 {os.getpid()} {3 * GIB}")
    mine, other = reading.devices[0].processes
    assert (mine.pid, mine.memory_bytes) == (os.getpid(), 3 * GIB)
    assert mine.user == psutil.Process().username()
    assert mine.command
    assert (other.pid, other.memory_bytes, other.user, other.command) == (gone, GIB, None, None)


def test_a_process_of_a_job_is_named_by_it(nvidia: Nvidia, tmp_path: Path) -> None:
    on_host(tmp_path / "root")
    environment = {**os.environ, "PADDLE_GPU_JOB_ID": "20260101-a"}
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # before it runs Python, its environment is still ours
        first, second = nvidia(*[f"count 1\nprocess 0 {process.pid} {n * GIB}\nprocess 0 1 {GIB}" for n in (2, 3)])
        process.communicate(b"\n")
    for reading, size in ((first, 2 * GIB), (second, 3 * GIB)):
        ours, other = reading.devices[0].processes
        assert (ours.pid, ours.job_id, ours.memory_bytes) == (process.pid, "20260101-a", size)
        assert (other.pid, other.job_id) == (1, None)


def test_a_driver_before_510_lists_its_processes_too(nvidia: Nvidia) -> None:
    (reading,) = nvidia(f"count 1\nprocess 0 42 {GIB}", library="old")
    assert [(p.pid, p.memory_bytes) for p in reading.devices[0].processes] == [(42, GIB)]
    assert reading.problems == ()


def test_in_a_container_numbers_of_the_host_are_not_mistaken_for_own_processes(nvidia: Nvidia, tmp_path: Path) -> None:
    (tmp_path / "root/proc/self/ns").mkdir(parents=True)
    (tmp_path / "root/proc/self/ns/pid").symlink_to("pid:[4026532999]")
    (reading,) = nvidia(f"count 1\nprocess 0 {os.getpid()} {GIB}")
    (process,) = reading.devices[0].processes
    assert (process.pid, process.user, process.command) == (os.getpid(), None, None)


def test_memory_of_a_process_that_the_driver_does_not_tell_is_none(nvidia: Nvidia) -> None:
    (reading,) = nvidia(f"count 1\nprocess 0 42 {2**64 - 1}")
    assert reading.devices[0].processes[0].memory_bytes is None


def test_slices_are_devices_with_a_parent(nvidia: Nvidia) -> None:
    (reading,) = nvidia("count 2\nmig 0 3")
    assert [(d.id, d.parent) for d in reading.devices] == [
        ("GPU-0", None),
        ("MIG-0-0", "GPU-0"),
        ("MIG-0-1", "GPU-0"),
        ("MIG-0-2", "GPU-0"),
        ("GPU-1", None),
    ]
    assert [d.number for d in reading.devices] == ["0", "0:0", "0:1", "0:2", "1"]
    part = reading.devices[1]
    assert (part.memory_total, part.utilization, part.compute_capability) == (10 * GIB, None, (8, 0))
    assert "MIG" in part.name


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("handle 1 15", "card_broken"),
        ("handle 1 4", "card_no_permission"),
        ("handle 1 2", "card_failed"),
        ("memory 1 999", "card_broken"),
        ("memory 1 15", "card_broken"),
    ],
)
def test_one_broken_card_does_not_hide_the_others(nvidia: Nvidia, fault: str, code: str) -> None:
    (reading,) = nvidia(f"count 3\n{fault}")
    assert [d.index for d in reading.devices] == [0, 1, 2]
    assert [d.memory_total for d in reading.devices] == [80 * GIB, None, 80 * GIB]
    problem = reading.devices[1].problem
    assert problem is not None
    assert problem.code == code
    assert "1" in problem.render()
    assert "{" not in problem.render() + problem.render_hint()


def test_what_a_card_cannot_tell_is_none(nvidia: Nvidia) -> None:
    (reading,) = nvidia("count 1\nmute 0")
    (card,) = reading.devices
    assert card.memory_total == 80 * GIB
    assert (card.utilization, card.temperature, card.power, card.power_limit, card.compute_capability) == (None,) * 5
    assert (card.processes, card.problem) == ((), None)


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (4, "driver_no_permission"),
        (9, "driver_not_loaded"),
        (18, "driver_mismatch"),
        (999, "driver_no_answer"),
        (17, "driver_no_answer"),
        (5, "driver_failed"),
    ],
)
def test_a_driver_that_gives_nothing_is_explained(nvidia: Nvidia, result: int, code: str) -> None:
    (reading,) = nvidia(f"init {result}")
    assert reading.devices == ()
    assert [p.code for p in reading.problems] == [code]
    assert reading.problems[0].render_hint()


def test_a_driver_without_cards_says_so(nvidia: Nvidia) -> None:
    (reading,) = nvidia("count 0")
    assert [p.code for p in reading.problems] == ["driver_sees_no_gpu"]


def test_no_library_no_card(nvidia: Nvidia) -> None:
    (reading,) = nvidia("", library="")
    assert [p.code for p in reading.problems] == ["no_gpu"]


def test_a_card_without_a_driver_is_told_from_no_card(nvidia: Nvidia, tmp_path: Path) -> None:
    node(tmp_path / "root", "0000:01:00.0", vendor="0x10de", device="0x2204", **{"class": "0x030000"})
    (reading,) = nvidia("", library="")
    assert [p.code for p in reading.problems] == ["driver_missing"]


def test_a_driver_whose_library_is_not_in_the_container(nvidia: Nvidia, tmp_path: Path) -> None:
    (tmp_path / "root/proc/driver/nvidia").mkdir(parents=True)
    (tmp_path / "root/proc/driver/nvidia/version").write_text("NVRM version: 550")
    (reading,) = nvidia("", library="")
    assert [p.code for p in reading.problems] == ["driver_library_hidden"]


def test_a_driver_that_comes_back_is_read_again(nvidia: Nvidia) -> None:
    readings = nvidia("count 1", "init 18", "count 2")
    assert [len(r.devices) for r in readings] == [1, 0, 2]
    assert [p.code for p in readings[1].problems] == ["driver_mismatch"]


def test_a_failure_is_not_asked_for_again_at_once(nvidia: Nvidia) -> None:
    readings = nvidia("init 9", "count 1", retry_seconds=3600)
    assert [[p.code for p in r.problems] for r in readings] == [["driver_not_loaded"]] * 2


@pytest.mark.parametrize("other", ["pynvml.nvmlInit(); pynvml.nvmlShutdown()", "pynvml.nvmlShutdown()"])
def test_another_user_of_the_library_in_this_process_does_no_harm(nvidia: Nvidia, other: str) -> None:
    readings = nvidia("count 1", "count 1", "count 2", between=f"import pynvml; {other}")
    assert [len(r.devices) for r in readings] == [1, 1, 2]
    assert all(r.problems == () for r in readings)


def test_how_busy_processes_keep_a_card_is_read_since_the_reading_before(nvidia: Nvidia) -> None:
    pid = os.getpid()
    world = f"count 2\nprocess 0 {pid} {GIB}\nprocess 0 1 {GIB}\nbusy {pid} 30\n"
    first, later = nvidia(world, world.replace("busy", "busy 1 40\nbusy"), between="import time; time.sleep(1.1)")
    assert [(p.pid, p.utilization) for p in first.devices[0].processes] == [(pid, 30), (1, None)]
    assert {p.pid: p.utilization for p in later.devices[0].processes} == {pid: 30, 1: 40}


def test_processes_of_a_folder_are_on_their_card_as_long_as_they_live(nvidia: Nvidia, tmp_path: Path) -> None:
    (tmp_path / str(os.getpid())).write_text(f"1 {3 * GIB} 55")
    (tmp_path / str(max(psutil.pids()) + 100_000)).write_text(f"1 {GIB} 5")
    (reading,) = nvidia(f"count 2\nprocesses {tmp_path}")
    assert [[p.pid for p in device.processes] for device in reading.devices] == [[], [os.getpid()]]
    assert reading.devices[1].processes[0].utilization == 55
    assert reading.devices[1].memory_used == 3 * GIB


def test_errors_of_the_hardware_are_heard_and_those_of_programs_are_not(nvidia: Nvidia) -> None:
    quiet, heard, still = nvidia(
        "count 2", "count 2\nxid 1 31\nxid 1 79\nxid 0 13", "count 2\nxid 1 31\nxid 1 79\nxid 0 13"
    )
    assert [device.fault for device in quiet.devices] == [None, None]
    assert [device.fault for device in heard.devices] == [None, "Xid 79"]
    assert heard.devices[1].fault_time == still.devices[1].fault_time is not None


def test_a_card_that_is_lost_keeps_its_name(nvidia: Nvidia) -> None:
    well, lost, unknown = nvidia("count 2", "count 2\nhandle 1 15\nxid 1 79", "count 3\nhandle 2 15")
    assert [device.id for device in lost.devices] == [device.id for device in well.devices] == ["GPU-0", "GPU-1"]
    assert lost.devices[1].name == well.devices[1].name
    assert lost.devices[1].problem is not None
    assert lost.devices[1].fault == "Xid 79"
    assert unknown.devices[2].id == "nvidia-2"


def test_a_card_that_can_tell_of_no_events_is_read_without(nvidia: Nvidia) -> None:
    _, reading = nvidia("count 1\nmute 0", "count 1\nmute 0\nxid 0 79")
    assert (reading.devices[0].fault, reading.devices[0].problem) == (None, None)
