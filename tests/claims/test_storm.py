"""Three users' queues on shared cards while processes die, clocks jump and a fourth user does what he can against them.

The long one is `benchmarks/queue_storm`.
"""

from __future__ import annotations

import random
import subprocess
import sys

from .storm import Storm, beside, cards_of


def test_jobs_of_three_users_end_once_each_whoever_dies(people, shared, tmp_path, stores=4, jobs=6, cards=4):
    subprocess.run(["install", "-d", "-m", "1777", *(str(shared / name) for name in ("claims", "queue"))], check=True)
    witness = tmp_path / "witness"
    witness.mkdir()
    witness.chmod(0o777)
    for name in (*cards_of(cards), "ended"):
        (witness / name).touch()
        (witness / name).chmod(0o666)
    chance = random.Random(5)
    plans = [[(chance.choice((1, 1, 1, 2, 2)), chance.choice((0.05, 0.2))) for _ in range(jobs)] for _ in range(stores)]

    def start(number, arguments):
        person = people(number % 3)
        fixed = [str(person.store(number)), str(shared), str(witness), str(cards), str(stores)]
        return person.popen(sys.executable, "-m", "tests.claims.storm", *fixed, *arguments)

    storm = Storm(start, witness, plans, seed=3, queue=shared / "queue", cards=cards)
    with beside(people(3), shared, cards):
        storm.run(kills=6, pause=0.5)
    assert len(storm.ended()) == stores * jobs
    assert people(0).sees() == {}
