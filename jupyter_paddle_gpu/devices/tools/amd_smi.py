"""`amd-smi ... --json` of ROCm 6.1 and later; a list of cards, from 6.4 on within `gpu_data`.

The shape of version 26.2.1 on MI355X, as users show it; a figure is `{"value": 239, "unit": "W"}`, a bare number or
`"N/A"`.
"""

from __future__ import annotations

import json
from typing import Any

from ..tool import Answer, Card, Tool, ToolProcess, bytes_of, number, processes_by_card, whole


def read(answers: tuple[str, ...]) -> Answer:
    """The cards of `static`, with the figures of `metric` and the processes of `process`."""
    fixed, live, processes = (_cards(text) for text in (*answers, "", "")[:3])
    if not fixed:
        raise ValueError(answers[0][:200])
    return Answer(
        cards=tuple(_card(place, fixed[place], live.get(place, {}), processes.get(place, {})) for place in fixed),
        driver=str(_at(next(iter(fixed.values())), "driver", "version") or ""),
    )


def _cards(text: str) -> dict[int, dict[str, Any]]:
    try:
        found = json.loads(text) if text else []
    except json.JSONDecodeError:
        return {}
    rows = found.get("gpu_data", []) if isinstance(found, dict) else found
    return {row["gpu"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("gpu"), int)}


def _at(row: Any, *path: str) -> Any:
    for key in path:
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _plain(figure: Any) -> tuple[Any, str]:
    """Value and unit of a figure."""
    if isinstance(figure, dict):
        return figure.get("value"), str(figure.get("unit") or "")
    return figure, ""


def _first(row: Any, *paths: tuple[str, ...]) -> float | None:
    return next((found for path in paths if (found := number(_plain(_at(row, *path))[0])) is not None), None)


def _bytes(figure: Any) -> int | None:
    value, unit = _plain(figure)
    return bytes_of(value, unit or "MB")


def _card(place: int, fixed: dict[str, Any], live: dict[str, Any], running: dict[str, Any]) -> Card:
    listed = running.get("process_list")
    processes = (
        (0, _process(info))
        for item in (listed if isinstance(listed, list) else [])
        if isinstance(info := _at(item, "process_info"), dict) and isinstance(info.get("pid"), int)
    )
    heat = ("temperature", "hotspot"), ("temperature", "edge")
    limit = ("limit", "ppt0", "socket_power_limit"), ("limit", "socket_power"), ("limit", "max_power")
    return Card(
        number=place,
        address=str(_at(fixed, "bus", "bdf") or ""),
        name=str(_at(fixed, "asic", "market_name") or ""),
        memory_total=_bytes(_at(live, "mem_usage", "total_vram")) or _bytes(_at(fixed, "vram", "size")),
        memory_used=_bytes(_at(live, "mem_usage", "used_vram")),
        utilization=whole(_plain(_at(live, "usage", "gfx_activity"))[0]),
        temperature=whole(_first(live, *heat)),
        power=_first(live, ("power", "socket_power")),
        power_limit=_first(fixed, *limit),
        processes=processes_by_card(processes).get(0, ()),
    )


def _process(info: dict[str, Any]) -> ToolProcess:
    memory = _at(info, "memory_usage", "vram_mem") or info.get("mem_usage")
    name = info.get("name")
    return ToolProcess(info["pid"], _bytes(memory), name if isinstance(name, str) and name != "N/A" else None)


TOOL = Tool(
    program="amd-smi",
    questions=(("static", "--json"), ("metric", "--json"), ("process", "--json")),
    read=read,
    by_address=True,
)
