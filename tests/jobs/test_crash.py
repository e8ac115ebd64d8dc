"""The process that looks after the jobs is killed with SIGKILL: nothing is lost, and the next one goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.domain.jobs.job import ENDED, JobSpec
from jupyter_paddle_gpu.engines import processes
from jupyter_paddle_gpu.estimator.memory.calibration import Calibration, Key
from jupyter_paddle_gpu.jobs.service import JobService
from tests.work import Server

SERVER = """
import sys, time
from pathlib import Path
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings
service = JobService.open(
    {"local": LocalEngine()}, data_folder=Path(sys.argv[1]), settings=JobSettings(active_seconds=0.05, idle_seconds=0.2)
)
service.start()
print("up", flush=True)
time.sleep(600)
"""
LINES = 20_000
PRINTS = f"""
import pathlib, time
for n in range({LINES}):
    print(f'line {{n}}')
    if n % 200 == 0:
        time.sleep(0.02)
    while n == {LINES // 2} and not pathlib.Path('go').exists():
        time.sleep(0.02)
"""
"""Half of the lines, and the others once `go` is there: whoever is to be killed in the middle is."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Callable[[], Server]]:
    servers: list[Server] = []

    def start() -> Server:
        servers.append(Server(SERVER, tmp_path / "data"))
        return servers[-1]

    yield start
    for one in servers:
        one.kill()


@pytest.fixture
def client(open_service: Callable[..., JobService]) -> JobService:
    """Like the command line: writes wishes into the store, looks after nothing."""
    service = open_service()
    service._dispatcher = None
    return service


DIES_LEARNING = """
import os, signal, sys, time
from pathlib import Path
from jupyter_paddle_gpu.domain.estimates import DeviceTerms
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.estimator.memory.calibration import Calibration, Key
from jupyter_paddle_gpu.jobs.service import JobService
calibration = Calibration(Path(sys.argv[1]) / "calibration.json")
terms = DeviceTerms(mapped_low=1, mapped_high=2, context_low=3, context_high=4, source="")
def learn(job, result):
    calibration.observe(Key("Card"), terms, 1 << 30, job=job.id)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return (Message(code="learnt", text="Learnt."),)
service = JobService.open({"local": LocalEngine()}, data_folder=Path(sys.argv[1]), learn=learn)
service.start()
time.sleep(600)
"""


def test_whoever_dies_while_learning_leaves_it_to_the_next_and_the_job_counts_once(
    client: JobService, spec: Callable[..., JobSpec], make_notebook: Any, tmp_path: Path
) -> None:
    def serve(how: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", DIES_LEARNING, str(tmp_path / "data"), how])

    job = client.submit(spec(), make_notebook("1"))
    first = serve("die")
    assert first.wait(180) == -signal.SIGKILL
    assert client.get(job.id).state == "running", "the row does not say yet that it ended"
    second = serve("live")
    try:
        ended = client.wait(job.id, 180)
    finally:
        second.kill()
        second.wait()
    assert ended.state == "succeeded"
    assert ended.result and [note.code for note in ended.result.notes] == ["learnt"]
    observed = Calibration(tmp_path / "data" / "calibration.json").observations(Key("Card"))
    assert [one.job for one in observed] == [job.id]


def stdout(service: JobService, job_id: str) -> list[str]:
    return [line.text for line in every_line(service, job_id) if line.stream == "stdout"]


def every_line(service: JobService, job_id: str) -> list[Any]:
    lines: list[Any] = []
    while True:
        page = service.log(job_id, len(lines))
        lines += page.lines
        if page.next >= page.total:
            return lines


def test_twenty_thousand_lines_with_the_server_killed_in_the_middle(
    server: Any, client: JobService, spec: Callable[..., JobSpec], make_notebook: Any, work: Path, until: Any
) -> None:
    first = server()
    job = client.submit(spec(), make_notebook("print('begin')", PRINTS, "print('end')"))
    until(lambda: client.log(job.id).total > LINES // 20)
    first.kill()
    seen = client.log(job.id).total
    assert seen < LINES, "the server was to be killed in the middle"
    (work / "go").touch()
    until(lambda: client.log(job.id).total > seen + 500 or client.folder_of(job.id).result.exists())
    assert client.get(job.id).state not in ENDED
    server()
    ended = client.wait(job.id, 180)
    assert (ended.state, ended.reason and ended.reason.code) == ("succeeded", "succeeded")
    assert (ended.progress.cells_done, ended.attempts) == (3, 1)
    lines = every_line(client, job.id)
    assert [line.seq for line in lines] == list(range(len(lines)))
    assert stdout(client, job.id) == ["begin", *[f"line {n}" for n in range(LINES)], "end"]
    done = json.loads(Path(job.spec.output).read_text())
    assert "".join(done["cells"][1]["outputs"][0]["text"]) == "".join(f"line {n}\n" for n in range(LINES))
    assert processes.processes_of(job.id) == []


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_killed_at_any_moment_of_the_start(
    server: Any, client: JobService, spec: Any, make_notebook: Any, delay: float
) -> None:
    first = server()
    job = client.submit(spec(), make_notebook("print('once')"))
    time.sleep(delay)  # the moment is what varies; the assertions hold at each
    first.kill()
    server()
    ended = client.wait(job.id, 180)
    assert ended.state == "succeeded", ended
    assert stdout(client, job.id) == ["once"]


def test_job_that_ended_while_nobody_looked(
    server: Any, client: JobService, spec: Any, make_notebook: Any, until: Any
) -> None:
    first = server()
    job = client.submit(spec(), make_notebook("import time\nprint('x', flush=True)\ntime.sleep(1)\n1 / 0"))
    until(lambda: "x" in stdout(client, job.id))
    first.kill()
    until(client.folder_of(job.id).result.exists)
    server()
    ended = client.wait(job.id, 180)
    assert (ended.state, ended.reason and ended.reason.code) == ("failed", "cell_error")


def test_cancel_wished_while_nobody_looks(
    server: Any, client: JobService, spec: Any, make_notebook: Any, until: Any
) -> None:
    first = server()
    job = client.submit(spec(), make_notebook("import time\nprint('x', flush=True)\ntime.sleep(600)"))
    until(lambda: "x" in stdout(client, job.id) and client.get(job.id).state == "running")
    first.kill()
    assert client.cancel(job.id).state == "stopping"
    server()
    assert client.wait(job.id, 180).state == "cancelled"
    until(lambda: processes.processes_of(job.id) == [])


def test_second_server_takes_over(server: Any, client: JobService, spec: Any, make_notebook: Any) -> None:
    first = server()
    server()
    job = client.submit(spec("a"), make_notebook("import time\ntime.sleep(0.5)"))
    following = client.submit(spec("b"), make_notebook("print('b')"))
    first.kill()
    assert client.wait(job.id, 180).state == client.wait(following.id, 180).state == "succeeded"


def test_servers_with_a_queue_start_each_job_once(
    server: Any, client: JobService, spec: Any, make_notebook: Any, work: Path
) -> None:
    for _ in range(3):
        server()
    jobs = [
        client.submit(spec(f"j{n}"), make_notebook(f"open('ran', 'a').write('{n}')\nprint('ran')")) for n in range(6)
    ]
    assert [client.wait(job.id, 180).state for job in jobs] == ["succeeded"] * 6
    assert (work / "ran").read_text() == "012345"
    assert all(client.get(job.id).attempts == 1 for job in jobs)


def test_command_line_alone_runs_the_queue(open_service: Any, spec: Any, make_notebook: Any, until: Any) -> None:
    """Without any server a detached dispatcher is started, outlives the command, and goes when all is done."""
    service = open_service()
    jobs = [service.submit(spec(f"j{n}"), make_notebook(f"print({n})")) for n in range(2)]
    assert [service.wait(job.id, 180).state for job in jobs] == ["succeeded"] * 2
    until(service._lock.acquire)  # nobody holds it any more
    service._lock.release()
    assert (service.store.path.parent / "dispatcher.log").read_text() == ""


def test_job_outlives_the_command_that_submitted_it(tmp_path: Path, client: JobService, make_notebook: Any) -> None:
    source = tmp_path / "n.ipynb"
    source.write_text(make_notebook("print('alive')"))
    command = (
        "import sys; from pathlib import Path\n"
        "from jupyter_paddle_gpu.services.dispatching import job_service\n"
        "from jupyter_paddle_gpu.domain.jobs.job import JobSpec\n"
        "path = Path(sys.argv[2])\n"
        "files = {'notebook': str(path), 'output': str(path) + '.out', 'folder': str(path.parent)}\n"
        "spec = JobSpec(name='n', engine='local', **files)\n"
        "print(job_service(Path(sys.argv[1])).submit(spec, path.read_bytes()).id)"
    )
    done = subprocess.run(
        [sys.executable, "-c", command, str(tmp_path / "data"), str(source)],
        stdout=subprocess.PIPE,
        check=True,
        start_new_session=True,
    )
    ended = client.wait(done.stdout.decode().strip(), 180)
    assert ended.state == "succeeded"


def test_killed_server_leaves_no_zombie_behind(server: Any, client: JobService, spec: Any, make_notebook: Any) -> None:
    one = server()
    job = client.submit(spec(), make_notebook("1"))
    client.wait(job.id, 180)
    children = subprocess.run(["ps", "--ppid", str(one.process.pid), "-o", "pid="], stdout=subprocess.PIPE, check=False)
    assert children.stdout.split() == []
    os.kill(one.process.pid, signal.SIGKILL)
