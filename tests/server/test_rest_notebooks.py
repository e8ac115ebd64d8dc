"""What a client may send as a notebook, and what each wrong one is told."""

import asyncio
import itertools
import json
import time

import psutil
import pytest

from jupyter_paddle_gpu.server.context import SETTING
from tests.processes import at_work
from tests.work import notebook


def cells(*sources):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook(*sources, kernelspec=kernel)


async def test_inspection_of_a_file_and_of_unsaved_content(api, example):
    status, facts = await api("POST", "inspections", body={"path": example("digits_fit.ipynb")})
    assert status == 200
    assert (facts["loop"], facts["batch_size"]["value"], facts["batch_size"]["name"]) == ("fit", 64, "BATCH_SIZE")
    content = cells("import paddle\nbatch = 7", "net = paddle.nn.Linear(1, 1)")
    status, facts = await api("POST", "inspections", body={"path": "not/there/yet.ipynb", "content": content})
    assert (status, facts["imports_paddle"], facts["loop"]) == (200, True, "none")


TAGGER = """
import paddle
model = paddle.nn.Sequential(paddle.nn.Embedding(50, 16), paddle.nn.Linear(16, 50))
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
ids = paddle.randint(0, 50, [8, 24])
for step in range(4):
    loss = paddle.nn.functional.cross_entropy(model(ids), ids)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.mark.paddle
async def test_other_data_is_asked_for_and_refused_in_words(api):
    def asked(**what):
        return {"path": "tags.ipynb", "content": cells(TAGGER), "request": {"target": "cpu", **what}}

    _, own = await api("POST", "estimates", body=asked())
    status, longer = await api("POST", "estimates", body=asked(sequence_length=96))
    assert (status, own["sequence_length"], longer["sequence_length"]) == (200, 24, 96)
    assert longer["inputs"] == ["int64[8, 96]"] and longer["peak_bytes"] > own["peak_bytes"]
    chinese = {"Accept-Language": "zh-CN"}
    status, refused = await api("POST", "estimates", body=asked(image_size=96), headers=chinese)
    assert (status, refused["status"], refused["peak_bytes"]) == (200, "unsupported", None)
    assert [note["code"] for note in refused["notes"]] == ["no_images"]
    assert "图像" in refused["notes"][0]["message"]


async def test_a_what_if_that_makes_no_sense_is_refused_by_its_name(api, subtests):
    for asked in ({"sequence_lenght": 96}, {"batch_size": 0}, {"amp": "O3"}):
        with subtests.test(asked=asked):
            body = {"path": "a.ipynb", "content": cells(TAGGER), "request": asked}
            status, error = await api("POST", "estimates", body=body)
            assert (status, next(iter(asked)) in error["message"]) == (400, True), error


async def test_a_panel_is_told_what_can_be_asked(api):
    status, fields = await api("GET", "what-ifs", headers={"Accept-Language": "zh-CN"})
    by_name = {field["name"]: field for field in fields}
    assert status == 200 and list(by_name)[:2] == ["batch_size", "amp"]
    assert by_name["batch_size"]["label"] == "批大小" and by_name["batch_size"]["least"] == 1
    choices = by_name["set_to_zero"]["choices"]
    assert [(choice["value"], choice["asked"]) for choice in choices] == [(True, "梯度置零"), (False, "释放梯度")]
    assert [name for name, field in by_name.items() if not field["in_jobs"]] == ["image_size", "sequence_length"]
    assert not {"device", "target", "details"} & set(by_name)


@pytest.mark.paddle
async def test_a_look_at_a_training_has_the_worker_ready_and_runs_nothing(api, example, jp_serverapp, tmp_path):
    services = jp_serverapp.web_app.settings[SETTING].services
    trace = tmp_path / "ran"
    source = f"import paddle\nopen({str(trace)!r}, 'w')\n"
    await api("POST", "inspections", body={"path": "plain.ipynb", "content": cells(source)})
    assert services.estimator.traces.workers == ()

    training = "net = paddle.nn.Linear(1, 1)\nfor x in range(3):\n    net(paddle.ones([1, 1])).mean().backward()\n"
    training += "    paddle.optimizer.SGD(parameters=net.parameters()).step()"
    await api("POST", "inspections", body={"path": "train.ipynb", "content": cells(source + training)})
    for _ in range(1200):
        if services.estimator.traces.workers:
            break
        await asyncio.sleep(0.05)
    (worker,) = services.estimator.traces.workers
    assert worker.start().error == "" and not trace.exists()


async def test_who_may_not_execute_starts_no_worker(api, jp_serverapp, monkeypatch):
    services = jp_serverapp.web_app.settings[SETTING].services
    allowed = lambda handler, user, action, resource: action != "execute"  # noqa: E731
    monkeypatch.setattr(jp_serverapp.authorizer, "is_authorized", allowed)
    training = "import paddle\nmodel = paddle.Model(net)\nmodel.fit(data, epochs=1)"
    status, facts = await api("POST", "inspections", body={"path": "train.ipynb", "content": cells(training)})
    await asyncio.sleep(0.5)

    assert (status, facts["loop"]) == (200, "fit")
    assert services.estimator.traces.workers == ()


async def test_a_cell_that_does_not_parse_is_a_fact_not_a_failure(api):
    content = cells("import paddle", "for x in", "net = paddle.nn.Linear(1, 1)")
    status, facts = await api("POST", "inspections", body={"path": "broken.ipynb", "content": content})
    assert status == 200
    assert any(problem["hint"] for problem in facts["problems"])


async def test_an_empty_notebook_has_nothing_that_trains(api):
    status, facts = await api("POST", "inspections", body={"path": "empty.ipynb", "content": cells()})
    assert (status, facts["loop"], facts["cells"]) == (200, "none", [])


async def test_what_is_no_notebook_gets_a_sentence(api, jp_root_dir, subtests):
    odd = (b"\x89PNG\r\n\x1a\n\0\0", b"", b"[1, 2]", b'{"nbformat": 4', b"\xff\xfe\0")
    for content, route in itertools.product(odd, ("inspections", "estimates", "placements", "jobs")):
        with subtests.test(content=content, route=route):
            (jp_root_dir / "odd.ipynb").write_bytes(content)
            status, error = await api("POST", route, body={"path": "odd.ipynb"})
            assert (status, set(error)) == (422, {"code", "message", "hint"})
            assert "odd.ipynb" in error["message"]
            assert error["hint"]


async def test_fifty_megabytes_are_refused(api, jp_root_dir):
    with (jp_root_dir / "big.ipynb").open("wb") as file:
        file.truncate(50_000_000)
    status, error = await api("POST", "estimates", body={"path": "big.ipynb"})
    assert status == 413
    assert "big.ipynb" in error["message"]


async def test_paths_outside_and_links_out_are_refused(api, jp_root_dir, tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_text(json.dumps(cells("password = 1")))
    (jp_root_dir / "link.ipynb").symlink_to(secret)
    for path in ("link.ipynb", "../secret.ipynb", "a/../../secret.ipynb"):
        status, error = await api("POST", "inspections", body={"path": path})
        assert (status, error["code"]) == (403, "outside_root"), path
    status, _ = await api("POST", "inspections", body={"path": ".hidden.ipynb"})
    assert status == 404


async def test_a_missing_notebook_is_404(api):
    status, error = await api("POST", "inspections", body={"path": "no.ipynb"})
    assert status == 404
    assert "no.ipynb" in error["message"]


@pytest.mark.paddle
async def test_an_estimate_ends_when_whoever_asked_goes_away(api, jp_serverapp, jp_base_url, jp_http_port):
    await api("POST", "estimates", body={"path": "tags.ipynb", "content": cells(TAGGER)})
    (worker,) = jp_serverapp.web_app.settings[SETTING].services.estimator.traces.workers
    zygote = psutil.Process(worker.process_id)

    async def until(holds):
        for _ in range(3600):
            if holds():
                return
            await asyncio.sleep(0.05)
        raise AssertionError("waited in vain")

    endless = cells("count = 0\nwhile count < 10**10:\n    count += 1\n" + TAGGER)
    body = json.dumps({"path": "endless.ipynb", "content": endless}).encode()
    _, writer = await asyncio.open_connection("localhost", jp_http_port)
    head = [
        f"POST {jp_base_url}paddle-gpu/api/estimates HTTP/1.1",
        "Host: localhost",
        f"Authorization: token {jp_serverapp.identity_provider.token}",
        f"Content-Length: {len(body)}",
    ]
    writer.write("\r\n".join([*head, "", ""]).encode() + body)
    await until(lambda: at_work(zygote))
    began = time.monotonic()
    writer.close()
    await until(lambda: not at_work(zygote))
    assert time.monotonic() - began < worker.settings.cpu_seconds / 2, "it would have ended by itself"
    status, estimate = await api("POST", "estimates", body={"path": "tags.ipynb", "content": cells(TAGGER)})
    assert (status, estimate["status"]) == (200, "ok")
