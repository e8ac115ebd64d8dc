"""How a device gets into a container: by request, CDI or its nodes, as its maker's row says. Never --privileged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ...devices.maker import DeviceNodes, Maker, RuntimeHook
from ...devices.makers.registry import makers
from ...domain.devices import Vendor
from ...domain.errors import PaddleGpuError
from .connection.daemon import DaemonFacts
from .folders import Mount
from .settings import DockerSettings


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


def access(
    device_ids: tuple[str, ...], facts: DaemonFacts, settings: DockerSettings, *, root: Path = Path("/")
) -> DeviceAccess:
    """What a container needs to see exactly these devices. Raises `PaddleGpuError` where this daemon cannot do it."""
    known = makers()
    hidden = {name: value for _, hook in known.hooks() for name, value in hook.hide.items()}
    if not device_ids:
        return DeviceAccess(environment=hidden)
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
    found = {known.of_device(device).name: known.of_device(device) for device in device_ids}
    if len(found) > 1:
        raise PaddleGpuError("devices_mixed", "One job cannot use devices of several makers.")
    (maker,) = found.values()
    if isinstance(maker.container, RuntimeHook):
        labels = tuple(str(number) for number in range(len(device_ids)))
        others = {name: value for name, value in hidden.items() if name not in maker.container.hide}
        return DeviceAccess(
            vendor=maker.name,
            requests=(request(maker.container, device_ids, facts, settings),),
            # The launcher matches its --devices with this variable.
            environment={**others, maker.visible_devices: ",".join(labels)} if len(labels) > 1 else others,
            labels=labels,
        )
    return _by_nodes(maker, maker.container, device_ids, hidden=hidden, root=root)


def request(
    hook: RuntimeHook, device_ids: tuple[str, ...], facts: DaemonFacts, settings: DockerSettings
) -> dict[str, Any]:
    """How Docker is asked for devices: by the maker's runtime, or by CDI where the daemon has nothing else."""
    names = [f"{hook.cdi}={device}" for device in device_ids]
    known = all(name in facts.cdi for name in names)
    if settings.gpu_access == "cdi" or (settings.gpu_access == "auto" and known and hook.runtime not in facts.runtimes):
        return {"Driver": "cdi", "DeviceIDs": names}
    return {"Driver": "", "DeviceIDs": list(device_ids), "Capabilities": [list(hook.capabilities)]}


def _by_nodes(
    maker: Maker, container: DeviceNodes, device_ids: tuple[str, ...], *, hidden: dict[str, str], root: Path
) -> DeviceAccess:
    missing = maker.preflight(device_ids, root)
    if missing is not None:
        raise PaddleGpuError.of(missing, status=409)
    chosen = maker.nodes(container, device_ids, root)
    nodes = [node for node in (*chosen, *container.shared) if (root / node.lstrip("/")).exists()]
    groups = {str((root / node.lstrip("/")).stat().st_gid) for node in nodes} - {"0"}
    # The others' nodes are not there: some runtimes count what is left, some keep the host's numbers.
    places = range(len(device_ids)) if container.renumbered else (maker.number(device, root) for device in device_ids)
    labels = tuple(map(str, places))
    tools = [tool for tool in container.tools if (root / tool.lstrip("/")).exists()]
    return DeviceAccess(
        vendor=maker.name,
        nodes=tuple(nodes),
        mounts=tuple(Mount(tool, tool) for tool in tools),
        environment={maker.visible_devices: ",".join(labels), **hidden},
        groups=tuple(sorted(groups)),
        labels=labels,
    )


def hands_out(hook: RuntimeHook, facts: DaemonFacts, root: Path) -> bool:
    """Can this daemon give a maker's devices to containers, as far as it and the machine's files say?"""
    folders = ("usr/bin", "usr/local/bin")
    here = any((root / folder / name).exists() for folder in folders for name in hook.programs)
    return here or hook.runtime in facts.runtimes or any(name.startswith(f"{hook.cdi}=") for name in facts.cdi)


def processors_near(device_ids: tuple[str, ...], *, root: Path = Path("/")) -> str:
    """The processors (`0-15,32-47`) of the NUMA nodes that devices hang on; empty where there is no choice."""
    nodes = sorted((root / "sys/devices/system/node").glob("node[0-9]*"))
    if len(nodes) < 2 or not device_ids:
        return ""
    wanted = makers().of_device(device_ids[0]).numa(device_ids, root)
    lists = [(root / f"sys/devices/system/node/node{node}/cpulist").read_text().strip() for node in sorted(wanted)]
    return ",".join(lists)
