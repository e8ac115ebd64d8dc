"""How a device gets into a container: NVIDIA by request or CDI, others by their nodes. Never --privileged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from ...domain.devices import Vendor
from ...domain.errors import PaddleGpuError
from .daemon import DaemonFacts
from .policy import Mount
from .settings import DockerSettings


class VendorAccess(msgspec.Struct, frozen=True, kw_only=True):
    """What a maker's devices need besides `--privileged`, which their documents ask for and which is refused here.

    Attributes:
        nodes: one for each chosen device (`{n}` is its index); `shared`: for all; missing ones are left out.
        tools: files and folders of the driver, mounted read-only where they are.
        variable: names the visible devices.
        set_device: the word for `paddle.set_device`.
        standing: `documented` or `reported`; nobody has run these here.
    """

    nodes: tuple[str, ...]
    shared: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    variable: str
    set_device: str
    standing: str


VENDORS: dict[Vendor, VendorAccess] = {
    "ascend": VendorAccess(
        nodes=("/dev/davinci{n}",),
        shared=("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"),
        tools=("/usr/local/Ascend/driver", "/usr/local/dcmi", "/usr/local/bin/npu-smi"),
        variable="ASCEND_RT_VISIBLE_DEVICES",
        set_device="npu",
        standing="documented",
    ),
    "kunlun": VendorAccess(
        nodes=("/dev/xpu{n}",),
        shared=("/dev/xpuctrl",),
        tools=("/usr/local/bin/xpu-smi", "/usr/local/bin/xpu_smi"),
        variable="XPU_VISIBLE_DEVICES",
        set_device="xpu",
        standing="documented",
    ),
    "hygon": VendorAccess(
        nodes=("/dev/dri/renderD{render}", "/dev/dri/card{n}"),
        shared=("/dev/kfd", "/dev/mkfd"),
        tools=("/opt/hyhal",),
        variable="HIP_VISIBLE_DEVICES",
        set_device="gpu",
        standing="documented",
    ),
    "amd": VendorAccess(
        nodes=("/dev/dri/renderD{render}", "/dev/dri/card{n}"),
        shared=("/dev/kfd",),
        variable="HIP_VISIBLE_DEVICES",
        set_device="gpu",
        standing="reported",
    ),
    "cambricon": VendorAccess(
        nodes=("/dev/cambricon_dev{n}",),
        shared=("/dev/cambricon_ctl", "/dev/cambricon_ipcm0"),
        tools=("/usr/bin/cnmon",),
        variable="MLU_VISIBLE_DEVICES",
        set_device="mlu",
        standing="documented",
    ),
    "enflame": VendorAccess(
        nodes=("/dev/gcu{n}",),
        shared=("/dev/gcuctl",),
        variable="TOPS_VISIBLE_DEVICES",
        set_device="gcu",
        standing="reported",
    ),
}

_OTHER_ID = re.compile(r"^(?P<vendor>ascend|kunlun|hygon|amd|cambricon|enflame)-(?P<which>[0-9a-fA-F:.]+)$")


class DeviceAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a container's configuration that gives it its devices."""

    vendor: Vendor = "cpu"
    requests: tuple[dict[str, Any], ...] = ()
    nodes: tuple[str, ...] = ()
    mounts: tuple[Mount, ...] = ()
    environment: dict[str, str] = {}
    groups: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    """What `paddle.distributed.launch --devices` calls them inside."""

    @property
    def count(self) -> int:
        """How many devices there are."""
        return len(self.labels)


def vendor_of(device_id: str) -> Vendor:
    """Maker of a device by its id. NVML's ids (`GPU-…`, `MIG-…`) and bare numbers are NVIDIA's."""
    match = _OTHER_ID.match(device_id)
    return match["vendor"] if match else "nvidia"  # type: ignore[return-value]


def _index(device_id: str, root: Path) -> int:
    """The driver's number of another maker's card: its place among the cards of that maker, in order of PCI address."""
    which = device_id.partition("-")[2]
    if which.isdigit():
        return int(which)
    bus = root / "sys/bus/pci/devices"

    def kind(address: str) -> tuple[str, str]:
        texts = [(bus / address / name) for name in ("vendor", "class")]
        return tuple(text.read_text().strip() if text.exists() else "" for text in texts)  # type: ignore[return-value]

    cards = sorted(path.name for path in bus.glob("*") if kind(path.name) == kind(which))
    return cards.index(which) if which in cards else 0


