"""What the services say of engines beyond what the engines say themselves."""

from __future__ import annotations

import json

from jupyter_paddle_gpu.services import Services, Settings


def test_how_many_jobs_run_at_once_without_a_device_is_the_policys(tmp_path):
    policy = tmp_path / "paddle-gpu.yaml"
    told = {}
    for slots in ({}, {"local": 3}):
        policy.write_text(json.dumps({"jobs": {"cpu_slots": slots}}))
        services = Services(Settings(data_folder=tmp_path / "data", policy_file=policy))
        told[len(slots)] = {row.name: row.cpu_slots for row in services.features()}
        services.close()
    assert (told[0]["local"], told[1]["local"]) == (1, 3)
