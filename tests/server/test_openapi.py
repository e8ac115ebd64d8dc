"""The document beside the handlers says what they do, no more and no less."""

import re

import msgspec
import pytest
import yaml
from openapi_spec_validator import validate

from jupyter_paddle_gpu.server import schemas
from jupyter_paddle_gpu.server.routes import PREFIX, ROUTES

CELL = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**CELL, "source": "print(float('nan'))"}]}
METHODS = ("get", "post", "put", "patch", "delete")


def path_of(pattern):
    return "/" + pattern.removeprefix(PREFIX).replace(r"([^/]+)", "{id}", 1).replace(r"([^/]+)", "{other}")


def own_methods(handler):
    return {name for name in METHODS if any(name in vars(c) for c in handler.__mro__ if "paddle_gpu" in c.__module__)}


def test_it_is_a_valid_document(document):
    validate(document)


def test_every_route_and_method_is_in_it_and_nothing_else(document):
    served = {path_of(pattern): own_methods(handler) for pattern, handler in ROUTES}
    assert {path: set(item) & set(METHODS) for path, item in document["paths"].items()} == served


def test_its_schemas_are_those_of_the_structs(document):
    assert document["components"]["schemas"] == msgspec.json.decode(msgspec.json.encode(schemas.components()))


def test_every_reference_leads_somewhere(document):
    names = set(re.findall(r"#/components/(\w+/\w+)", yaml.safe_dump(document)))
    assert all(name.split("/")[1] in document["components"][name.split("/")[0]] for name in names)


def test_every_operation_says_what_its_errors_are(document):
    for item in document["paths"].values():
        for method in set(item) & set(METHODS):
            assert item[method]["responses"]["default"] == {"$ref": "#/components/responses/Error"}


async def test_answers_to_get_are_as_described(api, check, subtests):
    for path, query in (
        ("/version", {}),
        ("/devices", {}),
        ("/accelerators", {}),
        ("/images", {}),
        ("/images", {"device": "A100 80GB"}),
        ("/images", {"device": "toaster"}),
        ("/images/names", {}),
        ("/engines", {}),
        ("/doctor", {}),
        ("/what-ifs", {}),
        ("/jobs", {}),
    ):
        with subtests.test(path=path, query=query):
            status, answer = await api("GET", path.strip("/"), **query)
            check(path, "get", status, answer)


@pytest.mark.paddle
async def test_answers_about_a_notebook_are_as_described(api, check, example):
    for name in ("digits_fit.ipynb", "wine_broken.ipynb"):
        for path in ("/inspections", "/estimates", "/placements"):
            status, answer = await api("POST", path.strip("/"), body={"path": example(name)})
            assert status == 200, (name, path, answer)
            check(path, "post", status, answer)


async def test_answers_of_a_preflight_are_as_described(api, check):
    body = {"path": "a.ipynb", "content": NOTEBOOK, "engine": "local"}
    status, answer = await api("POST", "preflights", body=body)
    assert (status, answer["problems"], answer["decision"]["outcome"]) == (200, [], "cpu")
    check("/preflights", "post", status, answer)
    empty = {"path": "a.ipynb", "content": {**NOTEBOOK, "cells": []}, "engine": "local"}
    chinese = {"Accept-Language": "zh-CN"}
    status, answer = await api("POST", "preflights", body=empty, headers=chinese)
    assert [problem["code"] for problem in answer["problems"]] == ["nothing_to_run"]
    assert "代码" in answer["problems"][0]["message"]
    check("/preflights", "post", status, answer)
    assert (await api("GET", "jobs"))[1] == {"jobs": []}, "nothing was submitted"


async def test_answers_about_a_job_are_as_described(api, check):
    body = {"path": "a.ipynb", "content": NOTEBOOK, "engine": "local"}
    status, job = await api("POST", "jobs", body=body)
    check("/jobs", "post", status, job)
    while job["state"] not in ("succeeded", "failed"):
        status, job = await api("GET", "jobs", job["id"])
        check("/jobs/{id}", "get", status, job)
    for path, method in (
        ("/jobs/{id}/statistics", "get"),
        ("/jobs/{id}/log", "get"),
        ("/jobs/{id}/notebook", "post"),
        ("/jobs/{id}/cancel", "post"),
        ("/jobs/{id}/rerun", "post"),
    ):
        status, answer = await api(method.upper(), *path.replace("{id}", job["id"]).strip("/").split("/"))
        assert status in (200, 201)
        check(path, method, status, answer)
    await api("POST", "jobs", answer["id"], "cancel", body={"force": True})


async def test_refusals_are_as_described(api, check):
    for method, path, body in (
        ("get", "/jobs/{id}", None),
        ("post", "/estimates", {"path": "../a.ipynb"}),
        ("post", "/jobs", {"path": 3}),
    ):
        status, answer = await api(method.upper(), *path.replace("{id}", "nope").strip("/").split("/"), body=body)
        assert status >= 400
        check(path, method, status, answer)
