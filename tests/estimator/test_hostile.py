"""Whatever a notebook does: a clear answer within the limits, and the next request is served at once."""

import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.messages import about_outcome, about_refusals
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings
from jupyter_paddle_gpu.estimator.workers.interpreters import find_interpreter
from jupyter_paddle_gpu.estimator.workers.outcomes import Outcome
from jupyter_paddle_gpu.estimator.workers.settings import Limits, WorkerSettings
from jupyter_paddle_gpu.estimator.workers.worker import Worker
from tests.processes import at_work

LIMITS = Limits(memory_bytes=512 << 20, file_bytes=1 << 20, reply_bytes=8 << 20, output_bytes=4096)
HURRIED = msgspec.structs.replace(LIMITS, cpu_seconds=4, wall_seconds=12.0)
"""For what ends by its time alone; everything else may take as long as a busy machine needs."""
LATE = 60.0
"""Seconds beyond its limit, for a busy machine to end a process."""

# name -> (code, the kinds of outcome that are right, what must have been refused)
HOSTILE = {
    # On a busy machine the wall clock may come first.
    "endless loop": ("while True: pass", {"cpu", "timeout"}, set()),
    "sleep": ("import time; time.sleep(1e6)", {"timeout"}, set()),
    "endless loop that catches everything": (
        "while True:\n try:\n  raise ValueError\n except BaseException: pass",
        {"cpu", "timeout"},
        set(),
    ),
    "100 GB array": ("import numpy; numpy.ones(100 << 30, 'uint8')", {"memory"}, set()),
    "100 GB in small pieces": ("a = []\nwhile True: a.append(bytearray(1 << 26))", {"memory"}, set()),
    "100 GB tensor": ("import paddle; paddle.zeros([100 << 28], 'float32')", {"error", "memory"}, set()),
    "os._exit": ("import os; os._exit(3)", {"exit"}, set()),
    "sys.exit": ("import sys; sys.exit(0)", {"error"}, set()),
    "abort": ("import os; os.abort()", {"signal"}, set()),
    "segfault": ("import ctypes; ctypes.string_at(0)", {"signal"}, set()),
    "fork bomb": ("import os\nwhile True: os.fork()", {"error"}, {"process"}),
    "fork bomb that catches": (
        "import os\nfor _ in range(100000):\n try: os.fork()\n except Exception: pass\nos._exit(9)",
        {"exit"},
        set(),
    ),
    "fork past Python": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nresult = [libc.fork() for _ in range(3)]\nassert result == [-1] * 3",
        {"answer"},
        set(),
    ),
    "a program": ("import subprocess; subprocess.run(['touch', 'made'])", {"error"}, {"process"}),
    "os.system": ("import os; os.system('touch made')", {"error"}, {"process"}),
    "processes by multiprocessing": (
        "import multiprocessing as m; m.get_context('fork').Process(target=print).start()",
        {"error"},
        {"process"},
    ),
    "writing a file": (
        "import os\nos.makedirs('out/deep', exist_ok=True)\nopen('out/deep/made', 'w').write('x')\n"
        "open('data.csv', 'a').write('3')\nresult = [open('out/deep/made').read(), open('data.csv').read()]\n"
        "assert result == ['x', '1,23'], result",
        {"answer"},
        {"write"},
    ),
    "writing through os.open": (
        "import os\nos.write(os.open('made', os.O_CREAT | os.O_WRONLY), b'x')\nassert open('made').read() == 'x'",
        {"answer"},
        {"write"},
    ),
    "a folder that is made in each run": (
        "import os, sys\nfor _ in range(2):\n    sys.audit('jupyter_paddle_gpu.begins_anew')\n    os.mkdir('out')",
        {"answer"},
        {"write"},
    ),
    "a folder that is there": ("import os; os.mkdir('.')", {"error"}, set()),
    "truncating a file": ("import os; os.truncate('data.csv', 0)", {"error"}, {"write"}),
    "removing files": (
        "import os, shutil\nshutil.rmtree('.')\nassert not os.path.exists('data.csv')",
        {"answer"},
        {"write"},
    ),
    "removing files past Python": (
        "import ctypes\nresult = ctypes.CDLL(None).unlink(b'data.csv')\nassert result == -1, result",
        {"answer"},
        set(),
    ),
    "writing past Python": (
        "import ctypes\nresult = ctypes.CDLL(None).creat(b'made', 0o644)\nassert result == -1, result",
        {"answer"},
        set(),
    ),
    "a disk full of temporary files": (
        "import tempfile; tempfile.TemporaryFile().write(b'x' * (64 << 20))",
        {"error"},
        set(),
    ),
    "a socket": ("import socket; socket.create_connection(('127.0.0.1', 9))", {"error"}, {"network"}),
    "a download": ("import urllib.request as u; u.urlopen('http://example.invalid/x')", {"error"}, {"network"}),
    "connecting past Python": (
        "import ctypes\nresult = ctypes.CDLL(None).socket(2, 1, 0)\nassert result == -1, result",
        {"answer"},
        set(),
    ),
    "killing the parent": ("import os, signal; os.kill(os.getppid(), signal.SIGKILL)", {"error"}, {"signal"}),
    "killing past Python": (
        "import ctypes, os\nresult = ctypes.CDLL(None).kill(os.getppid(), 9)\nassert result == -1",
        {"answer"},
        set(),
    ),
    "huge output": ("for _ in range(3000): print('x' * 100000)", {"answer"}, set()),
    "huge answer": ("result = 'x' * (20 << 20)", {"too_long"}, set()),
    "recursion": ("def f(): return f() + 1\nf()", {"error"}, set()),
    "deep recursion": (
        "import sys; sys.setrecursionlimit(10**9)\ndef f(*a): return f(*map(abs, a))\nf(1)",
        {"signal", "error", "memory"},
        set(),
    ),
    "living on after the answer": (
        "import os, time\nend = os._exit\ndef late(status):\n os.closerange(3, 1000)\n time.sleep(600)\n end(status)\n"
        "os._exit = late",
        {"answer"},
        set(),
    ),
    "an answer of its own that is none": (
        "import os\nfor end in range(3, 20):\n try: os.write(end, b'\\0\\0\\0\\2[]')\n except OSError: pass\n"
        "os._exit(7)",
        {"exit"},
        set(),
    ),
    "an answer of its own and on": (
        "import os\nfor end in range(3, 20):\n try: os.write(end, b'\\0\\0\\0\\2{}')\n except OSError: pass\n"
        "while True: pass",
        {"answer"},
        set(),
    ),
    "closing every descriptor": ("import os\nos.closerange(0, 1000)\nwhile True: pass", {"cut_off"}, set()),
    "threads that print": (
        "import threading\nfor _ in range(20): threading.Thread(target=lambda: [print('y') for _ in iter(int, 1)],"
        " daemon=True).start()",
        {"answer", "error"},
        set(),
    ),
}


