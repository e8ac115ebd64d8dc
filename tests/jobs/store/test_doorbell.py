"""Whoever looks after the queue is woken by other processes, and sleeps until then."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.jobs.store.doorbell import Doorbell

NEVER = 3600.0
LIMIT = 180.0


def sleeper(bell: Doorbell) -> threading.Thread:
    thread = threading.Thread(target=bell.wait, args=(NEVER,), daemon=True)
    thread.start()
    return thread


def test_of_this_process_and_of_another(tmp_path: Path) -> None:
    path = tmp_path / "jobs.bell"
    bell = Doorbell(path)
    for listens in (False, True):
        if listens:
            bell.listen()
        thread = sleeper(bell)
        bell.ring()
        thread.join(LIMIT)
        assert not thread.is_alive()
    thread = sleeper(bell)
    ring = "from pathlib import Path\nfrom jupyter_paddle_gpu.jobs.store.doorbell import Doorbell\n"
    ring += f"Doorbell(Path({str(path)!r})).ring()"
    subprocess.run([sys.executable, "-c", ring], check=True)
    thread.join(LIMIT)
    assert not thread.is_alive()
    bell.close()
    Doorbell(path).ring()  # nobody listens: nothing happens
    (tmp_path / "link").symlink_to(path)
    Doorbell(tmp_path / "link").ring()


def test_a_server_that_sleeps_starts_what_a_terminal_submits(
    open_service: Any, spec: Any, make_notebook: Any, until: Any
) -> None:
    server = open_service(JobSettings(active_seconds=0.05, idle_seconds=NEVER))
    server.start()
    until((server.folder.parent / "jobs.bell").exists)
    terminal = open_service()
    job = terminal.submit(spec(), make_notebook("1"))
    assert terminal.wait(job.id, LIMIT).state == "succeeded"
