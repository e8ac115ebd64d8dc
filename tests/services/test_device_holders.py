"""Who has which device: a job of one's own by the store, another store's by its claim."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from jupyter_paddle_gpu.claims.claims import Claims
from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views.live import LiveView
from jupyter_paddle_gpu.domain.devices import DeviceHolder, Inventory
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec
from jupyter_paddle_gpu.jobs.store.job_store import JobStore
from jupyter_paddle_gpu.services import Services, Settings


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setenv("PADDLE_GPU_SIMULATE", "T4 x3")
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims").chmod(0o1777)
    monkeypatch.setenv("PADDLE_GPU_SHARED", str(tmp_path))
    made = Services(Settings(data_folder=tmp_path / "data", policy_file=None))
    yield made
    made.close()


def holders(inventory: Inventory) -> dict[str, DeviceHolder | None]:
    return {device.id: device.holder for device in inventory.devices if device.simulated}


def test_ones_own_job_and_another_stores_are_named(services: Services, tmp_path: Path) -> None:
    first, second, third = holders(services.inventory())
    assert not (tmp_path / "data" / "jobs.sqlite").exists(), "who looks at devices makes no store"
    (tmp_path / "other").mkdir()
    other = Claims(tmp_path / "claims", tmp_path / "other")
    other.take("20260101-120000-beef", (second,))
    store = JobStore(tmp_path / "data" / "jobs.sqlite")
    spec = JobSpec(name="digits", notebook="n", output="o", folder="f", engine="local")
    row = Job(id="20260101-120000-cafe", spec=spec, state="queued", created=1, updated=1, owner="ann")
    store.add(row)
    assert holders(services.inventory())[first] is None, "it waits yet"
    began = msgspec.structs.replace(row, state="preparing", device_ids=(first,), updated=time.time())
    store.change(row.id, lambda _: began)
    inventory = services.inventory()
    found = holders(inventory)
    assert found[first] == DeviceHolder(job=row.id, owner="ann", name="digits")
    assert found[second] is not None
    assert (found[second].job, found[second].name) == ("20260101-120000-beef", "")
    assert found[second].owner
    assert found[third] is None
    say = Speech("en")
    view = LiveView(inventory)
    assert view.head(say)[-1] == "Held by"
    said = [row[-1] for row in view.rows(say)]
    assert said[-3:] == ["ann · digits (cafe)", f"{found[second].owner} · beef", "–"]
    assert view.json(say)["devices"][-3]["holder"]["name"] == "digits"
    other.release("20260101-120000-beef")
    store.change(row.id, lambda job: msgspec.structs.replace(job, state="cancelled"))
    assert set(holders(services.inventory()).values()) == {None}
    assert "Held by" not in LiveView(services.inventory()).head(say)
    store.close()
