"""How jobs in containers end, and what their rows say until then: against a real daemon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from conftest import LIMIT, until
from place import GATE, Place
from stand_ins.daemon import PrivateDaemon

from jupyter_paddle_gpu.domain.errors import PaddleGpuError

ENDED = ("succeeded", "failed", "cancelled")


def test_a_cancel_soon_after_the_start_leaves_no_traceback_of_ours(place: Place) -> None:
    """Whether the container starts, the runner comes up or the first cell runs when it comes."""
    place.up(place.serve())
    for step in range(12):
        job = place.submit("import time\ntime.sleep(600)")
        until(lambda job=job: place.client.get(job).state in ("running", *ENDED))
        time.sleep(0.07 * step)
        place.client.cancel(job)
        ended = place.client.wait(job, LIMIT)
        assert ended.state == "cancelled"
        log = place.client.folder_of(job).log
        said = log.read_text() if log.exists() else ""
        assert "paddle-gpu/runner" not in said and "runpy" not in said, (step, said)


def test_a_handler_of_sigterm_runs_at_a_cancel(place: Place) -> None:
    place.up(place.serve())
    job = place.submit(
        "import signal, time\nasked = []\nsignal.signal(signal.SIGTERM, lambda *_: asked.append(1))\n"
        "print('started')\nwhile not asked: time.sleep(0.01)\nprint('saved')",
        "print('never')",
    )
    until(lambda: "started" in place.lines(job))
    place.client.cancel(job)
    assert place.client.wait(job, LIMIT).state == "cancelled"
    assert place.lines(job) == ["started", "saved"]


def test_a_paused_container_says_so(place: Place) -> None:
    place.up(place.serve())
    job = place.submit(GATE, "print('on')")
    until(lambda: place.client.get(job).state == "running")
    api = place.api
    container = place.container(job)["Id"]
    api.pause(container)
    row = until(lambda: (now := place.client.get(job)).reason and now)
    assert (row.state, row.reason.code) == ("running", "container_paused")
    assert "docker unpause paddle-gpu-" in row.reason.render_hint()
    api.unpause(container)
    until(lambda: place.client.get(job).reason is None)
    place.go()
    assert place.client.wait(job, LIMIT).state == "succeeded"


@pytest.mark.parametrize(
    ("instruction", "named"),
    [
        ("ADD http://127.0.0.1:9/model.tar /model.tar", "127.0.0.1:9"),
        ("ADD missing.tar /", "missing.tar"),
        ("COPY missing.txt /", "missing.txt"),
    ],
)
def test_what_a_dockerfile_cannot_add_is_named(make_bench, instruction: str, named: str) -> None:
    """It was told as a registry that cannot be reached, with no name at all."""
    bench = make_bench(build_network="none")
    (bench.work / "Dockerfile").write_text(f"ARG BASE_IMAGE\nFROM $BASE_IMAGE\n{instruction}\n")
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(*bench.job("1"))
    assert caught.value.code == "build_failed"
    assert named in str(caught.value) and "Dockerfile" in str(caught.value)


def test_a_base_that_cannot_be_had_is_named(make_bench) -> None:
    bench = make_bench(allowed_images=("stand-in/*", "127.0.0.1:9/*"))
    (bench.work / "Dockerfile").write_text("FROM 127.0.0.1:9/team/base:1\n")
    with pytest.raises(PaddleGpuError) as caught:
        bench.start(*bench.job("1"))
    assert caught.value.code == "registry_unreachable"
    assert "127.0.0.1:9/team/base:1 is not on this machine" in str(caught.value)


def test_a_notebook_with_the_longest_name_is_published(place: Place, daemon: PrivateDaemon) -> None:
    from conftest import IMAGE, notebook_of

    from jupyter_paddle_gpu.domain.jobs.job import JobSpec, Resources

    place.up(place.serve())
    stem, content = "n" * 249, notebook_of("print('done')")
    (place.work / f"{stem}.ipynb").write_text("{}")
    spec = JobSpec(
        name=stem,
        notebook=str(place.work / f"{stem}.ipynb"),
        output=str(place.work / "runs" / f"{stem}-{{id}}.ipynb"),
        folder=str(place.work),
        engine="docker",
        image=IMAGE,
        resources=Resources(memory_bytes=1 << 30),
    )
    ended = place.client.wait(place.client.submit(spec, content).id, LIMIT)
    assert ended.state == "succeeded"
    assert "done" in Path(ended.spec.output).read_text()
