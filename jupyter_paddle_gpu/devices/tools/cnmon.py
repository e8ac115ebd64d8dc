"""`cnmon` of Cambricon's driver: two lines a card and a table of processes.

Recorded by Paddle's page on Cambricon MLU (v5.10.13) and PaddleCustomDevice's (v5.10.10, and v4.20.11, whose lines
have the driver's version where later ones have the address). `cnmon info -j` writes a file into the current folder,
whose keys the maker does not document.
"""

from __future__ import annotations

import re

from ..tool import Answer, Card, Tool, ToolProcess, bytes_of, cells, number, processes_by_card, whole

_PROCESS = re.compile(r"^\|\s*(\d+)\s+(?:\S+\s+)?(\d+)\s+(.*?)\s+(\d+\s*[KMG]iB)\s*\|?$")


def read(answers: tuple[str, ...]) -> Answer:
    """The cards by their numbers."""
    text = answers[0]
    if "CNMON" not in text:
        raise ValueError(text[:200])
    driver = re.search(r"Driver v(\S+)", text)
    table, _, running = text.partition("Processes:")
    held = processes_by_card(
        (int(found[1]), ToolProcess(int(found[2]), bytes_of(found[4]), found[3] or None))
        for found in map(_PROCESS.match, running.splitlines())
        if found
    )
    cards: list[Card] = []
    first: list[str] = []
    older = ""
    for row in map(cells, table.splitlines()):
        if len(row) != 3:
            continue
        if re.match(r"\d+ ", row[0]):
            first = row
        elif first and "W/" in row[0]:
            place = int(first[0].split()[0])
            cards.append(_card(first, row, held.get(place, ())))
            older = older or "".join(re.findall(r"v(\d+\.\d+\.\d+)$", first[1]))
            first = []
    return Answer(cards=tuple(cards), driver=driver[1] if driver else older)


def _card(first: list[str], second: list[str], processes: tuple[ToolProcess, ...]) -> Card:
    words = first[0].split()
    power = re.search(r"(\S+)\s*W/\s*(\S+)\s*W", second[0])
    heat = re.search(r"(\d+)\s*C\b", second[0])
    used, _, total = second[1].partition("/")
    return Card(
        number=int(words[0]),
        address=first[1] if first[1].count(":") == 2 else "",
        name=words[2] if len(words) > 2 else "",
        memory_total=bytes_of(total),
        memory_used=bytes_of(used),
        utilization=whole(first[2].split()[0]),
        temperature=whole(heat[1]) if heat else None,
        power=number(power[1]) if power else None,
        power_limit=number(power[2]) if power else None,
        processes=processes,
    )


TOOL = Tool(program="cnmon", questions=((),), read=read)
