"""A folder shared by users of this machine, and their processes: real ones, with their own user ids."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

USERS = (61001, 61002, 61003, 61004)
READ = "+dac_read_search"
"""The Python that runs these tests can lie in root's own folder."""


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """As the administrator makes it."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("several users need root and setpriv")
    folder = tmp_path / "claims"
    subprocess.run(["install", "-d", "-m", "1777", str(folder)], check=True)
    for parent in (tmp_path, *tmp_path.parents[:2]):
        parent.chmod(0o755)
    return folder


class Person:
    """One user's store, with programs that run as that user."""

    def __init__(self, folder: Path, shared: Path, user: int) -> None:
        self.user, self.shared, self.folder = user, shared, folder
        self.running: list[subprocess.Popen[str]] = []

    def store(self, number: int) -> Path:
        """One of the user's stores, closed to the others."""
        made = self.folder / f"store-{self.user}-{number}"
        if not made.exists():
            made.mkdir(mode=0o700)
            os.chown(made, self.user, self.user)
        return made

    def popen(self, *command: str) -> subprocess.Popen[str]:
        """A process of this user's."""
        identity = [f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]
        whole = ["setpriv", *identity, "--inh-caps", READ, "--ambient-caps", READ, *command]
        self.running.append(subprocess.Popen(whole, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        return self.running[-1]

    def start(self, program: str, *arguments: Any, store: int = 0) -> subprocess.Popen[str]:
        """A program with `claims` at hand, in a process of its own."""
        begin = (
            "import sys, time; from pathlib import Path; from jupyter_paddle_gpu.claims.claims import Claims\n"
            "from jupyter_paddle_gpu.claims.records import Given\n"
            f"claims = Claims(Path({str(self.shared)!r}), Path({str(self.store(store))!r}))\n"
        )
        return self.popen(sys.executable, "-c", begin + program, *map(str, arguments))

    def holding(self, *devices: str, job: str = "job") -> subprocess.Popen[str]:
        """A process that has taken these devices."""
        process = self.start(f"claims.take({job!r}, {devices!r}); print('has', flush=True); sys.stdin.readline()")
        assert process.stdout is not None
        assert process.stdout.readline() == "has\n"
        return process

    def run(self, program: str) -> str:
        """What a program prints."""
        process = self.start(program)
        out, _ = process.communicate()
        assert process.returncode == 0
        return out.strip()

    def sees(self) -> dict[str, str]:
        """Device -> who has it, of those that others have."""
        out = self.run("print({d: h.owner + ' ' + h.job for d, (h, *_) in claims.held().items()})")
        found: dict[str, str] = eval(out)
        return found


@pytest.fixture
def people(tmp_path: Path, shared: Path) -> Iterator[Callable[[int], Person]]:
    """`people(0)` to `people(3)`."""
    made = {user: Person(tmp_path, shared, user) for user in USERS}
    yield lambda number: made[USERS[number]]
    for person in made.values():
        for process in person.running:
            process.kill()
            process.wait()
