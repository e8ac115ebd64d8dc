"""TensorBoard behind Jupyter's login, on files that a job wrote."""

import asyncio
import json
from urllib.parse import urlencode

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError

from tests import work

WRITES = """
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
writer = EventFileWriter("runs/first")
for step in range(3):
    loss = Summary.Value(tag="loss", simple_value=1 / (step + 1))
    writer.add_event(Event(step=step, wall_time=step, summary=Summary(value=[loss])))
writer.close()
"""


async def status_of(question):
    with pytest.raises(HTTPClientError) as caught:
        await question
    return caught.value.code


async def test_curves_of_a_job_are_shown_behind_the_login(api, check, jp_fetch, jp_root_dir):
    notebook = work.notebook(WRITES, "print('a cell more')")
    _, job = await api("POST", "jobs", body={"path": "train.ipynb", "content": notebook, "engine": "local"})
    while not job["ended"]:
        await asyncio.sleep(0.1)
        _, job = await api("GET", "jobs", job["id"])
    wrote = jp_root_dir / "runs" / "first"
    assert (job["state"], job["progress"]["event_files"]) == (
        "succeeded",
        [{"viewer": "tensorboard", "folder": str(wrote)}],
    )

    status, opened = await api("POST", "jobs", job["id"], "viewers", "tensorboard")
    check("/jobs/{id}/viewers/{other}", "post", status, opened)
    page = opened["path"].strip("/").split("/")
    # TensorBoard reads its files in a thread of its own, and answers before.
    tags = {}
    while not tags:
        await asyncio.sleep(0.1)
        tags = json.loads((await jp_fetch(*page, "data", "plugin", "scalars", "tags")).body)
    assert [*tags["."]] == ["loss"]
    whole = await jp_fetch(*page, "index.html")
    assert b"tb-relative-root" in whole.body
    assert "frame-ancestors 'self'" in whole.headers["Content-Security-Policy"]

    asked = urlencode({"requests": '[{"plugin": "scalars", "tag": "loss"}]'})
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    points = []
    while len(points) < 3:
        curve = await jp_fetch(
            *page, "data", "plugin", "timeseries", "timeSeries", method="POST", body=asked, headers=form
        )
        [found] = json.loads(curve.body)
        points = found["runToSeries"]["."]
    assert [point["value"] for point in points] == pytest.approx([1, 1 / 2, 1 / 3])

    # Nobody else gets in, and no other site asks in one's name.
    assert await status_of(AsyncHTTPClient().fetch(whole.effective_url, follow_redirects=False)) == 302
    from_elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert await status_of(jp_fetch(*page, "x", method="POST", body="{}", headers=from_elsewhere)) == 403

    status, refused = await api("POST", "jobs", job["id"], "viewers", "visualdl")
    assert (status, refused["code"]) == (404, "nothing_to_view")
    next(wrote.iterdir()).unlink()
    status, refused = await api("POST", "jobs", job["id"], "viewers", "tensorboard")
    assert (status, refused["message"]) == (404, f"Job {job['id']} has no files for TensorBoard that are still there.")
