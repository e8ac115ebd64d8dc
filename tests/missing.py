"""What tests stand on beside the environment, and the command that brings it where it is missing."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Part:
    """Something that tests stand on: what goes untested without it, whether it is there, what brings it."""

    untested: str
    there: Callable[[], bool]
    command: str


def _programs(*names: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(name) for name in names)


def _chromium() -> bool:
    return Path(os.environ.get("CHROMIUM", "/usr/bin/chromium")).exists()


def _root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


PARTS = {
    "chromium": Part("the walk in a browser", _chromium, "apt-get install chromium (or CHROMIUM=/path/to/it)"),
    "docker": Part(
        "the Docker engine",
        _programs("dockerd", "runc", "busybox", "iptables"),
        "apt-get install docker.io iptables busybox-static",
    ),
    "root": Part("the Docker engine and full disks", _root, "run make test as root, best in a container or a VM"),
    "gcc": Part("cards as NVML tells of them", _programs("gcc"), "apt-get install gcc libc6-dev"),
    "paddle": Part(
        "the estimate against real training steps",
        lambda: importlib.util.find_spec("paddle") is not None,
        "pip install -e '.[cpu]'",
    ),
    "git": Part("what the archives hold", lambda: Path(__file__, "../../.git").resolve().exists(), "git clone"),
}
