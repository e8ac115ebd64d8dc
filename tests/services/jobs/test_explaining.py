"""Why a job is where it is: the table of its devices."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.match import MatchView
from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.devices import Device
from jupyter_paddle_gpu.domain.jobs.job import Resources
from jupyter_paddle_gpu.services import Services, Settings, Submission

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
    services.close()
    assert explained.reason.code in ("chosen_only", "job_has")
    cold, hot = explained.devices
    assert (cold.device_id, cold.state) == ("GPU-0", "chosen")
    assert hot.ruled_out is not None
    assert hot.ruled_out.render() == "It is at 95 °C now, the policy's ceiling is 85.0 °C."
    rows = MatchView(explained).rows(Speech("en"))
    assert [row[0] for row in rows] == ["✓", "✗"]
    assert [said.code for said in MatchView(explained).sentences(Speech("en"))] == ["score_read"]
    alone = msgspec.structs.replace(explained, devices=())
    assert list(MatchView(alone).sentences(Speech("en"))) == [], "no table, no word on how to read it"
