"""`efsmi -q` of Enflame's driver: sections of `key : value` lines, one a card. Processes are not told.

Recorded by users (zstackio/zstack-utility, `zstacklib/gpu/vendors/enflame.py`): driver 1.4.3.4 on S60; drivers before
call the memory `Mem Size` and `Mem Usage`.
"""

from __future__ import annotations

import re

from ..tool import Answer, Card, Tool, bytes_of, number, whole


def read(answers: tuple[str, ...]) -> Answer:
    """The cards by their numbers."""
    text = answers[0]
    parts = re.split(r"^\s*DEV ID\s+", text, flags=re.MULTILINE)[1:]
    if not parts:
        raise ValueError(text[:200])
    values = [_values(part) for part in parts]
    return Answer(cards=tuple(map(_card, values)), driver=values[0].get("Ver", ""))


def _values(text: str) -> dict[str, str]:
    """The keys of all sections: none is in two of those that are read here."""
    number_of, _, rest = text.partition("\n")
    found = {"DEV ID": number_of.strip()}
    for line in rest.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            found.setdefault(key.strip(), value.strip())
    return found


def _card(row: dict[str, str]) -> Card:
    name = row.get("Dev Name", "")
    place = [row.get(key, "") for key in ("Domain", "Bus", "Dev", "Func")]
    health = row.get("Health", "True")
    return Card(
        number=int(row["DEV ID"]),
        address="{}:{}:{}.{}".format(*place) if all(place) else "",
        name=name if not name or name.startswith("Enflame") else f"Enflame {name}",
        memory_total=bytes_of(row.get("Total Size") or row.get("Mem Size", "")),
        memory_used=_used(row),
        utilization=whole(row.get("GCU Usage", "")),
        temperature=whole(row.get("GCU Temp", "")),
        power=number(row.get("Cur Power", "")),
        power_limit=number(row.get("Power Capa", "")),
        ill="" if health == "True" else f"Health: {health}",
    )


def _used(row: dict[str, str]) -> int | None:
    """With what the driver keeps for itself, which nobody else can have either."""
    used = bytes_of(row.get("Used Size") or row.get("Mem Usage", ""))
    return None if used is None else used + (bytes_of(row.get("Reserved Size", "")) or 0)


TOOL = Tool(program="efsmi", questions=(("-q",),), read=read)