@pytest.fixture(scope="module")
def worker():
    settings = WorkerSettings(tracer=Path(__file__).parent / "bare_tracer")
    worker = Worker(find_interpreter("python3"), settings)
    assert worker.start().error == ""
    yield worker
    worker.close()


def ask(worker: Worker, code: str, folder: Path, limits: Limits = LIMITS) -> Outcome:
    return worker.request("trace", {"cells": [{"index": 0, "source": code}]}, folder, limits)


def wait_for(condition) -> None:
    deadline = time.monotonic() + LATE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def limits_for(name: str) -> Limits:
    return HURRIED if "timeout" in HOSTILE[name][1] else LIMITS


@pytest.mark.paddle
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's guards are Linux's")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_is_an_answer_and_the_next_request_is_served(worker, tmp_path, name):
    code, kinds, refused = HOSTILE[name]
    (tmp_path / "data.csv").write_text("1,2")
    zygote, limits = worker.process_id, limits_for(name)

    outcome = ask(worker, code, tmp_path, limits)

    assert outcome.kind in kinds, outcome
    assert refused <= {action for action, _ in outcome.refused}
    assert len(outcome.output) < 20_000
    assert outcome.seconds < limits.wall_seconds + LATE
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
    assert (tmp_path / "data.csv").read_text() == "1,2"
    if outcome.kind != "answer":
        said = about_outcome(outcome, limits)
        assert "{" not in said.render() and said.render()
    assert all("{" not in message.render() for message in about_refusals(outcome))
    # The same zygote goes on, with no child left over.
    following = ask(worker, "result = 42", tmp_path)
    assert following.kind == "answer" and following.value["extra"]["result"] == 42
    assert worker.process_id == zygote
    wait_for(lambda: not at_work(psutil.Process(zygote)))


@pytest.mark.paddle
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's guards are Linux's")
def test_a_crash_is_told_with_its_line(worker, tmp_path):
    outcome = ask(worker, "import ctypes\ndef read():\n    ctypes.string_at(0)\nread()", tmp_path)

    assert about_outcome(outcome, LIMITS).render().endswith("crashed (SIGSEGV) in cell 1, line 3.")


TRAINING = """
import paddle
net = paddle.nn.Linear(4, 2)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.rand([8, 4])).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def notebook(*sources: str) -> NotebookFacts:
    return NotebookFacts(
        kernel_name="python3",
        language="python",
        cells=tuple(CodeCell(index=index, id=str(index), source=source) for index, source in enumerate(sources)),
        imports_paddle=True,
        loop="custom",
    )


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    """By the limits of their requests."""
    made = {}
    for limits in (LIMITS, HURRIED):
        settings = WorkerSettings(
            memory_bytes=limits.memory_bytes, wall_seconds=limits.wall_seconds, cpu_seconds=limits.cpu_seconds
        )
        calibration = tmp_path_factory.mktemp("data") / "calibration.json"
        made[limits] = EstimateService(EstimateSettings(worker=settings, calibration=calibration))
        made[limits].warm("python3")
    yield made
    for service in made.values():
        service.close()


@pytest.mark.paddle
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's guards are Linux's")
@pytest.mark.parametrize("name", [name for name, (_, kinds, _) in HOSTILE.items() if kinds != {"answer"}])
def test_a_hostile_notebook_gets_a_clear_estimate_and_the_next_one_is_right(services, tmp_path, name):
    code, service = HOSTILE[name][0], services[limits_for(name)]
    (tmp_path / "data.csv").write_text("1,2")

    estimate = service.estimate(notebook("import paddle", code), tmp_path, EstimateRequest(target="cpu"))

    assert estimate.status in ("unsupported", "no_model") and estimate.evidence == "scan"
    sentences = [note.render() for note in estimate.notes] + [question.why.render() for question in estimate.questions]
    assert sentences and not any("{" in sentence for sentence in sentences)
    assert "tracer_note" not in {note.code for note in estimate.notes}
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
    good = service.estimate(notebook(TRAINING), tmp_path, EstimateRequest(target="cpu"))
    assert (good.status, good.evidence) == ("ok", "trace")
