"""The process that stands ready for a worker's next request: what it serves, what it does not, and when it goes."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import psutil
import pytest

from jupyter_paddle_gpu.estimator.workers.beside import Asked, ending_with
from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter
from jupyter_paddle_gpu.estimator.workers.settings import WorkerSettings
from jupyter_paddle_gpu.estimator.workers.worker import Worker
from tests.processes import at_work, standing_ready

pytestmark = [pytest.mark.paddle, pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")]
BARE = Path(__file__).parents[1] / "bare_tracer"
WHO = "import os; result = os.getpid()"
DESCRIPTORS = "import os; result = [os.path.realpath(f'/proc/self/fd/{one}') for one in os.listdir('/proc/self/fd')]"


@pytest.fixture(scope="module")
def worker():
    made = Worker(find_interpreter("python3"), WorkerSettings(tracer=BARE))
    assert made.start().error == ""
    yield made
    made.close()


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


def zygote_of(worker):
    return psutil.Process(worker.process_id)


def ready_of(worker):
    """The one that stands ready."""
    return wait_for(lambda: standing_ready(zygote_of(worker)))[0]


def run(worker, code, folder, limits=None, **named):
    return worker.request("trace", {"cells": [{"index": 0, "source": code}]}, folder, limits, **named)


def result_of(outcome):
    assert outcome.kind == "answer", outcome
    return outcome.value["extra"]["result"]


def test_the_one_that_stands_ready_works_at_the_next_request_in_its_folder_and_another_stands(worker, tmp_path):
    for number in range(3):
        ready, folder = ready_of(worker), tmp_path / str(number)
        folder.mkdir()
        found = result_of(run(worker, "import os, sys; result = [os.getpid(), os.getcwd(), sys.path[0]]", folder))
        assert found == [ready.pid, str(folder), str(folder)]
    assert len(standing_ready(zygote_of(worker))) <= 1
    assert ready_of(worker).pid != ready.pid


def test_it_is_held_as_one_that_is_forked_for_its_request(worker, tmp_path):
    code = (
        "import os\nwith open('made', 'w') as file: file.write('x')\n"
        "try: os.fork()\nexcept OSError: pass\n"
        "status = open('/proc/self/status').read().splitlines()\n"
        "result = [line for line in status if line.startswith(('Seccomp', 'NoNewPrivs'))]\n"
        "import resource\n"
        "result += [resource.getrlimit(limit) for limit in (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)]"
    )
    ready = ready_of(worker)
    ahead = run(worker, code, tmp_path)
    assert not ready.is_running() or ready not in standing_ready(zygote_of(worker))
    ready_of(worker).kill()
    anew = run(worker, code, tmp_path)

    assert result_of(ahead) == result_of(anew)
    assert ahead.held == anew.held and len(ahead.refused) == len(anew.refused) == 2
    assert not list(tmp_path.iterdir())


def test_no_child_can_reach_the_one_that_stands_ready_or_another_request(worker, tmp_path):
    ready_of(worker)
    alone = result_of(run(worker, DESCRIPTORS, tmp_path))
    with ThreadPoolExecutor(1) as pool:
        wait = f"import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n{DESCRIPTORS}"
        first = pool.submit(run, worker, wait, tmp_path)
        wait_for(lambda: at_work(zygote_of(worker)))
        result_of(run(worker, WHO, tmp_path))  # behind it one stands ready again
        ready_of(worker)
        beside = result_of(run(worker, DESCRIPTORS, tmp_path))
        ready_of(worker).kill()
        forked = result_of(run(worker, DESCRIPTORS, tmp_path))
        (tmp_path / "go").touch()
        both = result_of(first.result(60)), beside, forked
    assert [len(found) for found in both] == [len(alone)] * 3
    assert not [path for found in both for path in found if "socket" in path or "eventpoll" in path]


def test_one_that_was_killed_is_missed_by_nobody(worker, tmp_path):
    ready = ready_of(worker)
    ready.kill()

    assert result_of(run(worker, WHO, tmp_path)) != ready.pid
    assert ready_of(worker).pid != ready.pid


def test_one_that_is_killed_before_it_takes_its_request_has_it_done_by_another(worker, tmp_path):
    ready = ready_of(worker)
    ready.suspend()
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(run, worker, WHO, tmp_path)
        time.sleep(0.3)
        assert not pending.done()
        ready.kill()
        assert result_of(pending.result(60)) != ready.pid
    ready_of(worker)


def test_one_that_dies_of_its_request_is_told_as_ever(worker, tmp_path):
    ready_of(worker)
    outcome = run(worker, "import os; os.abort()", tmp_path)

    assert (outcome.kind, outcome.number) == ("signal", signal.SIGABRT)
    assert outcome.resident > 0 and outcome.cpu_seconds > 0


def test_its_request_ends_by_the_clock_and_by_the_processors_time(worker, tmp_path):
    usual = worker.settings.limits()
    for changed, code, kind in (
        ({"wall_seconds": 0.5}, "import time; time.sleep(60)", "timeout"),
        ({"cpu_seconds": 1}, "while True: pass", "cpu"),
    ):
        ready_of(worker)
        assert run(worker, code, tmp_path, msgspec.structs.replace(usual, **changed)).kind == kind
        assert result_of(run(worker, WHO, tmp_path))


def test_its_request_can_be_cancelled(worker, tmp_path):
    ready, asked = ready_of(worker), Asked()

    def ask():
        with ending_with(asked):
            return run(worker, "import time; time.sleep(60)", tmp_path)

    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(ask)
        wait_for(lambda: at_work(zygote_of(worker)))
        asked.end()
        assert pending.exception(60) is not None
    wait_for(lambda: not at_work(zygote_of(worker)))
    assert not ready.is_running()
    assert result_of(run(worker, WHO, tmp_path))


def test_two_at_once_are_worked_at_by_two(worker, tmp_path):
    ready = ready_of(worker)
    with ThreadPoolExecutor(2) as pool:
        code = "import time; time.sleep(0.3)\n" + WHO
        found = {result_of(one) for one in pool.map(lambda _: run(worker, code, tmp_path), range(2))}
    assert len(found) == 2 and ready.pid in found
    wait_for(lambda: not at_work(zygote_of(worker)))
    assert len(standing_ready(zygote_of(worker))) == 1


def test_what_it_was_forked_without_is_there_for_the_next(worker, tmp_path):
    ready = ready_of(worker)
    code = f"import sys; there = 'PIL.ImageMath' in sys.modules\n{WHO}\nresult = [there, result]"
    there, who = result_of(run(worker, code, tmp_path, libraries=("PIL.ImageMath",)))

    assert there and who != ready.pid
    assert not ready.is_running()
    ready = ready_of(worker)
    assert result_of(run(worker, code, tmp_path, libraries=("PIL.ImageMath",))) == [True, ready.pid]


def test_a_request_that_is_larger_than_what_waits_for_it_is_served(worker, tmp_path):
    ready_of(worker)

    assert result_of(run(worker, f"result = len({'x' * 3_000_000!r})", tmp_path)) == 3_000_000


def test_nothing_of_a_request_is_left_in_the_next(worker, tmp_path):
    for _ in range(2):
        ready_of(worker)
        code = "import os, builtins; result = [hasattr(builtins, 'left'), 'LEFT' in os.environ]\n"
        change = "builtins.left = 1; os.environ['LEFT'] = '1'"
        assert result_of(run(worker, code + change, tmp_path)) == [False, False]


@pytest.mark.parametrize("end", ["close", "kill", "idle"])
def test_it_goes_with_its_worker(end):
    worker = Worker(find_interpreter("python3"), WorkerSettings(tracer=BARE, idle_seconds=2 if end == "idle" else 600))
    try:
        worker.start()
        ready = ready_of(worker)
        if end == "close":
            worker.close()
        elif end == "kill":
            os.kill(worker.process_id, signal.SIGKILL)
        # Nobody may be there to reap an orphan in a container; a zombie runs no more.
        wait_for(lambda: not ready.is_running() or ready.status() == psutil.STATUS_ZOMBIE)
    finally:
        worker.close()
