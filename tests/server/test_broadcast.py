"""A hundred clients cost one message, and none of them keeps the event loop from the others' requests."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from jupyter_paddle_gpu.domain.devices import HostSample, Inventory
from jupyter_paddle_gpu.domain.jobs.job import Job, JobSpec
from jupyter_paddle_gpu.domain.messages import Message, Translate, untranslated
from jupyter_paddle_gpu.i18n import to_json
from jupyter_paddle_gpu.server import broadcast
from jupyter_paddle_gpu.server.broadcast import AT_ONCE, Broadcast, Event
from jupyter_paddle_gpu.server.panel_words import page_translator as translator  # each page asks for its own

HOST = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)


def test_a_sample_is_made_into_a_message_once_for_each_language() -> None:
    made, first, second = Broadcast(), Inventory(time=1.0, host=HOST), Inventory(time=2.0, host=HOST)
    english, chinese = translator("en"), translator("zh-CN")

    def event(inventory: Inventory) -> Event:
        return {"type": "devices", "inventory": inventory}

    assert made.ready(event(first), english) is None
    told = made.made(event(first), english)
    assert made.ready(event(first), translator("en-GB")) is made.made(event(first), english) is told
    assert made.ready(event(first), chinese) is None
    assert made.ready(event(second), english) is None
    assert made.made(event(second), english) != told


def test_pages_that_open_beside_each_other_get_one_list_until_a_job_changes() -> None:
    spec = JobSpec(name="n", notebook="n", output="o", folder="f", engine="local")
    jobs = [Job(id=f"j{at}", spec=spec, state="queued", created=1.0, updated=1.0) for at in range(40)]
    made, english, chinese = Broadcast(), translator("en"), translator("zh-CN")
    event: Event = {"type": "jobs", "jobs": lambda: tuple(jobs)}
    told = made.made(event, english)
    assert made.made(event, translator("en")) is told
    assert msgspec.json.decode(told) == {"type": "jobs", "jobs": [to_json(job, english) for job in jobs]}
    assert made.made(event, chinese) is not told
    assert made.made(event, english) is told
    jobs[3] = msgspec.structs.replace(jobs[3], state="running", updated=2.0)
    assert msgspec.json.decode(made.made(event, english))["jobs"][3]["state"] == "running"
    jobs.pop()
    assert len(msgspec.json.decode(made.made(event, english))["jobs"]) == 39


def test_a_job_is_written_once_for_each_change_and_language(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def counting(value: Any, translate: Translate = untranslated) -> Any:
        written.append(value.id)
        return to_json(value, translate)

    monkeypatch.setattr(broadcast, "to_json", counting)
    spec = JobSpec(name="n", notebook="n", output="o", folder="f", engine="local")
    waits = Message(code="paused", text="Paused")
    first = Job(id="a", spec=spec, state="queued", created=1.0, updated=1.0, reason=waits)
    changed, other = (
        msgspec.structs.replace(first, updated=2.0, state="running"),
        msgspec.structs.replace(first, id="b"),
    )
    made, english, chinese = Broadcast(), translator("en"), translator("zh-CN")
    for _ in range(3):
        told = msgspec.json.decode(made.made({"type": "jobs", "jobs": lambda: (first, other)}, english))
        assert made.made({"type": "job", "job": first}, english) == made.ready({"type": "job", "job": first}, english)
        english = translator("en")
    assert written == ["a", "b"]
    assert told == {"type": "jobs", "jobs": [to_json(first, english), to_json(other, english)]}
    assert made.ready({"type": "job", "job": changed}, english) is None
    assert msgspec.json.decode(made.made({"type": "job", "job": changed}, english))["job"]["state"] == "running"
    assert msgspec.json.decode(made.made({"type": "job", "job": first}, chinese))["job"] == to_json(first, chinese)


def test_the_loop_comes_round_between_a_few_clients() -> None:
    rounds: list[int] = []

    async def client(made: Broadcast) -> None:
        async with made.turn():
            rounds[-1] += 1

    async def look(clients: list[asyncio.Task[None]]) -> None:
        while not all(task.done() for task in clients):
            rounds.append(0)
            await asyncio.sleep(0)

    async def run() -> None:
        rounds.append(0)
        made = Broadcast()
        await look([asyncio.create_task(client(made)) for _ in range(100)])

    asyncio.run(run())
    assert sum(rounds) == 100
    assert max(rounds) <= AT_ONCE
