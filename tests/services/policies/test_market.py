"""Prices of the market, by gpuhunt itself on a catalogue that lies here."""

from __future__ import annotations

import csv
import logging
from pathlib import Path

import pytest

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.prices import PricesView
from jupyter_paddle_gpu.devices.catalogue import find
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.matching.filters import price_of
from jupyter_paddle_gpu.matching.policy import Policy
from jupyter_paddle_gpu.services import Services, Settings
from jupyter_paddle_gpu.services.policies import market

gpuhunt = pytest.importorskip("gpuhunt", reason="the package gpuhunt, which has the market's prices")
FIELDS = ("instance_name", "location", "price", "cpu", "memory", "gpu_count", "gpu_name", "gpu_memory", "spot")
MORE = ("disk_size", "gpu_vendor", "flags", "cpu_arch", "provider_data")
OFFERS = [
    ("two", "eu", 5.0, 16, 128, 2, "A100", 80, False),
    ("one", "eu", 2.9, 8, 64, 1, "A100", 80, False),
    ("spot", "eu", 0.1, 8, 64, 1, "A100", 80, True),
    ("small", "eu", 0.4, 4, 16, 1, "T4", 16, False),
    ("other", "eu", 9.0, 4, 16, 1, "H100", 80, False),
    ("none", "eu", 0.2, 4, 16, 0, "", "", False),
]


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one provider's offers and the other providers' empty files."""
    from gpuhunt._internal.catalog import OFFLINE_PROVIDERS

    folder = tmp_path / "catalogue"
    folder.mkdir()
    for number, name in enumerate(OFFLINE_PROVIDERS):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow((*FIELDS, *MORE))
            for row in OFFERS if number == 0 else ():
                writer.writerow((*row, "", "nvidia" if row[5] else "", "", "x86", "{}"))
    monkeypatch.setenv("GPUHUNT_CATALOG_DIR", str(folder))
    return folder


def test_the_cheapest_offer_of_one_card_is_kept_with_its_date(catalogue: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert market.load(data) == market.Market()
    found = market.update(data)
    assert found.prices == {"A100 80GB": 2.5, "H100 80GB": 9.0, "T4 16GB": 0.4}
    assert (found.offers, found.source.split()[0], len(found.date)) == (4, "gpuhunt", 10)
    assert market.load(data) == found


def test_the_policys_prices_come_first_and_another_currency_is_not_mixed(catalogue: Path, tmp_path: Path) -> None:
    (tmp_path / "paddle-gpu.yaml").write_text("resource_policy: {prices: {T4: 0.1}}\n")
    services = Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none"))
    services.prices(update=True)
    policy = services.policy
    services.close()
    card = Device(id="0", index=0, vendor="nvidia", name="Tesla T4")
    large = Device(id="1", index=1, vendor="nvidia", name="NVIDIA H100 80GB HBM3")
    assert (price_of(card, policy), price_of(large, policy)) == (0.1, 9.0)
    kept = market.load(tmp_path)
    assert market.within(Policy(currency="CNY"), kept).market == {}
    rows = PricesView(kept, policy.prices, policy.currency, find).rows(Speech("en"))
    assert rows[0] == ("T4", "0.1 USD", "the policy")
    assert len(rows) == 4
    (row,) = PricesView(market.Market(), {"Ascend 910B2": 1.2}, "CNY", find).rows(Speech("en"))
    assert row == ("Ascend 910B2 (not checked on hardware)", "1.2 CNY", "the policy")


def test_a_market_that_does_not_answer_says_so(
    catalogue: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for file in catalogue.iterdir():
        file.unlink()
    with pytest.raises(PaddleGpuError) as caught:
        market.update(tmp_path)
    assert caught.value.code == "market_silent"
    logging.getLogger("gpuhunt.catalog").exception("no source")
    assert caplog.records == [], "no traceback of a library's before the sentence"


def test_without_prices_the_next_step_is_said(tmp_path: Path) -> None:
    view = PricesView(market.load(tmp_path), {}, "USD", find)
    assert [sentence.code for sentence in view.sentences(Speech("en"))] == ["no_prices"]
