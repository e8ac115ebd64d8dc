from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from jupyter_paddle_gpu.devices.sampler import Sampler

LONG = 3600.0
PATIENCE = 60.0


class Inbox:
    """Collects samples; `wait` returns when there are so many."""

    def __init__(self) -> None:
        self.items: list[int] = []
        self._more = threading.Condition()

    def __call__(self, item: int) -> None:
        with self._more:
            self.items.append(item)
            self._more.notify_all()

    def wait(self, count: int) -> None:
        with self._more:
            assert self._more.wait_for(lambda: len(self.items) >= count, PATIENCE)


def counter() -> Callable[[], int]:
    numbers = iter(range(10**9))
    return lambda: next(numbers)


def test_one_thread_serves_all_and_ends_with_the_last() -> None:
    threads: set[int] = set()
    idle = threading.Event()
    read = counter()

    def recording() -> int:
        threads.add(threading.get_ident())
        return read()

    sampler = Sampler(recording, interval=0.001, idle=idle.set)
    assert not sampler.running
    first, second = Inbox(), Inbox()
    leave_first, leave_second = sampler.subscribe(first), sampler.subscribe(second)
    first.wait(5)
    second.wait(5)
    leave_first()
    second.wait(len(second.items) + 3)
    assert not idle.is_set()
    leave_second()
    leave_second()  # leaving twice is nothing
    assert idle.wait(PATIENCE)
    assert not sampler.running
    assert len(threads) == 1
    assert set(first.items) <= set(range(max(second.items) + 1))


def test_a_newcomer_gets_a_sample_at_once() -> None:
    sampler = Sampler(counter(), interval=LONG)
    first, second = Inbox(), Inbox()
    sampler.subscribe(first)
    first.wait(1)
    sampler.subscribe(second)
    second.wait(1)
    sampler.stop()


def test_it_starts_again_after_everybody_had_left() -> None:
    sampler = Sampler(counter(), interval=LONG)
    for _ in range(20):
        inbox = Inbox()
        leave = sampler.subscribe(inbox)
        inbox.wait(1)
        leave()
    sampler.stop()


def test_a_failing_subscriber_does_not_blind_the_others(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: int) -> None:
        raise RuntimeError("closed")

    sampler = Sampler(counter(), interval=0.001)
    inbox = Inbox()
    sampler.subscribe(broken)
    sampler.subscribe(inbox)
    inbox.wait(3)
    sampler.stop()
    assert "A subscriber to the devices failed" in caplog.text


def test_a_subscriber_may_leave_from_within_its_callback() -> None:
    sampler = Sampler(counter(), interval=0.001)
    left = threading.Event()
    way_out: list[Callable[[], None]] = []
    ready = threading.Event()

    def once(_: int) -> None:
        ready.wait(PATIENCE)
        way_out[0]()
        left.set()

    way_out.append(sampler.subscribe(once))
    ready.set()
    assert left.wait(PATIENCE)
    sampler.stop()
    assert not sampler.running


def test_failed_samples_make_it_slower_and_a_good_one_brings_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    results = iter([RuntimeError(), RuntimeError(), RuntimeError(), RuntimeError(), 1, 2])
    done = threading.Event()
    original = threading.Condition.wait_for

    def wait_for(self: threading.Condition, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        if threading.current_thread().name != "paddle-gpu-sampler":
            return original(self, predicate, timeout)
        waits.append(timeout)
        return original(self, predicate, 0)

    def read() -> int:
        result = next(results, None)
        if result is None:
            done.set()
            sampler.stop()
            return 0
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(threading.Condition, "wait_for", wait_for)
    sampler = Sampler(read, interval=2, max_interval=10)
    sampler.subscribe(lambda _: None)
    assert done.wait(PATIENCE)
    assert waits[:6] == [4, 8, 10, 10, 2, 2]
