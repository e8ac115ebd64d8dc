"""What a container uses, from Docker's answers."""

from __future__ import annotations

from typing import Any

from ..usage import Usage


def read_usage(answer: dict[str, Any], pids: frozenset[int] = frozenset()) -> Usage | None:
    """The usage in Docker's answer to `stats`; None where the container does not run.

    Args:
        pids: the container's processes as the daemon's machine numbers them.
    """
    cpu = answer.get("cpu_stats") or {}
    memory = answer.get("memory_stats") or {}
    if not memory.get("usage") and not (cpu.get("cpu_usage") or {}).get("total_usage"):
        return None
    details = memory.get("stats") or {}
    # As `docker stats`: pages of files that can be dropped at any time do not count (v1 and v2 name them differently).
    cache = details.get("total_inactive_file", details.get("inactive_file", 0))
    blocks = (answer.get("blkio_stats") or {}).get("io_service_bytes_recursive") or []
    networks = (answer.get("networks") or {}).values()
    return Usage(
        cpu_seconds=int(cpu.get("cpu_usage", {}).get("total_usage", 0)) / 1e9,
        memory_bytes=max(0, int(memory.get("usage", 0)) - int(cache)),
        memory_limit_bytes=memory.get("limit"),
        processes=(answer.get("pids_stats") or {}).get("current"),
        read_bytes=sum(int(row["value"]) for row in blocks if row.get("op", "").lower() == "read"),
        written_bytes=sum(int(row["value"]) for row in blocks if row.get("op", "").lower() == "write"),
        received_bytes=sum(int(row.get("rx_bytes", 0)) for row in networks),
        sent_bytes=sum(int(row.get("tx_bytes", 0)) for row in networks),
        pids=pids,
        pids_of="host",
    )


def pids_of(top: dict[str, Any]) -> frozenset[int]:
    """The process numbers in Docker's answer to `top`."""
    titles = [str(title).upper() for title in top.get("Titles") or []]
    if "PID" not in titles:
        return frozenset()
    column = titles.index("PID")
    rows = [row[column] for row in top.get("Processes") or [] if len(row) > column]
    return frozenset(int(cell) for cell in rows if str(cell).isdigit())
