"""A notebook runs in a container, with the devices and limits it was given, and ends with a reason."""

from __future__ import annotations

import json
import threading

import msgspec
import pytest
from conftest import IMAGE, PACKAGES, until

from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import Resources
from jupyter_paddle_gpu.engines.docker.container import container_name
from jupyter_paddle_gpu.engines.processes import processes_of
from jupyter_paddle_gpu.jobs.folder.log import LogReaders
from jupyter_paddle_gpu.jobs.folder.ranks import log_of
from jupyter_paddle_gpu.jobs.monitoring.endings import ending_of

WAIT = "import time, pathlib\npathlib.Path('up').touch()\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)"


def started(bench):
    return until((bench.work / "up").exists)


def test_a_notebook_runs_and_what_it_leaves_is_there(bench):
    """In a folder with a name that shells and Docker's own `-v` would read in another way."""
    bench.work /= '中文 目录 10:30, day\'s "best" a=b;c$e%2e'
    bench.work.mkdir()
    job, folder = bench.job("print('hello from inside')\nopen('made.txt', 'w').write('x')")
    seen = bench.run(job, folder)
    assert seen.exit_code == 0, bench.explain(job, folder)
    assert seen.reason is None
    assert "hello from inside" in bench.text(folder)
    assert (bench.work / "made.txt").read_text() == "x"
    assert json.loads(folder.result.read_bytes())["reason"] == "succeeded"
    bench.engine.collect(job, folder)
    bench.engine.collect(job, folder)
    assert bench.engine.observe(job, folder).state == "absent"


def test_the_job_sees_exactly_the_devices_it_was_given(bench):
    see = "import os, subprocess\nprint(sorted(n for n in os.listdir('/dev') if n.startswith('nvidia')))"
    job, folder = bench.job(see, device_ids=("GPU-fake-1",))
    assert bench.run(job, folder).exit_code == 0, bench.explain(job, folder)
    assert "['nvidia1']" in bench.text(folder)
    none, folder = bench.job(see + "\nprint(os.environ['NVIDIA_VISIBLE_DEVICES'])")
    assert bench.run(none, folder).exit_code == 0
    assert "[]\nvoid" in bench.text(folder)


def test_an_unknown_device_is_named_and_nothing_is_left(bench):
    job, folder = bench.job("1", device_ids=("GPU-fake-9",))
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(job, folder)
    assert caught.value.code == "device_unknown"
    assert "GPU-fake-9" in str(caught.value)
    assert bench.engine.daemon.inspect_container(container_name(job.id)) is None


def test_memory_beyond_the_limit_ends_the_job_with_that_reason(bench):
    resources = Resources(memory_bytes=192 << 20)
    job, folder = bench.job("blocks = []\nwhile True: blocks.append(bytearray(16 << 20))", resources=resources)
    spec = json.loads(folder.spec.read_bytes())
    folder.spec.write_text(json.dumps({**spec, "memory_bytes": None}))  # leave it to the container's own limit
    seen = bench.run(job, folder)
    assert seen.reason is not None
    assert seen.reason.code == "out_of_memory_host"
    assert "than the 192 MiB it had asked for" in seen.reason.render()


def test_shared_memory_is_as_large_as_asked_for(bench):
    resources = Resources(shm_bytes=33 << 20)
    job, folder = bench.job("import shutil; print(shutil.disk_usage('/dev/shm').total)", resources=resources)
    assert bench.run(job, folder).exit_code == 0
    assert str(33 << 20) in bench.text(folder)


def test_a_cell_that_fails_keeps_its_own_reason(bench):
    job, folder = bench.job("1 / 0")
    seen = bench.run(job, folder)
    assert seen.exit_code == 1
    assert json.loads(folder.result.read_bytes())["failure"]["name"] == "ZeroDivisionError"


