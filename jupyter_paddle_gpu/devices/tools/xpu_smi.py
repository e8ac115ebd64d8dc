"""`xpu-smi -q` of Kunlunxin's driver 5, and the tables of `xpu_smi` of driver 4.

`-q` as users show it on a P800 (zstackio/zstack-utility, `zstacklib/gpu/vendors/kunlunxin.py`); the tables from
Paddle's page on Kunlun XPU.
Intel's tool of the same name answers otherwise and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..tool import Answer, Card, Tool, ToolProcess, bytes_of, cells, number, processes_by_card, whole


def read_query(answers: tuple[str, ...]) -> Answer:
    """Sections of `key : value` lines, one a card, headed by its address."""
    text = answers[0]
    if "XPUSMI LOG" not in text:
        raise ValueError(text[:200])
    head, *parts = re.split(r"^XPU (?=[0-9a-fA-F]+:)", text, flags=re.MULTILINE)
    values = dict(_values(head))
    return Answer(
        cards=tuple(_card(place, part) for place, part in enumerate(parts)),
        driver=values.get("Driver Version", ""),
        runtime=values.get("XPU-RT Version", ""),
    )


def _values(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of a section, the keys of what lies below a heading with the heading before them."""
    heading = ""
    for line in text.splitlines():
        key, colon, value = line.partition(" :")
        if not colon:
            heading = line.strip()
        else:
            deep = len(line) - len(line.lstrip()) > 4
            yield f"{heading}/{key.strip()}" if deep else key.strip(), value.strip()


def _card(place: int, text: str) -> Card:
    address, _, rest = text.partition("\n")
    values = dict(_values(rest))
    minor = whole(values.get("Minor Number", ""))
    model = values.get("Product Name", "")
    pids = re.findall(r"Process ID\s*:\s*(\d+)(.*?)(?=Process ID|\Z)", rest, flags=re.DOTALL)
    processes = (
        (
            0,
            ToolProcess(
                int(pid),
                bytes_of(memory[1]) if (memory := re.search(r"Used \w+ Memory\s*:\s*(.*)", more)) else None,
                name[1].strip() if (name := re.search(r"Name\s*:\s*(.*)", more)) else None,
            ),
        )
        for pid, more in pids
    )
    return Card(
        number=place if minor is None else minor,
        address=address.strip(),
        name=f"Kunlun {model}" if model else "",
        memory_total=bytes_of(values.get("Memory Usage/Total", "")),
        memory_used=bytes_of(values.get("Memory Usage/Used", "")),
        utilization=whole(values.get("Utilization/Xpu", "")),
        temperature=whole(values.get("Temperature/XPU Current Temp", "")),
        power=number(values.get("Power Readings/Power Draw", "")),
        power_limit=number(values.get("Power Readings/Enforced Power Limit", "")),
        processes=processes_by_card(processes).get(0, ()),
    )


def read_tables(answers: tuple[str, ...]) -> Answer:
    """The tables DEVICES and PROCESSES; neither heat nor power is told."""
    text = answers[0]
    driver = re.search(r"Driver Version:\s*(\S+)", text)
    if driver is None or "DEVICES" not in text:
        raise ValueError(text[:200])
    runtime = re.search(r"Runtime Version:\s*(\S+)", text)
    cards: list[Card] = []
    rows: list[tuple[int, ToolProcess]] = []
    for row in map(cells, text.splitlines()):
        if len(row) == 8 and row[0].isdigit():
            used, _, total = row[7].partition("/")
            cards.append(
                Card(
                    number=int(row[0]),
                    address=row[1],
                    name=f"Kunlun {row[2]}",
                    memory_total=bytes_of(total),
                    memory_used=bytes_of(used, "MB"),
                    utilization=whole(row[5]),
                )
            )
        elif len(row) == 6 and row[0].isdigit() and row[1].isdigit():
            rows.append((int(row[0]), ToolProcess(int(row[1]), bytes_of(row[4]), row[5] or None)))
    held = processes_by_card(rows)
    return Answer(
        cards=tuple(Card(**{**card.__dict__, "processes": held.get(card.number, ())}) for card in cards),
        driver=driver[1],
        runtime=runtime[1] if runtime else "",
    )


QUERY = Tool(program="xpu-smi", questions=(("-q",),), read=read_query)
TABLES = Tool(program="xpu_smi", questions=((),), read=read_tables)