def access(
    device_ids: tuple[str, ...], facts: DaemonFacts, settings: DockerSettings, *, root: Path = Path("/")
) -> DeviceAccess:
    """What a container needs to see exactly these devices. Raises `PaddleGpuError` where this daemon cannot do it."""
    if not device_ids:
        # CUDA base images say NVIDIA_VISIBLE_DEVICES=all: with NVIDIA's runtime as default that would hand out all.
        return DeviceAccess(environment={"NVIDIA_VISIBLE_DEVICES": "void"})
    simulated = [device for device in device_ids if device.startswith("simulated")]
    if simulated:
        raise PaddleGpuError(
            "device_simulated", "{device} is simulated: nothing can run on it.", status=409, device=simulated[0]
        )
    if facts.podman:
        raise PaddleGpuError(
            "podman_ignores_gpus",
            "This is podman: its Docker interface ignores requests for GPUs without a word.",
            hint="Use Docker Engine for jobs on GPUs, or the local engine.",
            status=503,
        )
    vendors = {vendor_of(device) for device in device_ids}
    if len(vendors) > 1:
        raise PaddleGpuError("devices_mixed", "One job cannot use devices of several makers.")
    vendor = vendors.pop()
    if vendor == "nvidia":
        labels = tuple(str(number) for number in range(len(device_ids)))
        return DeviceAccess(
            vendor=vendor,
            requests=(_nvidia(device_ids, facts, settings),),
            # The launcher matches its --devices with this variable.
            environment={"CUDA_VISIBLE_DEVICES": ",".join(labels)} if len(labels) > 1 else {},
            labels=labels,
        )
    return _nodes(vendor, device_ids, root)


def _nvidia(device_ids: tuple[str, ...], facts: DaemonFacts, settings: DockerSettings) -> dict[str, Any]:
    names = [f"nvidia.com/gpu={device}" for device in device_ids]
    known = all(name in facts.cdi for name in names)
    if settings.gpu_access == "cdi" or (settings.gpu_access == "auto" and known and "nvidia" not in facts.runtimes):
        return {"Driver": "cdi", "DeviceIDs": names}
    return {"Driver": "", "DeviceIDs": list(device_ids), "Capabilities": [["gpu", "compute", "utility"]]}


def _nodes(vendor: Vendor, device_ids: tuple[str, ...], root: Path) -> DeviceAccess:
    row = VENDORS[vendor]
    indices = [_index(device, root) for device in device_ids]
    chosen = [node.format(n=index, render=128 + index) for index in indices for node in row.nodes]
    missing = [node for node in chosen if not (root / node.lstrip("/")).exists()]
    if len(missing) == len(chosen):
        raise PaddleGpuError(
            "device_node_missing",
            "The device node {node} does not exist on this machine.",
            hint="Load the maker's driver, or choose another device.",
            status=409,
            node=missing[0],
        )
    nodes = [node for node in (*chosen, *row.shared) if (root / node.lstrip("/")).exists()]
    groups = {str((root / node.lstrip("/")).stat().st_gid) for node in nodes} - {"0"}
    tools = [tool for tool in row.tools if (root / tool.lstrip("/")).exists()]
    return DeviceAccess(
        vendor=vendor,
        nodes=tuple(nodes),
        mounts=tuple(Mount(tool, tool) for tool in tools),
        # Whole nodes are hidden already; the numbers count what is visible to the host's driver.
        environment={
            row.variable: ",".join(map(str, indices)),
            "NVIDIA_VISIBLE_DEVICES": "void",
        },
        groups=tuple(sorted(groups)),
        labels=tuple(map(str, indices)),
    )


def processors_near(device_ids: tuple[str, ...], *, root: Path = Path("/")) -> str:
    """The processors (`0-15,32-47`) of the NUMA nodes that NVIDIA devices hang on; empty where there is no choice.

    Read from the driver (`/proc/driver/nvidia/gpus/*/information`) and sysfs, so that no NVML is needed here.
    """
    nodes = sorted((root / "sys/devices/system/node").glob("node[0-9]*"))
    if len(nodes) < 2:
        return ""
    wanted: set[int] = set()
    for information in (root / "proc/driver/nvidia/gpus").glob("*/information"):
        text = information.read_text(errors="replace")
        uuid = re.search(r"GPU UUID:\s*(\S+)", text)
        minor = re.search(r"Device Minor:\s*(\d+)", text)
        names = {match[1] for match in (uuid, minor) if match}
        if not names & set(device_ids):
            continue
        numa = root / "sys/bus/pci/devices" / information.parent.name / "numa_node"
        node = int(numa.read_text()) if numa.exists() else -1
        if node < 0:
            return ""
        wanted.add(node)
    lists = [(root / f"sys/devices/system/node/node{node}/cpulist").read_text().strip() for node in sorted(wanted)]
    return ",".join(lists)
