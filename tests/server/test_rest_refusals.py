"""What the routes of jobs refuse, by its name."""

import itertools

import pytest

from tests.server.rest_jobs import notebook

pytestmark = pytest.mark.usefixtures("folder")
ROUTES = (
    ("GET", ""),
    ("DELETE", ""),
    ("POST", "cancel"),
    ("POST", "rerun"),
    ("GET", "notebook"),
    ("POST", "notebook"),
    ("GET", "notebook/file"),
    ("GET", "metrics"),
    ("GET", "figures"),
    ("GET", "metrics/file"),
    ("GET", "report"),
    ("GET", "archive"),
    ("GET", "comparison/nope"),
    ("GET", "log"),
    ("GET", "log/file"),
)


async def test_unknown_jobs_are_404(api, subtests):
    for (method, path), job_id in itertools.product(ROUTES, ("nope", "..", "%2e%2e", "a%2Fb")):
        with subtests.test(method=method, path=path, job_id=job_id):
            status, error = await api(method, "jobs", job_id, *filter(None, path.split("/")))
            assert status in (404, 405)
            if job_id == "nope":
                assert (status, error["code"]) == (404, "no_such_job")


async def test_odd_numbers_are_refused(api, submit, ended, subtests):
    _, job = await submit("print(1)")
    for query in ({"since": "x"}, {"limit": -1}, {"limit": 10**6}, {"since": 10**20}):
        with subtests.test(query=query):
            status, error = await api("GET", "jobs", job["id"], "log", **query)
            assert (status, error["code"]) == (400, "bad_argument")
    await ended(job["id"])


async def test_what_cannot_be_submitted_gets_a_reason(submit, subtests):
    for wish, code in (
        ({"engine": "abacus"}, "unknown_engine"),
        ({"content": notebook()}, "nothing_to_run"),
        ({"resources": {"gpus": "two"}}, "bad_body"),
        ({"environment": {"A": 1}}, "bad_body"),
        ({"options": {"network": "none"}}, "option_unknown"),
        ({"image": "paddlepaddle/paddle:3.2.1"}, "option_unknown"),
    ):
        with subtests.test(wish=wish):
            _, error = await submit("print(1)", **wish)
            assert error["code"] == code


async def test_a_wish_that_would_be_left_aside_is_refused_by_its_name(api, submit, subtests):
    for wishes, field in (
        ({"resources": {"gpu": 2}}, "gpu"),
        ({"resources": {"memory": "1G"}}, "memory"),
        ({"resources": {"time_limit": 1}}, "time_limit"),
        ({"resources": {"gpus": -1}}, "gpus"),
        ({"resources": {"seconds": 0}}, "seconds"),
        ({"resources": {"cpus": -2.5}}, "cpus"),
        ({"resources": {"memory_bytes": 0}}, "memory_bytes"),
        ({"resources": {"shm_bytes": 1 << 70}}, "shm_bytes"),
        ({"resources": {"gpu_memory_bytes": -1}}, "gpu_memory_bytes"),
        ({"resources": {"device_ids": ["0", "0"]}}, "device_ids"),
        ({"resources": {"device_ids": ["all"]}}, "device_ids"),
        ({"resources": {"device_ids": ["0,1"]}}, "device_ids"),
        ({"resources": {"gpus": 2, "device_ids": ["0"]}}, "gpus"),
        ({"request": {"batchsize": 8}}, "batchsize"),
        ({"request": {"batch_size": 0}}, "batch_size"),
        ({"request": {"answers": {"a b": 1}}}, "answers"),
        ({"ressources": {"gpus": 0}}, "ressources"),
    ):
        with subtests.test(wishes=wishes):
            status, error = await submit("print(1)", **wishes)
            assert (status, f"{field}`" in error["message"] or f"“{field}”" in error["message"]) == (400, True), error
            assert (await api("GET", "jobs"))[1] == {"jobs": []}


async def test_a_placement_is_refused_what_a_job_is(api, subtests):
    for field, value in (("gpus", -1), ("device_ids", ["0", "0"]), ("devices", 0)):
        wishes = {"request": {field: value}} if field == "devices" else {field: value}
        with subtests.test(wishes=wishes):
            body = {"path": "work/train.ipynb", "content": notebook("print(1)"), **wishes}
            status, error = await api("POST", "placements", body=body)
            assert (status, f"“{field}”" in error["message"]) == (400, True), error


async def test_chinese_for_a_chinese_reader(api):
    headers = {"Accept-Language": "zh-CN,zh;q=0.9"}
    _, error = await api("POST", "inspections", body={"path": "../a.ipynb"}, headers=headers)
    assert any("一" <= sign <= "鿿" for sign in error["message"])
