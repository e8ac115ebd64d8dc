"""The match: a verdict on every device, and the choice with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ..devices.catalogue import find
from ..domain.bounds import device_twice
from ..domain.devices import Accelerator, Device, DeviceHolder, Inventory, divided
from ..domain.errors import PaddleGpuError
from ..domain.estimates import Estimate
from ..domain.messages import Message, Param
from ..domain.placements import Placement, Verdict
from ..domain.sizes import human
from .fit import judge, judge_model
from .policy import Policy
from .waiting import is_excluded

HELD = "held_by_other"
_RANK = {"fits": 0, "tight": 1, "short": 2, "unknown": 3, "never": 4}


def match(
    estimate: Estimate | None,
    inventory: Inventory,
    catalogue: Sequence[Accelerator] = (),
    policy: Policy | None = None,
    *,
    engine: str = "",
    gpus: int | None = None,
    chosen: Sequence[str] = (),
    held: Mapping[str, DeviceHolder] | None = None,
) -> Placement:
    """Find the devices for a training.

    Args:
        estimate: what one device needs (with several, each holds a whole copy); None when there is none.
        catalogue: models to judge where this machine has no device.
        gpus: how many devices; None: one where one fits; 0: the CPU.
        chosen: ids or indices of devices that the person chose; they win over every preference.
        held: device id -> the job of another user that has it, and would have to end first.

    Raises:
        PaddleGpuError: `device_unknown`, `device_simulated`, `device_divided` for a choice that cannot be,
            `too_few_devices` when more are asked for than there are.
    """
    policy = policy or Policy()
    cut = divided(inventory.devices)
    models = {device.id: find(device.name) for device in inventory.devices}
    verdicts = {
        device.id: _divided(device) if device.id in cut else judge(device, estimate, policy, models[device.id])
        for device in inventory.devices
    }
    held = held or {}
    verdicts = {name: _held(seen, held[name]) if name in held else seen for name, seen in verdicts.items()}
    real = [device for device in inventory.devices if not device.simulated]
    if chosen:
        devices = named(chosen, inventory.devices)
        reasons = tuple(_of_choice(device, verdicts[device.id]) for device in devices)
    elif gpus == 0:
        devices, reasons = [], (_ON_REQUEST, *_host(estimate, inventory))
    else:
        usable = [d for d in real if d.id not in cut and not is_excluded(d, policy)]
        devices, reasons = _choose(usable, verdicts, policy, gpus, len(real))
        if not devices:
            reasons = (*reasons, *_host(estimate, inventory))
    by_memory = sorted(catalogue, key=lambda model: (model.memory_bytes, model.name)) if not real else []
    return Placement(
        engine=engine,
        device_ids=tuple(device.id for device in devices),
        verdicts=tuple(verdicts.values()),
        catalogue=tuple(judge_model(model, estimate, policy) for model in by_memory),
        reasons=reasons,
    )


def named(chosen: Sequence[str], devices: Sequence[Device]) -> list[Device]:
    """The devices that a person named, by id or index, none twice. Raises `PaddleGpuError` for one that cannot be."""
    cut = divided(devices)
    found: list[Device] = []
    for name in chosen:
        device = next((d for d in devices if d.id == name), None)
        if device is None:  # an index means a whole card
            device = next((d for d in devices if str(d.index) == name and d.parent is None and not d.simulated), None)
        if device is None:
            raise PaddleGpuError(
                "device_unknown",
                "There is no device {device} on this machine.",
                hint="Choose one of the devices in the list.",
                status=404,
                device=name,
            )
        if device.simulated:
            raise PaddleGpuError(
                "device_simulated",
                "{device} is simulated: it is shown for teaching, and nothing can run on it.",
                hint="Run on the CPU, or choose a real device.",
                device=device.name,
            )
        if device.id in cut:
            raise PaddleGpuError(
                "device_divided",
                "{device} is divided into slices (MIG) and cannot be used as a whole.",
                hint="Choose one of its slices.",
                device=device.name,
            )
        if device in found:
            raise device_twice(name)
        found.append(device)
    return found


def _choose(
    usable: list[Device], verdicts: dict[str, Verdict], policy: Policy, gpus: int | None, present: int
) -> tuple[list[Device], tuple[Message, ...]]:
    count = gpus or 1
    if count > 1:  # CUDA gives a process one slice at most (MIG User Guide, "CUDA Device Enumeration")
        usable = [device for device in usable if device.parent is None]
    measured = [device for device in usable if verdicts[device.id].free_bytes is not None]
    if gpus and len(measured) < gpus:
        raise PaddleGpuError(
            "too_few_devices",
            "{asked} GPUs were asked for; {there} can be used here.",
            hint="Ask for fewer, or run on the CPU (0 GPUs).",
            status=409,
            asked=gpus,
            there=len(measured),
        )
    if not measured:
        return [], (_NO_DEVICE if not present else _NONE_USABLE,)
    order = sorted(
        measured, key=lambda device: (_RANK[verdicts[device.id].fit], _preference(verdicts[device.id], policy))
    )
    best = order[:count]
    worst = verdicts[best[-1].id]
    if worst.fit == "never":
        if gpus is None:
            return [], (_NEVER,)
        return best, tuple(_of_choice(device, verdicts[device.id]) for device in best)
    return best, tuple(_reason(device, verdicts[device.id], policy, len(measured)) for device in best)


def _preference(verdict: Verdict, policy: Policy) -> tuple[float, float]:
    free = float(verdict.free_bytes or 0)
    if verdict.fit not in ("fits", "unknown"):
        return -free, 0.0  # where it is scarce, memory alone counts
    if policy.prefer == "least_free":
        return free, 0.0
    if policy.prefer == "fastest":
        return (verdict.seconds_per_step if verdict.seconds_per_step is not None else float("inf")), -free
    return -free, 0.0


def _reason(device: Device, verdict: Verdict, policy: Policy, among: int) -> Message:  # noqa: PLR0911 - one a case
    params: dict[str, Param] = {"device": device.name, "index": device.index, "free": human(verdict.free_bytes or 0)}
    if verdict.fit == "tight":
        return Message(
            code="chosen_tight",
            text="GPU {index} ({device}) is chosen, but it may be too small: {free} can be had.",
            hint="A smaller batch is the safe side.",
            params=params,
        )
    if verdict.reason.code == HELD:
        return verdict.reason
    if verdict.fit == "short":
        return Message(
            code="chosen_later",
            text="No device has room now; GPU {index} ({device}) will when {missing} more are free.",
            hint="Submit to wait in the queue, or choose a smaller batch.",
            params={**params, "missing": human(verdict.missing_bytes or 0)},
        )
    if verdict.fit == "unknown":
        return Message(
            code="chosen_unjudged",
            text="GPU {index} ({device}) is chosen for its free memory, {free}; what the training needs is not known.",
            hint="Answer the open questions of the estimate.",
            params=params,
        )
    if among == 1:
        return Message(code="chosen_only", text="GPU {index} ({device}) has room for it.", params=params)
    if policy.prefer == "least_free":
        return Message(
            code="chosen_smallest",
            text="GPU {index} ({device}) is the smallest room that fits: {free} can be had.",
            params=params,
        )
    if policy.prefer == "fastest" and verdict.seconds_per_step is not None:
        return Message(
            code="chosen_fastest", text="GPU {index} ({device}) is the fastest of those that fit.", params=params
        )
    return Message(
        code="chosen_freest",
        text="GPU {index} ({device}) fits and has the most free memory: {free} can be had.",
        params=params,
    )


def _of_choice(device: Device, verdict: Verdict) -> Message:
    params: dict[str, Param] = {
        "device": device.name,
        "index": device.index,
        "missing": human(verdict.missing_bytes or 0),
    }
    if verdict.fit == "never":
        return Message(
            code="your_choice_never",
            text="GPU {index} ({device}) was asked for, though the training does not even fit when it is empty.",
            hint="Choose a smaller batch, mixed precision or another device.",
            params=params,
        )
    if verdict.reason.code == HELD:
        return verdict.reason
    if verdict.fit in ("short", "tight"):
        return Message(
            code="your_choice_short",
            text="GPU {index} ({device}) was asked for; it may be {missing} short.",
            hint="Wait until memory is free, or choose a smaller batch.",
            params=params,
        )
    return Message(code="your_choice", text="GPU {index} ({device}) is your choice.", params=params)


def _host(estimate: Estimate | None, inventory: Inventory) -> tuple[Message, ...]:
    """A warning where the training would not fit the machine's own memory either."""
    needed = estimate.allocated_peak_bytes if estimate is not None else None
    if needed is None or needed <= inventory.host.memory_available:
        return ()
    return (
        Message(
            code="host_short",
            text="The training needs {needed} on the CPU; this machine has {free} left.",
            hint="Choose a smaller batch, or a machine with more memory.",
            params={"needed": human(needed), "free": human(inventory.host.memory_available)},
        ),
    )


