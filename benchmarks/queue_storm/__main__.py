"""Two hundred jobs of eight stores of three Unix users on eight stand-in cards of two makers, under kills and jumps,
beside a fourth user who does to the shared folders whatever the system lets him.

`sudo .venv/bin/python -m benchmarks.queue_storm [--seed N]` writes `benchmarks/results/queue_storm.json`. Needs root
(for users) and `setpriv`; the store, the queue, claims and boards are the real ones (`tests/claims/storm.py`).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.claims.conftest import USERS, Person
from tests.claims.storm import Ran, Storm, beside, cards_of

STORES, JOBS, CARDS, KILLS = 8, 25, 8, 40
RESULTS = Path(__file__).parents[1] / "results" / "queue_storm.json"


def main() -> int:
    """Run one storm and write what it showed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="queue-storm-") as name:
        root = Path(name)
        root.chmod(0o755)
        shared, witness = root / "shared", root / "witness"
        for folder in (shared, shared / "claims", shared / "queue"):
            folder.mkdir(mode=0o755)
        for folder in (shared / "claims", shared / "queue", witness):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o1777 if folder != witness else 0o777)
        for file in (*cards_of(CARDS), "ended"):
            (witness / file).touch()
            (witness / file).chmod(0o666)
        people = [Person(root, shared, user) for user in USERS]
        plans = [
            [(chance.choice((1, 1, 1, 2, 4)), chance.choice((0.5, 1.0, 2.0))) for _ in range(JOBS)]
            for _ in range(STORES)
        ]

        def start(number: int, arguments: list[str]) -> subprocess.Popen[str]:
            person = people[number % 3]
            fixed = [str(person.store(number)), str(shared), str(witness), str(CARDS), str(STORES)]
            return person.popen(sys.executable, "-m", "tests.claims.storm", *fixed, *arguments)

        began, storm = time.monotonic(), Storm(start, witness, plans, seed, queue=shared / "queue", cards=CARDS)
        with beside(people[3], shared, CARDS):
            storm.run(kills=KILLS, pause=1.0)
        whose = {
            job.name: number % 3
            for number in range(STORES)
            for job in (people[number % 3].store(number) / "jobs").iterdir()
        }
        runs = storm.runs()
        found = {
            "seed": seed,
            "jobs": STORES * JOBS,
            "ended_once": len(set(storm.ended())),
            "kills_and_stops": storm.kills,
            "cards_twice": len(twice.read_text().splitlines()) if (twice := witness / "twice").exists() else 0,
            "seconds": round(time.monotonic() - began, 1),
            "accounts_when_all_waited_last": list(storm.accounts.values()),
            **_shares(runs, whose),
        }
    print(json.dumps(found, indent=1))
    assert found["ended_once"] == STORES * JOBS
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    return 0


def _shares(runs: list[Ran], whose: dict[str, int]) -> dict[str, Any]:
    """What each user had of the cards as long as all three had jobs left, and how busy the cards were meanwhile."""
    first, last = min(run.began for run in runs), dict.fromkeys(range(3), 0.0)
    for run in runs:
        last[whose[run.job]] = max(last[whose[run.job]], run.began)
    until, had = min(last.values()), dict.fromkeys(range(3), 0.0)
    for run in runs:
        had[whose[run.job]] += run.cards * max(0.0, min(run.ended, until) - run.began)
    return {
        "seconds_with_three_users": round(until - first, 1),
        "device_seconds_by_user": [round(had[user], 1) for user in range(3)],
        "cards_busy": round(sum(had.values()) / (CARDS * (until - first)), 3),
    }


if __name__ == "__main__":
    sys.exit(main())
