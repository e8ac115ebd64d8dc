"""`npu-smi info` of Huawei's driver: two lines a chip and a table of processes.

The maker documents no other format (npu-smi reference of Atlas 800 training server 24.1.RC2, EDOC1100388860); cards
with two chips (910C) and newer versions as users show them (vllm-project/vllm-ascend#2534 and #12980).
"""

from __future__ import annotations

import re

from ..tool import Answer, Card, Tool, ToolProcess, bytes_of, cells, number, processes_by_card, whole

_ADDRESS = re.compile(r"^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]$")
_USAGE = re.compile(r"(\d+)\s*/\s*(\d+)")


def read(answers: tuple[str, ...]) -> Answer:
    """Chips with memory, load, heat, power and processes; a chip of two on one card is a device of its own."""
    text = answers[0]
    version = re.search(r"Version:\s*(\S+)", text)
    if version is None:
        raise ValueError(text[:200])
    cards: list[Card] = []
    places: dict[tuple[int, int], int] = {}
    rows: list[tuple[int, ToolProcess]] = []
    first: list[str] = []
    for line in text.splitlines():
        row = cells(line)
        if len(row) == 3 and _ADDRESS.match(row[1]):
            card = _card(first, row)
            places[int(first[0].split()[0]), int(row[0].split()[0])] = card.number
            cards.append(card)
        elif len(row) == 3:
            first = row
        elif len(row) == 4 and row[1].isdigit():
            card_and_chip = [int(word) for word in row[0].split()]
            place = places.get((card_and_chip[0], card_and_chip[-1] if len(card_and_chip) > 1 else 0))
            if place is not None:
                rows.append((place, ToolProcess(int(row[1]), bytes_of(row[3], "MB"), row[2] or None)))
    held = processes_by_card(rows)
    return Answer(
        cards=tuple(Card(**{**card.__dict__, "processes": held.get(card.number, ())}) for card in cards),
        driver=version[1],
    )


def _card(first: list[str], second: list[str]) -> Card:
    """A chip from its two lines.

    The first has number and name, health, and power and heat; the second chip (and, of cards with several, the number
    that the nodes count by), address, and load, memory on the host's side and of the card.
    """
    which, name = first[0].split()[0], " ".join(first[0].split()[1:])
    chip = second[0].split()
    power, heat = ([*first[2].split(), "-", "-"])[:2]
    usages = _USAGE.findall(second[2])
    # The last pair is the card's own memory (HBM); inference cards have one pair alone.
    used, total = usages[-1] if usages else ("", "")
    return Card(
        number=int(chip[1]) if len(chip) > 1 else int(which),
        address=second[1],
        name=name if name.lower().startswith("ascend") else f"Ascend {name}",
        memory_total=bytes_of(total, "MB"),
        memory_used=bytes_of(used, "MB"),
        utilization=whole(second[2].split()[0]),
        temperature=whole(heat),
        power=number(power),
        ill="" if first[1] in ("OK", "Unknown") else first[1],
    )


TOOL = Tool(program="npu-smi", questions=(("info",),), read=read)
