"""Why a job is where it is: the table of its devices."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.claims.claims import Claims
from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.match import MatchView
from jupyter_paddle_gpu.commands.views.queue import QueueView
from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.jobs.job import Resources
from jupyter_paddle_gpu.domain.queues import QueueView as QueueSeen
from jupyter_paddle_gpu.services import Services, Settings, Submission
from jupyter_paddle_gpu.services.jobs.explaining import has_devices

GIB = 2**30


class Cards:
    """Two cards, one of them hot."""

    def read(self) -> Reading:
        """The same every time."""
        cards = (("Tesla T4", 15, 40), ("NVIDIA A100-SXM4-80GB", 80, 95))
        return Reading(
            devices=tuple(
                Device(
                    id=f"GPU-{n}",
                    index=n,
                    vendor="nvidia",
                    name=name,
                    memory_total=size * GIB,
                    memory_used=0,
                    memory_free=size * GIB,
                    temperature=heat,
                )
                for n, (name, size, heat) in enumerate(cards)
            )
        )

    def close(self) -> None:
        """Nothing is held."""


def test_a_waiting_job_is_told_which_device_it_would_get_and_why_no_other(tmp_path: Path) -> None:
    (tmp_path / "paddle-gpu.yaml").write_text("resource_policy: {prefer: score, heat_ceiling: 85}\n")
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "outputs": [], "execution_count": None, "source": "x = 1"}
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    services = Services(Settings(data_folder=tmp_path, system_policy_file=tmp_path / "none"))
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Cards()])
    job = services.submit(
        services.open(notebook),
        Submission(engine="local", resources=Resources(gpus=1, gpu_memory_bytes=4 * GIB), estimate=False),
    )
    assert services.is_job(job.id)
    assert not services.is_job("n.ipynb")
    explained = services.explain_job(job.id)
    services.jobs.cancel(job.id)  # a dispatcher, which has not these cards, would wait for one for ever
    services.close()
    assert explained.reason.code in ("chosen_remaining", "job_has")
    cold, hot = explained.devices
    assert (cold.device_id, cold.state) == ("GPU-0", "chosen")
    assert hot.ruled_out is not None
    assert hot.ruled_out.render() == "It is at 95 °C now, the policy's ceiling is 85.0 °C."
    rows = MatchView(explained).rows(Speech("en"))
    assert [row[0] for row in rows] == ["✓", "✗"]
    assert [said.code for said in MatchView(explained).sentences(Speech("en"))] == ["score_read", "step_read"]
    unchecked = msgspec.structs.replace(cold, checked=False)
    (told,) = MatchView(msgspec.structs.replace(explained, devices=(unchecked,))).rows(Speech("en"))
    assert told[1:3] == ("GPU 0", f"{cold.device_name} (not checked on hardware)")
    ended = msgspec.structs.replace(job, state="succeeded", device_ids=("GPU-0",))
    assert has_devices(ended, ()).code == "job_had"
    alone = msgspec.structs.replace(explained, devices=())
    assert list(MatchView(alone).sentences(Speech("en"))) == [], "no table, no word on how to read it"


def test_a_job_behind_another_users_is_told_so_and_on_which_step_it_stands(tmp_path: Path) -> None:
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("the shared folder must be root's")
    for name in ("claims", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "claims").chmod(0o1777)
    (tmp_path / "system.yaml").write_text("scheduler: {priorities: {'*': 7}, quotas: {'*': 2}}\n")
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "outputs": [], "execution_count": None, "source": "x = 1"}
    notebook = tmp_path / "behind.ipynb"
    notebook.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    Claims(tmp_path / "claims", tmp_path / "other").take("theirs", ("GPU-0", "GPU-1"))
    settings = Settings(
        data_folder=tmp_path / "data", system_policy_file=tmp_path / "system.yaml", claims_folder=tmp_path / "claims"
    )
    services = Services(settings)
    services._built["devices"] = DeviceService(tmp_path, simulate="", readers=[Cards()])
    job = services.submit(services.open(notebook), Submission(engine="local", resources=Resources(gpus=1)))
    explained = services.explain_job(job.id)
    seen = services.jobs.queue.view()
    (entry,) = seen.entries
    assert services.find_job("behind").id == job.id, "as the queue calls it"
    services.jobs.cancel(job.id)
    services.close()
    assert {row.state for row in explained.devices} == {"ruled_out"}
    assert explained.reason == entry.reason and explained.reason.code == "waits_quota", "in the queue's words"
    assert (entry.level, entry.priority) == (7, 0)
    told = [said.render() for said in QueueView(msgspec.structs.replace(seen, shared=True)).sentences(Speech("en"))]
    assert told[0].startswith("Your jobs start by themselves.")
    assert told[1:] == ["The policy gives your jobs priority 7.", "The policy gives your jobs 2 devices at once."]
    rows = QueueView(QueueSeen(time=0.0, entries=(entry,))).rows(Speech("en"))
    assert rows[0][3] == "7"
