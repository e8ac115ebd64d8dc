"""Sweeps and schedules through REST, each answer held against the document."""

import asyncio
import csv
import io
import json
import time

import pytest

CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
SOURCES = ("lr = 0.1\nbatch_size = 32", "print(f'epoch 1/1 loss {lr * 10}')")
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [{**CELL, "id": f"c{n}", "source": source} for n, source in enumerate(SOURCES)],
}
BODY = {"path": "a.ipynb", "content": NOTEBOOK, "engine": "local"}
SWEEP = {**BODY, "space": {"lr": "0.3,0.1"}, "at_once": 2}


@pytest.fixture
def ask(api, check):
    """Asks and holds the answer against the document: `await ask("post", "/sweeps/{id}/retry", id, body=…)`."""

    async def call(method, path, *ids, body=None, want=None, **params):
        real = path
        for one in ids:
            real = real.replace("{id}", one, 1)
        status, answer = await api(method.upper(), *real.strip("/").split("/"), body=body, **params)
        if status != 204:
            check(path, method, status, answer)
        assert want is None or status == want, answer
        return answer

    return call


@pytest.fixture
def over(ask):
    async def wait(sweep):
        while sweep["state"] == "running":
            await asyncio.sleep(0.05)
            sweep = await ask("get", "/sweeps/{id}", sweep["id"], want=200)
        return sweep

    return wait


async def test_a_sweep_from_its_check_to_its_end(ask, over, jp_fetch):
    told = await ask("post", "/sweeps/checks", body=SWEEP, want=200)
    assert [(one["values"], one["outcome"]) for one in told["trials"]] == [({"lr": 0.3}, "cpu"), ({"lr": 0.1}, "cpu")]
    assert (await ask("get", "/sweeps", want=200))["sweeps"] == [], "a check begins nothing"
    sweep = await ask("post", "/sweeps", body=SWEEP, want=201)
    refused = await ask("delete", "/sweeps/{id}", sweep["id"], want=409)
    assert refused["code"] == "not_ended"
    assert sweep["id"] in refused["hint"]
    sweep = await over(sweep)
    assert (sweep["state"], sweep["best"], sweep["metric"], sweep["direction"]) == ("succeeded", 2, "loss", "min")
    assert [one["id"] for one in (await ask("get", "/sweeps", want=200))["sweeps"]] == [sweep["id"]]
    other = await ask("get", "/sweeps/{id}", sweep["id"], direction="max", metric="loss", want=200)
    assert other["best"] == 1
    kept = await ask("patch", "/sweeps/{id}", sweep["id"], body={"direction": "max", "at_once": 1}, want=200)
    assert (kept["best"], kept["at_once"]) == (1, 1)
    table = await jp_fetch("paddle-gpu", "api", "sweeps", sweep["id"], "table")
    rows = list(csv.DictReader(io.StringIO(table.body.decode("utf-8-sig"))))
    assert table.headers["Content-Type"].startswith("text/csv")
    assert [float(row["lr"]) for row in rows] == [0.3, 0.1]
    again = await ask("post", "/sweeps/{id}/retry", sweep["id"], want=200)
    assert [one["job_id"] for one in again["trials"]] == [one["job_id"] for one in sweep["trials"]], "none had failed"
    more = await ask("post", "/sweeps", body={"job": sweep["trials"][0]["job_id"], "space": {"lr": [0.7]}}, want=201)
    more = await over(await ask("post", "/sweeps/{id}/cancel", more["id"], want=200))
    for one in (sweep, more):
        await ask("delete", "/sweeps/{id}", one["id"], want=204)
    assert (await ask("get", "/sweeps", want=200))["sweeps"] == []


async def test_what_cannot_be_tried_is_said(ask, subtests):
    for change, code in (
        ({"space": {"lr": "0.1,,"}}, "sweep_values"),
        ({"space": {}}, "sweep_values"),
        ({"space": {"lr": "0.1:0.5"}}, "sweep_open"),
        ({"space": {"momentum": "0.9,0.99"}}, "sweep_unknown"),
        ({"space": {"lr": "0.1,0.2", "learning_rate": "0.3"}}, "sweep_unknown"),
        ({"space": {"batch_size": "1:999", "lr": "0.1,0.2"}}, "sweep_size"),
        ({"at_once": 0}, "bad_body"),
        ({"search": "prayer"}, "bad_body"),
    ):
        for path in ("/sweeps/checks", "/sweeps"):
            with subtests.test(change=change, path=path):
                error = await ask("post", path, body={**SWEEP, **change}, want=400)
                assert error["code"] == code
                assert error["message"]
    assert (await ask("get", "/sweeps", want=200))["sweeps"] == []


