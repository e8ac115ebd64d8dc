"""A worker's life: started once, warm, restarted, idle, closed, orphaned."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.estimator.workers.beside import Asked, beside
from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter
from jupyter_paddle_gpu.estimator.workers.settings import WorkerSettings, available_memory
from jupyter_paddle_gpu.estimator.workers.worker import Worker
from jupyter_paddle_gpu.estimator.zygote.protocol import FrameBuffer, FrameError, encode
from jupyter_paddle_gpu.services.estimates.leaving import Asker
from tests.processes import at_work

BARE = Path(__file__).parents[1] / "bare_tracer"


@pytest.fixture
def make_worker():
    made = []

    def make(**settings):
        worker = Worker(find_interpreter("python3"), WorkerSettings(**{"tracer": BARE, **settings}))
        made.append(worker)
        return worker

    yield make
    for worker in made:
        worker.close()


def wait_for(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def run(worker, code, folder):
    return worker.request("trace", {"cells": [{"index": 0, "source": code}]}, folder)


@pytest.mark.paddle
def test_requests_share_one_zygote_and_nothing_else(make_worker, tmp_path):
    worker = make_worker()
    first = run(worker, "import paddle; paddle.leftover = 1; result = 1", tmp_path)
    second = run(worker, "import paddle; result = hasattr(paddle, 'leftover')", tmp_path)

    assert first.kind == second.kind == "answer"
    assert second.value["extra"]["result"] is False


WARMED = """
import _paddle_gpu_tracer as tracer
result = tracer.turns
"""


@pytest.mark.paddle
def test_while_nobody_asks_it_gets_ready_for_the_next_request(make_worker, tmp_path):
    source = (BARE / "__init__.py").read_text()
    tracer = tmp_path / "tracer"
    tracer.mkdir()
    warm_up = "def warm_up():\n    global turns\n    for _ in range(3):\n        turns += 1\n        yield\n"
    (tracer / "__init__.py").write_text(f"{source}\nturns = 0\n{warm_up}")
    worker = make_worker(tracer=tracer)
    wait_for(lambda: run(worker, WARMED, tmp_path).value["extra"]["result"] == 3 or time.sleep(1))


@pytest.mark.paddle
def test_a_program_that_parses_a_command_line_finds_none(make_worker, tmp_path):
    outcome = run(make_worker(), "import sys; result = len(sys.argv)", tmp_path)

    assert outcome.value["extra"]["result"] == 1


@pytest.mark.paddle
def test_several_requests_at_a_time(make_worker, tmp_path):
    worker = make_worker()
    codes = [f"import time; time.sleep(0.3); result = {number}" for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda code: run(worker, code, tmp_path), codes))

    assert [outcome.value["extra"]["result"] for outcome in outcomes] == [0, 1, 2, 3]


@pytest.mark.paddle
def test_a_killed_zygote_is_replaced(make_worker, tmp_path):
    worker = make_worker()
    run(worker, "", tmp_path)
    old = worker.process_id
    os.kill(old, signal.SIGKILL)

    assert run(worker, "result = 1", tmp_path).kind == "answer"
    assert worker.process_id != old


@pytest.mark.paddle
def test_an_idle_zygote_ends_and_comes_back(make_worker, tmp_path):
    worker = make_worker(idle_seconds=0.2)
    worker.start()
    wait_for(lambda: worker.process_id is None)

    assert run(worker, "result = 1", tmp_path).kind == "answer"


@pytest.mark.paddle
def test_close_leaves_no_process_even_while_a_request_runs(make_worker, tmp_path):
    worker = make_worker()
    with ThreadPoolExecutor(1) as pool:
        worker.start()
        zygote = psutil.Process(worker.process_id)
        pending = pool.submit(run, worker, "while True: pass", tmp_path)
        wait_for(lambda: at_work(zygote))
        child = at_work(zygote)[0]
        worker.close()

        assert pending.result(60).kind in ("gone", "closed")
    assert not zygote.is_running()
    wait_for(lambda: not _runs(child))  # it is nobody's child any more, and is reaped by whoever does that here
    with pytest.raises(PaddleGpuError, match="shutting down"):
        run(worker, "", tmp_path)


@pytest.mark.paddle
def test_when_the_server_is_killed_nothing_stays(tmp_path):
    code = textwrap.dedent(f"""
        import sys, threading
        from pathlib import Path
        from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter
        from jupyter_paddle_gpu.estimator.workers.settings import WorkerSettings
        from jupyter_paddle_gpu.estimator.workers.worker import Worker
        worker = Worker(find_interpreter("python3"), WorkerSettings(tracer=Path({str(BARE)!r})))
        worker.start()
        request = {{"cells": [{{"index": 0, "source": "while True: pass"}}]}}
        threading.Thread(target=worker.request, args=("trace", request, Path({str(tmp_path)!r}))).start()
        print(worker.process_id, flush=True)
    """)
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    zygote = psutil.Process(int(server.stdout.readline()))
    wait_for(lambda: at_work(zygote))
    child = at_work(zygote)[0]
    server.kill()
    server.wait()
    server.stdout.close()

    wait_for(lambda: not _runs(zygote) and not _runs(child))


def _runs(process):
    # Nobody may be there to reap an orphan in a container; a zombie runs no more.
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


@pytest.mark.paddle
def test_a_process_for_each_request_where_there_is_no_fork(make_worker, tmp_path):
    worker = make_worker(fork=False)

    for number in range(2):
        outcome = run(worker, f"import os; result = {number}", tmp_path)
        assert outcome.kind == "answer" and outcome.value["extra"]["result"] == number


def test_a_tracer_that_cannot_be_imported_is_an_answer(make_worker, tmp_path):
    worker = make_worker(tracer=tmp_path)

    outcome = run(worker, "", tmp_path)

    assert outcome.kind == "error" and outcome.error["type"] == "tracer"


def test_frames_survive_any_cut():
    values = [{"a": "汉字"}, [1, 2.5, None], ""]
    stream = b"".join(map(encode, values))
    for step in (1, 2, 3, 7, len(stream)):
        buffer = FrameBuffer()
        seen = [value for at in range(0, len(stream), step) for value in buffer.feed(stream[at : at + step])]
        assert seen == values


def test_a_frame_that_is_too_long_is_refused():
    with pytest.raises(FrameError):
        FrameBuffer().feed(b"\xff\xff\xff\xff")
    with pytest.raises(ValueError):
        encode(float("nan"))


def test_a_containers_limit_counts(tmp_path):
    machine = available_memory(tmp_path)
    assert machine > 0
    (tmp_path / "memory.current").write_text("1000\n")
    for limit, expected in (("max\n", None), ("4000\n", 3000), ("500\n", 0)):
        (tmp_path / "memory.max").write_text(limit)
        found = available_memory(tmp_path)
        assert found == expected if expected is not None else found > 3000


SLEEP = "import time; time.sleep(60)"


def interrupted(work, seconds=0.5):
    """How long `work` takes to end after the main thread was interrupted."""
    came = []

    def interrupt():
        time.sleep(seconds)
        came.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        work()
    return time.monotonic() - came[0]


@pytest.mark.paddle
@pytest.mark.parametrize("fork", [True, False])
def test_an_interrupt_ends_what_was_asked_for(make_worker, tmp_path, fork):
    worker = make_worker(fork=fork)
    worker.start()
    zygote = psutil.Process(worker.process_id)

    assert interrupted(lambda: run(worker, SLEEP, tmp_path)) < 0.5
    wait_for(lambda: not (at_work(zygote) if fork else zygote.is_running()), 5)
    assert run(worker, "result = 1", tmp_path).value["extra"]["result"] == 1
    assert not fork or worker.process_id == zygote.pid, "the warm one goes on"


@pytest.mark.paddle
def test_an_interrupt_ends_what_another_thread_waits_for(make_worker, tmp_path):
    worker = make_worker()
    worker.start()
    zygote, after = psutil.Process(worker.process_id), []

    def asked():
        run(worker, SLEEP, tmp_path)
        after.append("went on")

    def both():
        with beside(asked) as other:
            run(worker, SLEEP, tmp_path)
            other.result()

    assert interrupted(both) < 0.5
    wait_for(lambda: not at_work(zygote), 5)
    assert run(worker, "result = 1", tmp_path).value["extra"]["result"] == 1
    assert not after


def test_a_worker_that_still_imports_paddle_ends_at_once(make_worker):
    worker = make_worker()
    worker.begin()
    wait_for(lambda: worker.process_id)
    zygote = psutil.Process(worker.process_id)
    since = time.monotonic()
    worker.close()

    assert time.monotonic() - since < 0.5
    assert not zygote.is_running()


def test_who_was_given_up_asks_for_nothing_more():
    asked, ends = Asked(), []
    with pytest.raises(CancelledError), asked.waiting(lambda: ends.append(1)):
        asked.end()
    with pytest.raises(CancelledError), asked.waiting(lambda: ends.append(2)):
        raise AssertionError("asked")
    assert ends == [1]


@pytest.mark.paddle
def test_who_leaves_ends_both_that_were_asked_for_beside_each_other(make_worker, tmp_path):
    worker = make_worker()
    worker.start()
    zygote, asker, after = psutil.Process(worker.process_id), Asker(), []

    def both():
        with beside(lambda: run(worker, SLEEP, tmp_path)) as other:
            other.result()
        after.append("went on")

    waiting = threading.Thread(target=lambda: after.append(asker.call(both)))
    waiting.start()
    wait_for(lambda: at_work(zygote), 60)
    asker.leave()
    waiting.join(60)
    wait_for(lambda: not at_work(zygote), 5)
    assert after == [None]
    assert run(worker, "result = 1", tmp_path).value["extra"]["result"] == 1
