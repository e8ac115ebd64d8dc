"""Several Unix users on one daemon: each has a queue of their own, and no card is given to two of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
from itertools import combinations
from pathlib import Path

import pytest
from conftest import IMAGE, notebook_of, until
from docker import errors
from place import GATE, Place
from server import service

from jupyter_paddle_gpu.claims.claims import Claims, written
from jupyter_paddle_gpu.devices.maker import MEMORY_LIMIT
from jupyter_paddle_gpu.domain.devices import Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.jobs.job import ENDED, JobSpec, Resources
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.engines.docker import holders
from jupyter_paddle_gpu.engines.docker.container import container_name
from jupyter_paddle_gpu.engines.docker.engine import DockerEngine
from jupyter_paddle_gpu.engines.docker.holders import ByHand
from jupyter_paddle_gpu.engines.docker.labels import (
    LABEL_DEVICES,
    LABEL_JOB,
    LABEL_OWNER,
    LABEL_ROLE,
    LABEL_SHARES,
)

BOB = 61234
"""A user id that this machine gives to nobody."""
CARD = "GPU-fake-0"
USE = """
import glob, time
print("HAS", *glob.glob("/dev/nvidia[0-9]"), time.time(), flush=True)
time.sleep(0.7)
print("GAVE", time.time(), flush=True)
"""


def rendered(reason):
    """What a reason's sentence is filled with, as a person reads it."""
    return {name: value.render() if isinstance(value, Message) else value for name, value in reason.params.items()}


class Users:
    """Two users with a data folder each: root, and one whose server really runs under another id."""

    def __init__(self, folder: Path, host: str) -> None:
        folder.chmod(0o755)
        self.places = {name: Place(folder / name, host) for name in ("root", "bob")}
        self.root, self.bob = self.places.values()

    def serve(self) -> None:
        bobs = self.bob.work.parent
        for path in (bobs, *bobs.rglob("*")):
            os.chown(path, BOB, BOB)
        servers = [(self.root, self.root.serve()), (self.bob, self.bob.serve(user=BOB))]
        for place, server in servers:
            place.up(server)


@pytest.fixture
def users(daemon):
    if shutil.which("setpriv") is None:
        pytest.skip("not installed: setpriv (util-linux)")
    folder = Path(tempfile.mkdtemp(prefix="pgu-"))  # pytest's own folders are its user's alone
    made = Users(folder, daemon.host)
    yield made
    for place in made.places.values():
        # What belongs to the other user is removed by its owner's label.
        place.kill()
        for row in daemon.api().containers(all=True, filters={"label": LABEL_JOB}):
            daemon.api().remove_container(row["Id"], force=True)
        place.close()
    shutil.rmtree(folder)


def test_no_card_is_given_to_two_users_at_once(users):
    jobs = [(place, place.submit(USE, gpus=1)) for _ in range(4) for place in users.places.values()]
    users.serve()
    until(lambda: all(place.client.get(job).state in ENDED for place, job in jobs))
    had = {}
    for place, job in jobs:
        assert place.client.get(job).state == "succeeded", place.client.get(job).reason
        (begin, end) = (line.split() for line in place.lines(job))
        assert (begin[0], end[0], len(begin)) == ("HAS", "GAVE", 3), "one card each"
        had.setdefault(begin[1], []).append((float(begin[2]), float(end[1])))
    for card, spans in had.items():
        for one, other in combinations(spans, 2):
            assert one[1] <= other[0] or other[1] <= one[0], f"{card} was given twice: {sorted(spans)}"


def test_a_row_says_whose_job_has_the_card(users):
    holding = users.root.submit(GATE, device_ids=(CARD,), gpus=1)
    users.serve()
    until(lambda: users.root.client.get(holding).state == "running")
    named = users.bob.submit("print(1)", device_ids=(CARD,), gpus=1)
    both = users.bob.submit("print(2)", gpus=2)
    for path in (users.bob.data, *users.bob.data.rglob("*")):
        os.chown(path, BOB, BOB)

    def reason(job):
        return users.bob.client.get(job).reason

    until(lambda: reason(named) and reason(both))
    assert reason(named).code == "device_held"
    assert rendered(reason(named)) == {"device": "GPU 0 (Stand-in)", "job": holding, "owner": "root"}
    # A card alone is not enough for the one behind, and who has the other is said.
    assert (reason(both).code, reason(both).params.get("owners", "root")) == ("waits_free_device", "root")
    users.root.go()
    until(lambda: {users.bob.client.get(job).state for job in (named, both)} == {"succeeded"})


