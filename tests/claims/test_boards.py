"""What stores tell each other of their queues: one's own word alone, bounded, and nobody waits for the dead."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from jupyter_paddle_gpu.claims.boards import MOST_WAITING, Board, Boards, Waiting

TELL = """
from jupyter_paddle_gpu.claims.boards import Board, Boards, Waiting
boards = Boards(Path({folder!r}), Path({store!r}))
boards.tell(Board(waiting=tuple(Waiting(job=name, count=1) for name in {jobs!r})), {jobs!r})
print("told", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def queue(shared):
    folder = shared / "queue"
    subprocess.run(["install", "-d", "-m", "1777", str(folder)], check=True)
    return folder


def telling(person, queue, *jobs):
    process = person.start(TELL.format(folder=str(queue), store=str(person.store(0)), jobs=jobs))
    assert process.stdout.readline() == "told\n"
    return process


def test_a_board_says_whose_it_is_since_when_and_whether_anybody_would_start_its_jobs(people, queue, tmp_path):
    before = time.time() - 1
    process = telling(people(0), queue, "job-1", "job-2")
    (seen,) = Boards(queue, tmp_path).read()
    assert (seen.user, seen.mine, seen.attended) == ("61001", False, True)
    assert [one.job for one in seen.board.waiting] == ["job-1", "job-2"]
    assert all(since is not None and before <= since <= time.time() + 1 for since in seen.since)
    os.utime(next(queue.glob("*.job-1")), (0, 0))  # what its owner could do, too
    assert Boards(queue, tmp_path).read()[0].since[0] >= before
    process.kill()
    process.wait()
    assert not Boards(queue, tmp_path).read()[0].attended
    telling(people(0), queue, "job-2")
    assert [path.name.partition(".")[2] for path in queue.glob("*.*")] == ["job-2"], "what the dead one left"


def test_what_a_hostile_user_puts_there_takes_nobodys_place(people, queue, tmp_path):
    telling(people(0), queue, "mine")
    (own,) = (path for path in queue.iterdir() if "." not in path.name)
    evil = f"""
import os, shutil
queue, victim = {str(queue)!r}, {str(own)!r}
shutil.copyfile(victim, queue + "/copy")
os.symlink(victim, queue + "/link")
os.mkfifo(queue + "/pipe")
open(queue + "/garbage", "wb").write(os.urandom(100_000))
open(queue + "/copy.mine", "w").close()
for n in range(500):
    open(f"{{queue}}/flood-{{n}}", "w").write("x")
for forbidden in (
    lambda: os.unlink(victim), lambda: os.unlink(victim + ".mine"), lambda: os.rename(victim, victim + "x"),
    lambda: open(victim, "r+b"), lambda: os.utime(victim + ".mine", (0, 0)),
):
    try:
        forbidden()
    except OSError:
        continue
    raise SystemExit("that was allowed")
print("done", flush=True)
sys.stdin.readline()
"""
    hostile = people(2).start(evil)
    assert hostile.stdout.readline() == "done\n"
    seen = Boards(queue, tmp_path).read()
    assert [(one.user, one.board.waiting[0].job) for one in seen if one.attended] == [("61001", "mine")]
    assert len([one for one in seen if one.user == "61003"]) <= 8
    telling(people(1), queue, "other")
    assert {one.user for one in Boards(queue, tmp_path).read() if one.attended} == {"61001", "61002"}


def test_more_than_a_file_holds_is_told_as_far_as_it_goes(queue, tmp_path):
    many = tuple(Waiting(job=f"job-{n}", count=16, devices=("GPU-" + "x" * 90,) * 16) for n in range(MOST_WAITING))
    mine = Boards(queue, tmp_path)
    mine.tell(Board(waiting=many), {one.job for one in many})
    told = mine.own().waiting
    assert 0 < len(told) < MOST_WAITING
    assert told == many[: len(told)]


def test_without_a_folder_nothing_is_told_and_nobody_known(tmp_path):
    mine = Boards(tmp_path / "nothing", tmp_path)
    mine.tell(Board(waiting=(Waiting(job="a", count=1),)), {"a"})
    assert (mine.read(), mine.own(), list(tmp_path.iterdir())) == ([], Board(), [])
