"""A stop in the notebook's process: the user's handler or `KeyboardInterrupt` in a cell, never a traceback of ours."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

Execute = Callable[..., Any]


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_a_handler_of_sigterm_runs(prepare: Execute, shell: str) -> None:
    """As documented for containers, Kubernetes and Slurm: SIGTERM first, time to save, then the end."""
    run = prepare(
        "import os, signal, time\nasked = []\nsignal.signal(signal.SIGTERM, lambda *_: asked.append(1))\n"
        "print('started', flush=True)\nwhile not asked:\n    time.sleep(0.02)\n"
        "open(os.path.join(os.environ['PADDLE_GPU_CHECKPOINTS'], 'saved'), 'w').close()",
        "print('never')",
        shell=shell,
        stop_seconds=60.0,
    ).start()
    run.until_logged("started")
    run.process.send_signal(signal.SIGTERM)
    run.wait()
    assert run.result["reason"] == "cancelled" and (run.folder / "checkpoints" / "saved").exists()
    assert run.outputs(1) == [] and not any(out["output_type"] == "error" for out in run.outputs(0))


def test_a_handler_that_goes_on_is_interrupted(prepare: Execute) -> None:
    run = prepare(
        "import signal, time\nsignal.signal(signal.SIGTERM, lambda *_: print('heard', flush=True))\n"
        "print('started', flush=True)\ntry:\n    time.sleep(600)\nexcept KeyboardInterrupt:\n    print('interrupted')",
        "print('never')",
        stop_seconds=4.0,
    ).start()
    run.until_logged("started")
    run.process.send_signal(signal.SIGTERM)
    run.wait()
    assert run.result["reason"] == "cancelled" and run.stream(0) == "started\nheard\ninterrupted\n"


def test_paddle_does_not_take_the_signal_away(prepare: Execute) -> None:
    """Its core puts a handler of its own below Python's, which prints a C++ traceback and ends the process."""
    run = prepare(
        "import signal\nsignal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(SystemExit('as I wish')))",
        "import paddle, time\npaddle.ones([1])\nprint('started', flush=True)\ntime.sleep(600)",
        stop_seconds=60.0,
    ).start()
    run.until_logged("started")
    run.process.send_signal(signal.SIGTERM)
    run.wait()
    assert run.result["reason"] == "cancelled" and run.result["failure"]["value"] == "as I wish"
    assert "FatalError" not in (run.folder / "log.jsonl").read_text()


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_no_traceback_of_ours_whenever_it_comes(prepare: Execute, shell: str) -> None:
    cells = ["n = 1"] * 40
    for step in range(12):
        run = prepare(*cells, "import time\ntime.sleep(600)", shell=shell).start()
        run.until((run.folder / "runner.json").exists)  # from here on a stop is told to this process
        time.sleep(step * 0.06)
        run.process.send_signal(signal.SIGTERM)
        run.wait()
        assert run.result["reason"] == "cancelled", (step, run.result)
        log = (run.folder / "log.jsonl").read_text()
        assert "/runner/" not in log and not (run.folder / "runner.log").read_text(), (step, log)


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_the_traceback_of_an_interrupt_ends_in_the_users_line(prepare: Execute, shell: str) -> None:
    run = prepare("import time\ndef train():\n    time.sleep(600)\nprint('started', flush=True)\ntrain()", shell=shell)
    run.start().until_logged("started")
    run.process.send_signal(signal.SIGTERM)
    run.wait()
    shown = "\n".join(run.outputs(0)[-1]["traceback"])
    assert "/runner/" not in shown and "time" in shown and "KeyboardInterrupt" in shown
    assert run.result["failure"]["line"] == 3


def test_forks_die_of_it_as_without_us(execute: Execute) -> None:
    run = execute(
        "import os, signal, time\npid = os.fork()\nif not pid:\n    time.sleep(600)\n    os._exit(0)\n"
        "time.sleep(0.2)\nos.kill(pid, signal.SIGTERM)\nprint(os.waitpid(pid, 0)[1])"
    )
    assert run.stream(0) == f"{int(signal.SIGTERM)}\n"


def test_an_end_that_waits_for_a_thread(prepare: Execute) -> None:
    """Every cell ran; what still runs is ended, and what the notebook registered for the exit is done."""
    run = prepare(
        "import atexit, threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
        "atexit.register(print, 'at the end')",
        stop_seconds=60.0,
    ).start()
    run.until(
        lambda: (run.folder / "events.jsonl").exists() and "finished" in (run.folder / "events.jsonl").read_text()
    )
    time.sleep(0.5)
    run.process.send_signal(signal.SIGTERM)
    run.wait()
    assert run.result["reason"] == "succeeded"
    said = [json.loads(line)["x"] for line in (run.folder / "log.jsonl").read_text().splitlines()]
    assert "at the end" in said and not any("Traceback" in text for text in said)
