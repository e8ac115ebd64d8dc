"""The fault table: what breaks, and that nothing is lost, nothing is left behind, and every row is right."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import IMAGE, LIMIT, notebook_of, until
from place import COUNT, GATE, Place
from server import service

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import ENDED, JobSpec
from jupyter_paddle_gpu.domain.jobs.reasons import is_transient
from jupyter_paddle_gpu.engines.docker import DockerSettings
from jupyter_paddle_gpu.engines.docker.container import container_name
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings


def test_a_server_killed_ten_times_loses_nothing(place):
    """And a reader that starts anew fifty times gets each line once."""
    job = place.submit(COUNT.format(n=400, pause=0.02))
    dice, read, since = random.Random(4), [], 0
    for _ in range(10):
        place.up(place.serve())
        for _ in range(5):
            page = service(place.data, place.host).log(job, since, dice.randint(1, 40))
            read, since = read + list(page.lines), page.next
            time.sleep(dice.uniform(0.0, 0.18))
        place.kill()
    place.up(place.serve())
    assert place.client.wait(job, LIMIT).state == "succeeded", place.client.get(job).reason
    while (page := service(place.data, place.host).log(job, since, 20)).lines:
        read, since = read + list(page.lines), page.next
    assert [line.seq for line in read] == list(range(len(read)))
    assert [line.text for line in read if line.stream == "stdout"] == [f"line {n}" for n in range(400)]
    assert place.client.get(job).attempts == 1
    assert place.left() == []


def test_two_servers_that_come_up_at_once_run_a_job_once(place):
    jobs = [place.submit(f"open('{n}.ran', 'a').write('x')", COUNT.format(n=20, pause=0.02), gpus=1) for n in range(3)]
    for _ in range(3):
        servers = [place.serve(), place.serve()]
        for server in servers:
            place.up(server)
        time.sleep(0.3)
        servers[0].send_signal(signal.SIGKILL)
        time.sleep(0.2)
        place.kill()
    servers = [place.serve(), place.serve()]
    for n, job in enumerate(jobs):
        assert place.client.wait(job, LIMIT).state == "succeeded", place.client.get(job).reason
        assert (place.work / f"{n}.ran").read_text() == "x"
        assert place.lines(job) == [f"line {n}" for n in range(20)]
    assert place.left() == []


def test_a_container_killed_from_outside(place):
    place.up(place.serve())
    job = place.submit(COUNT.format(n=10_000, pause=0.02))
    until(lambda: len(place.lines(job)) > 5)
    place.api.kill(container_name(job))
    ended = place.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("failed", "killed")
    assert not is_transient(ended.reason)
    lines = place.lines(job)
    assert lines == [f"line {n}" for n in range(len(lines))]
    assert len(lines) > 5
    assert place.left() == []


def test_a_container_told_to_end_whose_server_dies_between_its_end_and_its_row(place):
    """Container and Docker's word are gone then. What is left is the runner's word, which is that of a cancel."""
    place.up(place.serve())
    job = place.submit(COUNT.format(n=10_000, pause=0.02))
    until(lambda: len(place.lines(job)) > 5)
    place.kill()
    place.api.kill(container_name(job), signal="SIGTERM")
    place.api.wait(container_name(job))
    row, folder = place.client.get(job), place.client.folder_of(job)
    place.client.engines["docker"].collect(row, folder)
    place.up(place.serve())
    ended = place.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("failed", "terminated")
    assert place.left() == []


def test_a_container_that_cannot_be_removed_at_once_keeps_nobody_from_their_turn(place, daemon):
    """As a daemon that is killed in the middle of it leaves one: `dead`, and of that one Docker gives no log."""
    place.up(place.serve())
    job = place.submit(GATE)
    until(lambda: place.client.get(job).state == "running")
    kept = daemon.folder / "root" / "containers" / place.container(job)["Id"] / "kept"
    kept.touch()
    if subprocess.run(["chattr", "+i", str(kept)], check=False, capture_output=True).returncode:
        pytest.skip("this file system has no files that cannot be removed")
    try:
        place.go()
        until(lambda: place.container(job)["State"]["Status"] in ("removing", "dead"))
    finally:
        subprocess.run(["chattr", "-i", str(kept)], check=True)
    assert place.client.wait(job, LIMIT).state == "succeeded"
    assert place.left() == []


def test_a_container_removed_from_outside(place):
    place.up(place.serve())
    job = place.submit(COUNT.format(n=10_000, pause=0.02))
    until(lambda: len(place.lines(job)) > 5)
    place.api.remove_container(container_name(job), force=True)
    ended = place.client.wait(job, LIMIT)
    # Docker kills first and removes then: who looks in between sees the signal, who looks later nothing.
    assert ended.state == "failed" and ended.reason.code in ("killed", "runner_vanished")


def test_host_memory_used_up(place):
    place.up(place.serve())
    job = place.submit(
        "print('begun', flush=True)\nx = []\nwhile True: x.append(bytearray(8 << 20))", memory_bytes=160 << 20
    )
    ended = place.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("failed", "out_of_memory_host")
    assert place.lines(job) == ["begun"]
    assert place.left() == []


def test_the_time_limit(place):
    place.up(place.serve())
    job = place.submit(COUNT.format(n=10_000, pause=0.02), seconds=6.0)  # enough to come up in on a busy machine
    ended = place.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("failed", "time_limit")
    assert place.lines(job)
    assert place.left() == []


def test_a_cancel_is_a_cancel(place):
    place.up(place.serve())
    job = place.submit(COUNT.format(n=10_000, pause=0.02))
    until(lambda: len(place.lines(job)) > 5)
    place.client.cancel(job)
    ended = place.client.wait(job, LIMIT)
    assert (ended.state, ended.reason.code) == ("cancelled", "cancelled")
    assert Path(ended.spec.output).exists()
    assert place.left() == []


def test_the_notebook_deleted_in_mid_run(place):
    place.up(place.serve())
    job = place.submit(COUNT.format(n=20, pause=0.0), GATE, COUNT.format(n=20, pause=0.0))
    until(lambda: place.lines(job))
    Path(place.client.get(job).spec.notebook).unlink()
    place.go()
    ended = place.client.wait(job, LIMIT)
    assert ended.state == "succeeded"
    assert Path(ended.spec.output).exists()
    assert len(place.lines(job)) == 40


def test_the_disk_full_in_the_jobs_folder(make_bench):
    """Held up until there is space, or ended with that reason when there is none for too long."""
    bench = make_bench(disk_bytes=0)
    small = bench.jobs / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted: {mounted.stderr.decode()}")
    try:
        job, folder = bench.job("for n in range(100_000): print('line', n, 'x' * 60)", id="small/full")
        spec = json.loads(folder.spec.read_bytes())
        folder.spec.write_text(json.dumps({**spec, "limits": {"disk_patience_seconds": 1.0}}))
        bench.run(job, folder)
        lines = [line for line in bench.lines(folder) if line["s"] == "stdout"]
        assert [int(line["x"].split()[1]) for line in lines] == list(range(len(lines)))
        if folder.result.exists() and folder.result.stat().st_size:
            assert json.loads(folder.result.read_bytes())["reason"] == "disk_full"
        else:  # not even that could be written: then the engine says it
            assert bench.engine.observe(job, folder).reason.code == "disk_full"
        with (small / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while filler.write(bytes(4096)):
                pass  # not a byte is left
        folder.engine_log.unlink(missing_ok=True)
        bench.engine.collect(job, folder)
        assert bench.engine.observe(job, folder).state == "absent", "the container goes, whatever can be kept of it"
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


def test_a_daemon_that_is_killed_and_comes_back(own_daemon, tmp_path):
    place = Place(tmp_path, own_daemon.host)
    try:
        place.up(place.serve())
        job = place.submit(COUNT.format(n=10_000, pause=0.02))
        until(lambda: len(place.lines(job)) > 5)
        own_daemon.kill()
        engine = place.client.engines["docker"]
        with pytest.raises(PaddleGpuError) as caught:
            engine.observe(place.client.get(job), place.client.folder_of(job))
        assert caught.value.code == "engine_unreachable"
        row = until(lambda: (now := place.client.get(job)).reason and now)
        assert (row.state, row.reason.code) == ("running", "engine_unreachable")
        own_daemon.start()
        ended = place.client.wait(job, LIMIT)
        assert ended.state in ENDED
        # Without live-restore a daemon that starts ends what it finds: neither lost nor “cancelled”, nobody did that.
        assert (ended.state, ended.reason.code) == ("failed", "terminated")
        assert Path(ended.spec.output).exists()
        lines = place.lines(job)
        assert lines == [f"line {n}" for n in range(len(lines))]
        assert place.left() == []
        # And it works again.
        assert place.client.wait(place.submit("print('again')"), LIMIT).state == "succeeded"
    finally:
        place.kill()


def test_jobs_wait_for_a_daemon_that_is_away_for_long(own_daemon, tmp_path):
    """Longer than all attempts would have taken: it costs nobody one, and they start in order when it is back."""
    place = Place(tmp_path, own_daemon.host)
    try:
        jobs = [place.submit(f"print({n})", gpus=1) for n in range(4)]
        own_daemon.kill()
        place.up(place.serve())
        until(lambda: place.client.get(jobs[0]).reason)
        time.sleep(4)  # three attempts, a half and then a whole second apart
        rows = [place.client.get(job) for job in jobs]
        assert {row.state for row in rows} <= {"queued", "preparing"}
        assert rows[0].reason.code == "engine_away"
        assert "starts by itself" in rows[0].reason.render_hint()
        assert {row.reason.code for row in rows[2:]} == {"waits_engine"}
        assert len(place.client.log(jobs[0]).lines) == 2, "said once, with the next step"
        own_daemon.start()
        rows = [place.client.wait(job, LIMIT) for job in jobs]
        assert {(row.state, row.attempts) for row in rows} == {("succeeded", 1)}
        assert all(early.started < late.started for early, late in itertools.pairwise(rows))
        assert place.left() == []
    finally:
        place.kill()


def test_a_daemon_that_hangs_holds_up_nobody_else(own_daemon, tmp_path):
    """It takes connections and does not answer; the local engine's jobs begin, end and are cancelled meanwhile."""
    engine = DockerEngine(DockerSettings(host=own_daemon.host, store=str(tmp_path / "jobs"), networks=("none",),
                                         allowed_images=("stand-in/*",), shm_bytes=64 << 20))  # fmt: skip
    settings = JobSettings(active_seconds=0.1, wait_seconds=0.05, engine_seconds=0.5, cpu_slots={"local": 2})
    service = JobService.open({"docker": engine, "local": LocalEngine()}, data_folder=tmp_path, settings=settings)
    service._dispatcher = None

    def submit(name, engine, *cells):
        spec = JobSpec(name=name, notebook=f"{tmp_path}/{name}.ipynb", output=f"{tmp_path}/{name}-out.ipynb",
                       folder=str(work), engine=engine, image=IMAGE if engine == "docker" else "")  # fmt: skip
        return service.submit(spec, notebook_of(*cells)).id

    (work := tmp_path / "work").mkdir()
    service.start()
    try:
        inside = submit("inside", "docker", GATE)
        long = submit("long", "local", COUNT.format(n=10_000, pause=0.05))
        until(lambda: {service.get(job).state for job in (inside, long)} == {"running"})
        own_daemon.process.send_signal(signal.SIGSTOP)
        try:
            assert until(lambda: (row := service.get(inside)).reason and row).reason.code == "engine_unreachable"
            assert service.wait(submit("short", "local", "1"), LIMIT).state == "succeeded"
            service.cancel(long)
            assert service.wait(long, LIMIT).state == "cancelled"
            assert service.get(inside).state == "running", "not to be reached is no end"
        finally:
            own_daemon.process.send_signal(signal.SIGCONT)
        (work / "go").touch()
        ended = service.wait(inside, LIMIT)
        assert (ended.state, ended.attempts) == ("succeeded", 1)
    finally:
        service.stop()