def test_of_those_who_start_at_the_same_moment_one_wins(bench, daemon):
    """Each round three stores make a container for one card at once."""
    for _ in range(5):
        begin, started, refused = threading.Barrier(3), [], []
        jobs = [bench.job("import time; time.sleep(60)", device_ids=(CARD,)) for _ in range(3)]
        engines = [bench.another(store=f"{bench.jobs}-{n}") for n in range(3)]

        def start(engine, job, folder, begin=begin, started=started, refused=refused):
            handle = engine.prepare(job, folder, lambda _: None, lambda: False)
            begin.wait()
            try:
                started.append(engine.start(job, folder, handle)["container"])
            except PaddleGpuError as error:
                refused.append(error.code)

        threads = [
            threading.Thread(target=start, args=(engine, *job)) for engine, job in zip(engines, jobs, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(started), refused) == (1, ["device_held"] * 2)
        api = daemon.api()
        running = [row["Id"] for row in api.containers(all=True, filters={"label": f"{LABEL_DEVICES}={CARD}"})]
        assert running == started, "who lost leaves nothing behind"
        api.remove_container(started[0], force=True)


@pytest.fixture
def stranger(daemon):
    """A container of another user that was made for a card and not started."""
    api, made = daemon.api(), []

    def make(name):
        labels = {LABEL_OWNER: "4711", LABEL_ROLE: "job", LABEL_JOB: "theirs", LABEL_DEVICES: f"GPU-x,{CARD}"}
        body = {"Image": IMAGE, "Entrypoint": ["sleep", "60"], "Cmd": [], "Labels": labels}
        made.append(api.create_container_from_config(body, name=name)["Id"])
        return made[-1]

    yield make
    for container in made:
        if any(row["Id"] == container for row in api.containers(all=True)):
            api.remove_container(container, force=True)


def test_who_was_first_waits_until_the_others_have_gone(bench, daemon, stranger):
    """One that looked before ours was there may still start: ours does not until it is gone."""
    job, folder = bench.job("print(1)", device_ids=(CARD,))
    handle = bench.engine.prepare(job, folder, lambda _: None, lambda: False)
    bench.engine._create(container_name(job.id), bench.engine.composer.composed(job, folder, handle))
    time.sleep(1.1)  # Docker lists the time of making in whole seconds
    later = stranger(f"stranger-{job.id}")
    thread = threading.Thread(target=bench.engine.start, args=(job, folder, handle))
    thread.start()
    thread.join(1.0)
    assert bench.engine.daemon.inspect_container(container_name(job.id))["State"]["Status"] == "created"
    daemon.api().remove_container(later, force=True)
    thread.join()
    assert bench.wait(job, folder).exit_code == 0, bench.explain(job, folder)


def test_a_container_that_nobody_starts_holds_its_card_for_a_while_only(bench, stranger, monkeypatch):
    stranger("left-behind")
    assert bench.engine.held_by_others()[CARD][0].job == "theirs"
    assert bench.engine.held_by_others()["GPU-x"][0].owner == "4711"
    monkeypatch.setattr(holders, "CREATED_SECONDS", 0.0)
    assert bench.engine.held_by_others() == {}


def test_ones_own_jobs_are_the_queues_own_business(bench):
    job, folder = bench.job("import time; time.sleep(60)", device_ids=(CARD,))
    bench.start(job, folder)
    pid = bench.engine.observe(job, folder).pid
    container = bench.engine.daemon.inspect_container(container_name(job.id))["Id"]
    assert container in Path(f"/proc/{pid}/cgroup").read_text(), "a process for whose life its devices are claimed"
    assert bench.engine.held_by_others() == {}
    other = bench.another(store="/another/store")
    assert other.held_by_others()[CARD][0].job == job.id


def test_a_container_that_was_started_by_hand_has_its_card(bench, daemon, tmp_path):
    """By the card's id or number, by how many it asked for, or all; but not the container in which we run."""
    api, made = daemon.api(), []

    def holders():
        return {name: holder.job for name, (holder,) in engine.held_by_others().items()}

    def start(name, **request):
        host = {"DeviceRequests": [{"Capabilities": [["gpu"]], **request}], "NetworkMode": "none"}
        body = {"Image": IMAGE, "Entrypoint": ["sleep", "600"], "Cmd": [], "HostConfig": host}
        made.append(api.create_container_from_config(body, name=name)["Id"])
        api.start(made[-1])

    ids = ("GPU-zero", "GPU-one", "GPU-two")
    devices = [Device(id=name, index=n, vendor="nvidia", name="Stand-in", memory_total=1) for n, name in enumerate(ids)]
    host = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)
    now = Inventory(time=0.0, host=host, devices=tuple(devices))
    engine = DockerEngine(bench.settings, inventory=lambda: now)
    try:
        start("by-id", DeviceIDs=[CARD])
        start("by-number", DeviceIDs=["1"])
        assert holders() == {CARD: "by-id", "GPU-one": "by-number"}
        api.remove_container(made[0], force=True)
        assert CARD not in holders()
        start("one", Count=1)
        assert holders() == {"GPU-zero": "one", "GPU-one": "by-number"}
        start("all", Count=-1)
        assert holders() == {"GPU-zero": "one", "GPU-one": "by-number", "GPU-two": "all"}
        # As in the container in which a server runs.
        mounts = tmp_path / "mountinfo"
        mounts.write_text(f"612 607 0:57 /var/lib/docker/containers/{made[-1]}/hostname /etc/hostname rw - ext4 x rw\n")
        own = DockerEngine(bench.settings, inventory=lambda: now)
        own.by_hand = ByHand(own.daemon, lambda: now, mounts)
        assert sorted(own.held_by_others()) == ["GPU-one", "GPU-zero"]
    finally:
        for container in made:
            with contextlib.suppress(errors.NotFound):
                api.remove_container(container, force=True)


