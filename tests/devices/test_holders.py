"""The job behind a process on a card: by its container, or by the process that the job's claim names."""

from __future__ import annotations

import os
import subprocess
import sys

from jupyter_paddle_gpu.devices.holders import Held, with_holders
from jupyter_paddle_gpu.domain.devices import Device, DeviceHolder, DeviceProcess

BELOW = "import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}])"
WAIT = "import os, sys; print(os.getpid(), flush=True); sys.stdin.readline()"


def jobs(held: Held, *processes: DeviceProcess, on_host: bool = True) -> list[str | None]:
    device = Device(id="GPU-0", index=0, vendor="nvidia", name="T4", processes=processes)
    return [process.job_id for process in with_holders(device, held, on_host=on_host).processes]


def test_a_process_below_the_one_that_a_claim_names_is_that_jobs() -> None:
    command = [sys.executable, "-c", BELOW.format(program=WAIT)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as above:
        assert above.stdout is not None
        below = int(above.stdout.readline())
        held = Held({}, {}, {above.pid: "near", os.getpid(): "far"})
        seen = DeviceProcess(pid=below), DeviceProcess(pid=os.getpid()), DeviceProcess(pid=os.getppid())
        assert jobs(held, *seen) == ["near", "far", None]
        assert jobs(held, *seen, on_host=False) == [None, None, None], "in a container the same numbers are others"
        above.communicate("\n")


def test_a_container_is_its_jobs_and_what_the_process_says_itself_stands() -> None:
    held = Held({}, {"0123456789ab": "boxed"}, {})
    boxed = DeviceProcess(pid=2**22, container="0123456789ab")
    own = DeviceProcess(pid=2**22, container="0123456789ab", job_id="own")
    assert jobs(held, boxed, own, DeviceProcess(pid=2**22, container="ffffffffffff")) == ["boxed", "own", None]


def test_one_who_has_all_of_it_stands_beside_those_who_share() -> None:
    device = Device(id="GPU-0", index=0, vendor="nvidia", name="T4")
    share, whole = DeviceHolder(job="a", bytes=5), DeviceHolder(job="b")
    found = with_holders(device, Held({"GPU-0": (share, whole)}, {}, {}), on_host=True)
    assert (found.holder, found.sharers) == (whole, (share,))