def test_many_lines_with_a_reader_that_stalls(place):
    place.up(place.serve())
    lines = 200_000
    job = place.submit(f"for n in range({lines}): print(f'{{n:07d}}' + ' ' + 'x' * 91)")
    until(lambda: len(place.client.log(job, 0, 10).lines) == 10)
    time.sleep(2)  # the reader stalls; the job does not wait for it
    since = expected = 0
    while True:
        page = place.client.log(job, since)
        for line in page.lines:
            if line.stream == "stdout":
                assert line.text[:8] == f"{expected:07d} "
                expected += 1
        since = page.next
        if page.ended:
            break
        if not page.lines:
            time.sleep(0.1)
    assert expected == lines
    assert place.client.get(job).state == "succeeded"
    shutil.rmtree(place.client.folder_of(job).path)


def test_nobody_is_needed_for_a_job_to_end(place):
    """The server is gone for good while the job runs; the next one finds it ended."""
    place.up(place.serve())
    job = place.submit(COUNT.format(n=30, pause=0.0), GATE)
    until(lambda: place.lines(job) and place.client.get(job).state == "running")
    place.kill()
    place.go()
    until(lambda: place.container(job)["State"]["Status"] == "exited")
    assert place.client.get(job).state == "running"
    place.up(place.serve())
    ended = place.client.wait(job, LIMIT)
    assert ended.state == "succeeded"
    assert len(place.lines(job)) == 30
    assert place.left() == []


