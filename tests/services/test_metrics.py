"""What Prometheus is told, read back with its own parser."""

from __future__ import annotations

import json
import platform
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from jupyter_paddle_gpu.claims.boards import Board, Posted, Waiting
from jupyter_paddle_gpu.devices.holders import Held
from jupyter_paddle_gpu.devices.reader import Reading
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.decisions import Placed
from jupyter_paddle_gpu.domain.devices import Device, DeviceDetails, DeviceHolder
from jupyter_paddle_gpu.domain.jobs.job import Job, JobResult, JobSpec
from jupyter_paddle_gpu.domain.jobs.statistics import DeviceSummary, StatisticsSummary
from jupyter_paddle_gpu.services.metrics import Metrics, estimate_error

GIB = 2**30


class Cards:
    """Two cards, counted how often they are looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def read(self) -> Reading:
        """The same every time."""
        self.looks += 1
        told = DeviceDetails(clock=1410, throttling=("power_cap",), ecc_uncorrected=2)
        card = Device(
            id="GPU-0",
            index=0,
            vendor="nvidia",
            name="NVIDIA A100",
            memory_total=80 * GIB,
            memory_used=5 * GIB,
            utilization=37,
            power=61.5,
            temperature=61,
            details=told,
        )
        return Reading(
            devices=(card, msgspec.structs.replace(card, id="GPU-1", index=1, utilization=None, fault="Xid 79"))
        )

    def close(self) -> None:
        """Nothing is held."""


def job(number: int, outcome: Literal["run", "wait"] = "run", **fields: Any) -> Job:
    placed = Placed(outcome=outcome, reason="chosen_only")
    paths = {"name": "n", "notebook": "n", "output": "o", "folder": "f"}
    spec = JobSpec(**paths, engine="local", estimated_peak_bytes=11 * GIB, placed=placed)
    values = {"state": "queued", "created": 1000.0, "updated": 1000.0, "owner": "ann", **fields}
    return Job(id=str(number), spec=spec, **values)


MEASURED = JobResult(statistics=StatisticsSummary(devices=(DeviceSummary(id="GPU-0", memory_peak_bytes=10 * GIB),)))
JOBS = (
    job(1, state="running", started=1002.0, device_ids=("GPU-0",)),
    job(2, "wait", owner="bob"),
    job(3, state="succeeded", started=1400.0, ended=1500.0, device_ids=("GPU-0",), result=MEASURED),
)


HELD = Held(
    {
        "GPU-0": (DeviceHolder(job="1", owner="ann"),),
        "GPU-1": (
            *(DeviceHolder(job=job, owner="bob", bytes=20 * GIB) for job in "56"),
            DeviceHolder(job="7", owner="ann", bytes=4 * GIB),
            DeviceHolder(job="", name="by hand", bytes=GIB),
        ),
    },
    {},
    {},
)


def board(user: str, jobs: int, usage: float) -> Posted:
    waiting = tuple(Waiting(job=f"20261122-140312-{number:06x}", count=1) for number in range(jobs))
    told = Board(waiting=waiting, usage=usage)
    return Posted(name=f"{user}{jobs}", user=user, mine=False, attended=True, board=told, since=(1.0,) * jobs)


BOARDS = (board("ann", 2, 60.0), board("ann", 1, 40.0), board("bob", 0, 7.5))


@pytest.fixture
def cards() -> Cards:
    return Cards()


@pytest.fixture
def metrics(cards: Cards, tmp_path: Path) -> Iterator[Metrics]:
    devices = DeviceService(tmp_path, simulate="T4", readers=[cards], interval=0.01, holders=lambda: HELD)
    found = Metrics(devices, lambda: JOBS, lambda: BOARDS, looked_seconds=0.2)
    yield found
    found.close()
    devices.close()


def read(text: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = text_string_to_metric_families(text.decode())
    return {
        (sample.name.removeprefix("paddle_gpu_"), tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_devices_jobs_waits_errors_and_placements(metrics: Metrics) -> None:
    found = read(metrics.text())
    host = ("Hostname", platform.node())
    first = (host, ("UUID", "GPU-0"), ("gpu", "0"), ("modelName", "NVIDIA A100"), ("vendor", "nvidia"))
    second = (host, ("UUID", "GPU-1"), ("gpu", "1"), *first[3:])
    assert found["device_memory_used_bytes", first] == 5 * GIB
    assert found["device_utilization_ratio", first] == 0.37
    assert ("device_utilization_ratio", second) not in found, "what a card cannot tell is not there"
    assert found["device_clock_hertz", first] == 1.41e9
    assert (found["device_healthy", first], found["device_healthy", second]) == (1, 0)
    assert found["device_throttled", tuple(sorted((*first, ("reason", "power_cap"))))] == 1
    assert found["jobs", (("state", "queued"), ("user", "bob"))] == 1
    began, ended = (("state", "running"), ("user", "ann")), (("state", "succeeded"), ("user", "ann"))
    assert [found["queue_wait_seconds_bucket", (("le", le), *began)] for le in ("1.0", "5.0")] == [0, 1]
    assert [found["queue_wait_seconds_bucket", (("le", le), *ended)] for le in ("300.0", "900.0", "+Inf")] == [0, 1, 1]
    assert (found["queue_wait_seconds_sum", began], found["queue_wait_seconds_sum", ended]) == (2, 400)
    waits = (("state", "queued"), ("user", "bob"))
    assert found["queue_wait_seconds_count", waits] == 1
    assert found["queue_wait_seconds_sum", waits] > 1e9, "it waits since 1970, and still does"
    assert found["estimate_error_ratio_bucket", (("le", "0.1"),)] == 1
    assert found["estimate_error_ratio_count", ()] == 1
    assert found["placements_total", (("outcome", "wait"), ("reason", "chosen_only"))] == 1
    assert found["device_held_ratio", tuple(sorted((*first, ("user", "ann"))))] == 1
    shares = [found["device_held_ratio", tuple(sorted((*second, ("user", user))))] for user in ("ann", "bob")]
    assert shares == [0.05, 0.5], "nobody has what somebody started by hand"
    assert [found["waiting_jobs", (host, ("user", user))] for user in ("ann", "bob")] == [3, 0]
    assert [found["fair_use_device_seconds", (host, ("user", user))] for user in ("ann", "bob")] == [100, 7.5]
    assert not [name for name, labels in found if ("modelName", "T4 16GB") in labels], "simulated cards are none"


def test_a_deleted_job_was_placed_all_the_same(cards: Cards, tmp_path: Path) -> None:
    rows = [job(1), job(2)]
    devices = DeviceService(tmp_path, readers=[cards])
    metrics = Metrics(devices, lambda: rows)
    key = ("placements_total", (("outcome", "run"), ("reason", "chosen_only")))
    assert read(metrics.text())[key] == 2
    del rows[0]
    rows.append(job(3))
    metrics._rows_at = float("-inf")  # five seconds later
    assert read(metrics.text())[key] == 3
    devices.close()


def test_an_error_needs_both_figures() -> None:
    assert estimate_error(JOBS[0]) is None
    assert estimate_error(JOBS[2]) == pytest.approx(0.1)
    cpu = msgspec.structs.replace(JOBS[2], device_ids=(), result=JobResult(step_allocated_bytes=GIB))
    assert estimate_error(cpu) is None
    known = msgspec.structs.replace(cpu.spec, estimated_allocated_bytes=GIB)
    assert estimate_error(msgspec.structs.replace(cpu, spec=known)) == 0


def test_a_scrape_is_a_look_and_waits_for_nothing(metrics: Metrics, cards: Cards, until: Any) -> None:
    registry = CollectorRegistry(auto_describe=True)
    registry.register(metrics)
    assert cards.looks == 0, "being registered is no look"
    assert ("info", ()) not in read(generate_latest(registry))
    until(lambda: any(name == "device_memory_used_bytes" for name, _ in read(generate_latest(registry))))
    until(lambda: not metrics._devices._sampler.running)
    looks = cards.looks
    time.sleep(0.05)
    assert cards.looks == looks, "nobody scrapes, nothing is sampled"


def test_a_host_without_a_server_answers_scrapes_by_itself(metrics: Metrics) -> None:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    end = metrics.serve(port, "127.0.0.1")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        assert b"paddle_gpu_info" in answer.read()
    end()


DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana-dashboard.json"


def test_the_dashboard_asks_for_figures_that_there_are(metrics: Metrics) -> None:
    told = metrics.text().decode()
    asked = set(re.findall(r"paddle_gpu_\w+", DASHBOARD.read_text()))
    assert len(asked) > 10
    for name in asked:
        family = re.sub(r"_bucket$", "", name)
        assert f"# TYPE {family} " in told, name


def test_every_label_that_the_dashboard_asks_for_is_there(metrics: Metrics) -> None:
    """Those by which a query sums or picks, and those of its legend; what it has summed over has no others."""
    families = {one.name: one for one in text_string_to_metric_families(metrics.text().decode())}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            query, legend = target["expr"], set(re.findall(r"{{(\w+)}}", target.get("legendFormat", "")))
            (name,) = {re.sub(r"_(bucket|total)$", "", one) for one in re.findall(r"paddle_gpu_\w+", query)[:1]}
            labels = {label for sample in families[name].samples for label in sample.labels}
            summed = [set(re.findall(r"\w+", part)) for part in re.findall(r"by \(([^)]*)\)", query)]
            picked = {label for part in re.findall(r"{([^}]*)}", query) for label in re.findall(r"(\w+)\s*[=!]", part)}
            assert picked | legend | set().union(*summed) <= labels, query
            assert all(legend <= one for one in summed), query


def test_the_dashboard_is_one_by_grafanas_own_types() -> None:
    models = pytest.importorskip(
        "grafana_foundation_sdk.models.dashboard", reason="the package grafana-foundation-sdk, Grafana's types"
    )
    said = json.loads(DASHBOARD.read_text())
    known = json.loads(json.dumps(models.Dashboard.from_json(said).to_json(), default=lambda part: part.to_json()))
    assert lacking(said, known) == []
    assert all(panel["type"] in ("timeseries", "stat") for panel in said["panels"])
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in said["panels"]]
    assert len(set(places)) == len(places)


def lacking(said: Any, known: Any, at: str = "$") -> list[str]:
    """What of a document its types do not know. Queries of a data source are its own affair."""
    if isinstance(said, dict):
        if "expr" in said:
            return []
        gone = [f"{at}.{key}" for key in said if key not in known and said[key] not in ([], {}, None)]
        return gone + [row for key in said if key in known for row in lacking(said[key], known[key], f"{at}.{key}")]
    if isinstance(said, list):
        return [row for n, part in enumerate(said) for row in lacking(part, known[n], f"{at}[{n}]")]
    return [] if said == known else [f"{at}: {said!r} became {known!r}"]
