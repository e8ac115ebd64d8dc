"""A start that nobody answered: its container was made, may even have started, and is neither forgotten nor left."""

from __future__ import annotations

import dataclasses
import time

import msgspec
import pytest
from conftest import LIMIT, Bench, until
from test_service import LATER, content, spec, try_again

from jupyter_paddle_gpu.engines.docker.connection.api import Api
from jupyter_paddle_gpu.jobs.service import JobService


@pytest.fixture
def serve(bench, tmp_path):
    """Make and start a service that tries so many times, the next time when it is told to."""
    made = []

    def make(attempts: int) -> JobService:
        settings = dataclasses.replace(LATER, attempts=attempts)
        made.append(JobService.open({"docker": bench.engine}, data_folder=tmp_path, settings=settings))
        made[-1]._dispatcher = None
        made[-1].start()
        return made[-1]

    yield make
    for service in made:
        service.stop()


def lose_answers(monkeypatch, *, before: bool):
    """Starts are cut off before or after they happen, as when the daemon is restarted in the middle."""
    really = Api.start

    def start(self, container):
        if not before:
            really(self, container)
        raise ConnectionResetError("cut off")

    monkeypatch.setattr(Api, "start", start)


def waiting(service, bench: Bench):
    """A job that waits for its next attempt, after an answer that never came."""
    job = service.submit(spec(bench), content()).id
    row = until(lambda: (now := service.get(job)).not_before is not None and now)
    assert (row.state, row.reason.code, row.attempts) == ("queued", "engine_unreachable", 1)
    assert set(bench.engine.adopt()) == {job}
    return job


def test_a_cancel_takes_what_was_made_along(bench, serve, monkeypatch):
    lose_answers(monkeypatch, before=True)
    service = serve(3)
    job = waiting(service, bench)
    service.cancel(job)
    assert service.wait(job, LIMIT).state == "cancelled"
    assert bench.engine.adopt() == {}


def test_what_is_given_up_is_removed(bench, serve, monkeypatch):
    lose_answers(monkeypatch, before=True)
    service = serve(2)
    job = waiting(service, bench)
    try_again(service, job)
    ended = service.wait(job, LIMIT)
    assert (ended.state, ended.reason.code, ended.attempts) == ("failed", "engine_unreachable", 2)
    assert bench.engine.adopt() == {}


def test_what_did_start_is_taken_over_even_by_the_last_attempt(bench, serve, monkeypatch):
    lose_answers(monkeypatch, before=False)
    service = serve(1)
    job = waiting(service, bench)
    try_again(service, job)
    ended = service.wait(job, LIMIT)
    assert ended.state == "succeeded", ended.reason
    assert [line.text for line in service.log(job).lines if line.stream == "stdout"] == ["ran"]
    assert bench.engine.adopt() == {}


def test_containers_of_ended_jobs_are_leftovers(bench, serve, monkeypatch):
    """Should one be there all the same: whoever begins to look after the queue next removes it."""
    lose_answers(monkeypatch, before=True)
    service = serve(3)
    job = waiting(service, bench)
    service.stop()
    change = msgspec.structs.replace
    service.store.change(job, lambda now: change(now, state="failed", ended=time.time()))
    serve(3)
    until(lambda: bench.engine.adopt() == {})
