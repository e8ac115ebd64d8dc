"""Types are learned one at a time, and by one module alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import jupyter_paddle_gpu

OURS = Path(jupyter_paddle_gpu.__file__).parent
AT_ONCE = """
import threading, time
import msgspec
from jupyter_paddle_gpu.domain.decoding import convert, decode, decoder

def slowly():
    time.sleep(0.05)  # as another thread's turn, in the middle of what msgspec learns
    return int

class Inner(msgspec.Struct):
    size: "slowly()" = 0

class Outer(msgspec.Struct):
    inner: Inner
    name: str = ""

ways = (
    lambda: decode(b'{"inner": {"size": 3}, "name": "x"}', Outer),
    lambda: convert({"inner": {"size": 3}, "name": "x"}, Outer),
    lambda: decoder(Outer).decode(b'{"inner": {"size": 3}, "name": "x"}'),
    lambda: decode(b'{"size": 3}', Inner),
)
answers = []
threads = [threading.Thread(target=lambda way=way: answers.append(way())) for way in ways]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(map(repr, answers)) == ["Inner(size=3)"] + 3 * ["Outer(inner=Inner(size=3), name='x')"], answers
"""


def test_several_threads_meet_a_new_type_at_once() -> None:
    """Without the lock the process ends with a segmentation fault."""
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nobody_else_has_msgspec_learn_a_type() -> None:
    asked = re.compile(r"msgspec\.convert\(|msgspec\.json\.Decoder\(|msgspec\.\w+\.decode\([^\n]*type=")
    found = {
        str(file.relative_to(OURS)) for file in OURS.rglob("*.py") if asked.search(file.read_text(encoding="utf-8"))
    }
    assert found == {"domain/decoding.py"}
