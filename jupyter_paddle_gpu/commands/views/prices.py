"""Prices for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...domain.messages import Message
from ..speech import Speech
from .machine import Find, TableView, card_name

if TYPE_CHECKING:
    from ...services.policies.market import Market


class PricesView(TableView):
    """A card a row: what the policy says first, then the market's."""

    folding = (0,)

    def __init__(self, market: Market, own: Mapping[str, float], currency: str, find: Find) -> None:
        self.data: Market = market
        self._own, self._currency, self._find = own, currency, find

    def head(self, say: Speech) -> Sequence[str]:
        """Headings."""
        return say("Card"), say("Price of an hour"), say("From")

    def rows(self, say: Speech) -> list[Sequence[str]]:
        """One row a card."""
        own = [(name, f"{price:g} {self._currency}", say("the policy")) for name, price in self._own.items()]
        market = f"{self.data.source}, {self.data.date}"
        rest = [(name, f"{price:g} {self.data.currency}", market) for name, price in self.data.prices.items()]
        return [(card_name(say, name, self._find), price, source) for name, price, source in (*own, *rest)]

    def sentences(self, say: Speech) -> Sequence[Message]:
        """What to do where there are none."""
        if self.data.prices or self._own:
            return ()
        return (
            Message(
                code="no_prices",
                text="No prices are known.",
                hint="Name them in the policy file (`prices`), or fetch the market's: "
                "`jupyter paddle-gpu prices --update`.",
            ),
        )
