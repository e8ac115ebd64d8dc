"""Devices between users: one at a time, for as long as somebody lives, and whatever a third does to the folder."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.claims import records
from jupyter_paddle_gpu.claims.claims import STARTING_SECONDS, Claims
from jupyter_paddle_gpu.claims.processes import Process, is_alive, process_of, this_process
from jupyter_paddle_gpu.claims.records import Claim, Given
from jupyter_paddle_gpu.domain.errors import PaddleGpuError

RACE = """
import fcntl, json, os, random
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
witness, done, cards, jobs, seed = sys.argv[1], sys.argv[2], sys.argv[3].split(), int(sys.argv[4]), int(sys.argv[5])
really, jump = time.time, random.Random(seed).choice((0, 86400.0, -86400.0))
time.time = lambda: really() + jump  # somebody set this user's clock
random.seed()
print("up", flush=True)
while len(finished := os.listdir(done)) < jobs:
    devices = tuple(sorted(random.sample(cards, random.choice((1, 1, 2)))))
    job = str(len(finished))
    try:
        claims.take(job, devices)
    except PaddleGpuError as error:
        assert error.code == "device_held", error
        time.sleep(random.random() / 50)
        continue
    files = [open(f"{witness}/{device}", "ab") for device in devices]
    for file in files:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # whoever had it let go of it, or died
    time.sleep(random.random() / 50)
    open(f"{done}/{job}", "w").close()
    for file in files:
        file.close()
    claims.release(job)
"""


def test_no_device_is_two_users_at_once_however_they_die(people, tmp_path, processes=4, jobs=12, kills=6):
    """Processes of three users take cards of two makers until each has had its jobs, and are killed meanwhile.

    Whoever has a card locks a file of its name, which his death alone would open.
    """
    cards = [f"{maker}-{number}" for maker in ("GPU", "npu") for number in range(2)]
    witness = tmp_path / "witness"
    witness.mkdir()
    for card in cards:
        (witness / card).touch()
        (witness / card).chmod(0o666)
    chance = random.Random(7)
    racers: dict[int, subprocess.Popen[str]] = {}

    def start(number: int) -> None:
        done = tmp_path / f"done-{number}"
        done.mkdir(exist_ok=True)
        done.chmod(0o777)
        racers[number] = people(number % 3).start(RACE, witness, done, " ".join(cards), jobs, number, store=number)
        assert racers[number].stdout.readline() == "up\n"

    for number in range(processes):
        start(number)
    for _ in range(kills):
        time.sleep(chance.random() / 5)
        number = chance.randrange(processes)
        if racers[number].poll() is None:
            racers[number].send_signal(chance.choice((signal.SIGKILL, signal.SIGSTOP)))
            time.sleep(chance.random() / 5)
            racers[number].send_signal(signal.SIGCONT)
            if racers[number].poll() is not None:
                start(number)
    for number, racer in racers.items():
        if racer.wait() == -signal.SIGKILL:
            start(number)
    assert [racer.wait() for racer in racers.values()] == [0] * processes
    assert [len(list((tmp_path / f"done-{number}").iterdir())) for number in range(processes)] == [jobs] * processes
    assert people(0).sees() == {}


def test_a_device_is_somebodys_until_he_is_dead_and_not_while_he_is_slow(people):
    holder = people(0).holding("A", "B", job="mine")
    assert people(1).sees() == {"A": "61001 mine", "B": "61001 mine"}
    assert people(0).sees() == {}
    holder.send_signal(signal.SIGSTOP)
    assert people(1).sees() != {}
    taken = "from jupyter_paddle_gpu.domain.errors import PaddleGpuError\ntry:\n    claims.take('his', ('B', 'C'))\n"
    taken += "except PaddleGpuError as error:\n    print(error.message.render())"
    assert people(1).run(taken) == "Waits for B, which job mine of 61001 has."
    assert people(2).sees() == {"A": "61001 mine", "B": "61001 mine"}, "who gets nothing has nothing"
    holder.kill()
    holder.wait()
    assert people(1).sees() == {}
    people(1).holding("B", "C")


def test_a_running_job_has_its_devices_for_its_own_life(people):
    """Whoever looked after the queue may go, and who comes after him finds the job's claim as it was."""
    job = people(0).popen("sleep", "600")
    try:
        holder = people(0).start(
            "claims.take('job', ('A',)); claims.keep({'job': Given(('A',), True, int(sys.argv[1]))})\n"
            "print('has', flush=True); sys.stdin.readline()",
            job.pid,
        )
        assert holder.stdout.readline() == "has\n"
        holder.kill()
        holder.wait()
        assert people(1).sees() == {"A": "61001 job"}
        people(0).run("claims.keep({'job': Given(('A',), True, None)})")
        assert people(1).sees() == {"A": "61001 job"}
    finally:
        job.kill()
        job.wait()
    assert people(1).sees() == {}


