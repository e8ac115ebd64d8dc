"""Prices of cards on the market: gpuhunt's catalogue of cloud offers, kept with its date.

It is read from the network on a person's command alone (`prices --update`); everything else reads the file that this
left in the data folder. What a policy file says of a price comes first.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from ...devices.catalogue import find
from ...domain.decoding import decode
from ...domain.errors import PaddleGpuError
from ...matching.policy import Policy

FILE = "prices.json"
"""Its name in the data folder."""


class Market(msgspec.Struct, frozen=True, kw_only=True):
    """The cheapest offer of an hour of each card of the catalogue, in `currency`, at a `date` (ISO 8601).

    Attributes:
        source: where they are from, with its version.
        offers: how many offers were compared.
    """

    date: str = ""
    source: str = ""
    currency: str = "USD"
    prices: dict[str, float] = {}
    offers: int = 0


def load(data_folder: Path) -> Market:
    """What was kept; nothing where nothing was, or where it cannot be read."""
    try:
        return decode((data_folder / FILE).read_bytes(), Market)
    except (OSError, msgspec.MsgspecError):
        return Market()


def within(policy: Policy, market: Market) -> Policy:
    """The policy with the market's prices for the cards that it does not price itself; where it counts in another
    currency it stays as it is."""
    if not market.prices or market.currency != policy.currency:
        return policy
    return msgspec.structs.replace(policy, market=market.prices, market_date=market.date)


def update(data_folder: Path) -> Market:
    """Ask gpuhunt and keep what it says.

    Raises:
        PaddleGpuError: `gpuhunt_missing` (409), `market_silent` (503).
    """
    try:
        import gpuhunt  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise PaddleGpuError(
            "gpuhunt_missing",
            "Prices come from the package gpuhunt, which is not installed.",
            hint="Run `pip install 'jupyter_paddle_gpu[prices]'`, or name prices in the policy file.",
            status=409,
        ) from error
    # It logs a traceback for each of its sources that it cannot reach; what came of all of them is said below.
    logging.getLogger("gpuhunt").setLevel(logging.CRITICAL + 1)
    try:
        catalogue = gpuhunt.Catalog(balance_resources=False, auto_reload=False)
        if not os.environ.get("GPUHUNT_CATALOG_DIR"):
            catalogue.load()
        items = catalogue.query(min_gpu_count=1, spot=False)
    except Exception as error:  # whatever its transports raise
        raise PaddleGpuError(
            "market_silent",
            "gpuhunt's catalog cannot be had: {error}",
            hint="Check the network, or name prices in the policy file.",
            status=503,
            error=f"{type(error).__name__}: {error}",
        ) from error
    market = Market(
        date=time.strftime("%Y-%m-%d"),
        source=f"gpuhunt {version('gpuhunt')}",
        prices=_cheapest(items),
        offers=len(items),
    )
    data_folder.mkdir(parents=True, exist_ok=True)
    (data_folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(market), indent=2))
    return market


def _cheapest(items: Iterable[Any]) -> dict[str, float]:
    """Of each card that our catalogue knows, under a name that leaves its form open as offers do, the least price of
    one device in an on-demand offer."""
    found: dict[str, float] = {}
    for item in items:
        if not item.gpu_count or not item.gpu_name or not item.price:
            continue
        name = f"{item.gpu_name} {round(item.gpu_memory)}GB" if item.gpu_memory else item.gpu_name
        if find(name) is not None:
            price = round(item.price / item.gpu_count, 4)
            found[name] = min(price, found.get(name, price))
    return dict(sorted(found.items()))
