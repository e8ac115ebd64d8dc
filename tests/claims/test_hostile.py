"""What somebody else does to the shared folder: he harms his own jobs at most."""

from __future__ import annotations

import os

import pytest

from jupyter_paddle_gpu.claims import folder as shared_folder
from jupyter_paddle_gpu.claims.claims import Claims


def test_what_a_hostile_user_writes_speaks_for_nobody_else(people, shared):
    """Names of others, links, pipes, half a file, closed files, thousands of them, locks on everything."""
    holder = people(0).holding("A")
    (own,) = shared.iterdir()
    evil = f"""
import fcntl, os, shutil
shared, victim = {str(shared)!r}, {str(own)!r}
for name in ("{people(1).user}-0000000000000000", "x", "{people(1).user}"):
    shutil.copyfile(victim, f"{{shared}}/{{name}}")  # says that job has A, under another's name
os.symlink("/etc/passwd", f"{{shared}}/link")
os.symlink(victim, f"{{shared}}/to-victim")
os.mkfifo(f"{{shared}}/pipe")
os.mkdir(f"{{shared}}/folder")
open(f"{{shared}}/garbage", "wb").write(os.urandom(100_000))
open(f"{{shared}}/closed", "w").close()
os.chmod(f"{{shared}}/closed", 0)
for n in range(3000):
    open(f"{{shared}}/flood-{{n}}", "w").close()
locks = [open(f"{{shared}}/{{name}}", "rb") for name in ("x", os.path.basename(victim))]
for lock in locks:
    fcntl.flock(lock, fcntl.LOCK_EX)
for forbidden in (lambda: os.unlink(victim), lambda: os.rename(victim, victim + "x"), lambda: open(victim, "r+b")):
    try:
        forbidden()
    except OSError:
        continue
    raise SystemExit("that was allowed")
print("done", flush=True)
sys.stdin.readline()
"""
    hostile = people(2).start(evil)
    hostile.stdin.write("")
    assert hostile.stdout.readline() == "done\n"
    assert people(1).sees() == {"A": "61001 job"}, "nobody holds anything for a process that is not his"
    people(1).holding("B")
    assert people(0).sees()["B"] == "61002 job"
    people(0).run("claims.take('second', ('C',)); claims.release('second')")
    holder.kill()
    holder.wait()
    assert people(1).sees() == {}, "also his copies of it"


def test_a_folder_that_is_full_of_names_is_looked_through_when_a_device_is_taken(people, shared, monkeypatch):
    """Thousands of names make a look dear; in between it is not repeated, but who takes a device misses nobody."""
    monkeypatch.setattr(shared_folder, "DEAR_SECONDS", 0.0)
    people(2).run(f"[open(f'{shared}/{people(0).user}-{{n:016x}}', 'w').close() for n in range(200)]")
    looked = []
    stores = shared_folder._stores
    monkeypatch.setattr(shared_folder, "_stores", lambda folder: looked.append(folder) or stores(folder))
    monkeypatch.setattr(shared_folder, "RESTS", 1e9)
    assert list(shared_folder.files(shared)) == [] == list(shared_folder.files(shared))
    people(0).holding("A")
    assert list(shared_folder.files(shared)) == []
    assert len(looked) == 1
    assert [file.user for file in shared_folder.files(shared, sure=True)] == [people(0).user]
    assert [file.user for file in shared_folder.files(shared)] == [people(0).user]
    assert len(looked) == 2


def test_somebody_has_made_files_of_all_of_ones_own_names(people, shared):
    people(0).holding("A").kill()
    (own,) = shared.iterdir()
    own.unlink()
    people(2).run(f"[open({str(own)!r} + end, 'w').close() for end in ('', *(f'-{{n}}' for n in range(20)))]")
    people(0).holding("A")
    people(0).holding("B", job="second")
    assert people(1).sees() == {"A": "61001 job", "B": "61001 second"}
    assert people(0).sees() == {}


NEWCOMER = """
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
try:
    claims.take('his', ('C',))
except PaddleGpuError as error:
    print(error.message.render())
"""


def test_on_a_full_disk_who_was_there_claims_and_who_is_new_takes_nothing(people, small_disk):
    """Of two newcomers neither could know of the other."""
    disk = small_disk(1)
    disk.chmod(0o1777)
    for number in (0, 1):
        people(number).shared = disk
    people(0).holding("A").kill()
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))
    people(0).holding("B")
    assert people(1).sees() == {"B": "61001 job"}
    told = people(1).run(NEWCOMER)
    assert told == f"Does not start yet: others cannot be told that it has C, since {disk} cannot be written " + (
        "(No space left on device)."
    )
    filler.unlink()
    people(1).holding("C")
    assert people(0).sees() == {"C": "61002 job"}


def test_links_to_a_users_files_change_nothing(people, shared):
    """As a kernel allows them that does not protect hard links: to his own file here under another of his names, and to
    forty others of his under names of stores, which would be more than are read of a user."""
    people(0).holding("A")
    (own,) = shared.iterdir()
    (shared / f"{own.name}-1").hardlink_to(own)
    others = people(0).store(1)
    for number in range(40):
        other = others / str(number)
        other.write_bytes(own.read_bytes())
        os.chown(other, people(0).user, people(0).user)
        (shared / f"{people(0).user}-{number:016x}").hardlink_to(other)
    assert people(1).sees() == {"A": "61001 job"}
    people(0).holding("B", job="second")
    assert people(1).sees() == {"A": "61001 job", "B": "61001 second"}
    assert people(0).sees() == {}
    private = others / "0"
    name = next(shared_folder.own_paths(shared, others)).name.replace(f"{os.geteuid()}-", f"{people(0).user}-", 1)
    (shared / name).hardlink_to(private)
    before = private.read_bytes()
    program = "claims.take('third', ('C',)); print('has', flush=True); sys.stdin.readline()"
    assert people(0).start(program, store=1).stdout.readline() == "has\n"
    assert private.read_bytes() == before
    assert people(1).sees() == {"A": "61001 job", "B": "61001 second", "C": "61001 third"}


def test_a_file_that_was_linked_before_it_said_whose_it_is_is_seen_as_soon_as_it_does(shared, tmp_path):
    file = shared / f"0-{0:016x}"
    file.write_bytes(b"x" * 100)
    (tmp_path / "link").hardlink_to(file)
    os.utime(shared, (0, 0))
    assert list(shared_folder.files(shared)) == []
    with file.open("ab") as opened:
        opened.write(file.name.encode())
    assert [one.name for one in shared_folder.files(shared, sure=True)] == [file.name]


@pytest.mark.parametrize("make", [
    lambda folder: folder.rmdir(),
    lambda folder: folder.chmod(0o777),
    lambda folder: os.chown(folder, 61003, 61003),
    lambda folder: folder.parent.chmod(0o777),
    lambda folder: os.chown(folder.parent, 61003, 61003),
    lambda folder: (folder.rename(folder.with_name("real")), folder.symlink_to(folder.with_name("real"))),
])  # fmt: skip
def test_a_folder_that_somebody_else_could_change_is_not_used(shared, tmp_path, make):
    make(shared)
    fault = shared_folder.fault(shared)
    assert fault is not None
    assert f"install -d -m 1777 {shared}" in fault.render_hint() or "replace" in fault.render()
    claims = Claims(shared, tmp_path)
    claims.take("job", ("A",))
    assert claims.held() == {}
    assert not shared.exists() or list(shared.iterdir()) == []
