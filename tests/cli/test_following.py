"""A followed log: every line at once, on a terminal and in a pipe; what ends the looking never ends the job."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from jupyter_paddle_gpu.jobs.store.job_store import JobStore

LIMIT = 180
"""Seconds after which a test gives up waiting; nothing here takes more than a few, on a machine that has them."""
BEGUN = "import time\nprint('begun', flush=True)\ntime.sleep(600)"

AT = """
import os, signal, sys
file, name = {place!r}
def profile(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_name == name and code.co_filename.endswith(file):
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
sys.setprofile(profile)
from jupyter_paddle_gpu.cli import main
main()
"""
"""A command that gets its Ctrl-C when it enters a certain function."""


@pytest.fixture(autouse=True)
def signals_count():
    """Also where the tests run in the background: `pytest &` in a script hands down that Ctrl-C is ignored, `nohup`
    that a closed terminal is."""
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@contextlib.contextmanager
def started(arguments, folder, environment, **options) -> Iterator[subprocess.Popen[bytes]]:
    """A command; whatever a test does, it is gone afterwards."""
    command = [sys.executable, "-m", "jupyter_paddle_gpu", *arguments]
    process = subprocess.Popen(command, cwd=folder, env=environment, bufsize=0, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait(LIMIT)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def read_until(descriptor: int, text: bytes) -> bytes:
    """Read what comes until `text` did."""
    got, deadline = b"", time.monotonic() + LIMIT
    while text not in got:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        part = os.read(descriptor, 65536) if ready else b""
        assert part, got
        got += part
    return got


@pytest.fixture
def ends(cli):
    """Ends the newest job after the test."""
    yield
    cli("cancel", "last", "--force")
    cli("logs", "last", "-f")


def test_interrupting_follow_leaves_the_job_running(cli, notebook, environment, tmp_path):
    command = ["submit", notebook(BEGUN), "--follow", "--no-estimate"]
    with started(command, tmp_path, environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        read_until(running.stdout.fileno(), b"begun\n")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=LIMIT)
    assert running.returncode == 130
    assert "the job goes on" in said.decode()
    wait_for(lambda: cli("jobs", "last", "--json").json["state"] == "running")
    job = cli("jobs", "last", "--json").json
    assert f"logs {job['id']} -f" in said.decode()
    ran = cli("cancel", "last", "--json")
    assert ran.json["state"] in ("stopping", "cancelled")
    cli("logs", "last", "-f")
    assert cli("jobs", "last", "--json").json["state"] == "cancelled"
    assert "had ended before" in cli("cancel", "last").err


@pytest.mark.parametrize(
    ("place", "submitted"),
    [
        (("cli/terminal.py", "<module>"), False),
        (("cli/terminal.py", "run"), False),
        (("services/jobs/submitting.py", "settle"), False),
        (("jobs/service.py", "submit"), True),
        (("store/job_store.py", "add"), True),
        (("jobs/attending.py", "_nudge"), True),
        (("commands/tail.py", "follow"), True),
        (("cli/log_printer.py", "_into_pipe"), True),
        (("cli/terminal.py", "show"), True),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_ctrl_c_at_any_moment(notebook, environment, tmp_path, place, submitted):
    """It ends the command, and a job is either not there or told and run to its end."""
    (tmp_path / "data").mkdir()
    store = JobStore(tmp_path / "data" / "jobs.sqlite")
    command = [
        sys.executable,
        "-c",
        AT.format(place=place),
        "submit",
        notebook("print(1)"),
        "--follow",
        "--no-estimate",
    ]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (130, False), ran.stderr
    folders = [file.parent.name for file in tmp_path.glob("data/jobs/*/source.ipynb")]
    assert len(folders) == submitted
    assert [job.id for job in store.select()] == folders
    assert all(name in ran.stdout + ran.stderr for name in folders)
    wait_for(lambda: all(job.state == "succeeded" for job in store.select()))


def test_ctrl_c_while_a_library_holds_the_process(cli, environment, tmp_path):
    """A handler of Python's would run only after the library's call; the command ends nevertheless."""
    stuck = (
        "import ctypes, os, signal, threading\n"
        "from jupyter_paddle_gpu.cli.interrupts import Interrupts\n"
        "with Interrupts().watched():\n"
        "    # The signal goes to another thread, so that it does not wake this one.\n"
        "    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n"
        "    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    ctypes.CDLL(None).sleep(600)\n"
    )
    command = [sys.executable, "-c", stuck]
    ran = subprocess.run(command, env=environment, timeout=LIMIT, check=False)
    assert ran.returncode == 130


@pytest.mark.usefixtures("ends")
def test_a_reader_that_has_enough_ends_the_command(cli, notebook, environment, tmp_path):
    """`… | grep -m1 begun`: the job prints nothing more, so no write would ever tell."""
    command = ["submit", notebook(BEGUN), "--follow", "--no-estimate"]
    with started(command, tmp_path, environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        grep = subprocess.Popen(["grep", "-m1", "begun"], stdin=running.stdout, stdout=subprocess.PIPE)
        running.stdout.close()
        running.stdout = None
        assert grep.communicate(timeout=LIMIT)[0] == b"begun\n"
        assert running.wait(LIMIT) == 141
        assert running.stderr.read().count(b"\n") == 1  # the job's id
    wait_for(lambda: cli("jobs", "last", "--json").json["state"] == "running")
    many = ["gpus", "--catalog"]
    with started(many, tmp_path, environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        listing.stdout.close()
        listing.stdout = None
        assert listing.wait(LIMIT) == 141
        assert listing.stderr.read() == b""


def test_lines_in_a_pipe_are_complete_and_in_order(cli, notebook, environment, tmp_path):
    """A bar is one line, printed when it is complete; `2>&1` keeps the order of both streams."""
    source = (
        "import sys, time\nfor n in range(4):\n    print('out', n)\n    print('err', n, file=sys.stderr)\n"
        "for n in range(9):\n    print(f'\\r{n}/8', end='')\n    time.sleep(0.1)\nprint()\n"
        "print('half', end='')\ntime.sleep(1)\nprint(' and half')"
    )
    command = ["submit", notebook(source), "--follow", "--no-estimate"]
    with started(command, tmp_path, environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        said = running.communicate(timeout=LIMIT)[0].decode().splitlines()
    assert running.returncode == 0
    pairs = [f"{stream} {n}" for n in range(4) for stream in ("out", "err")]
    assert said[2 : said.index("half and half") + 1] == [*pairs, "8/8", "half and half"]


def test_a_bar_on_a_terminal_overwrites_itself(notebook, environment, tmp_path):
    leader, follower = pty.openpty()
    source = (  # the next state comes when this one is on the terminal
        "import pathlib, time\nprint('first')\nfor n in range(4):\n    print(f'\\r{n}/3', end='')\n"
        "    while not pathlib.Path(f'seen-{n}').exists():\n        time.sleep(0.02)\nprint()"
    )
    command = ["submit", notebook(source), "--follow", "--no-estimate"]
    with started(command, tmp_path, environment, stdout=follower, stderr=follower) as running:
        os.close(follower)
        said = b""
        for n in range(4):
            said += read_until(leader, f"{n}/3".encode())
            (tmp_path / f"seen-{n}").touch()
        said += read_until(leader, b"All cells ran in")
        assert running.wait(LIMIT) == 0
        os.close(leader)
    assert b"first\r\n0/3\r\x1b[2K" in said
    assert said.count(b"3/3\r\n") == 1
    assert b"was submitted" in said


def test_a_folder_that_is_read_only_is_told(cli, notebook, tmp_path):
    name = notebook("1")
    (tmp_path / "file").write_text("")
    ran = cli("submit", name, "--no-estimate", PADDLE_GPU_DATA=str(Path(tmp_path, "file", "data")))
    assert ran.status == 1
    assert "Traceback" not in ran.err


def dispatchers(folder: Path) -> list[psutil.Process]:
    """Who looks after the queue of a data folder, or stands by."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if "jupyter_paddle_gpu.jobs.dispatcher" in (process.info["cmdline"] or [])
        and str(folder) in process.info["cmdline"]
    ]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGKILL])
def test_somebody_goes_on_when_the_terminal_is_gone(cli, notebook, environment, tmp_path, number):
    """At once where it can hand over, else whoever stands by: the job comes to its end, and its row says so."""
    gate = "import pathlib, time\nprint('begun', flush=True)\n"
    gate += f"while not pathlib.Path({str(tmp_path / 'go')!r}).exists():\n"
    command = ["submit", notebook(gate + "    time.sleep(0.05)"), "--follow", "--no-estimate"]
    try:
        with started(command, tmp_path, environment, stdout=subprocess.PIPE) as process:
            read_until(process.stdout.fileno(), b"begun")
            if number == signal.SIGKILL:
                wait_for(lambda: bool(dispatchers(tmp_path / "data")))
            process.send_signal(number)
            process.wait(LIMIT)
    finally:
        (tmp_path / "go").touch()  # the job ends, whatever came of the test
    store = JobStore(tmp_path / "data" / "jobs.sqlite")
    wait_for(lambda: store.select()[0].state == "succeeded")
    wait_for(lambda: not dispatchers(tmp_path / "data"))
