"""The queue through REST: who waits in which order, held, released and moved."""

import asyncio
import json

import pytest

ENDED = ("succeeded", "failed", "cancelled")
CELL = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
UNTIL = "import os, time\nwhile not os.path.exists({gate!r}): time.sleep(0.02)"


@pytest.fixture
def submit(api, jp_root_dir):
    async def send(source, **wishes):
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**CELL, "source": source}]}
        status, job = await api(
            "POST", "jobs", body={"path": "a.ipynb", "content": content, "engine": "local", **wishes}
        )
        assert status == 201, job
        return job["id"]

    return send


@pytest.fixture
def waiting(api, submit, tmp_path, jp_asyncio_loop):
    """Three jobs behind one that has the only place."""
    gate = tmp_path / "gate"

    async def begin():
        first = await submit(UNTIL.format(gate=str(gate)), name="before")
        while (await api("GET", "jobs", first))[1]["state"] != "running":
            await asyncio.sleep(0.02)
        return [await submit(f"print({name!r})", name=name) for name in ("one", "two", "three")]

    async def end():
        for job in (await api("GET", "jobs"))[1]["jobs"]:
            await api("POST", "jobs", job["id"], "cancel", body={"force": True})
        while any(job["state"] not in ENDED for job in (await api("GET", "jobs"))[1]["jobs"]):
            await asyncio.sleep(0.02)

    yield jp_asyncio_loop.run_until_complete(begin())
    jp_asyncio_loop.run_until_complete(end())


async def names(api):
    status, seen = await api("GET", "queue")
    assert status == 200, seen
    return [entry["name"] for entry in seen["entries"] if not entry["held"]], seen


async def test_the_order_is_that_of_coming_and_then_ones_own(api, check, waiting):
    one, _two, three = waiting
    order, seen = await names(api)
    check("/queue", "get", 200, seen)
    assert order == ["one", "two", "three"]
    assert [(entry["job"], entry["mine"]) for entry in seen["entries"]] == [(job, True) for job in waiting]
    status, job = await api("POST", "jobs", three, "move", body={"before": one})
    check("/jobs/{id}/move", "post", status, job)
    assert (status, job["id"]) == (200, three)
    assert (await names(api))[0] == ["three", "one", "two"]
    await api("POST", "jobs", one, "move", body={"before": None})
    assert (await names(api))[0] == ["three", "two", "one"]


async def test_a_held_job_stays_while_others_pass_and_waits_again(api, check, waiting):
    one, _two, _three = waiting
    status, job = await api("POST", "jobs", one, "hold", body={})
    check("/jobs/{id}/hold", "post", status, job)
    assert (status, job["state"], job["held"], job["reason"]["code"]) == (200, "queued", True, "held")
    order, seen = await names(api)
    check("/queue", "get", 200, seen)
    assert order == ["two", "three"]
    (held,) = [entry for entry in seen["entries"] if entry["held"]]
    assert (held["job"], held["number"], held["starts"]) == (one, None, None)
    status, job = await api("POST", "jobs", one, "hold", body={"held": False})
    assert (status, job["held"]) == (200, False)
    assert sorted((await names(api))[0]) == ["one", "three", "two"]


async def test_a_higher_priority_comes_first_among_ones_own(api, waiting, submit):
    await submit("print(1)", name="urgent", priority=5)
    order, seen = await names(api)
    assert order == ["urgent", "one", "two", "three"]
    assert [entry["priority"] for entry in seen["entries"]] == [5, 0, 0, 0]


async def test_what_does_not_wait_is_neither_held_nor_moved(api, check, waiting):
    one, *_ = waiting
    running = next(job["id"] for job in (await api("GET", "jobs"))[1]["jobs"] if job["spec"]["name"] == "before")
    for move, body in (("hold", {"held": True}), ("move", {"before": None})):
        path = f"/jobs/{{id}}/{move}"
        for job, status, code in (("nope", 404, "no_such_job"), (running, 409, "not_waiting")):
            answered, error = await api("POST", "jobs", job, move, body=body)
            check(path, "post", answered, error)
            assert (answered, error["code"]) == (status, code), (move, job, error)
            assert error["message"]
            assert error["hint"]
        answered, error = await api("POST", "jobs", one, move, body={"somewhere": 1})
        check(path, "post", answered, error)
        assert answered == 400
    answered, error = await api("POST", "jobs", one, "move", body={"before": running})
    assert (answered, error["code"]) == (409, "not_waiting")
    _, error = await api("POST", "jobs", running, "hold", body={}, headers={"Accept-Language": "zh-CN"})
    assert not error["message"].isascii(), json.dumps(error)