def test_who_dies_while_his_job_starts_leaves_it_its_devices_until_his_successor_has_looked(people, monkeypatch):
    """Its own process may live already, and nobody has written down yet which one it is."""
    mine, other = people(0), people(1)
    program = "claims.take('job', ('GPU-0',)); claims.starting('job'); print('has', flush=True); sys.stdin.readline()"
    process = mine.start(program)
    assert process.stdout.readline() == "has\n"
    process.kill()
    process.wait()
    assert other.sees() == {"GPU-0": "61001 job"}
    claims = Claims(mine.shared, mine.folder)  # somebody else, later
    later = time.monotonic() + STARTING_SECONDS
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: later)
        assert claims.held() == {}
    mine.run("claims.keep({'job': Given(('GPU-0',), True, 1 << 21)})")  # its process has gone meanwhile
    assert other.sees() == {}


def test_a_job_that_ended_has_none_and_one_that_nobody_claimed_for_does(people):
    holder = people(0).start(
        "claims.keep({'old': Given(('A',), True)})\n"
        "claims.keep({'new': Given(('B',), True), 'not yet': Given(('C',))})\n"
        "print('kept', flush=True); sys.stdin.readline()"
    )
    assert holder.stdout.readline() == "kept\n"
    assert people(1).sees() == {"B": "61001 new"}


def test_who_lives():
    mine = this_process()
    assert is_alive(mine)
    assert not is_alive(msgspec.structs.replace(mine, boot="another"))
    assert not is_alive(msgspec.structs.replace(mine, ticks=1))
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert process_of(child.pid) is None, "a zombie"
    child.wait()


def signed(text: bytes) -> bytes:
    """A half of a file, as one writes it who knows how."""
    return b"paddle-gpu claims 1 1 %d %s\n%s" % (len(text), hashlib.sha256(text).hexdigest().encode(), text)


CLAIM = b'[{"job": "%s", "devices": ["A"], "state": "held", "since": 1.0, "process": {"pid": %s}}]'


@pytest.mark.parametrize("half", [
    b"", b"paddle-gpu claims 1 x y z\n", b"paddle-gpu claims 1 " + 5000 * b"9" + b" 1 x\n[]",
    signed(b"{}"), signed(b"[{}]"), signed(b'[{"x": ' + 8000 * b"[" + 8000 * b"]" + b"}]"),
    signed(CLAIM % (b"a\\u001b[2Jb", b"1")), signed(CLAIM % (b"a\\n", b"1")), signed(CLAIM % (b"", b"1")),
    signed(CLAIM % (b"a", b"-1")), signed(CLAIM % (b"a", b"0")), signed(CLAIM % (b"a", b"99999999999")),
])  # fmt: skip
def test_what_somebody_made_up_is_no_claim(tmp_path, half):
    (tmp_path / "file").write_bytes(half)
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)
    assert records.read(descriptor) == (0, ())
    os.close(descriptor)
    (tmp_path / "file").write_bytes(signed(CLAIM % (b"a", b"1")))
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)
    assert [claim.job for claim in records.read(descriptor)[1]] == ["a"]
    os.close(descriptor)


