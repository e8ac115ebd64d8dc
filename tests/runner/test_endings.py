"""Whatever ends a job: the reason is right, log and notebook are whole, and no process is left."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyter_paddle_gpu.devices.makers.registry import makers

Execute = Callable[..., Any]

LOOP = "import time\nprint('started', flush=True)\nwhile True:\n    time.sleep(0.05)"


def carriers(job_id: str, folder: Path) -> list[psutil.Process]:
    """Processes of this very job (several test runs have jobs of the same name)."""
    found = []
    for process in psutil.process_iter():
        try:
            environment = process.environ()
        except (psutil.Error, OSError):
            continue
        same = environment.get("PADDLE_GPU_CHECKPOINTS") == str(folder / "checkpoints")
        if same and environment.get("PADDLE_GPU_JOB_ID") == job_id and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_cancel_keeps_what_there_is(prepare: Execute, shell: str) -> None:
    run = prepare("print('first')", LOOP, "print('never')", shell=shell).start()
    run.until_logged("started")
    run.process.send_signal(signal.SIGTERM)
    assert run.wait() == 143
    assert run.result["reason"] == "cancelled"
    assert run.stream(0) == "first\n" and run.stream(1) == "started\n" and run.outputs(2) == []
    assert run.outputs(1)[-1]["ename"] == "KeyboardInterrupt"
    assert (run.folder.parent / "work0" / "out" / "done.ipynb").exists()
    assert carriers("job0", run.folder) == []


def test_cancel_lets_the_code_save(prepare: Execute) -> None:
    run = prepare(
        "import os, time\nprint('started', flush=True)\ntry:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n"
        "    open(os.path.join(os.environ['PADDLE_GPU_CHECKPOINTS'], 'saved'), 'w').close()",
        "print('never')",
    ).start()
    run.until_logged("started")
    run.process.send_signal(signal.SIGTERM)
    run.wait()
    assert run.result["reason"] == "cancelled" and (run.folder / "checkpoints" / "saved").exists()
    assert run.outputs(1) == []


def test_cancel_of_code_that_does_not_listen(prepare: Execute) -> None:
    run = prepare(
        "import signal, time\nfor number in (signal.SIGINT, signal.SIGTERM):\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        "print('started', flush=True)\ntime.sleep(600)",
        stop_seconds=1.0,
    ).start()
    run.until_logged("started")
    run.process.send_signal(signal.SIGTERM)
    run.wait()
    assert run.result["reason"] == "cancelled" and run.stream(0) == "started\n"


def test_children_of_children_end_with_the_job(prepare: Execute) -> None:
    source = (
        "import subprocess, sys\n"
        # A grandchild in a session of its own whose parent is gone.
        "subprocess.run([sys.executable, '-c', 'import subprocess, sys; subprocess.Popen([sys.executable, \"-c\", "
        '"import time; time.sleep(600)"], start_new_session=True)\'])\n'
        "subprocess.Popen(['sh', '-c', 'trap \"\" TERM; while :; do sleep 1; done'])\n"
        "print('started', flush=True)"
    )
    run = prepare(source, "1", limits={"leftover_seconds": 0.2}).start()
    assert run.wait() == 0
    assert run.result["reason"] == "succeeded"
    assert carriers("job0", run.folder) == []
    assert any("left behind" in text for text in run.texts("system"))


def test_everything_ends_with_a_killed_runner(prepare: Execute) -> None:
    run = prepare(LOOP).start()
    run.until_logged("started")
    assert len(carriers("job0", run.folder)) == 1
    run.process.kill()
    run.process.wait()
    deadline = time.monotonic() + 60
    while carriers("job0", run.folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert carriers("job0", run.folder) == []
    assert not (run.folder / "result.json").exists()


def test_kill_of_the_notebooks_process_is_told(prepare: Execute) -> None:
    run = prepare("print('first')", LOOP).start()
    run.until_logged("started")
    (child,) = carriers("job0", run.folder)
    child.kill()
    assert run.wait() == 137
    assert (run.result["reason"], run.result["signal"], run.result["message"]) == ("killed", 9, "SIGKILL")
    assert run.stream(0) == "first\n" and run.stream(1) == "started\n"
    assert run.result["process_rss_bytes"] > 0


def test_crash_in_native_code(execute: Execute) -> None:
    run = execute("print('before')", "import ctypes\nctypes.string_at(0)")
    assert (run.result["reason"], run.result["signal"]) == ("killed", signal.SIGSEGV)
    assert run.stream(0) == "before\n"


def test_time_limit(execute: Execute) -> None:
    run = execute(LOOP, seconds=6.0, shell="plain")  # enough to come up in on a busy machine
    assert run.result["reason"] == "time_limit" and run.stream(0) == "started\n"


def test_memory_limit(execute: Execute) -> None:
    run = execute(
        "print('small', flush=True)\nimport time\nkeep = []\nwhile True:\n"
        "    keep.append(bytearray(b'x' * 20_000_000)); time.sleep(0.05)",
        memory_bytes=400 * 2**20,
    )
    assert run.result["reason"] == "out_of_memory_host" and run.stream(0) == "small\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import numpy\nnumpy.ones(10**17)", "out_of_memory_host"),
        ("raise MemoryError('Out of memory error on GPU 0. Cannot allocate 2.0GB')", "out_of_memory_device"),
        ("raise OSError('(External) CUDA error(2), out of memory.')", "out_of_memory_device"),
        ("import errno\nraise OSError(errno.ENOSPC, 'No space left on device')", "disk_full"),
        ("raise KeyboardInterrupt", "cell_error"),
    ],
)
def test_classes_of_errors(execute: Execute, source: str, reason: str) -> None:
    run = execute("1", source, device_memory_words=makers().words("memory"))
    assert run.result["reason"] == reason and run.result["failure"]["cell"] == 1


LIMITED = (
    "import resource, runpy, sys\n"
    "sys.argv = sys.argv[1:]\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (%d, resource.RLIM_INFINITY))\n"
    "sys.path.insert(0, sys.argv[0])\n"
    "runpy.run_path(sys.argv[0], run_name='__main__')\n"
)


def test_full_disk_ends_the_job_and_tears_nothing(prepare: Execute) -> None:
    """A limit on the size of files stands for the full disk: writing stops in the middle of a line."""
    run = prepare(
        "print('whole')",
        "for n in range(100_000):\n    print('line', n)",
        limits={"disk_patience_seconds": 1.0},
        stop_seconds=2.0,
        python=(sys.executable, "-c", LIMITED % 300_000),
    ).start()
    run.wait()
    assert run.result["reason"] == "disk_full", run.result
    assert run.notebook["cells"][0]["outputs"][0]["text"] == ["whole\n"]
    log = run.log
    assert [line["n"] for line in log] == list(range(len(log)))
    assert [line["x"] for line in log if line["x"].startswith("line")] == [f"line {n}" for n in range(len(log) - 2)]


def test_space_that_comes_back_in_time(prepare: Execute) -> None:
    """The notebook is held up while the disk is full; then it goes on, and no line is missing."""
    run = prepare(
        "for n in range(20_000):\n    print('line', n)",
        limits={"disk_patience_seconds": 60.0},
        python=(sys.executable, "-c", LIMITED % 300_000),
    ).start()
    run.until(lambda: (run.folder / "log.jsonl").exists() and (run.folder / "log.jsonl").stat().st_size > 250_000)
    time.sleep(0.5)  # it is held up now; were it not, the assertion below would still have to hold
    psutil.Process(run.process.pid).rlimit(psutil.RLIMIT_FSIZE, (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY))
    run.wait()
    assert run.texts() == [f"line {n}" for n in range(20_000)]
    assert run.result["reason"] in ("succeeded", "disk_full")


def test_second_runner_touches_nothing(prepare: Execute) -> None:
    run = prepare(LOOP).start()
    run.until_logged("started")
    second = type(run)(run.folder).start()
    assert second.wait() == 75
    run.process.send_signal(signal.SIGTERM)
    run.wait()
    before = (run.folder / "result.json").read_bytes()
    third = type(run)(run.folder).start()
    assert third.wait() == 75 and (run.folder / "result.json").read_bytes() == before


def test_output_that_cannot_be_published_is_a_warning(prepare: Execute, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = prepare("print(1)", output=str(tmp_path / "file" / "below.ipynb")).start()
    assert run.wait() == 0
    assert run.result["reason"] == "succeeded"
    assert any("could not be written" in text for text in run.texts("system"))


def test_notebook_is_saved_while_a_cell_runs(prepare: Execute) -> None:
    run = prepare(LOOP, limits={"save_seconds": 0.2}).start()
    run.until(lambda: (run.folder / "notebook.ipynb").exists() and run.stream(0) == "started\n")
    run.process.send_signal(signal.SIGTERM)
    run.wait()


def test_detached_runner_has_no_parent_and_a_session_of_its_own(prepare: Execute) -> None:
    run = prepare(LOOP)
    run.entry = run.entry  # the folder
    run.python = (sys.executable, str(run.entry), "--detach")
    run.entry = run.folder / "spec.json"
    import subprocess

    assert subprocess.run([*run.python, str(run.entry)], check=False, timeout=180).returncode == 0
    identity = json.loads((run.folder / "runner.json").read_text())
    process = psutil.Process(identity["pid"])
    assert os.getsid(identity["pid"]) == identity["pid"] and process.ppid() != os.getpid()
    process.send_signal(signal.SIGTERM)
    run.until((run.folder / "result.json").exists)
    assert run.result["reason"] == "cancelled"


def test_rank_other_than_zero_keeps_to_its_own_folder(prepare: Execute) -> None:
    run = prepare("print('from rank 1')")
    run.environment = {"PADDLE_TRAINER_ID": "1", "PADDLE_TRAINERS_NUM": "2"}
    run.start().wait()
    assert not (run.folder / "result.json").exists() and not (run.folder / "log.jsonl").exists()
    assert json.loads((run.folder / "rank-1" / "result.json").read_text())["reason"] == "succeeded"
    assert "from rank 1" in (run.folder / "rank-1" / "log.jsonl").read_text()
    assert not (run.folder.parent / "work0" / "out").exists()


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_a_script_that_exits_with_zero_has_succeeded(execute: Execute, shell: str) -> None:
    run = execute("__file__ = 'train.py'", "import sys\nprint('done')\nsys.exit(0)", shell=shell)
    assert run.result["reason"] == "succeeded"
    failed = execute("__file__ = 'train.py'", "import sys\nsys.exit(3)", shell=shell)
    assert failed.result["reason"] == "cell_error"
