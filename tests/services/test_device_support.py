"""What `doctor` says of devices of other makers, with this Python as the kernel's."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from jupyter_paddle_gpu.devices.maker import Package, PaddlePackages
from jupyter_paddle_gpu.devices.makers import registry
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.engines import paddle
from jupyter_paddle_gpu.engines.paddle import installed
from jupyter_paddle_gpu.services.device_support import examine, packages_finding

HOST = HostSample(cpu_count=1, cpu_percent=0, memory_total=1, memory_available=1)


def inventory(*devices: Device) -> Inventory:
    return Inventory(time=0, host=HOST, devices=devices)


def card(vendor: str, number: int = 0, *, simulated: bool = False) -> Device:
    return Device(id=f"{vendor}-{number}", index=number, vendor=vendor, name="card", simulated=simulated)


@pytest.mark.parametrize("vendor", ["ascend", "kunlun", "hygon", "cambricon", "enflame", "amd"])
def test_each_makers_devices_are_said_to_be_unchecked(vendor: str, tmp_path: Path) -> None:
    maker = registry.makers().rows[vendor]
    checks = list(examine(inventory(card(vendor)), lambda: Path(sys.executable), tmp_path))
    codes = [check.finding.code for check in checks]
    # AMD's packages are not known.
    assert codes == ["maker_unchecked", "device_node_missing", "maker_package_missing"][: 3 if maker.paddle else 2]
    for check in checks:
        assert "{" not in check.finding.render() + check.finding.render_hint()
        assert check.finding.render_hint()
    if maker.paddle:
        assert maker.paddle.packages[-1].name in checks[-1].finding.render()
        assert f"{maker.paddle.packages[-1].name}==" in checks[-1].finding.render_hint()


def test_nothing_is_said_of_simulated_cards(tmp_path: Path) -> None:
    def python() -> Path:
        raise AssertionError("no kernel is asked")

    cards = (card("nvidia", simulated=True), card("ascend", simulated=True))
    assert not list(examine(inventory(*cards), python, tmp_path))


@pytest.mark.parametrize(
    ("packages", "codes"),
    [
        ({"paddlepaddle": "3.3.1"}, ["paddle_for_cpu"]),
        ({"paddlepaddle": "3.3.1", "paddlepaddle-gpu": "3.3.1"}, []),
        ({"paddlepaddle-gpu": "3.3.1"}, []),
        ({"paddlepaddle": "3.3.1", "paddle-custom-npu": "3.3.1"}, []),
        ({}, []),
    ],
)
def test_a_paddle_for_the_cpu_beside_a_card_is_told(
    packages: dict[str, str], codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paddle, "installed", lambda *_: packages)
    checks = list(examine(inventory(card("nvidia")), lambda: Path(sys.executable)))
    assert [check.finding.code for check in checks] == codes
    assert all("{" not in check.finding.render() for check in checks)


def test_packages_that_are_there_are_named_with_their_versions() -> None:
    maker = registry.makers().rows["ascend"]
    row = Package(name="msgspec", version="0", index="https://packages.example/")
    other = Package(name="psutil", version="0", index="https://packages.example/")
    found = installed(Path(sys.executable), ["msgspec", "psutil", "no-such-package"])
    assert found == {"msgspec": version("msgspec"), "psutil": version("psutil")}
    one = packages_finding(maker, PaddlePackages(packages=(row,), source="here"), found)
    assert (one.finding.code, one.ok) == ("maker_packages_found", True)
    both = packages_finding(maker, PaddlePackages(packages=(row, other), source="here"), found)
    assert (both.finding.code, both.ok) == ("maker_package_mismatch", False)


def test_an_interpreter_that_does_not_answer_has_none(tmp_path: Path) -> None:
    assert installed(tmp_path / "python", ["msgspec"]) == {}