async def test_what_is_not_there_is_said(ask, subtests):
    for method, path, body in (
        ("get", "/sweeps/{id}", None),
        ("patch", "/sweeps/{id}", {"at_once": 2}),
        ("delete", "/sweeps/{id}", None),
        ("post", "/sweeps/{id}/cancel", None),
        ("post", "/sweeps/{id}/retry", None),
        ("get", "/sweeps/{id}/table", None),
        ("get", "/schedules/{id}", None),
        ("delete", "/schedules/{id}", None),
        ("post", "/schedules/{id}/pause", None),
        ("post", "/schedules/{id}/resume", None),
        ("post", "/schedules/{id}/restore", None),
    ):
        with subtests.test(method=method, path=path):
            error = await ask(method, path, "nope", body=body, want=404)
            assert error["code"] == "no_such_plan"
            assert "nope" in error["message"]
            assert error["hint"]


async def test_a_schedule_is_made_paused_deleted_and_taken_back(ask, example):
    path = example("digits_fit.ipynb")
    dates = await ask("post", "/schedules/dates", body={"cron": "0 2 * * *", "zone": "Asia/Shanghai"}, want=200)
    assert len(dates["dates"]) > 1
    assert all(later - earlier == 86400 for earlier, later in zip(dates["dates"], dates["dates"][1:], strict=False))
    body = {"path": path, "engine": "local", "cron": "0 2 * * *", "zone": "Asia/Shanghai"}
    made = await ask("post", "/schedules", body=body, want=201)
    assert (made["trigger"], made["state"], made["zone"]) == ("cron", "active", "Asia/Shanghai")
    assert made["dates"] == dates["dates"][: len(made["dates"])]
    at = await ask("post", "/schedules", body={"path": path, "engine": "local", "at": "+2h"}, want=201)
    assert 7000 < at["dates"][0] - time.time() <= 7200
    for move, state in (("pause", "paused"), ("resume", "active")):
        assert (await ask("post", f"/schedules/{{id}}/{move}", made["id"], want=200))["state"] == state
    await ask("delete", "/schedules/{id}", made["id"])
    listed = await ask("get", "/schedules", want=200)
    assert at["id"] in [one["id"] for one in listed["schedules"]]
    assert listed["no_cost"]["message"], "nothing has a price here"
    assert (await ask("post", "/schedules/{id}/restore", made["id"], want=200))["state"] == "active"
    assert (await ask("get", "/schedules/{id}", made["id"], want=200))["runs"] == 0
    for left in (made, at):  # a dispatcher would wait for their hour
        await ask("delete", "/schedules/{id}", left["id"])


async def test_what_cannot_be_scheduled_is_said(ask, example):
    path = example("digits_fit.ipynb")
    for wish in (
        {"at": "soon"},
        {"cron": "0 2 * *"},
        {"cron": "0 2 30 2 *"},
        {"at": "+2h", "zone": "Asia/Atlantis"},
        {"free": "GPU-none"},
        {"below": 1.5},
        {},
        {"at": "+2h", "cron": "0 2 * * *"},
    ):
        error = await ask("post", "/schedules", body={"path": path, "engine": "local", **wish})
        assert error.get("message"), (wish, error)
        assert error.get("hint"), json.dumps(error)
    assert (await ask("get", "/schedules", want=200))["schedules"] == []
    for wish in ({"at": "soon"}, {"cron": "* * *"}):
        assert (await ask("post", "/schedules/dates", body=wish, want=400))["hint"]


async def test_the_variables_of_a_notebook(ask):
    found = await ask("post", "/variables", body={"path": "a.ipynb", "content": NOTEBOOK}, want=200)
    assert {one["name"]: one["value"] for one in found["variables"]} == {"lr": 0.1, "batch_size": 32}
