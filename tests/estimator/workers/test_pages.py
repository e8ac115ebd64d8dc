"""Pages that a forked process has copied before somebody waits for it: those that were seen to be written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_paddle_gpu.estimator.zygote import pages

pytestmark = pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="looks into Linux's page map")
PROGRAM = """
import json, mmap, os, sys
from jupyter_paddle_gpu.estimator.zygote import pages
memory = mmap.mmap(-1, 64 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE)
memory.write(b"x" * len(memory))
import ctypes
first = ctypes.addressof(ctypes.c_char.from_buffer(memory)) // mmap.PAGESIZE
known = pages.Pages()
with known.learning():
    for number in range(10, 20):
        memory[number * mmap.PAGESIZE] = 1
waited = int(sys.argv[1])
end, other = os.pipe()
if os.fork() == 0:
    before = {page - first for page in pages._own()} & set(range(64))
    looked = known.copy(lambda: waited)
    after = {page - first for page in pages._own()} & set(range(64))
    os.write(other, json.dumps([sorted(before), sorted(after), bytes(memory[::mmap.PAGESIZE]).hex()]).encode())
    os._exit(0)
print(os.read(end, 10_000).decode())
os.wait()
"""


def copied(waited: int) -> list:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(waited)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_what_was_written_is_copied_and_reads_as_before():
    before, after, read = copied(0)

    assert not before
    assert set(range(10, 20)) <= set(after) and len(after) < 30
    assert bytes.fromhex(read) == b"x" * 10 + b"\1" * 10 + b"x" * 44


def test_nothing_is_copied_while_somebody_waits():
    assert copied(1)[1] == []


def test_without_a_page_map_nothing_is_known(monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "PAGEMAP", tmp_path / "pagemap")
    known = pages.Pages()
    with known.learning():
        pass
    assert known.copy(lambda: False) == 0


def test_stretches_are_whole():
    size = pages.mmap.PAGESIZE
    assert list(pages._joined([3, 4, 5, 9, 11, 12])) == [(3 * size, 3 * size), (9 * size, size), (11 * size, 2 * size)]
    assert list(pages._joined([])) == []