def test_a_change_that_was_cut_off_leaves_the_one_before(tmp_path):
    first = Claim(job="1", devices=("A",), state="held", since=1.0, process=Process(pid=1))
    second = msgspec.structs.replace(first, job="2")
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    try:
        records.write(descriptor, (first,))
        records.write(descriptor, (first, second))
        assert records.read(descriptor) == (2, (first, second))
        os.pwrite(descriptor, b"torn", 20)  # in the newer half, which is the first
        assert records.read(descriptor) == (1, (first,))
        os.pwrite(descriptor, b"torn", records.SLOT_BYTES)
        assert records.read(descriptor) == (0, ())
        with pytest.raises(OSError, match="more claims"):
            records.write(descriptor, (first,) * 65)
    finally:
        os.close(descriptor)


def test_without_a_folder_nothing_is_different(tmp_path: Path):
    claims = Claims(tmp_path / "nothing", tmp_path)
    claims.take("job", ("A",))
    claims.keep({"job": Given(("A",), True)})
    claims.release("job")
    assert (claims.held(), list(tmp_path.iterdir())) == ({}, [])


def test_two_stores_of_one_user(shared, tmp_path):
    stores = [Claims(shared, tmp_path / name) for name in ("a", "b")]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    stores[0].take("job", ("A",))
    with pytest.raises(PaddleGpuError, match="which job job of root has"):
        stores[1].take("other", ("A",))
    stores[0].release("job")
    stores[1].take("other", ("A",))


PARTS = """
import fcntl, os, random
from jupyter_paddle_gpu.domain.devices import DeviceShare
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
witness, done, jobs = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed()
print("up", flush=True)
while len(finished := os.listdir(done)) < jobs:
    job, size = str(len(finished)), random.choice((3, 4, 5))
    try:
        claims.take(job, ("card",), (DeviceShare(bytes=size, most=10, total=10),))
    except PaddleGpuError as error:
        assert error.code == "device_held", error
        time.sleep(random.random() / 50)
        continue
    slots = []
    for number in range(10):
        file = open(f"{witness}/{number}", "ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            slots.append(file)
        except OSError:
            file.close()
        if len(slots) == size:
            break
    assert len(slots) == size, f"{len(slots)} of {size} were left"
    time.sleep(random.random() / 50)
    open(f"{done}/{job}", "w").close()
    for file in slots:
        file.close()
    claims.release(job)
"""


def test_shares_of_a_card_never_come_to_more_than_it_has(people, tmp_path, processes=4, jobs=8):
    """Ten bytes, each a file that who has it locks: three users' processes take three to five of them."""
    witness = tmp_path / "witness"
    witness.mkdir()
    for number in range(10):
        (witness / str(number)).touch()
        (witness / str(number)).chmod(0o666)
    racers = []
    for number in range(processes):
        done = tmp_path / f"done-{number}"
        done.mkdir()
        done.chmod(0o777)
        racers.append(people(number % 3).start(PARTS, witness, done, jobs, store=number))
        assert racers[-1].stdout.readline() == "up\n"
    assert [racer.wait() for racer in racers] == [0] * processes
    assert people(0).sees() == {}


def test_a_whole_card_waits_for_shares_and_they_for_it(people):
    holder = people(0).start(
        "from jupyter_paddle_gpu.domain.devices import DeviceShare\n"
        "claims.take('a', ('A', 'B'), [DeviceShare(bytes=4, most=10, total=10)] * 2)\n"
        "print('has', flush=True); sys.stdin.readline()"
    )
    assert holder.stdout.readline() == "has\n"
    told = people(1).run(
        "from jupyter_paddle_gpu.domain.devices import DeviceShare as S\n"
        "from jupyter_paddle_gpu.domain.errors import PaddleGpuError\n"
        "def take(job, *args):\n"
        "    try: claims.take(job, *args); return 'has'\n"
        "    except PaddleGpuError as error: return error.code\n"
        "part = lambda size: [S(bytes=size, most=10, total=10)]\n"
        "print(take('b', ('A',)), take('c', ('A',), part(7)), take('d', ('A',), part(6)),\n"
        "      take('e', ('B',), part(6), {'B': 1}), claims.held()['A'][0].bytes)"
    )
    assert told == "device_held device_held has device_held 4"
    assert holder.communicate("\n")[0] is not None
