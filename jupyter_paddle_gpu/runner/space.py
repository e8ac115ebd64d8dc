"""Which place is full, when an error says that there is no space: a disk, or memory that looks like one."""

import os
import re
from pathlib import Path
from typing import Iterable, Optional

SHARED_MEMORY = Path("/dev/shm")
TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
FULL_BYTES = 1 << 20
"""A place with less than this counts as full: what could not be written was larger, or small and repeated."""
_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded")
_SHARED = re.compile(r"killed by signal: Bus error|insufficient shared storage space|insufficient shared memory")
"""What DataLoaders say whose worker was ended by SIGBUS."""
_PATH = re.compile(r"'(/[^']+)'|\s(/[^\s:,;]+)")


def reason_of(text: str, places: Iterable[Path]) -> Optional[str]:
    """The class of an error by its text, as `domain.jobs.reasons` has it; None where it is not about space.

    Args:
        places: folders that the job writes to, asked where the text names no path.
    """
    if _SHARED.search(text):
        return "shared_memory_full"
    if not _NO_SPACE.search(text):
        return None
    named = [Path(quoted or plain) for quoted, plain in _PATH.findall(text)]
    full = next(iter(named), None) or next(filter(is_full, (SHARED_MEMORY, *TEMPORARY, *places)), None)
    if full is None:
        return "disk_full"
    if _same(full, SHARED_MEMORY):
        return "shared_memory_full"
    # /tmp of a container is memory; elsewhere it is a part of the disk, or a disk of its own.
    return "temporary_full" if any(_same(full, each) and _is_memory(each) for each in TEMPORARY) else "disk_full"


def is_full(folder: Path) -> bool:
    """Whether next to nothing can be written there."""
    try:
        there = os.statvfs(str(folder))
        return there.f_bavail * there.f_frsize < FULL_BYTES
    except OSError:
        return False


def _same(path: Path, top: Path) -> bool:
    """Whether a path, which need not be there any more, lies on the file system that is mounted at `top`."""
    if not os.path.ismount(str(top)):
        return False
    there = next((each for each in (path, *path.parents) if each.exists()), Path("/"))
    return there.stat().st_dev == top.stat().st_dev


def _is_memory(top: Path) -> bool:
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return False
    return any(fields[1] == str(top) and fields[2] == "tmpfs" for fields in mounts if len(fields) > 2)