TRAIN = """
import os, pathlib, time
import paddle
from jupyter_paddle_gpu import checkpoint
paddle.seed(1)
model = paddle.nn.Linear(2, 1)
optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters())
state = checkpoint.load(model=model, optimizer=optimizer)
begin = state["step"] + 1 if state else 0
print("begin", begin, flush=True)
for step in range(begin, 12):
    loss = ((model(paddle.ones([4, 2])) - 1) ** 2).mean()
    loss.backward(); optimizer.step(); optimizer.clear_grad()
    checkpoint.save(step=step, model=model, optimizer=optimizer)
    print("step", step, flush=True)
    while step == 5 and begin == 0:
        time.sleep(0.1)
"""


@pytest.mark.paddle
def test_a_killed_training_goes_on_when_it_is_run_again(place):
    place.up(place.serve())
    job = place.submit(TRAIN)
    until(lambda: "step 5" in place.lines(job))
    place.api.kill(container_name(job))
    assert place.client.wait(job, LIMIT).state == "failed"
    again = place.client.rerun(job).id
    assert place.client.wait(again, LIMIT).state == "succeeded", place.lines(again)
    assert place.lines(again) == ["begin 6", *(f"step {n}" for n in range(6, 12))]


MANY = 14


def test_many_jobs_on_two_devices(place):
    """All run, in order, none twice, no device used by two at once; everything else is answered meanwhile."""
    place.up(place.serve())
    jobs = [
        place.submit("import os\nprint([n for n in os.listdir('/dev') if n.startswith('nvidia')])", gpus=1)
        for _ in range(MANY)
    ]
    slowest = 0.0
    while any(job.state not in ENDED for job in place.client.list()):
        begun = time.monotonic()
        place.client.list()
        slowest = max(slowest, time.monotonic() - begun)
        time.sleep(0.1)
    rows = [place.client.get(job) for job in jobs]
    assert {row.state for row in rows} == {"succeeded"}
    assert {row.attempts for row in rows} == {1}
    print(f"slowest list: {slowest * 1000:.0f} ms; {max(r.ended for r in rows) - rows[0].created:.1f} s for all")
    for row in rows:
        (device,) = row.device_ids
        assert place.lines(row.id) == [f"['nvidia{device.removeprefix('GPU-fake-')}']"]
    for device in ("GPU-fake-0", "GPU-fake-1"):
        spans = sorted((row.started, row.ended) for row in rows if row.device_ids == (device,))
        assert all(earlier[1] <= later[0] for earlier, later in itertools.pairwise(spans))
    assert all(early.started < late.started for early, late in itertools.pairwise(rows)), "in order"
    started = [json.loads(place.client.folder_of(job).result.read_bytes())["started"] for job in jobs]
    # The programs in the containers take their own time to come up; four places apart whole jobs lie in between.
    assert all(started[n] < started[n + 4] for n in range(MANY - 4))
    assert place.left() == []
