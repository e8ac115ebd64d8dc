"""`prices`: what an hour of a card costs, as the policy and the market say."""

from __future__ import annotations

import click

from .face import Face, View
from .options import json_option
from .views.prices import PricesView


@click.command()
@click.option("--update", is_flag=True, help="Fetch the market's anew, from the network, with the package gpuhunt.")
@json_option
@click.pass_obj
def prices(face: Face, /, update: bool) -> View:
    """Show what an hour of each card costs."""
    market = face.services.prices(update=update)
    policy = face.services.policy
    return PricesView(market, policy.prices, policy.currency, face.services.find_accelerator)
