"""Memory and processors of a job: the rule, and what a real daemon makes of it."""

from __future__ import annotations

import json

import msgspec
import pytest
from conftest import IMAGE, LIMIT, PACKAGES, notebook_of, until

from jupyter_paddle_gpu.domain.decisions import Limits
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.estimates import Estimate, HostMemory
from jupyter_paddle_gpu.domain.jobs.job import JobSpec, Resources
from jupyter_paddle_gpu.domain.jobs.limits import out_of_memory, raised
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.engines.capabilities import Limiter
from jupyter_paddle_gpu.engines.docker.connection.daemon import DaemonFacts
from jupyter_paddle_gpu.engines.docker.container import container_name
from jupyter_paddle_gpu.engines.docker.limits import settle
from jupyter_paddle_gpu.engines.docker.settings import DockerSettings
from jupyter_paddle_gpu.engines.local import LocalEngine
from jupyter_paddle_gpu.jobs.monitoring.endings import ending_of
from jupyter_paddle_gpu.jobs.service import JobService
from jupyter_paddle_gpu.jobs.settings import JobSettings
from jupyter_paddle_gpu.services import Services, Settings, Submission

GIB, MIB = 1 << 30, 1 << 20
FACTS = DaemonFacts(id="d", memory_bytes=100 * GIB, processors=64)
FAST = JobSettings(active_seconds=0.05, idle_seconds=0.1, wait_seconds=0.05)
NOTHING = HostMemory(
    bytes=0, process=0, data=0, tensors=0, batches=0, checkpoint=0, workers=0, shared_memory=0, loader_workers=0
)


def estimate(needs: float, *, workers: int = 0, **fields: object) -> Estimate:
    host = msgspec.structs.replace(NOTHING, bytes=int(needs * GIB), loader_workers=workers)
    return Estimate(status="ok", evidence="trace", host=host, **fields)


def limits(
    known: Estimate | None,
    wanted: Resources = Resources(),  # noqa: B008  # frozen
    *,
    facts: DaemonFacts = FACTS,
    devices: int = 8,
    **settings: object,
) -> Limits:
    return settle(wanted, known, DockerSettings(**settings), facts, devices)


def said(found: Limits) -> list[str]:
    return [why.render() for why in found.why]


def test_a_multiple_of_the_estimate():
    found = limits(estimate(3))
    assert (found.memory_bytes, found.memory_from) == (6 * GIB, "estimate")
    assert said(found) == [
        "Memory limit 6.00 GiB: 2 times the 3.00 GiB that the estimate gives for the host; at most 95.0 GiB by policy."
    ]
    assert limits(estimate(3), memory_headroom=1.5).memory_bytes == int(4.5 * GIB)