def _held(verdict: Verdict, holder: DeviceHolder) -> Verdict:
    """Not now, whatever memory is free; what can never be stays so."""
    if verdict.fit == "never":
        return verdict
    reason = Message(
        code=HELD,
        text="Job {job} of {owner} has this device now; a job waits until that one has ended.",
        hint="Submit to wait in the queue, or choose another device.",
        params={"job": holder.job, "owner": holder.owner},
    )
    return msgspec.structs.replace(verdict, fit="short", reason=reason)


def _divided(device: Device) -> Verdict:
    reason = Message(
        code="divided",
        text="This card is divided into slices (MIG); each slice is judged by itself.",
    )
    return Verdict(device_id=device.id, device_name=device.name, fit="unknown", reason=reason)


_ON_REQUEST = Message(code="cpu_on_request", text="Runs on the CPU, as asked.")
_NO_DEVICE = Message(
    code="cpu_no_device",
    text="Runs on the CPU: there is no GPU here.",
    hint="See on which cards it would fit.",
)
_NONE_USABLE = Message(
    code="cpu_none_usable",
    text="Runs on the CPU: no device here can be used.",
    hint="Each device says why in the list.",
)
_NEVER = Message(
    code="cpu_never_fits",
    text="Runs on the CPU: the training fits none of the devices here, not even an empty one.",
    hint="Choose a smaller batch or mixed precision to use a GPU.",
)
