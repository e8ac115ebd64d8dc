"""A folder of root's is opened to one user more, and to nobody else; seen by processes that are that user."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys

import pytest

from jupyter_paddle_gpu.engines.docker import access

JOB, OTHER = 65532, 61000

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="not root: nobody else's rights can be tried out")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "work"
    made.mkdir(mode=0o700)
    for parent in (tmp_path, *tmp_path.parents[:3]):
        if parent.stat().st_mode & 0o777 == 0o700:
            parent.chmod(0o711)
    return made


HOW = {"read": os.O_RDONLY, "write": os.O_WRONLY, "make": os.O_WRONLY | os.O_CREAT | os.O_EXCL}


def may(user: int, action: str, path) -> bool:
    """Whether a process of that user may do this with the path."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.close(os.open(path, HOW[action]))
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def test_everything_is_open_to_the_one_user_now_and_later(folder):
    (folder / "sub").mkdir(mode=0o700)
    (folder / "sub" / "old").write_text("x")
    (folder / "sub" / "old").chmod(0o600)
    before = (folder / "sub" / "old").stat()
    assert not may(JOB, "read", folder / "sub" / "old")
    assert access.open_to(folder, JOB)
    assert not access.open_to(folder, JOB), "a second job finds it open"
    assert may(JOB, "write", folder / "sub" / "old")
    assert may(JOB, "make", folder / "sub" / "new")
    (folder / "later").write_text("root's")
    assert may(JOB, "write", folder / "later")
    assert not may(OTHER, "read", folder / "sub" / "old")
    assert not may(OTHER, "make", folder / "strangers")
    after = (folder / "sub" / "old").stat()
    assert (after.st_uid, after.st_gid, after.st_mode & 0o707) == (before.st_uid, before.st_gid, before.st_mode & 0o707)


def test_links_and_files_that_may_be_the_systems_are_left_alone(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("secret")
    outside.chmod(0o600)
    (folder / "link").symlink_to(outside)
    os.link(outside, folder / "second-name")
    (folder / "suid").write_text("x")
    (folder / "suid").chmod(0o4700)
    os.mkfifo(folder / "pipe", 0o600)
    (tmp_path / "away").mkdir(mode=0o700)
    (tmp_path / "away" / "x").write_text("x")
    (folder / "linked").symlink_to(tmp_path / "away")
    access.open_to(folder, JOB)
    for path in (outside, folder / "second-name", folder / "suid", tmp_path / "away" / "x"):
        assert not may(JOB, "read", path), path
        assert "system.posix_acl_access" not in os.listxattr(path)
    assert (folder / "suid").stat().st_mode & 0o4000


def test_what_a_mask_took_from_others_is_not_given_back(folder):
    (folder / "x").write_text("x")
    old = {(1, 0xFFFFFFFF): 7, (2, OTHER): 7, (4, 0xFFFFFFFF): 7, (0x10, 0xFFFFFFFF): 0, (0x20, 0xFFFFFFFF): 0}
    raw = b"".join(access._ENTRY.pack(tag, rights, number) for (tag, number), rights in sorted(old.items()))
    os.setxattr(folder / "x", access.ACCESS, access._HEADER.pack(2) + raw)
    folder.chmod(0o711)
    assert not may(OTHER, "read", folder / "x")
    access.open_to(folder, JOB)
    assert may(JOB, "write", folder / "x")
    assert not may(OTHER, "read", folder / "x")


def test_a_file_system_without_such_lists(folder):
    assert access.is_supported(folder)
    assert not access.is_supported("/proc/self")
    with pytest.raises(OSError) as caught:
        access._open_folder(os.open("/proc/self", os.O_RDONLY), JOB)
    assert caught.value.errno in (errno.ENOTSUP, errno.EPERM), "kernels say the one or the other of /proc"


def test_the_module_imports_where_there_is_nothing_of_the_kind():
    code = (
        "import os; del os.getxattr, os.setxattr\n"
        "from jupyter_paddle_gpu.engines.docker import access; print(access.is_supported('/'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_locks_of_this_process_stay(folder):
    """The job store may lie below the notebook's folder: without its locks SQLite of another process starts afresh."""
    held = folder / "jobs.sqlite"
    with held.open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        access.open_to(folder, JOB)
        assert may(JOB, "write", held)
        taken = subprocess.run([sys.executable, "-c", _TAKE, str(held)], check=False).returncode == 0
    assert not taken


_TAKE = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'a'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
