"""The share of the machine that control groups leave to this process: memory and processors, version 1 and 2."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_UNLIMITED = 2**60
"""Version 1 writes "no limit" as a number near 2^63."""


class Share(NamedTuple):
    """Limits of this process; None where nothing limits it.

    Attributes:
        memory_used: bytes under the limit, without file pages that the kernel can drop.
        cpus: processors' worth of time that is granted.
        cpu_seconds: processor time used so far by this process's group.
    """

    memory_limit: int | None = None
    memory_used: int | None = None
    cpus: float | None = None
    cpu_seconds: float | None = None


def read_share(root: Path = Path("/")) -> Share:
    """The tightest limits on the way from this process's groups to the top."""
    groups = _groups(root)
    mount = root / "sys/fs/cgroup"
    memory: list[tuple[int, int]] = []
    cpus: list[float] = []
    if "" in groups:
        for base in (mount, mount / "unified"):
            for folder in _up(base, groups[""]):
                memory += _memory(folder, "memory.max", "memory.current", "inactive_file")
                cpus += _quota(_words(folder / "cpu.max"))
    for folder in _up(mount / "memory", groups.get("memory", "/")):
        memory += _memory(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    for name in ("cpu", "cpu,cpuacct"):
        for folder in _up(mount / name, groups.get("cpu", "/")):
            cpus += _quota([*_words(folder / "cpu.cfs_quota_us"), *_words(folder / "cpu.cfs_period_us")])
    tightest = min(memory, key=lambda pair: pair[0] - pair[1], default=(None, None))
    limit = min((pair[0] for pair in memory), default=None)
    return Share(
        memory_limit=limit,
        memory_used=tightest[1],
        cpus=min(cpus, default=None),
        cpu_seconds=_cpu_seconds(mount, groups) if cpus else None,
    )


def _groups(root: Path) -> dict[str, str]:
    """Controller -> path of this process's group; the empty name is version 2."""
    groups: dict[str, str] = {}
    for line in _lines(root / "proc/self/cgroup"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        groups |= dict.fromkeys(controllers.split(","), path)
    return groups


def _up(base: Path, path: str) -> list[Path]:
    """The folders from a group up to the mount; in a container the path may be the host's and lead nowhere."""
    folder = base / path.strip("/")
    folders = [folder, *folder.parents]
    return [f for f in folders if f == base or base in f.parents]


def _memory(folder: Path, limit_name: str, used_name: str, droppable: str) -> list[tuple[int, int]]:
    limit, used = _words(folder / limit_name), _words(folder / used_name)
    if not limit or not limit[0].isdigit() or int(limit[0]) > _UNLIMITED:
        return []
    spare = next(
        (int(v) for k, _, v in (line.partition(" ") for line in _lines(folder / "memory.stat")) if k == droppable), 0
    )
    current = int(used[0]) if used and used[0].isdigit() else 0
    return [(int(limit[0]), max(0, current - spare))]


def _quota(words: list[str]) -> list[float]:
    if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]) > 0 and int(words[0]) > 0:
        return [int(words[0]) / int(words[1])]
    return []


def _cpu_seconds(mount: Path, groups: dict[str, str]) -> float | None:
    for folder in _up(mount, groups.get("", "/")):
        words = _words(folder / "cpu.stat")
        if "usage_usec" in words[:-1]:
            return int(words[words.index("usage_usec") + 1]) / 1e6
    for name in ("cpuacct", "cpu,cpuacct"):
        for folder in _up(mount / name, groups.get("cpuacct", "/")):
            words = _words(folder / "cpuacct.usage")
            if words and words[0].isdigit():
                return int(words[0]) / 1e9
    return None


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
