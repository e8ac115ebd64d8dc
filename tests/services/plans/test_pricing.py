"""Waiting for a lower price: what is said meanwhile, and by what it ends."""

from __future__ import annotations

from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.services.plans.pricing import cheap, waits_for_price, why_not_by_cost

HOST = HostSample(cpu_count=1, cpu_percent=0, memory_total=1, memory_available=1)
NAMES = ("NVIDIA GeForce RTX 3090", "NVIDIA A100-SXM4-80GB")
CARDS = tuple(Device(id=str(at), index=at, vendor="nvidia", name=name) for at, name in enumerate(NAMES))
HERE = Inventory(time=0, host=HOST, devices=CARDS)


def priced(small: float, large: float) -> Policy:
    return Policy(prices={"RTX 3090": small, "A100 SXM 80GB": large}, currency="CNY")


def test_it_says_what_the_cheapest_costs_now() -> None:
    found = waits_for_price(HERE, priced(3.0, 5.25), 2.0)
    assert found is not None
    assert found.render() == "The cheapest device costs 3 CNY an hour now."
    assert not cheap(HERE, priced(3.0, 5.25), 2.0)


def test_one_that_is_cheap_enough_and_taken_is_told() -> None:
    found = waits_for_price(HERE, priced(1.5, 5.25), 2.0)
    assert found is not None and found.code == "price_but_taken"
    assert [card.id for card in cheap(HERE, priced(1.5, 1.2), 2.0)] == ["1", "0"]


def test_without_prices_nobody_waits_and_nothing_is_said() -> None:
    assert waits_for_price(HERE, Policy(), 2.0) is None
    same, other = why_not_by_cost(HERE, priced(2, 2)), why_not_by_cost(HERE, priced(2, 3))
    assert (same and same.code, other) == ("cost_same", None)
