"""What this machine's finished jobs have taught: kept in one file, and given to whoever chooses a device."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ..domain.decoding import decode
from ..domain.errors import PaddleGpuError
from ..domain.learned import LearnedReport, LearnedRun, Proof, Replayed
from ..matching.learned.experience import Experience, is_measured
from ..matching.learned.proof import prove, replay
from .policies.files import Policies

FILE = "learned.jsonl"
"""Its name in the data folder: a job a line, the oldest first."""
MOST_RUNS = 2000
"""Newest jobs that are kept; a line takes about half a kilobyte."""

_Stamp = tuple[int, int]


class History:
    """The file of finished jobs. One line is written at once, so that several processes may add to it; a line that
    cannot be read is passed by."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def stamp(self) -> _Stamp:
        """Differs whenever the file has changed."""
        try:
            found = self.path.stat()
        except OSError:
            return (0, 0)
        return (found.st_mtime_ns, found.st_size)

    def runs(self) -> tuple[LearnedRun, ...]:
        """Each job once, oldest first."""
        found: dict[str, LearnedRun] = {}
        for line in self._lines():
            try:
                run = decode(line, LearnedRun)
            except msgspec.MsgspecError:  # half a line of a process that died, or of a newer version
                continue
            found.setdefault(run.job, run)
        return tuple(sorted(found.values(), key=lambda run: run.time))[-MOST_RUNS:]

    def add(self, run: LearnedRun) -> bool:
        """Keep a job; False where it is there already, or nothing can be written."""
        if any(one.job == run.job for one in self.runs()):
            return False
        line = msgspec.json.encode(run) + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
        except OSError:  # a data folder that cannot be written must not fail the job that has just ended
            return False
        return True

    def reset(self) -> Path | None:
        """Put the file aside under a name with the time, so that it can be put back; None where there is none."""
        aside = self.path.with_name(f"learned-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
        try:
            self.path.rename(aside)
        except FileNotFoundError:
            return None
        return aside

    def _lines(self) -> Iterator[bytes]:
        try:
            yield from self.path.read_bytes().splitlines()
        except OSError:
            return


class Learned:
    """History and what follows from it, computed anew when the file has changed."""

    def __init__(self, folder: Path) -> None:
        self.history = History(folder)
        self._lock = threading.Lock()
        self._stamp: _Stamp | None = None
        self._runs: tuple[LearnedRun, ...] = ()
        self._replayed: list[Replayed] | None = None
        self._experiences: dict[bool, Experience] = {}

    def within(self, policies: Policies) -> Policies:
        """The policies with what was learned: it decides where they say `algorithm: learned` and it is proven."""
        experience = self.experience(policies.scheduler.algorithm == "learned")
        if not experience.runs:
            return policies
        matching = msgspec.structs.replace(policies.matching, experience=experience)
        return msgspec.structs.replace(policies, matching=matching)

    def experience(self, asked: bool) -> Experience:
        """What matching is given."""
        with self._lock:
            self._refresh()
            if asked not in self._experiences:
                active = asked and prove(self._replay()).proven
                self._experiences[asked] = Experience(runs=self._runs, active=active)
            return self._experiences[asked]

    def report(self, policies: Policies, *, replayed: bool = False) -> LearnedReport:
        """What was learned, for people.

        Args:
            replayed: with each job seen again.
        """
        asked = policies.scheduler.algorithm == "learned"
        experience = self.experience(asked)
        with self._lock:
            again = self._replay()
        proof = prove(again)
        return LearnedReport(
            file=str(self.history.path),
            asked=asked,
            active=experience.active,
            kept=len(experience.runs),
            measured=sum(map(is_measured, experience.runs)),
            proof=proof,
            effects=tuple(experience.model.effects()) if experience.model.rows else (),
            replayed=tuple(again) if replayed else (),
        )

    def proof(self) -> Proof:
        """Whether it may decide here."""
        with self._lock:
            self._refresh()
            return prove(self._replay())

    def reset(self) -> Path:
        """Forget all jobs; where they were put aside. Raises `PaddleGpuError` (409) where there are none."""
        aside = self.history.reset()
        if aside is None:
            raise PaddleGpuError("nothing_learned", "Nothing was learned here yet.", status=409)
        return aside

    def _refresh(self) -> None:
        stamp = self.history.stamp()
        if stamp != self._stamp:
            self._stamp, self._runs = stamp, self.history.runs()
            self._replayed, self._experiences = None, {}

    def _replay(self) -> list[Replayed]:
        if self._replayed is None:
            self._replayed = replay(self._runs)
        return self._replayed
