"""Sources are parsed one at a time, by one module alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import jupyter_paddle_gpu

OURS = Path(jupyter_paddle_gpu.__file__).parent
IN_OTHER_PROCESSES = ("estimator/tracer", "estimator/zygote", "runner")
"""A trace, and a job."""
AT_ONCE = """
import gc, sys, threading, time
from jupyter_paddle_gpu.domain.parsing import parse

sys.setswitchinterval(1e-6)
gc.set_threshold(50, 2, 2)
gc.callbacks.append(lambda phase, info: time.sleep(0))  # as a finalizer that lets other threads in
source = "def f(a):\\n    return [a + (b * (c - d)) for b, c, d in zip(a, a[1:], {1: (2, [3, {4}])})]\\n" * 50
problems = []

def run():
    for _ in range(15):
        try:
            parse(source)
        except BaseException as problem:
            problems.append(problem)

threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not problems, problems
"""


def test_several_threads_parse_at_once() -> None:
    """Without the lock Python 3.11 raises SystemError in some."""
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nobody_else_parses_in_the_server() -> None:
    names = {str(file.relative_to(OURS)): file.read_text(encoding="utf-8") for file in OURS.rglob("*.py")}
    found = {name for name, text in names.items() if re.search(r"\bast\.parse\(|PyCF_ONLY_AST", text)}
    assert {name for name in found if not name.startswith(IN_OTHER_PROCESSES)} == {"domain/parsing.py"}