def test_stop_lets_the_notebook_be_saved_and_force_does_not_wait(bench):
    job, folder = bench.job("print('begun', flush=True)", WAIT)
    bench.start(job, folder)
    started(bench)
    bench.engine.stop(job, folder, force=False)
    bench.wait(job, folder)
    assert json.loads(folder.result.read_bytes())["reason"] == "cancelled"
    assert "begun" in folder.notebook.read_text()
    bench.engine.stop(job, folder, force=True)  # after the end: nothing

    (bench.work / "up").unlink()
    job, folder = bench.job(WAIT)
    bench.start(job, folder)
    started(bench)
    bench.engine.stop(job, folder, force=True)
    seen = bench.wait(job, folder)
    assert seen.exit_code == -9
    assert seen.reason.code == "killed"


def test_starting_twice_starts_once_even_from_two_servers_at_once(bench):
    job, folder = bench.job(WAIT)
    handle = bench.engine.prepare(job, folder, bench.said.append, lambda: False)
    engines = [bench.engine, *(bench.another(server=f"s{n}") for n in range(5))]
    handles, errors = [], []

    def start(engine):
        try:
            handles.append(engine.start(job, folder, handle)["container"])
        except PaddleGpuError as error:
            errors.append(error)

    threads = [threading.Thread(target=start, args=(engine,)) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(handles) == 6
    assert len(set(handles)) == 1
    assert all(engine.adopt()[job.id]["container"] == handles[0] for engine in engines)
    (bench.work / "go").touch()
    assert bench.wait(job, folder).exit_code == 0
    # A start after the end does not run it again.
    before = folder.result.stat().st_mtime_ns
    assert engines[1].start(job, folder, handle)["container"] == handles[0]
    assert engines[1].observe(job, folder).state == "ended"
    assert folder.result.stat().st_mtime_ns == before


def test_a_foreign_container_of_that_name_is_left_alone(bench):
    job, folder = bench.job("1")
    api = bench.api
    foreign = api.create_container(IMAGE, ["true"], name=container_name(job.id))["Id"]
    try:
        with pytest.raises(PaddleGpuError) as caught:
            bench.start(job, folder)
        assert caught.value.code == "container_name_taken"
        assert bench.engine.observe(job, folder).state == "absent"
        bench.engine.stop(job, folder, force=True)
        bench.engine.collect(job, folder)
        assert api.inspect_container(foreign)["State"]["Status"] == "created"
    finally:
        api.remove_container(foreign)


def test_leftovers_are_removed_only_when_they_are_ours(bench, make_bench):
    other = make_bench()
    mine, mine_folder = bench.job("1")
    theirs, theirs_folder = other.job("1")
    running, running_folder = bench.job(WAIT)
    bench.run(mine, mine_folder)
    other.run(theirs, theirs_folder)
    bench.start(running, running_folder)
    assert set(bench.engine.adopt()) == {mine.id, running.id}
    assert bench.engine.remove_leftovers({mine.id}) == ()
    assert bench.engine.remove_leftovers(()) == (mine.id,)
    assert set(bench.engine.adopt()) == {running.id}
    assert other.engine.observe(theirs, theirs_folder).state == "ended"


def test_an_image_without_python_says_so(bench):
    api = bench.api
    container = api.create_container(IMAGE, ["rm", "-rf", "/usr/local/bin"])["Id"]
    api.start(container)
    api.wait(container)
    api.commit(container, "stand-in/bare", "1")
    api.remove_container(container)
    job, folder = bench.job("1", image="stand-in/bare:1")
    seen = bench.run(job, folder)
    assert seen.reason.code == "image_without_python"
    assert [line for _, line in bench.engine.log(job, folder, "")] == ["paddle-gpu: this image has no Python"]
    bench.engine.collect(job, folder)
    assert "no Python" in folder.engine_log.read_text()


def test_what_a_container_uses_is_told_while_it_runs_with_its_processes_for_a_driver(bench):
    job, folder = bench.job("hold = bytearray(50 << 20)", WAIT)
    assert bench.engine.usage(job, folder) is None
    bench.start(job, folder)
    started(bench)
    usage = bench.engine.usage(job, folder)
    assert usage.memory_bytes > 50 << 20
    assert usage.memory_limit_bytes == 2 << 30
    assert usage.cpu_seconds > 0
    assert usage.processes >= 2
    assert (usage.pids, usage.pids_of) == (frozenset(), "host")
    with_device = bench.engine.usage(msgspec.structs.replace(job, device_ids=("GPU-0",)), folder)
    assert len(with_device.pids) == usage.processes
    of_job = {process.pid for process in processes_of(job.id)}
    assert of_job
    assert of_job <= with_device.pids
    (bench.work / "go").touch()
    bench.wait(job, folder)
    assert bench.engine.usage(job, folder) is None


@pytest.mark.paddle
def test_several_devices_train_together_and_rank_0_writes_the_notebook(make_bench):
    bench = make_bench(data_folders=(PACKAGES,))
    cell = "import os\nprint('rank', os.environ['PADDLE_TRAINER_ID'], 'of', os.environ['PADDLE_TRAINERS_NUM'])"
    options = {"distribution": "fleet"}
    job, folder = bench.job(cell, device_ids=("GPU-fake-0", "GPU-fake-1"), options=options)
    seen = bench.run(job, folder)
    assert seen.exit_code == 0, bench.explain(job, folder)
    assert "rank 0 of 2" in folder.notebook.read_text()
    other = folder.path / "rank-1" / "log.jsonl"
    assert "rank 1 of 2" in other.read_text()
    assert "rank 1 of 2" not in bench.text(folder)
    assert "rank 1 of 2" in [line.text for line in LogReaders().of(log_of(folder, 1), folder.path).page(0, 100).lines]


def test_a_notebook_that_launches_its_processes_itself_is_one_process_with_all_devices(bench):
    cell = "import os\nprint('rank', os.environ.get('PADDLE_TRAINER_ID'), os.environ['NVIDIA_VISIBLE_DEVICES'])"
    devices = ("GPU-fake-0", "GPU-fake-1")
    job, folder = bench.job(cell, device_ids=devices, options={"distribution": "launch"})
    seen = bench.run(job, folder)
    assert seen.exit_code == 0, bench.explain(job, folder)
    assert "rank None GPU-fake-0,GPU-fake-1" in bench.text(folder)
    assert not (folder.path / "rank-1").exists()


@pytest.mark.paddle
def test_when_one_of_several_fails_the_job_says_which_error_it_was(make_bench):
    """The launcher stops the first one then, and leaves with a status of its own."""
    bench = make_bench(data_folders=(PACKAGES,))
    cell = (
        "import os, time\nif os.environ['PADDLE_TRAINER_ID'] == '1': raise ValueError('bad shard')\n"
        "for _ in range(600): time.sleep(0.1)"
    )
    devices = ("GPU-fake-0", "GPU-fake-1")
    job, folder = bench.job(cell, device_ids=devices, options={"distribution": "fleet"})
    seen = bench.run(job, folder)
    ending = ending_of(msgspec.structs.replace(job, state="running"), folder, seen)
    assert (ending.state, ending.reason.code) == ("failed", "cell_error"), bench.explain(job, folder)
    assert "bad shard" in ending.reason.render()
    assert f"`jupyter paddle-gpu logs {job.id} --rank 1`" in ending.reason.render_hint()
    assert (folder.path / "rank-1").stat().st_uid == folder.log.stat().st_uid == folder.path.stat().st_uid


@pytest.mark.paddle
def test_a_training_with_real_paddle(make_bench):
    bench = make_bench(data_folders=(PACKAGES,))
    job, folder = bench.job(
        "import paddle\nmodel = paddle.nn.Linear(4, 1)\n"
        "optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())",
        "for step in range(20):\n    loss = (model(paddle.ones([8, 4])) ** 2).mean()\n"
        "    loss.backward(); optimizer.step(); optimizer.clear_grad()\nprint('loss', float(loss))",
    )
    seen = bench.run(job, folder)
    assert seen.exit_code == 0, bench.explain(job, folder)
    assert "loss " in bench.text(folder)


def test_a_remote_change_of_handle_is_not_needed(bench):
    """A server that died between preparing and starting left no handle: the start prepares again."""
    job, folder = bench.job("print(1)")
    handle = bench.another().start(msgspec.structs.replace(job, handle={}), folder, {})
    assert handle["reference"] == IMAGE
    assert bench.wait(job, folder).exit_code == 0
