"""What an hour of a device costs now, and whether it makes sense to wait for less."""

from __future__ import annotations

from ...domain.devices import Device, Inventory
from ...domain.messages import Message, Param
from ...matching.filters import price_of
from ...matching.policy import Policy


def why_not_by_cost(inventory: Inventory, policy: Policy) -> Message | None:
    """Why nobody can wait for a lower price here; None where that can be.

    Prices vary where cards of different prices are here, or where the market's are fetched anew.
    """
    cards = [device for device in inventory.devices if not device.simulated]
    known = {price for device in cards if (price := price_of(device, policy)) is not None}
    if not cards:
        return Message(
            code="cost_none",
            text="There is no device here whose price could be waited for.",
            hint="Choose a time instead, or submit it now.",
        )
    if not known:
        return Message(
            code="cost_unknown",
            text="No prices of these devices are known.",
            hint="Name them in the policy file (`matching.prices`), or fetch the market's: "
            "`jupyter paddle-gpu prices --update`.",
        )
    if len(known) == 1 and not policy.market:
        return Message(
            code="cost_same",
            text="An hour costs the same at any time and on every device here.",
            hint="Wait for a device that is free, or choose a time.",
        )
    return None


def waits_for_price(inventory: Inventory, policy: Policy, below: float) -> Message | None:
    """What somebody waits for who pays less than so much; None where no device has a price."""
    found = cheap(inventory, policy, float("inf"))
    if not found:
        return None
    least = price_of(found[0], policy) or 0.0
    params: dict[str, Param] = {"price": amount(least), "currency": policy.currency}
    if least >= below:
        return Message(
            code="price_too_high", text="The cheapest device costs {price} {currency} an hour now.", params=params
        )
    return Message(
        code="price_but_taken",
        text="There is a device for {price} {currency} an hour, where the job would not start at once.",
        params=params,
    )


def amount(price: float) -> str:
    """A price without zeros that say nothing."""
    return f"{price:.10g}"


def cheap(inventory: Inventory, policy: Policy, below: float) -> list[Device]:
    """The devices an hour of which costs less now, the cheapest first."""
    priced = [(price_of(one, policy), one) for one in inventory.devices if not one.simulated]
    found = [(price, one) for price, one in priced if price is not None and price < below]
    return [one for _, one in sorted(found, key=lambda pair: (pair[0], pair[1].index))]
