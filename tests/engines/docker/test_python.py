"""Which Python of an image runs a job: the one that has Paddle, whatever it is called."""

from __future__ import annotations

import subprocess

import pytest

from jupyter_paddle_gpu.engines.docker.container import FIND_PYTHON

OLD = '#!/bin/sh\n[ "$1" = -c ] && exit 1\necho old "$@"\n'
WITH_PADDLE = '#!/bin/sh\n[ "$1" = -c ] && exit 0\necho paddle "$@"\n'


@pytest.mark.parametrize(
    ("programs", "expected"),
    [
        ({"python": OLD, "python3": WITH_PADDLE}, "paddle a b"),
        ({"python": WITH_PADDLE, "python3": OLD}, "paddle a b"),
        ({"python": OLD, "python3": OLD}, "old a b"),
        ({"python3": OLD}, "old a b"),
        ({"python": OLD}, "old a b"),
        ({}, "paddle-gpu: this image has no Python"),
    ],
)
def test_the_python_with_paddle(tmp_path, programs, expected):
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    command = ["/bin/sh", "-c", FIND_PYTHON, "sh", "a", "b"]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (done.stdout + done.stderr).strip() == expected
    assert done.returncode == (0 if programs else 127)
