"""A user who does to the shared folders whatever the system lets him: `python -m tests.claims.hostile SHARED CARD…`.

He goes on until he is killed. He takes no device by a living process of his own: that is anybody's right.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from jupyter_paddle_gpu.claims import boards, records
from jupyter_paddle_gpu.claims.boards import Board, Running, Waiting
from jupyter_paddle_gpu.claims.processes import process_of, this_process
from jupyter_paddle_gpu.claims.records import Claim

FLOOD = 1500


def forged(cards: tuple[str, ...]) -> list[Claim]:
    """Every card, for others' processes, for the dead, and for one that is to begin tomorrow."""
    others = [process for pid in range(1, 400) if (process := process_of(pid)) is not None]
    gone = msgspec.structs.replace(this_process(), pid=1 << 21)
    made = [Claim(job="x", devices=cards, state="held", since=0.0, process=one) for one in (*others[:3], gone)]
    later = Claim(job="y", devices=cards, state="held", since=0.0, process=gone, starting=time.monotonic() + 86400)
    return [*made, later]


def attack(shared: Path, cards: tuple[str, ...], chance: random.Random) -> None:
    """One round."""
    folder = chance.choice((shared / "claims", shared / "queue"))
    victims = [path for path in folder.iterdir() if _is_anothers(path)]
    victim = chance.choice(victims or [folder / "nobody"])
    mine = folder / f"{victim.name[:40]}-{chance.randrange(FLOOD)}"
    with contextlib.suppress(OSError):
        mine.unlink()  # a pipe of his own would have him wait for ever
    tricks: tuple[Callable[[], object], ...] = (
        lambda: shutil.copyfile(victim, mine),
        lambda: mine.symlink_to(victim),
        lambda: mine.hardlink_to(victim),
        lambda: os.mkfifo(mine),
        mine.mkdir,
        lambda: mine.write_bytes(os.urandom(5000)),
        mine.touch,
        lambda: _forge(mine, chance.choice(forged(cards))),
        lambda: _post(mine, cards),
        victim.unlink,
        lambda: victim.rename(mine),
        lambda: victim.open("r+b"),
        lambda: os.truncate(victim, 0),
        lambda: os.utime(victim, (0, 0)),
        lambda: fcntl.flock(os.open(victim, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB),
    )
    with contextlib.suppress(OSError):
        chance.choice(tricks)()


def _is_anothers(path: Path) -> bool:
    try:
        return path.lstat().st_uid != os.geteuid()
    except OSError:  # gone meanwhile
        return False


def _forge(path: Path, claim: Claim) -> None:
    path.write_bytes(bytes(records.FILE_BYTES))
    with path.open("r+b") as file:
        records.write(file.fileno(), (claim,))


def _post(path: Path, cards: tuple[str, ...]) -> None:
    """A board of a process that is not his: a thousand urgent jobs, and cards that he says he has for ever."""
    waiting = tuple(Waiting(job=f"j{n}", count=len(cards), priority=1000) for n in range(boards.MOST_WAITING))
    board = Board(waiting=waiting, running=(Running(job="x", devices=cards),), process=process_of(1), at=1.0)
    path.write_bytes(bytes(boards._SLOTS.file_bytes))
    with path.open("r+b") as file:
        boards._SLOTS.write(file.fileno(), board)


def main() -> None:
    """Round after round."""
    shared, cards = Path(sys.argv[1]), tuple(sys.argv[2:])
    chance = random.Random(7)
    while True:
        attack(shared, cards, chance)
        time.sleep(0.002)


if __name__ == "__main__":
    main()
