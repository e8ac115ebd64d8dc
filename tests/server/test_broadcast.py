"""A hundred clients cost one message, and none of them keeps the event loop from the others' requests."""

from __future__ import annotations

import asyncio

from jupyter_paddle_gpu.domain.devices import HostSample, Inventory
from jupyter_paddle_gpu.i18n import translator
from jupyter_paddle_gpu.server.broadcast import AT_ONCE, Broadcast

HOST = HostSample(cpu_count=1, cpu_percent=0.0, memory_total=1, memory_available=1)


def test_a_sample_is_made_into_a_message_once_for_each_language() -> None:
    made, first, second = Broadcast(), Inventory(time=1.0, host=HOST), Inventory(time=2.0, host=HOST)
    english, chinese = translator("en"), translator("zh-CN")
    told = made.devices(first, english)
    assert made.devices(first, translator("en-GB")) is told
    assert made.devices(first, chinese) is made.devices(first, chinese)
    assert made.devices(second, english) != told


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