def test_a_job_waits_for_a_container_that_was_started_by_hand(users, daemon):
    host = {"DeviceRequests": [{"Capabilities": [["gpu"]], "DeviceIDs": [CARD]}], "NetworkMode": "none"}
    body = {"Image": IMAGE, "Entrypoint": ["sleep", "600"], "Cmd": [], "HostConfig": host}
    container = daemon.api().create_container_from_config(body, name="by-hand")["Id"]
    daemon.api().start(container)
    try:
        waits = users.root.submit(USE, device_ids=(CARD,), gpus=1)
        users.serve()
        reason = until(lambda: users.root.client.get(waits).reason)
        assert reason.code == "device_held"
        assert rendered(reason) == {
            "device": "GPU 0 (Stand-in)",
            "container": "by-hand",
            "command": "docker stop by-hand",
        }
    finally:
        daemon.api().remove_container(container, force=True)
    until(lambda: users.root.client.get(waits).state == "succeeded")


def test_a_card_is_shared_with_jobs_of_other_engines_by_claims(bench, daemon, tmp_path):
    """Somebody else's local job has the card first, then the container; it has it until it ends, whoever looks."""
    shared = tmp_path / "claims"
    shared.mkdir()
    shared.chmod(0o1777)
    data = tmp_path / "data"
    data.mkdir()
    (tmp_path / "theirs").mkdir()
    theirs = Claims(shared, tmp_path / "theirs")
    theirs.take("local-job", (CARD,))
    queue = service(data, daemon.host, Claims(shared, data))
    queue.start()
    spec = JobSpec(name="n", notebook=str(bench.work / "n.ipynb"), output=str(bench.work / "o.ipynb"),
                   folder=str(bench.work), engine="docker", image=IMAGE,
                   resources=Resources(gpus=1, device_ids=(CARD,), memory_bytes=1 << 30))  # fmt: skip
    job = queue.submit(spec, notebook_of(GATE)).id
    try:
        reason = until(lambda: queue.get(job).reason)
        assert (reason.code, reason.params["job"]) == ("device_held", "local-job")
        theirs.release("local-job")
        until(lambda: queue.get(job).state == "running")
        container = until(lambda: bench.api.inspect_container(container_name(job)))
        with pytest.raises(PaddleGpuError, match=f"which job {job} of root has"):
            theirs.take("another", (CARD,))
        until(lambda: container["State"]["Pid"] in {one.claim.process.pid for one in written(shared)})
        queue.stop()  # whoever looked after it may go
        assert theirs.held()[CARD][0].job == job
        (bench.work / "go").touch()
        until(lambda: CARD not in theirs.held())
        theirs.take("another", (CARD,))
    finally:
        queue.start()
        queue.wait(queue.cancel(job).id, 60)
        queue.stop()
        for row in bench.api.containers(all=True, filters={"label": f"{LABEL_JOB}={job}"}):
            bench.api.remove_container(row["Id"], force=True)


def test_two_jobs_have_half_of_a_card_each_at_the_same_time(bench, tmp_path):
    """The label tells others of the share, and Paddle in the container is told to keep to it."""
    data = tmp_path / "data"
    data.mkdir()
    queue = service(data, bench.host)
    says = f"import os, glob; print(glob.glob('/dev/nvidia[0-9]'), os.environ[{MEMORY_LIMIT!r}], flush=True)\n{GATE}"
    spec = JobSpec(name="n", notebook=str(bench.work / "n.ipynb"), output=str(bench.work / "o.ipynb"),
                   folder=str(bench.work), engine="docker", image=IMAGE,
                   resources=Resources(gpus=1, share=0.5, device_ids=(CARD,), memory_bytes=1 << 29))  # fmt: skip
    jobs = [queue.submit(spec, notebook_of(says)).id for _ in range(2)]
    queue.start()
    try:
        until(lambda: all(queue.get(job).state == "running" for job in jobs))
        for job in jobs:
            (part,) = queue.get(job).shares
            assert part.bytes == int(0.5 * 0.85 * (16 << 30)), "half of what the threshold leaves"
            labels = bench.api.inspect_container(container_name(job))["Config"]["Labels"]
            assert (labels[LABEL_DEVICES], labels[LABEL_SHARES]) == (CARD, str(part.bytes))
            (line,) = until(lambda job=job: [line.text for line in queue.log(job, 0).lines if "/dev/" in line.text])
            node, limit = line.rsplit(" ", 1)
            assert node == "['/dev/nvidia0']"
            assert 0 < int(limit) < part.bytes >> 20, "the share less what a process takes beside its tensors"
        (bench.work / "go").touch()
        until(lambda: all(queue.get(job).state == "succeeded" for job in jobs))
    finally:
        for job in jobs:
            queue.wait(queue.cancel(job, force=True).id, 60)
        queue.stop()
        for job in jobs:
            for row in bench.api.containers(all=True, filters={"label": f"{LABEL_JOB}={job}"}):
                bench.api.remove_container(row["Id"], force=True)
