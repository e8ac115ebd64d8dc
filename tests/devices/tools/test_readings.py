"""What makers' tools printed (tests/devices/recorded says where), and what is read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_paddle_gpu.devices.tool import Answer, Card, Tool, ToolProcess
from jupyter_paddle_gpu.devices.tools import amd_smi, cnmon, efsmi, npu_smi, rocm_smi, xpu_smi

RECORDED = Path(__file__).parents[1] / "recorded"
MIB = 2**20


def read(tool: Tool, *names: str) -> Answer:
    return tool.read(tuple((RECORDED / name).read_text() if name else "" for name in names))


def figures(card: Card) -> tuple[object, ...]:
    """Number, address, name, used and total MiB, load, heat, power and its limit."""
    used, total = (None if size is None else size // MIB for size in (card.memory_used, card.memory_total))
    place = card.number, card.address, card.name
    return *place, used, total, card.utilization, card.temperature, card.power, card.power_limit


CASES: list[tuple[Tool, tuple[str, ...], str, tuple[object, ...]]] = [
    (
        npu_smi.TOOL,
        ("npu-smi-23.0.3-910B2C.txt",),
        "23.0.3",
        (1, "0000:29:00.0", "Ascend 910B2C", 3316, 65536, 0, 53, 93.8, None),
    ),
    (
        npu_smi.TOOL,
        ("npu-smi-24.1.RC2-910.txt",),
        "24.1.RC2",
        (3, "0000:01:00.0", "Ascend xxx", 0, 32768, 0, 39, 206.9, None),
    ),
    (
        npu_smi.TOOL,
        ("npu-smi-910C.txt",),
        "26.0.rc2",
        (2, "0000:99:00.0", "Ascend910", 3415, 65536, 0, 36, 186.3, None),
    ),
    (
        cnmon.TOOL,
        ("cnmon-5.10.13-MLU370-X8.txt",),
        "5.10.13",
        (1, "0000:3D:00.0", "MLU370-X8", 0, 23374, 0, 39, 106.0, 250.0),
    ),
    (cnmon.TOOL, ("cnmon-4.20.11-MLU370-X4.txt",), "4.20.11", (0, "", "MLU370-X4", 0, 23308, 0, 32, 30.0, 150.0)),
    (
        efsmi.TOOL,
        ("efsmi-q-1.4.3.4-S60.txt",),
        "1.4.3.4",
        (0, "0000:17:00.0", "Enflame S60", 1129, 42976, 0, 35, 96.0, 300.0),
    ),
    (efsmi.TOOL, ("efsmi-q-older-S60.txt",), "", (1, "", "", 1129, 42976, 0, 34, None, None)),
    (
        xpu_smi.QUERY,
        ("xpu-smi-q-5.0.21-P800.txt",),
        "5.0.21.26",
        (0, "00000000:01:00.0", "Kunlun P800 PCIe", 0, 98304, 0, 46, 76.0, 350.0),
    ),
    (
        xpu_smi.TABLES,
        ("xpu_smi-4.0-R300.txt",),
        "4.0",
        (1, "0000:56:00.0", "Kunlun R300", 0, 32768, 0, None, None, None),
    ),
    (
        rocm_smi.HYGON[0],
        ("hy-smi-24.04.3.json", "", "", ""),
        "",
        (0, "", "DCU xxxx", 2, 65520, 0, 39, 80.0, None),
    ),
    (
        rocm_smi.AMD,
        ("rocm-smi-6.2.4-RX7800XT.json", "", "", ""),
        "",
        (0, "", "Navi 32 [Radeon RX 7700 XT / 7800 XT]", 11077, 16368, 100, 51, 53.0, None),
    ),
    (
        amd_smi.TOOL,
        tuple(f"amd-smi-26.2.1-MI355X-{part}.json" for part in ("static", "metric", "process")),
        "6.16.6",
        (0, "0000:05:00.0", "AMD Instinct MI355X", 283, 294896, 0, 36, 239.0, 1400.0),
    ),
]


@pytest.mark.parametrize(("tool", "names", "driver", "expected"), CASES, ids=[case[1][0] for case in CASES])
def test_figures_of_the_last_card(
    tool: Tool, names: tuple[str, ...], driver: str, expected: tuple[object, ...]
) -> None:
    answer = read(tool, *names)
    assert answer.driver == driver
    assert figures(answer.cards[-1]) == expected


@pytest.mark.parametrize("tool", sorted({case[0] for case in CASES}, key=lambda tool: tool.program))
@pytest.mark.parametrize("text", ["", "command not found", "{}", "[]", "| 1 |\n|||\n", '{"card": []}'])
def test_what_a_tool_never_says_is_refused_and_nothing_else_raised(tool: Tool, text: str) -> None:
    with pytest.raises(ValueError):
        tool.read((text,) + ("",) * (len(tool.questions) - 1))


def test_a_card_that_is_not_well_says_so() -> None:
    answer = read(npu_smi.TOOL, "npu-smi-24.1.RC2-910.txt")
    assert [card.ill for card in answer.cards] == ["", "Warning"]
    ill = (RECORDED / "efsmi-q-1.4.3.4-S60.txt").read_text().replace(": True", ": False")
    assert [card.ill for card in efsmi.TOOL.read((ill,)).cards] == ["Health: False"]


def test_two_chips_of_a_card_are_two_devices_with_the_numbers_of_their_nodes() -> None:
    answer = read(npu_smi.TOOL, "npu-smi-910C.txt")
    assert [(card.number, card.address, card.power) for card in answer.cards] == [
        (0, "0000:9D:00.0", 178.5),
        (1, "0000:9F:00.0", None),
        (2, "0000:99:00.0", 186.3),
    ]


def test_processes() -> None:
    npu = read(npu_smi.TOOL, "npu-smi-24.1.RC2-910.txt")
    assert [[(row.pid, row.memory) for row in card.processes] for card in npu.cards] == [
        [(37656, 686 * MIB), (37664, 686 * MIB)],
        [(37643, 686 * MIB)],
    ]
    amd = read(amd_smi.TOOL, *(f"amd-smi-26.2.1-MI355X-{part}.json" for part in ("static", "metric", "process")))
    assert amd.cards[0].processes == (ToolProcess(42, 0, None),)
    table = (RECORDED / "cnmon-5.10.13-MLU370-X8.txt").read_text()
    row = "|  1     /   4242    python train.py --epochs 3                    5120 MiB |"
    mlu = cnmon.TOOL.read((table.replace("|  No running processes found", row + "\n|  "),))
    assert [card.processes for card in mlu.cards] == [
        (),
        (ToolProcess(4242, 5120 * MIB, "python train.py --epochs 3"),),
    ]
    tables = (RECORDED / "xpu_smi-4.0-R300.txt").read_text() + "|     1 | 77 | 2 | 0 MB | 1024 MB | python |\n"
    assert [card.processes for card in xpu_smi.TABLES.read((tables,)).cards] == [
        (),
        (ToolProcess(77, 1024 * MIB, "python"),),
    ]
    query = (RECORDED / "xpu-smi-q-5.0.21-P800.txt").read_text()
    listed = "Processes\n        Process ID : 9\n            Name : python\n            Used XPU Memory : 10 MiB"
    (card,) = xpu_smi.QUERY.read((query.replace("Processes                             : None", listed),)).cards
    assert card.processes == (ToolProcess(9, 10 * MIB, "python"),)


def test_processes_of_rocm_are_put_on_cards_where_the_tool_says_which() -> None:
    one = (RECORDED / "rocm-smi-6.2.4-RX7800XT.json").read_text()
    two = '{"card0": {"GPU use (%)": "1"}, "card1": {"GPU use (%)": "2"}}'
    pids = '{"system": {"PID12": "train, 1, 1048576, 0, 0", "PID13": "x, 1, 5, 0, 0"}}'
    (card,) = rocm_smi.AMD.read((one, "", pids, "")).cards
    assert card.processes == (ToolProcess(12, MIB, "train"), ToolProcess(13, 5, "x"))
    assert [c.processes for c in rocm_smi.AMD.read((two, "", pids, "")).cards] == [(), ()]
    told = rocm_smi.AMD.read((two, "", pids, '{"system": {"PID12": "[1]"}}')).cards
    assert [c.processes for c in told] == [(), (ToolProcess(12, MIB, "train"),)]


def test_cards_that_the_tool_counts_from_one_are_counted_from_zero() -> None:
    answer = rocm_smi.HYGON[0].read(('{"card1": {"DCU use (%)": "3"}, "card2": {"DCU use (%)": "4"}}', "", "", ""))
    assert [(card.number, card.utilization) for card in answer.cards] == [(0, 3), (1, 4)]
