"""Parts that need no daemon: device access, processors, endings, output, statistics."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs import reasons
from jupyter_paddle_gpu.domain.jobs.job import JobSpec
from jupyter_paddle_gpu.engines.docker.connection.daemon import DaemonFacts
from jupyter_paddle_gpu.engines.docker.connection.output import _lines, _Taken, read_output
from jupyter_paddle_gpu.engines.docker.container import container_name, without_compat
from jupyter_paddle_gpu.engines.docker.devices import access, processors_near
from jupyter_paddle_gpu.engines.docker.endings import exit_code, observation, of_output
from jupyter_paddle_gpu.engines.docker.labels import LABEL_DEVICES
from jupyter_paddle_gpu.engines.docker.next_steps import explain
from jupyter_paddle_gpu.engines.docker.settings import DockerSettings
from jupyter_paddle_gpu.engines.docker.statistics import pids_of, read_usage

FACTS = DaemonFacts(id="d")
SPEC = JobSpec(name="n", notebook="/w/n.ipynb", output="/w/o.ipynb", folder="/w", engine="docker")


def grant(ids, root="/", facts=FACTS, **settings):
    return access(ids, facts, DockerSettings(**settings), root=Path(root))


def test_nvidia_by_request_and_by_cdi():
    assert grant(("GPU-1", "GPU-2")).requests[0]["DeviceIDs"] == ["GPU-1", "GPU-2"]
    cdi = DaemonFacts(id="d", cdi=("nvidia.com/gpu=GPU-1",))
    assert grant(("GPU-1",), facts=cdi).requests == ({"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=GPU-1"]},)
    both = DaemonFacts(id="d", cdi=("nvidia.com/gpu=GPU-1",), runtimes=("nvidia",))
    assert grant(("GPU-1",), facts=both).requests[0]["Driver"] == ""
    assert grant(("GPU-1",), facts=both, gpu_access="cdi").requests[0]["Driver"] == "cdi"


def test_no_device_hides_all_even_from_images_that_ask_for_all():
    assert grant(()).environment == {"NVIDIA_VISIBLE_DEVICES": "void"}
    assert grant(()).requests == ()


@pytest.mark.parametrize(
    ("ids", "nodes", "variable", "numbers", "expected"),
    [
        (("kunlun-1", "kunlun-3"), "xpu0 xpu1 xpu3 xpuctrl", "XPU_VISIBLE_DEVICES", "1,3",
         "xpu1 xpu3 xpuctrl"),
        (("ascend-0",), "davinci0 davinci1 davinci_manager hisi_hdc", "ASCEND_RT_VISIBLE_DEVICES", "0",
         "davinci0 davinci_manager hisi_hdc"),
        (("hygon-1",), "kfd dri/card1 dri/renderD129", "HIP_VISIBLE_DEVICES", "0",  # HIP counts what it may open
         "dri/renderD129 dri/card1 kfd"),
        (("cambricon-2",), "cambricon_dev2 cambricon_ctl", "MLU_VISIBLE_DEVICES", "2",
         "cambricon_dev2 cambricon_ctl"),
    ],
)  # fmt: skip
def test_other_makers_by_their_nodes(tmp_path, ids, nodes, variable, numbers, expected):
    for node in nodes.split():
        (tmp_path / "dev" / node).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "dev" / node).touch()
    granted = grant(ids, tmp_path)
    assert list(granted.nodes) == [f"/dev/{node}" for node in expected.split()]
    assert granted.environment[variable] == numbers
    assert granted.requests == ()


def test_nodes_of_a_card_beside_a_consoles_graphics(tmp_path):
    """Its tool tells no addresses."""
    for address, vendor, kind, node in (("03", "0x1a03", "0x030000", "0"), ("61", "0x1d94", "0x120000", "1")):
        folder = tmp_path / f"sys/bus/pci/devices/0000:{address}:00.0"
        (folder / f"drm/card{node}").mkdir(parents=True)
        (folder / "vendor").write_text(vendor + "\n")
        (folder / "class").write_text(kind + "\n")
        (tmp_path / "dev/dri").mkdir(parents=True, exist_ok=True)
        (tmp_path / "dev/dri" / f"card{node}").touch()
    (tmp_path / "dev/dri/renderD128").touch()
    assert grant(("hygon-0",), tmp_path).nodes == ("/dev/dri/renderD128", "/dev/dri/card1")


def test_a_card_named_by_its_pci_address_is_counted_among_its_kind(tmp_path):
    for address, vendor in (("0000:01:00.0", "0x1d22"), ("0000:41:00.0", "0x1d22"), ("0000:02:00.0", "0x8086")):
        folder = tmp_path / "sys/bus/pci/devices" / address
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(vendor + "\n")
        (folder / "class").write_text("0x120000\n")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/xpu1").touch()
    assert grant(("kunlun-0000:41:00.0",), tmp_path).nodes == ("/dev/xpu1",)


@pytest.mark.parametrize(
    ("ids", "code"),
    [
        (("simulated-0",), "device_simulated"),
        (("GPU-1", "kunlun-0"), "devices_mixed"),
        (("ascend-0",), "device_node_missing"),
    ],
)
def test_devices_that_cannot_be_given(tmp_path, ids, code):
    with pytest.raises(PaddleGpuError) as caught:
        grant(ids, tmp_path)
    assert caught.value.code == code


def test_processors_next_to_the_device(tmp_path):
    for node, cpus in ((0, "0-15,32-47"), (1, "16-31,48-63")):
        folder = tmp_path / f"sys/devices/system/node/node{node}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(cpus + "\n")
    for n, (address, node) in enumerate((("0000:17:00.0", 0), ("0000:b3:00.0", 1))):
        driver = tmp_path / "proc/driver/nvidia/gpus" / address
        driver.mkdir(parents=True)
        (driver / "information").write_text(f"Model:\tA100\nGPU UUID:\tGPU-{n}\nDevice Minor:\t{n}\n")
        pci = tmp_path / "sys/bus/pci/devices" / address
        pci.mkdir(parents=True)
        (pci / "numa_node").write_text(f"{node}\n")
    assert processors_near(("GPU-1",), root=tmp_path) == "16-31,48-63"
    assert processors_near(("GPU-0", "GPU-1"), root=tmp_path) == "0-15,32-47,16-31,48-63"
    assert processors_near(("GPU-9",), root=tmp_path) == ""
    (tmp_path / "sys/bus/pci/devices/0000:17:00.0/numa_node").write_text("-1\n")
    assert processors_near(("GPU-0",), root=tmp_path) == ""


def test_names_and_paths():
    assert container_name("20260101-ab/../c d") == "paddle-gpu-20260101-ab-..-c-d"
    assert without_compat("/usr/local/cuda/compat:/a:/b/compat/lib:/compatible:") == "/a:/compatible"


def ended(code, **state):
    return {
        "State": {
            "Status": "exited",
            "ExitCode": code,
            "StartedAt": "2026-11-21T06:35:35.5Z",
            "FinishedAt": "2026-11-21T06:35:37.25Z",
            **state,
        }
    }


@pytest.mark.parametrize(
    ("state", "output", "code"),
    [
        (ended(137, OOMKilled=True), "", "out_of_memory_host"),
        (ended(0, OOMKilled=True), "", "out_of_memory_host"),
        (ended(137), "", "killed"),
        (ended(139), "", "crashed"),
        (ended(143), "", "terminated"),
        (ended(127), "", "image_without_python"),
        (ended(128, Error="OCI runtime create failed: x"), "", "container_start_failed"),
        (ended(1), "Mismatched GPU Architecture: … your current GPU is 120.", "architecture_mismatch"),
        (ended(1), "RuntimeError: CUDA driver version is insufficient for CUDA runtime version", "driver_mismatch"),
        (ended(1), "NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus.", "device_lost"),
        (ended(1), "OSError: (External)  Hip error(719), hipErrorLaunchFailure.", "device_lost"),
        (ended(1), "OSError: (External) CUDA error(2), out of memory.", "out_of_memory_device"),
        (ended(1), "ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 9GB", "out_of_memory_device"),
        (ended(1), "OSError: [Errno 28] No space left on device", "disk_full"),
        (ended(1), "DataLoader worker (pid 7) exited: SIGBUS", "shared_memory_full"),
        (ended(0), "", None),
        (ended(1), "nothing known", None),
    ],
)  # fmt: skip
def test_every_end_has_its_reason(state, output, code):
    seen = observation(state, SPEC, output=output)
    assert seen.state == "ended"
    assert (seen.reason and seen.reason.code) == code
    assert seen.ended - seen.started == 1.75


def test_only_nvidias_sentence_of_an_old_driver_speaks_of_cuda():
    nvidia = of_output("CUDA driver version is insufficient for CUDA runtime version")
    amd = of_output("OSError: (External) Hip error(35), hipErrorInsufficientDriver.")
    assert (nvidia.code, amd.code) == ("driver_mismatch", "driver_mismatch")
    assert "CUDA" in nvidia.text and "CUDA" not in amd.text


def test_a_lost_card_is_named_with_what_its_maker_has_for_it():
    state = {**ended(1), "Config": {"Labels": {LABEL_DEVICES: "GPU-7"}}}
    nvidia = observation(state, SPEC, output="NVRM: Xid (PCI:0000:17:00): 79").reason
    assert nvidia.params["device"] == "GPU-7" and "nvidia-smi" in nvidia.hint
    amd = observation(state, SPEC, output="Hip error(719)").reason
    assert amd.code == "device_lost" and "nvidia" not in amd.hint


def test_what_holds_the_memory_of_a_container_is_named_among_the_next_steps():
    full = reasons.shared_memory_full()
    assert "shm_bytes" not in full.hint and "shm_bytes" in explain(full).hint
    assert explain(reasons.temporary_full("big.bin")).params == {"error": "big.bin"}
    assert explain(reasons.cancelled()) == reasons.cancelled()


def test_which_cards_a_build_was_for_is_said():
    message = of_output("compiled for 75 80 86 89, but your current GPU is 120 Mismatched GPU Architecture")
    assert message.params == {"architectures": "75 80 86 89", "capability": "120"}


@pytest.mark.parametrize(
    ("status", "code"), [(0, 0), (1, 1), (127, 127), (128, 128), (137, -9), (143, -15), (255, 255)]
)
def test_exit_codes(status, code):
    assert exit_code(status) == code


@pytest.mark.parametrize(
    ("status", "state"), [("created", "starting"), ("running", "running"), ("paused", "running"), ("dead", "ended")]
)
def test_states(status, state):
    assert observation({"State": {"Status": status}}, SPEC).state == state


def test_lines_in_pieces():
    frames = [
        (1, b"2026-11-21T06:35:35.1Z a"),
        (2, b"2026-11-21T06:35:35.2Z err\n"),
        (1, b"2026-11-21T06:35:35.3Z b\n"),
        (1, b"2026-11-21T06:35:36Z end"),
    ]
    assert list(_lines(iter(frames))) == [
        (2, "1795242935.200000000", "err"),
        (1, "1795242935.100000000", "ab"),
        (1, "1795242936.000000000", "end"),
    ]


def test_a_line_that_docker_wrote_down_late_is_read_once_from_anywhere():
    """Both streams stamp their lines before they wait for the file: on a busy machine one lies behind later ones."""
    kept = [
        (1, "8.900000000", "a"),
        (2, "9.500000000", "early of stderr"),
        (1, "9.100000000", "b"),
        (1, "9.100000000", "c"),
        (1, "10.300000000", "d"),
        (2, "9.600000000", "late of stderr"),
        (2, "9.600000000", "another"),
        (1, "10.400000000", "e"),
    ]
    everything = list(_Taken.of("").rest(kept))
    assert [line for _, line in everything] == [line for *_, line in kept]
    for number, (cursor, _) in enumerate(everything):
        taken = _Taken.of(cursor)
        since = float(taken.since() or 0)
        answered = [line for line in kept if float(line[1]) >= since]  # as Docker does
        assert list(taken.rest(answered)) == everything[number + 1 :]


def test_the_output_can_be_read_on_from_any_line(bench):
    api = bench.api
    script = "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done; printf '%020000d\\n' 7; echo last >&2"
    container = api.create_container("stand-in/paddle:1", ["sh", "-c", script])["Id"]
    try:
        api.start(container)
        api.wait(container)
        everything = list(read_output(bench.engine.daemon, container))
        texts = [line for _, line in everything]
        # Docker keeps the order within a stream, not between the two.
        assert [text for text in texts if text != "last"] == [*(f"line {n}" for n in range(300)), "0" * 19_999 + "7"]
        assert texts.count("last") == 1
        for start in (0, 1, 150, 299):
            rest = list(read_output(bench.engine.daemon, container, everything[start][0]))
            assert rest == everything[start + 1 :]
        assert len(list(read_output(bench.engine.daemon, container, tail=1))) == 1
    finally:
        api.remove_container(container, force=True)
    assert list(read_output(bench.engine.daemon, container)) == []


def test_samples_of_both_kinds_of_control_groups():
    cpu = {"cpu_usage": {"total_usage": 2_000_000_000}}
    v1 = {"cpu_stats": cpu, "memory_stats": {"usage": 100, "limit": 500, "stats": {"total_inactive_file": 40}}}
    v2 = {
        "cpu_stats": cpu,
        "memory_stats": {"usage": 100, "limit": 500, "stats": {"inactive_file": 40}},
        "networks": {"eth0": {"rx_bytes": 3, "tx_bytes": 4}},
        "pids_stats": {"current": 5},
    }
    for answer in (v1, v2):
        read = read_usage(answer)
        assert (read.memory_bytes, read.memory_limit_bytes, read.cpu_seconds) == (60, 500, 2.0)
    assert (read.received_bytes, read.sent_bytes, read.processes) == (3, 4, 5)
    assert read_usage({"cpu_stats": {}, "memory_stats": {}}) is None


def test_process_numbers_in_what_top_answers():
    assert pids_of({"Titles": ["UID", "PID", "CMD"], "Processes": [["root", "17", "sh"], ["root", "?", "x"]]}) == {17}
    assert pids_of({"Titles": ["CMD"], "Processes": [["sh"]]}) == frozenset()
    assert pids_of({"Titles": None, "Processes": None}) == frozenset()
