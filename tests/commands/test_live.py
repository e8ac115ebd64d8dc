"""The table to look at while it moves."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.details import DetailsView
from jupyter_paddle_gpu.commands.views.live import LiveView, spark
from jupyter_paddle_gpu.domain.devices import (
    Device,
    DeviceDetails,
    DeviceHistory,
    DeviceLink,
    DeviceProcess,
    DeviceSeries,
    HostSample,
    Inventory,
)
from jupyter_paddle_gpu.domain.messages import Message

GIB = 2**30
HOST = HostSample(cpu_count=8, cpu_percent=12, memory_total=64 * GIB, memory_available=48 * GIB)
PROCESSES = (
    DeviceProcess(pid=11, memory_bytes=20 * GIB, utilization=80, user="ann", command="python train.py", job_id="j-1"),
    DeviceProcess(pid=12, memory_bytes=None, user="bob", command="python serve.py", container="4f1c4f1c4f1c"),
)
CARD = Device(
    id="GPU-0",
    index=0,
    vendor="nvidia",
    name="NVIDIA A100",
    memory_total=80 * GIB,
    memory_used=40 * GIB,
    utilization=75,
    temperature=61,
    power=250.4,
    power_limit=400.0,
    processes=PROCESSES,
    details=DeviceDetails(clock=1410, throttling=("power_cap", "idle")),
)
SILENT = Device(id="ascend-1", index=1, vendor="ascend", name="Ascend 910B", checked=False)
INVENTORY = Inventory(time=0, host=HOST, devices=(CARD, SILENT))
SERIES = DeviceSeries(id="GPU-0", times=(1.0, 2.0), utilization=(0.0, 100.0), memory_used=(), temperature=(), power=())


def drawn(view: LiveView, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(view.rich(Speech("en")))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_bars_last_minute_and_processes_with_owner_job_and_container() -> None:
    text = drawn(LiveView(INVENTORY, DeviceHistory(since=0, until=2, devices=(SERIES,))), 200)
    assert "█████ " in text
    assert "███████▌" in text
    assert "▁█" in text
    for word in (
        "75%",
        "61 °C",
        "250 W / 400 W",
        "1410 MHz (power_cap)",
        "ann",
        "j-1",
        "4f1c4f1c4f1c",
        "python serve.py",
    ):
        assert word in text
    assert "Ascend 910B (not checked on hardware)" in text
    assert "··········" in text, "what a card does not tell is no empty bar"


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_every_width_keeps_device_memory_and_load(width: int) -> None:
    text = drawn(LiveView(INVENTORY), width)
    assert max(map(len, text.splitlines())) <= max(width, len("8 processors at 12 %, memory 16 GiB of 64 GiB"))
    for word in ("A100", "75%", "11"):
        assert word in text


def test_why_there_is_none_is_folded_for_what_cuts_lines() -> None:
    why = Message(code="none", text="No GPU was found here.", hint="Estimates work without one. Jobs run on the CPU.")
    alone = msgspec.structs.replace(INVENTORY, devices=(), problems=(why,))
    lines = drawn(LiveView(alone), 30).splitlines()[1:]
    assert max(map(len, lines)) <= 30
    assert " ".join(" ".join(lines).split()) == f"{why.text} {why.hint}"


def test_json_is_the_inventory() -> None:
    view = LiveView(INVENTORY)
    assert view.json(Speech("en"))["devices"][0]["id"] == msgspec.to_builtins(INVENTORY)["devices"][0]["id"]


def test_a_cell_shows_the_processes_too() -> None:
    html = LiveView(INVENTORY).html(Speech("en"))
    assert "python train.py" in html
    assert "910B" in html


@pytest.mark.parametrize(
    ("values", "expected"),
    [((), ""), ((0, 49, 50, 99, 100), "▁▄▅██"), ((None, 100), " █"), ((50,) * 99, "▅" * 20)],
)
def test_a_spark_has_the_newest_values(values: tuple[float | None, ...], expected: str) -> None:
    assert spark(values) == expected


def test_who_is_joined_to_whom_is_drawn_where_there_is_nvlink() -> None:
    links = (
        DeviceLink(devices=("GPU-0", "GPU-1"), joint="nvlink", lanes=4, bandwidth=1e11),
        DeviceLink(devices=("GPU-2", "GPU-1"), joint="nvlink"),
        DeviceLink(devices=("GPU-0", "GPU-2"), joint="host_bridge"),
    )
    cards = tuple(msgspec.structs.replace(CARD, id=f"GPU-{n}", index=n, processes=()) for n in range(3))
    inventory = msgspec.structs.replace(INVENTORY, devices=(*cards, SILENT), links=links)
    lines = [line.split() for line in drawn(LiveView(inventory), 200).splitlines()]
    assert ["0", "1", "2"] in lines
    assert [line for line in lines if line[:1] == ["GPU"] and len(line) == 5] == [
        ["GPU", "0", "–", "NV4", "PHB"],
        ["GPU", "1", "NV4", "–", "NV"],
        ["GPU", "2", "PHB", "NV", "–"],
    ]
    assert ">NV4</td>" in LiveView(inventory).html(Speech("en"))
    by_bus = msgspec.structs.replace(inventory, links=links[2:])
    assert "PHB" not in drawn(LiveView(by_bus), 200), "without NVLink there is nothing to choose"


def test_what_a_card_cannot_tell_is_a_dash_in_its_details() -> None:
    told = DeviceDetails(clock=1410, clock_max=1980, throttling=("heat",), fans=(30, 31), mig=False, ecc_corrected=5)
    cards = [
        Device(id=str(n), index=n, vendor="nvidia", name="Card", details=own) for n, own in enumerate((told, None))
    ]
    first, second = DetailsView(Inventory(time=0.0, host=HOST, devices=tuple(cards))).rows(Speech("en"))
    assert first[2:8] == ("1410 / 1980 MHz", "–", "heat", "5 / –", "–", "30 / 31 %")
    assert (first[1], first[-1]) == ("–", "no")
    assert set(second[1:]) == {"–"}
