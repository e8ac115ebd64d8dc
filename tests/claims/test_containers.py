"""Processes of containers, which number them anew: the host sees whether they live, a container does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_paddle_gpu.claims import containers
from jupyter_paddle_gpu.claims.containers import Containers
from jupyter_paddle_gpu.claims.processes import Process, is_alive, this_process

PROGRAM = "from jupyter_paddle_gpu.claims.processes import this_process; print(this_process(), flush=True); input()"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tests run in a container themselves, that is the host."""
    monkeypatch.setattr(containers, "HOST", str(Path("/proc/self/ns/pid").readlink()))
    monkeypatch.setattr(containers, "SCAN_SECONDS", 0.0)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="a container of its own needs root")
def test_a_process_of_a_container_is_seen_by_the_host_alone(host: None, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as inside:
        assert inside.stdout is not None
        assert inside.stdin is not None
        told: Process = eval(inside.stdout.readline(), {"Process": Process})
        assert told.pid == 1
        assert told.namespace != this_process().namespace
        another = Process(pid=1, ticks=1, boot=told.boot, namespace=told.namespace)
        assert is_alive(told)
        assert not is_alive(told, 61001), "a forged claim of another user"
        assert not is_alive(another), "a number that came again"
        inside.stdin.write("\n")
        inside.stdin.close()
        inside.wait()
        assert not is_alive(told)
        monkeypatch.setattr(containers, "HOST", "pid:[1]")
        assert is_alive(told), "from within another container nobody can tell"


def test_proc_is_read_once_for_many_and_who_is_new_is_not_gone(host: None, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, looks = [100.0], [0]

    def looked() -> list[containers.Inner]:
        looks[0] += 1
        return [containers.Inner(7, 70, 1000)]

    monkeypatch.setattr(containers, "SCAN_SECONDS", 1.0)
    monkeypatch.setattr(containers, "_inner_processes", looked)
    monkeypatch.setattr(containers.time, "monotonic", lambda: clock[0])
    known = Containers()
    assert known.may_live(7, 70, 1000)
    clock[0] += 0.5
    assert known.may_live(8, 80, 1000), "it may have begun since"
    assert known.may_live(7, None, 0)
    assert looks == [1]
    clock[0] += 0.5
    assert not known.may_live(8, 80, 1000)
    assert looks == [2]
