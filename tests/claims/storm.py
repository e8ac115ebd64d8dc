"""Several users' stores on shared cards, killed and started again, with clocks that jump; and what must hold of it.

The job is a stand-in: a process that locks a file for each of its cards, which its death alone opens, and writes its id
down when it has ended. Store, queue, claims and boards are the real ones. `python -m tests.claims.storm STORE …` is one
store's process: it submits what it has not submitted yet and looks after its queue until all of it has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_paddle_gpu.claims.boards import Boards
from jupyter_paddle_gpu.claims.claims import Claims
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.engines import Features
from jupyter_paddle_gpu.domain.jobs.job import ENDED, Job, JobSpec, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines.base import ALONE, NO_METADATA, Handle, JobFolder, Observation, Place, Say
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings

from .conftest import Person

BEGIN = """
exec 9> lock; flock -n 9 || exit 0
echo $$ > pid.new; mv pid.new pid
"""
CARD = """
exec {number}>> "$WITNESS/{card}"; flock -n {number} || echo "$ID {card}" >> "$WITNESS/twice"
"""
END = """
began=$EPOCHREALTIME
sleep $SECONDS_TO_RUN
echo "$ID $CARDS $began $EPOCHREALTIME" >> "$WITNESS/ended"
printf '{"reason": "succeeded", "ended": %s}' "$EPOCHREALTIME" > result.new; mv result.new result.json
"""


class Cards:
    """An engine whose jobs are such processes."""

    name = "cards"

    def __init__(self, witness: Path) -> None:
        self._witness = witness

    def supported_features(self) -> Features:
        title = Message(code="cards", text="Cards")
        can = {"memory_limit": False, "time_limit": False, "several_devices": True, "statistics": False}
        return Features(name=self.name, title=title, gpus=True, containers=False, available=True, **can)

    def check(self, job: Job, metadata: Mapping[str, Any] = NO_METADATA) -> tuple[Message, ...]:
        return ()

    def prepare(
        self, job: Job, folder: JobFolder, say: Say, cancelled: Callable[[], bool], place: Place = ALONE
    ) -> Handle:
        return {}

    def start(self, job: Job, folder: JobFolder, handle: Handle, place: Place = ALONE) -> Handle:
        place.take_turn()
        locks = (CARD.format(number=number, card=card) for number, card in enumerate(job.device_ids, 10))
        variables = {
            "WITNESS": str(self._witness),
            "ID": job.id,
            "CARDS": str(len(job.device_ids)),
            "SECONDS_TO_RUN": job.spec.environment["SECONDS_TO_RUN"],
            "PATH": os.environ["PATH"],
        }
        subprocess.Popen(
            ["bash", "-c", "".join((BEGIN, *locks, END))],
            cwd=folder.path,
            env=variables,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while self.observe(job, folder).state == "absent":
            time.sleep(0.01)
        return {}

    def observe(self, job: Job, folder: JobFolder) -> Observation:
        if folder.result.exists():
            return Observation(state="ended", exit_code=0)
        try:
            pid = int((folder.path / "pid").read_text())
            os.kill(pid, 0)
        except FileNotFoundError:
            return Observation(state="absent")
        except ProcessLookupError:
            return Observation(state="ended", exit_code=0 if folder.result.exists() else 1)
        return Observation(state="running", pid=pid)

    def log(self, job: Job, folder: JobFolder, cursor: str) -> Iterator[tuple[str, str]]:
        return iter(())

    def stop(self, job: Job, folder: JobFolder, *, force: bool) -> None:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.killpg(int((folder.path / "pid").read_text()), signal.SIGKILL if force else signal.SIGTERM)

    def adopt(self) -> dict[str, Handle]:
        return {}

    def collect(self, job: Job, folder: JobFolder) -> None:
        return


def cards_of(count: int) -> tuple[str, ...]:
    """Cards of two makers, half of each."""
    return tuple(f"{maker}-{number}" for maker in ("GPU", "npu") for number in range(count // 2))


def serve(store: Path, shared: Path, witness: Path, plan: str, seed: int, cards: int, stores: int) -> None:
    """Submit what is not submitted yet, and look after it until it has ended."""
    chance = random.Random(seed)
    really, jump = time.time, chance.choice((0.0, 0.0, 86400.0, -86400.0))
    time.time = lambda: really() + jump  # somebody set this machine's clock while this process ran
    devices = tuple(
        Device(id=name, index=n, vendor="nvidia" if name[0] == "G" else "ascend", name="Stand-in")
        for n, name in enumerate(cards_of(cards))
    )
    host = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)
    quick = JobSettings(
        active_seconds=0.05, idle_seconds=0.1, turn_seconds=2.0, passed_seconds=2.0, told_seconds=1.0, retry_seconds=0.1
    )
    service = JobService.open(
        {"cards": Cards(witness)},
        data_folder=store,
        settings=quick,
        inventory=lambda: Inventory(time=0.0, host=host, devices=devices),
        claims=Claims(shared / "claims", store),
        boards=Boards(shared / "queue", store),
    )
    for number, (count, seconds) in enumerate(json.loads(plan)):
        spec = JobSpec(
            name=f"{number}",
            notebook=f"/{seconds}",
            output="/o",
            folder="/",
            engine="cards",
            token=f"{number}",
            resources=Resources(gpus=count, seconds=3600.0),
            environment={"SECONDS_TO_RUN": str(seconds)},
        )
        service.submit(spec, "{}")
    (witness / f"up-{store.name}").touch()
    while len(list(witness.glob("up-*"))) < stores:  # all compete from the first job on
        time.sleep(0.05)
    service.start()
    while any(job.state not in ENDED for job in service.list()):
        time.sleep(0.05)
    service.stop()
    bad = [job for job in service.list() if job.state != "succeeded"]
    if bad:
        raise SystemExit(f"{bad[0].id} {bad[0].state} {bad[0].reason}")


class Ran(NamedTuple):
    """One job: how many cards it had, and from when to when (seconds since the epoch, by the machine's clock)."""

    job: str
    cards: int
    began: float
    ended: float


@contextlib.contextmanager
def beside(person: Person, shared: Path, cards: int) -> Iterator[None]:
    """A hostile user is at work meanwhile (`hostile`)."""
    process = person.popen(sys.executable, "-m", "tests.claims.hostile", str(shared), *cards_of(cards))
    try:
        yield
        assert process.poll() is None, "he gave up before the others had done"
    finally:
        process.kill()
        process.wait()


class Storm:
    """Processes of several users, killed now and then until all they submitted has ended.

    Args:
        start: (store's number, arguments) -> that store's process, in its user's name.
        plans: for each store what it submits: cards and seconds of each job.
        queue: the folder in which they agree; `cards`: how many there are.

    Attributes:
        accounts: device-seconds with which each user was charged when all three waited last.
    """

    def __init__(
        self,
        start: Callable[[int, list[str]], subprocess.Popen[str]],
        witness: Path,
        plans: list[list[tuple[int, float]]],
        seed: int,
        *,
        queue: Path,
        cards: int,
    ) -> None:
        self._start, self.witness, self.plans = start, witness, plans
        self._chance = random.Random(seed)
        self._boards, self._cards, self._began = Boards(queue, witness), cards, time.monotonic()
        self.kills = 0
        self.accounts: dict[str, int] = {}

    def run(self, kills: int, pause: float) -> None:
        """All of it. Raises `AssertionError` where a process ends otherwise than by a kill."""
        running = {number: self._started(number) for number in range(len(self.plans))}
        while running:
            time.sleep(self._chance.random() * pause)
            self.check()
            for number, process in list(running.items()):
                if (ended := process.poll()) is None:
                    continue
                assert ended in (0, -signal.SIGKILL), f"store {number} ended with {ended}"
                del running[number]
                if ended:
                    running[number] = self._started(number)
            if running and self.kills < kills:
                victim = running[self._chance.choice(sorted(running))]
                victim.send_signal(self._chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP)))
                time.sleep(self._chance.random() * pause)
                victim.send_signal(signal.SIGCONT)
                self.kills += 1
        self.check()

    def _started(self, number: int) -> subprocess.Popen[str]:
        return self._start(number, [json.dumps(self.plans[number]), str(self._chance.randrange(1 << 30))])

    def check(self) -> None:
        """No card was two jobs' at once, no job ended twice, and nobody is charged with more than all cards could give:
        whoever were would go last for a day."""
        twice = self.witness / "twice"
        assert not twice.exists(), twice.read_text()
        ended = self.ended()
        assert len(ended) == len(set(ended))
        waiting, told = set[str](), Counter[str]()
        for one in self._boards.read():
            assert one.board.usage <= self._cards * (time.monotonic() - self._began), one
            told[one.user] += round(one.board.usage)
            waiting |= {one.user} if one.board.waiting and one.attended else set()
        if len(waiting) == 3:
            self.accounts = {user: told[user] for user in sorted(waiting)}

    def ended(self) -> list[str]:
        """Jobs in the order of their ends."""
        return [one.job for one in self.runs()]

    def runs(self) -> list[Ran]:
        """What the jobs themselves wrote down."""
        lines = (self.witness / "ended").read_text().splitlines()
        return [Ran(job, int(cards), float(began), float(end)) for job, cards, began, end in map(str.split, lines)]


if __name__ == "__main__":
    _store, _shared, _witness, _cards, _stores, _plan, _seed = sys.argv[1:]
    serve(Path(_store), Path(_shared), Path(_witness), _plan, int(_seed), int(_cards), int(_stores))