def test_no_limit_from_an_estimate_is_below_the_floor():
    found = limits(estimate(0.5))
    assert (found.memory_bytes, found.memory_from) == (4 * GIB, "estimate")
    assert said(found)[0].startswith(
        "Memory limit 4.00 GiB: the least that policy gives, since the estimate gives only 512"
    )
    assert limits(estimate(0.5), memory_floor=GIB // 2).memory_bytes == GIB


@pytest.mark.parametrize(("ceiling", "needs"), [({"memory_bytes": 5 * GIB}, 3), ({"memory_share": 0.05}, 3)])
def test_policy_stays_the_ceiling(ceiling, needs):
    found = limits(estimate(needs), **ceiling)
    assert (found.memory_bytes, found.memory_from) == (5 * GIB, "policy")
    assert said(found) == [
        "Memory limit 5.00 GiB: all that policy gives a job; the estimate gives 3.00 GiB for the host."
    ]


def test_a_job_that_will_hardly_fit_is_told_so():
    (why,) = limits(estimate(7), memory_bytes=5 * GIB).why
    assert why.code == "memory_limit_short"
    assert "less than the 7.00 GiB" in why.render()
    assert why.hint


def test_the_jobs_own_figure_wins():
    found = limits(estimate(3), Resources(memory_bytes=GIB))
    assert (found.memory_bytes, found.memory_from, said(found)) == (
        GIB,
        "job",
        ["Memory limit 1.00 GiB: as the job asks."],
    )


@pytest.mark.parametrize(
    ("known", "settings"),
    [
        (None, {}),
        (Estimate(status="ok", evidence="scan"), {}),
        (Estimate(status="ok", evidence="measured"), {}),
        (estimate(3), {"limits_from_estimate": False}),
    ],
)
def test_without_an_estimate_all_that_policy_gives(known, settings):
    found = limits(known, **settings)
    assert (found.memory_bytes, found.memory_from) == (95 * GIB, "policy")
    assert said(found) == ["Memory limit 95.0 GiB: all that policy gives a job."]


def test_a_kernel_that_limits_nothing_is_asked_for_no_limit():
    facts = msgspec.structs.replace(FACTS, limits_memory=False)
    assert limits(estimate(3), facts=facts).memory_bytes is None


def test_processes_that_train_together_have_a_share_each():
    together = estimate(3, distribution="fleet", devices=2)
    assert limits(together, Resources(gpus=2)).memory_bytes == 12 * GIB
    assert limits(together, Resources(gpus=4)).memory_bytes == 24 * GIB, "as many as there are devices"
    assert limits(estimate(3), Resources(gpus=4)).memory_bytes == 6 * GIB, "one process that is given four devices"


def test_processors_of_a_training_on_a_device():
    one = Resources(gpus=1)
    assert limits(estimate(3), one).cpus == 8, "the device's share of 64 for eight"
    many = limits(estimate(3, workers=16), one)
    assert many.cpus == 20, "what feeds the device is more than its share"
    assert said(many)[1].startswith("Processors: 20 of 64: the equal share of the job's devices, and at least the 20")
    assert limits(estimate(3, workers=16), one, cpus=12).cpus == 12, "within policy"
    assert limits(estimate(3), one, devices=1).cpus is None, "the only device may use all"
    assert limits(None, one, cpus=12).cpus == 12
    assert limits(estimate(3), Resources(gpus=1, cpus=3)).cpus == 3


def test_a_training_on_the_cpu_has_all_processors_that_policy_gives():
    assert limits(estimate(3)).cpus is None
    assert limits(estimate(3), cpus=12).cpus == 12


def test_the_end_says_whose_limit_it_was_and_what_comes_next():
    estimated = out_of_memory(None, limits(estimate(3)))
    assert "its limit of 6.00 GiB, which followed from the estimate" in estimated.render()
    assert estimated.render_hint().startswith("Re-run it: it then gets 12.0 GiB.")
    asked = out_of_memory(GIB, limits(None, Resources(memory_bytes=GIB)))
    assert "than the 1.00 GiB it had asked for" in asked.render()
    assert "2.00 GiB, say" in asked.render_hint()
    policy = out_of_memory(None, limits(None))
    assert "all that policy gives a job here" in policy.render()
    assert "policy" in out_of_memory(None, None, 5 * GIB).render(), "a job of before limits were settled"
    assert out_of_memory(None, None).render().startswith("The machine ran out of memory")


def test_another_run_gets_twice_the_limit_within_policy():
    first = limits(estimate(3, workers=16), Resources(gpus=1), memory_bytes=20 * GIB)
    reason = out_of_memory(None, first)
    second = raised(first, reason)
    assert (second.memory_bytes, second.cpus) == (12 * GIB, first.cpus)
    assert [why.code for why in second.why] == ["memory_limit_raised", "processor_limit_estimate"]
    third = raised(second, reason)
    assert third.memory_bytes == 20 * GIB
    assert raised(third, reason) == third
    assert raised(first, None) == first
    assert raised(None, reason) is None
    own = limits(estimate(3), Resources(memory_bytes=GIB))
    assert raised(own, reason) == own


def test_which_engines_limit():
    assert not isinstance(LocalEngine(), Limiter)


# On a real daemon

EATER = (
    "import pathlib, time\nwhile pathlib.Path('hold').exists(): time.sleep(0.02)\n"
    "blocks = []\nwhile True: blocks.append(bytearray(16 << 20))"
)


def settled(memory: int) -> Limits:
    return Limits(memory_bytes=memory, memory_from="estimate", most_memory_bytes=GIB)


def test_the_container_has_the_limit_that_was_settled(bench):
    job, folder = bench.job("import time; time.sleep(60)", resources=Resources(), limits=settled(192 * MIB))
    bench.start(job, folder)
    host = bench.engine.daemon.inspect_container(container_name(job.id))["HostConfig"]
    assert (host["Memory"], host["MemorySwap"], host["NanoCpus"]) == (192 * MIB, 192 * MIB, 0)
    bench.engine.stop(job, folder, force=True)


@pytest.mark.parametrize(
    ("resources", "limit"), [(Resources(), 128 * MIB), (Resources(memory_bytes=96 * MIB), 96 * MIB)]
)
def test_policy_and_the_jobs_own_figure_win(make_bench, resources, limit):
    """Policy may have become stricter since the job was submitted."""
    bench = make_bench(memory_bytes=128 * MIB)
    job, folder = bench.job("1", resources=resources, limits=settled(192 * MIB))
    bench.start(job, folder)
    assert bench.engine.daemon.inspect_container(container_name(job.id))["HostConfig"]["Memory"] == limit


def test_more_than_the_policy_gives_is_refused(make_bench):
    bench = make_bench(memory_bytes=128 * MIB)
    job, folder = bench.job("1", resources=Resources(memory_bytes=192 * MIB))
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(job, folder)
    assert caught.value.code == "limit_exceeded"


def test_a_job_beyond_the_estimates_limit_may_run_again_with_more(bench, tmp_path):
    service = JobService.open({"docker": bench.engine}, data_folder=tmp_path, settings=FAST)
    service._dispatcher = None
    notebook = bench.work / "a.ipynb"
    spec = JobSpec(
        name="a",
        notebook=str(notebook),
        output=str(bench.work / "out.ipynb"),
        folder=str(bench.work),
        engine="docker",
        image=IMAGE,
        limits=settled(128 * MIB),
    )
    service.start()
    try:
        job = service.wait(service.submit(spec, json.dumps(notebook_of(EATER))).id, LIMIT)
        assert (job.state, job.reason.code) == ("failed", "out_of_memory_host")
        assert "its limit of 128 MiB, which followed from the estimate" in job.reason.render()
        assert job.reason.render_hint().startswith("Re-run it: it then gets 256 MiB.")
        (bench.work / "hold").touch()
        again = service.rerun(job.id)
        assert again.spec.limits.memory_bytes == 256 * MIB
        inspected = until(lambda: bench.engine.daemon.inspect_container(container_name(again.id)))
        assert inspected["HostConfig"]["Memory"] == 256 * MIB
        (bench.work / "hold").unlink()
        assert "its limit of 256 MiB" in service.wait(again.id, LIMIT).reason.render()
    finally:
        service.stop()


def test_a_worker_that_took_too_much_is_told_as_that_and_not_as_its_cells_error(bench):
    cell = (
        "import os\npid = os.fork()\nif pid == 0:\n    blocks = []\n    while True: blocks.append(bytearray(8 << 20))\n"
        "_, status = os.waitpid(pid, 0)\nraise RuntimeError(f'worker exited unexpectedly: {status}')"
    )
    job, folder = bench.job(cell, resources=Resources(), limits=settled(192 * MIB))
    ending = ending_of(msgspec.structs.replace(job, state="running"), folder, bench.run(job, folder))
    assert (ending.state, ending.reason.code) == ("failed", "out_of_memory_host")
    assert "its limit of 192 MiB, which followed from the estimate" in ending.reason.render()
    assert ending.result.failure.value == "worker exited unexpectedly: 9"


TRAINING = """
import numpy as np
import paddle
data = np.random.default_rng(0).standard_normal((40_000, 1000), dtype="float32")
net = paddle.nn.Linear(1000, 10)
optimizer = paddle.optimizer.Adam(parameters=net.parameters())
for start in range(0, 40_000, 1000):
    loss = net(paddle.to_tensor(data[start:start + 1000])).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.mark.paddle
def test_from_a_notebook_to_the_containers_limit(daemon, tmp_path):
    """A training on 160 MB of data, in Paddle, under twice what the estimate gives for it and not a byte more."""
    docker = {
        "host": daemon.host,
        "networks": ["none"],
        "data_folders": [PACKAGES],
        "shm_bytes": 64 * MIB,
        "memory_floor": 0,
    }
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "policy.json").write_text(
        json.dumps({"docker": docker, "images": {"allowed": ["stand-in/*"]}})
    )
    (tmp_path / "work").mkdir()
    services = Services(Settings(data_folder=tmp_path / "data"))
    try:
        services.jobs._dispatcher = None
        source = services.open(tmp_path / "work" / "train.ipynb", notebook_of(TRAINING))
        wish = Submission(engine="docker", image=IMAGE)
        job = services.submit(source, wish)
        known = services.estimates.known(source, EstimateRequest(target="cpu"))
        assert known is not None, "an engine whose limits follow from the estimate makes one"
        assert known.host.data >= 150_000_000, "160 MB, as far as they can be measured from outside"
        assert job.spec.limits.memory_bytes == 2 * known.host.bytes
        shown = services.match(source, engine="docker").placement.decision, services.preflight(source, wish).decision
        for decision in shown:  # what was shown is what the container gets
            assert (decision.outcome, decision.reason, decision.limits) == ("cpu", job.spec.on_cpu, job.spec.limits)
        services.start_jobs()
        inspected = until(lambda: services.engines["docker"].daemon.inspect_container(container_name(job.id)))
        assert inspected["HostConfig"]["Memory"] == 2 * known.host.bytes
        ended = services.jobs.wait(job.id, LIMIT)
        assert ended.state == "succeeded", ended.reason
    finally:
        services.close()
