"""Devices that a policy rules out beside memory: too dear, too hungry, too hot, held up by the hardware, others'."""

from __future__ import annotations

from collections.abc import Callable

from ..devices.catalogue import covers, find
from ..devices.makers.registry import makers
from ..domain.devices import Device
from ..domain.messages import Message
from .policy import Policy

_HELD_UP = {
    "hardware_heat": "This card slows itself down: it is too hot.",
    "power_brake": "This card slows itself down: its power supply cannot keep up.",
    "hardware_slowdown": "This card slows itself down.",
}
"""Reasons of slow clocks that the card itself sets, the most telling first: it computes at a fraction of its speed
until somebody mends that. A power cap and the driver's own care for heat are everyday."""


def _barred(device: Device, policy: Policy) -> Message | None:
    maker = makers().named(device.vendor)
    return None if maker is None else maker.barred(device)


def _held_up(device: Device, policy: Policy) -> Message | None:
    told = () if device.details is None else device.details.throttling or ()
    text = next((text for reason, text in _HELD_UP.items() if reason in told), None)
    if text is None:
        return None
    hint = "Look at its cooling and its power supply; it can be named all the same."
    return Message(code="held_up", text=text, hint=hint)


def _heat(device: Device, policy: Policy) -> Message | None:
    if policy.heat_ceiling is None or (device.temperature or 0) <= policy.heat_ceiling:
        return None
    return Message(
        code="too_hot",
        text="It is at {heat} °C now, the policy's ceiling is {most} °C.",
        hint="Wait until it has cooled down, or name it.",
        params={"heat": device.temperature or 0, "most": policy.heat_ceiling},
    )


def _power(device: Device, policy: Policy) -> Message | None:
    if policy.power_ceiling is None or (watts := watts_of(device)) is None or watts <= policy.power_ceiling:
        return None
    return Message(
        code="too_hungry",
        text="It may take {watts} W, the policy's ceiling is {most} W.",
        hint="Name it, or raise `power_ceiling`.",
        params={"watts": round(watts), "most": policy.power_ceiling},
    )


def _price(device: Device, policy: Policy) -> Message | None:
    if policy.price_ceiling is None or (price := price_of(device, policy)) is None or price <= policy.price_ceiling:
        return None
    return Message(
        code="too_dear",
        text="An hour costs {price} {currency}, the policy's ceiling is {most}.",
        hint="Name it, or raise `price_ceiling`.",
        params={"price": price, "currency": policy.currency, "most": policy.price_ceiling},
    )


def _alone(device: Device, policy: Policy) -> Message | None:
    if policy.sharing != "exclusive" or all(process.job_id is not None for process in device.processes):
        return None
    return Message(
        code="not_alone",
        text="Others' processes are on it, and the policy wants cards for oneself.",
        hint="Wait until they have ended, or name it.",
    )


_CHECKS: tuple[Callable[[Device, Policy], Message | None], ...] = (_barred, _held_up, _heat, _power, _price, _alone)


def ruled_out(device: Device, policy: Policy) -> Message | None:
    """Why this device is not chosen by itself; None where nothing speaks against it. A person may name it."""
    for check in _CHECKS:
        if (reason := check(device, policy)) is not None:
            return reason
    return None


def watts_of(device: Device) -> float | None:
    """What the card may take: the limit that its driver holds, else its board power."""
    if device.power_limit is not None:
        return device.power_limit
    known = find(device.name)
    return None if known is None else known.watts


def price_of(device: Device, policy: Policy) -> float | None:
    """An hour of this card, as the place says, else as the market's catalogue has it; None: nobody says."""
    for prices in (policy.prices, policy.market):
        for name, price in prices.items():
            if covers(name, device.name):
                return price
    return None
