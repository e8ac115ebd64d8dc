"""`rocm-smi --json` of AMD's ROCm, and `hy-smi --json` of Hygon's DTK, which grew out of it.

The keys change with the version (`GPU use (%)`, `DCU use (%)`, `HCU use (%)`; bytes or MiB): a figure is found by a
pattern, its unit taken from the key. Recorded in gpustack/gpustack (`tests/detectors/rocm_smi`): AMD 6.2.4, Hygon DTK
24.04.3; `--showpids` in ROCm/ROC-smi#60. DTK brings a `rocm-smi` of its own, so both makers ask that program: each
takes the cards of its own vendor.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from ..tool import Answer, Card, Tool, ToolProcess, bytes_of, number, processes_by_card, whole

_ASKED = ("--showproductname", "--showbus", "--showuse", "--showtemp", "--showpower", "--showmaxpower")
_QUESTIONS = (
    (*_ASKED, "--showmeminfo", "vram", "--json"),
    ("--showdriverversion", "--json"),
    ("--showpids", "--json"),
    ("--showpidgpus", "--json"),
)
_HEAT = (r"sensor junction", r"sensor core", r"sensor edge")
"""What is nearest to the silicon first."""


def read(answers: tuple[str, ...], *, others: str) -> Answer:
    """The cards by number; processes where the tool says on which cards they are.

    Args:
        others: a pattern of vendors whose cards are another maker's.
    """
    described, driver, pids, places = (_json(text) for text in (*answers, "", "", "")[:4])
    rows = {int(name[4:]): row for name, row in described.items() if re.fullmatch(r"card\d+", name)}
    if not rows:
        raise ValueError(answers[0][:200])
    held = processes_by_card(_processes(pids, places, list(rows)))
    found = driver.get("system", {})
    return Answer(
        # Hygon's older tool counts from 1, the runtime from 0.
        cards=tuple(
            _card(place, rows[name], held.get(name, ()))
            for place, name in enumerate(sorted(rows))
            if not re.search(others, str(_value(rows[name], "^card vendor$") or ""), re.IGNORECASE)
        ),
        driver=str(_value(found, "driver version") or "") if isinstance(found, dict) else "",
    )


def _json(text: str) -> dict[str, Any]:
    """The answer's object; old versions print warnings before it."""
    start = text.find("{")
    try:
        found = json.loads(text[start:]) if start >= 0 else {}
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _value(row: dict[str, Any], pattern: str) -> Any:
    return next((value for key, value in row.items() if re.search(pattern, key, re.IGNORECASE)), None)


def _bytes(row: dict[str, Any], pattern: str) -> int | None:
    for key, value in row.items():
        if found := re.search(pattern + r" \((\w+)\)", key, re.IGNORECASE):
            return bytes_of(value, found[1])
    return None


def _card(place: int, row: dict[str, Any], processes: tuple[ToolProcess, ...]) -> Card:
    heats = (whole(_value(row, pattern)) for pattern in _HEAT)
    return Card(
        number=place,
        address=str(_value(row, r"^pci bus$") or ""),
        name=str(_value(row, r"^card series$") or _value(row, r"^(device|card model)") or ""),
        memory_total=_bytes(row, "vram total memory"),
        memory_used=_bytes(row, "vram total used memory"),
        utilization=whole(_value(row, r"^[A-Z]+ use \(%\)$")),
        temperature=next((heat for heat in heats if heat is not None), None),
        power=number(_value(row, r"(average|current socket) graphics package power")),
        power_limit=number(_value(row, r"max graphics package power")),
        processes=processes,
    )


def _processes(pids: dict[str, Any], places: dict[str, Any], numbers: list[int]) -> list[tuple[int, ToolProcess]]:
    """`{"system": {"PID12": "name, cards, VRAM bytes, ..."}}`.

    Which cards a process is on is said by the second question; where that is not answered and there is one card, it
    is on that one, and else nothing is said rather than something wrong.
    """
    system = pids.get("system", {})
    where = places.get("system", {})
    rows: list[tuple[int, ToolProcess]] = []
    for key, value in system.items() if isinstance(system, dict) else ():
        pid, words = whole(key), [word.strip() for word in str(value).split(",")]
        if pid is None or len(words) < 3:
            continue
        told = where.get(key) if isinstance(where, dict) else None
        cards = [int(n) for n in re.findall(r"\d+", str(told))] if told is not None else numbers[: len(numbers) == 1]
        memory = bytes_of(words[2], "B") if len(cards) == 1 else None
        rows += [(card, ToolProcess(pid, memory, words[0] or None)) for card in cards]
    return rows


_OF_AMD, _OF_HYGON = partial(read, others="hygon|haiguang"), partial(read, others=r"advanced micro|\bamd\b")
AMD = Tool(program="rocm-smi", questions=_QUESTIONS, read=_OF_AMD, by_address=True)
HYGON = tuple(
    Tool(program=name, questions=_QUESTIONS, read=_OF_HYGON, by_address=True) for name in ("hy-smi", "rocm-smi")
)
