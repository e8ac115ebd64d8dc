"""A job through REST: submitted, followed, cancelled, run again, deleted."""

import asyncio
import io
import json
import zipfile

import psutil
import pytest

from jupyter_paddle_gpu.jobs.settings import JobSettings
from tests.server.rest_jobs import notebook

pytestmark = pytest.mark.usefixtures("folder")


TRAINING = """
import paddle

def train(net, optimizer, data):
    for x, y in paddle.io.DataLoader(data, batch_size=BATCH_SIZE):
        loss = paddle.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""


async def test_a_job_from_submit_to_its_notebook(api, submit, ended, jp_fetch, jp_root_dir):
    status, job = await submit("for n in range(5):\n    print('line', n)", name="five")
    assert (status, job["spec"]["name"], job["state"]) == (201, "five", "queued")
    job = await ended(job["id"])
    assert (job["state"], job["reason"]["code"]) == ("succeeded", "succeeded")
    status, listed = await api("GET", "jobs")
    assert [row["id"] for row in listed["jobs"]] == [job["id"]]

    status, page = await api("GET", "jobs", job["id"], "log")
    printed = [line["x"] for line in page["lines"] if line["s"] == "stdout"]
    assert printed == [f"line {n}" for n in range(5)]
    assert page["ended"]
    assert page["next"] == page["total"] == len(page["lines"])
    _, rest = await api("GET", "jobs", job["id"], "log", since=page["next"] - 2)
    assert rest["lines"] == page["lines"][-2:]
    _, rest = await api("GET", "jobs", job["id"], "log", since=-1)
    assert rest["lines"] == page["lines"][-1:]
    whole = await jp_fetch("paddle-gpu", "api", "jobs", job["id"], "log", "file")
    assert whole.headers["Content-Type"].startswith("text/plain")
    assert whole.body.decode() == "".join(f"{line['x']}\n" for line in page["lines"])

    _, paths = await api("GET", "jobs", job["id"], "notebook")
    status, executed = await api("GET", "jobs", job["id"], "notebook/file")
    assert status == 200
    (cell,) = executed["cells"]
    assert cell["source"].startswith("for n in range(5):\n"), "a text, not a list of lines"
    assert cell["outputs"][0]["text"] == "".join(f"line {n}\n" for n in range(5))
    status, published = await api("POST", "jobs", job["id"], "notebook")
    assert paths == published
    short = job["id"].rsplit("-", 1)[-1]
    assert (status, published) == (
        200,
        {"path": f"work/paddle-gpu-runs/train-{short}.ipynb", "source": "work/train.ipynb"},
    )
    executed = json.loads((jp_root_dir / published["path"]).read_text())
    assert executed["cells"][0]["outputs"]


async def test_answers_reach_the_notebook_and_a_named_batch_size_too(api, submit, ended):
    request = {"answers": {"epochs": 1}, "batch_size": 8}
    _, job = await submit("BATCH_SIZE = 64\nepochs = 3", TRAINING, "print(BATCH_SIZE, epochs)", request=request)
    assert job["spec"]["sets"] == {"epochs": 1}
    assert [one["message"] for one in job["spec"]["changes"]] == ["with batch 8"]
    job = await ended(job["id"])
    _, page = await api("GET", "jobs", job["id"], "log")
    assert "8 1" in [line["x"] for line in page["lines"]]


@pytest.mark.paddle
async def test_advice_changes_the_jobs_copy_alone(api, submit, ended, jp_root_dir):
    data = (
        "import numpy as np, paddle\n"
        "class Data(paddle.io.Dataset):\n"
        "    def __len__(self):\n"
        "        return 64\n"
        "    def __getitem__(self, i):\n"
        "        return np.full([8], i / 64, 'float32')"
    )
    loop = (
        "net = paddle.nn.Linear(8, 2)\n"
        "opt = paddle.optimizer.SGD(parameters=net.parameters())\n"
        "for x in paddle.io.DataLoader(Data(), batch_size=16):\n"
        "    loss = net(x).mean()\n"
        "    loss.backward()\n"
        "    opt.step()\n"
        "    opt.clear_grad()\n"
        "print(list(x.shape), net.weight.grad is None)"
    )
    request = {"batch_size": 8, "set_to_zero": False}
    before = notebook(data, loop)
    _, found = await api("POST", "changes", body={"path": "work/a.ipynb", "content": before, "request": request})
    assert [one["message"] for one in found["says"]] == ["with batch 8", "with gradients freed"]
    assert "+    opt.clear_grad(set_to_zero=False)" in found["difference"].split("\n")
    _, job = await submit(data, loop, request=request)
    assert [one["message"] for one in job["spec"]["changes"]] == ["with batch 8", "with gradients freed"]
    job = await ended(job["id"])
    assert job["state"] == "succeeded"
    _, page = await api("GET", "jobs", job["id"], "log")
    assert "[8, 8] True" in [line["x"] for line in page["lines"]]
    _, published = await api("POST", "jobs", job["id"], "notebook")
    executed = json.loads((jp_root_dir / published["path"]).read_text())
    assert executed["cells"][1]["source"] == found["cells"][0]["after"], "what ran is what was shown"


async def test_a_batch_size_without_a_name_is_refused(submit):
    status, error = await submit("print(1)", request={"batch_size": 8})
    assert (status, error["code"]) == (422, "batch_size_unnamed")
    assert "BATCH_SIZE = 8" in error["hint"]


async def test_what_the_copy_cannot_have_is_refused_where_it_is_matched_too(api):
    body = {"path": "work/a.ipynb", "content": notebook("print(1)"), "request": {"batch_size": 8}}
    status, matched = await api("POST", "placements", body=body)
    assert status == 200
    assert matched["placement"]["decision"]["outcome"] == "refuse"
    assert matched["placement"]["decision"]["reason"]["code"] == "batch_size_unnamed"
    _, checked = await api("POST", "preflights", body=body)
    assert checked["decision"]["reason"] == matched["placement"]["decision"]["reason"]


async def test_a_share_that_the_engine_does_not_give_is_refused_where_it_is_matched_too(api):
    body = {"path": "work/a.ipynb", "content": notebook("print(1)")}
    _, matched = await api("POST", "placements", body={**body, "share": 0.5})
    _, checked = await api("POST", "preflights", body={**body, "resources": {"share": 0.5}})
    assert matched["placement"]["decision"]["reason"] == checked["decision"]["reason"]
    assert matched["placement"]["decision"]["outcome"] == checked["decision"]["outcome"]


async def test_the_same_token_is_the_same_job(submit, ended):
    _, first = await submit("print(1)", token="a")
    _, second = await submit("print(1)", token="a")
    assert first["id"] == second["id"]
    await ended(first["id"])


async def test_cancel_rerun_delete(api, submit, ended):
    _, job = await submit("print('begun', flush=True)\nimport time\ntime.sleep(600)")
    while not any(line["x"] == "begun" for line in (await api("GET", "jobs", job["id"], "log"))[1]["lines"]):
        await asyncio.sleep(0.1)
    status, error = await api("DELETE", "jobs", job["id"])
    assert (status, error["code"]) == (409, "not_ended")
    status, _ = await api("POST", "jobs", job["id"], "cancel", body={"force": False})
    assert status == 200
    job = await ended(job["id"])
    assert (job["state"], job["reason"]["code"]) == ("cancelled", "cancelled")

    status, again = await api("POST", "jobs", job["id"], "rerun")
    assert (status, again["spec"]["rerun_of"]) == (201, job["id"])
    assert again["spec"]["output"] != job["spec"]["output"]
    await api("POST", "jobs", again["id"], "cancel", body={"force": True})
    await ended(again["id"])

    assert await api("DELETE", "jobs", job["id"]) == (204, None)
    status, error = await api("GET", "jobs", job["id"])
    assert (status, error["code"]) == (404, "no_such_job")


async def test_a_run_with_other_values_and_what_tells_it_from_the_last_one(api, submit, ended):
    cells = (
        "BATCH_SIZE = 64\nepochs = 3",
        "for n in range(epochs):\n    print(f'epoch {n + 1}/{epochs} loss {1 / (n + 1)}')\nprint(BATCH_SIZE)",
    )
    _, first = await submit(*cells)
    assert (first["spec"]["differs"], first["spec"]["differs_from"]) == ([], "")
    first = await ended(first["id"])
    assert first["progress"]["sparkline"] == {"name": "loss", "values": [1.0, 0.5, 0.3333]}
    status, told = await api("GET", "jobs", first["id"], "metrics")
    assert status == 200
    (curve,) = told["curves"]
    assert (curve["name"], curve["epochs"]) == ("loss", [1.0, 2.0, 3.0])
    assert [mark["epoch"] for mark in told["marks"]] == [1, 2, 3]

    wish = {"values": {"BATCH_SIZE": 128, "epochs": 3}, "environment": {"SEED": "7"}}
    status, second = await api("POST", "jobs", first["id"], "rerun", body=wish)
    assert status == 201
    assert second["spec"]["sets"] == {"BATCH_SIZE": 128}, "what is as typed is not bound"
    assert (second["spec"]["differs_from"], second["spec"]["rerun_of"]) == (first["id"], "")
    differs = [(one["kind"], one["name"], one["before"], one["after"]) for one in second["spec"]["differs"]]
    assert differs == [("variable", "BATCH_SIZE", 64, 128), ("environment", "SEED", None, "7")]
    second = await ended(second["id"])
    _, page = await api("GET", "jobs", second["id"], "log")
    assert "128" in [line["x"] for line in page["lines"]]

    status, found = await api("GET", "jobs", first["id"], "comparison", second["id"])
    assert (status, found["code"]) == (200, [])
    assert [one["name"] for one in found["differs"]] == ["BATCH_SIZE", "SEED"]
    _, third = await submit(cells[0], cells[1] + "\nprint('more')")
    _, found = await api("GET", "jobs", first["id"], "comparison", third["id"])
    assert [(cell["before"], cell["after"]) for cell in found["code"]] == [(1, 1)]
    assert "+print('more')" in found["code"][0]["difference"]

    status, error = await api("POST", "jobs", first["id"], "rerun", body={"values": {"width": 3}})
    assert (status, error["code"]) == (400, "rerun_unknown")
    status, error = await api("POST", "jobs", first["id"], "rerun", body={"value": {}})
    assert (status, error["code"]) == (400, "bad_body")


async def test_what_a_job_left_in_its_notebooks_place_is_no_notebook(api, submit, ended, data_folder):
    _, job = await submit("print(1)")
    await ended(job["id"])
    (written,) = data_folder.rglob(f"{job['id']}/notebook.ipynb")
    for left in (b"", b"[]", b"{}", b'{"cells": 3}', b'{"cells": [{}]}', b"\xff", b"[" * 100_000):
        written.write_bytes(left)
        status, error = await api("GET", "jobs", job["id"], "notebook", "file")
        assert (status, error["code"]) == (409, "nothing_executed")


async def test_pictures_of_the_notebook_are_those_it_has_drawn(api, submit, ended):
    draws = "from IPython.display import Image, SVG, display\nfor n in range(30):\n    display(Image(data=bytes([n])))"
    _, job = await submit("print(1)", draws, "SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')")
    await ended(job["id"])
    status, told = await api("GET", "jobs", job["id"], "figures")
    assert status == 200
    found = [(one["cell"], one["mime"]) for one in told["figures"]]
    assert found == [(1, "image/png")] * 23 + [(2, "image/svg+xml")], "of many the newest"
    assert told["figures"][0]["data"] == "Bw=="


async def test_a_job_is_taken_along_on_a_page_in_an_archive_as_a_table(api, submit, ended, jp_fetch, data_folder):
    code = (
        "import os, pathlib\n"
        "pathlib.Path(os.environ['PADDLE_GPU_CHECKPOINTS'], 'best.bin').write_bytes(bytes(3 << 20))\n"
        "os.symlink('/etc/hostname', os.environ['PADDLE_GPU_CHECKPOINTS'] + '/link')\n"
        "for n in range(3):\n    print(f'epoch {n + 1}/3 loss {1 / (n + 1)}')\n"
        "print('<script>alert(1)</script>')"
    )
    _, job = await submit(code, environment={"KEY": "secret"}, name="训 a")
    await api("PATCH", "jobs", job["id"], body={"note": "<b>bold</b>"})
    await ended(job["id"])

    async def fetch(*path):
        return await jp_fetch("paddle-gpu", "api", "jobs", job["id"], *path)

    page = (await fetch("report")).body.decode()
    assert "<svg" in page
    assert "epoch 3/3 loss" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page and "<b>" not in page
    table = (await fetch("metrics", "file")).body.decode().splitlines()
    assert table[0] == "time,epochs,metric,value"
    assert table[1].split(",")[1:] == ["1.0", "loss", "1.0"]
    packed = zipfile.ZipFile(io.BytesIO((await fetch("archive")).body))
    assert packed.testzip() is None
    names = packed.namelist()
    assert {"report.html", "metrics.csv", "job.json", "executed.ipynb", "source.ipynb", "log.jsonl"} <= set(names)
    assert [name for name in names if name.startswith("checkpoints/")] == ["checkpoints/best.bin"], (
        "no link is followed"
    )
    assert packed.getinfo("checkpoints/best.bin").file_size == 3 << 20
    assert packed.getinfo("checkpoints/best.bin").date_time[0] > 1980, "unpacked with the date of its file"
    for path, ending in ((("report",), "html"), (("archive",), "zip"), (("metrics", "file"), "csv")):
        said = (await fetch(*path)).headers["Content-Disposition"]
        assert said.endswith(f"filename*=UTF-8''%E8%AE%AD%20a-{job['id']}.{ending}"), said


async def test_notes_and_stars_stay_with_the_job(api, submit, ended):
    _, job = await submit("print(1)")
    assert (job["note"], job["starred"]) == ("", False)
    status, starred = await api("PATCH", "jobs", job["id"], body={"starred": True})
    assert (status, starred["starred"]) == (200, True)
    _, noted = await api("PATCH", "jobs", job["id"], body={"note": " with warm-up "})
    assert (noted["note"], noted["starred"]) == ("with warm-up", True)
    job = await ended(job["id"])
    assert (job["note"], job["starred"]) == ("with warm-up", True)
    status, error = await api("PATCH", "jobs", job["id"], body={"note": "x" * 3000})
    assert (status, error["code"]) == (400, "bad_body")
    status, error = await api("PATCH", "jobs", "nope", body={"starred": True})
    assert (status, error["code"]) == (404, "no_such_job")


async def test_what_never_ends_its_line_comes_in_pages_that_are_bounded(api, submit, jp_fetch):
    """The server's memory and each page stay far below what was printed, while the job runs and afterwards."""
    printed, process = 60 << 20, psutil.Process()
    _, job = await submit(f"import sys\nfor _ in range({printed >> 20}): sys.stdout.write('x' * {1 << 20})")
    before = most = process.memory_info().rss  # with all that was imported for the first job
    since, text, ended = 0, 0, False
    while not ended:
        answer = await jp_fetch("paddle-gpu", "api", "jobs", job["id"], "log", params={"since": str(since)})
        page = json.loads(answer.body)
        assert len(answer.body) < 1.1 * JobSettings().log_page_bytes
        text += sum(len(line["x"]) for line in page["lines"] if line["s"] == "stdout")
        since, ended = page["next"], page["ended"]
        most = max(most, process.memory_info().rss)
        if not page["lines"]:
            await asyncio.sleep(0.1)
    assert text == printed
    assert most - before < printed / 2
