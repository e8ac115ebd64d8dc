"""Reading a log from any line on, however long it is and while it grows."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_paddle_gpu.domain.jobs.job import LogLine
from jupyter_paddle_gpu.engines.base import JobFolder
from jupyter_paddle_gpu.jobs.folder.log import PAGE_BYTES, STEP, LogReader, LogReaders, say
from jupyter_paddle_gpu.jobs.store.lock import FileLock

_encoder = msgspec.json.Encoder()


def line(number: int, text: str = "x") -> bytes:
    return _encoder.encode(LogLine(seq=number, time=1.0, stream="stdout", text=text)) + b"\n"


def write(path: Path, count: int, start: int = 0) -> None:
    with path.open("ab") as file:
        file.write(b"".join(line(number) for number in range(start, start + count)))


def numbers(path: Path, since: int, limit: int = 10) -> list[int]:
    return [one.seq for one in LogReader(path).page(since, limit).lines]


def test_a_million_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, 1_000_000)
    reader = LogReader(path)
    page = reader.page(999_995, 100)
    assert ([one.seq for one in page.lines], page.next, page.total) == ([*range(999_995, 1_000_000)], 10**6, 10**6)
    for since in (0, 1, STEP - 1, STEP, STEP + 1, 123_456, 500_000):
        assert [one.seq for one in reader.page(since, 3).lines] == [since, since + 1, since + 2]
    # The whole in pages: every line once.
    since, seen = 0, 0
    while since < 1_000_000:
        page = reader.page(since, 10_000)
        assert page.lines[0].seq == since and page.lines[-1].seq == page.next - 1
        seen, since = seen + len(page.lines), page.next
    assert seen == 1_000_000


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.integers(0, 2 * STEP + 3), min_size=1, max_size=6), st.integers(0, 5000))
def test_index_is_right_however_the_file_grows(tmp_path: Path, pieces: list[int], since: int) -> None:
    path = tmp_path / "log.jsonl"
    path.unlink(missing_ok=True)
    path.touch()
    reader, total = LogReader(path), 0
    for piece in pieces:
        write(path, piece, total)
        total += piece
        page = reader.page(since, 5)
        first = min(since, total)
        assert [one.seq for one in page.lines] == list(range(first, min(total, first + 5)))
        assert page.total == total


def test_half_a_line_is_not_there_yet(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, 2)
    with path.open("ab") as file:
        file.write(line(2)[:10])
    reader = LogReader(path)
    assert reader.page(0, 10).total == 2
    with path.open("ab") as file:
        file.write(line(2)[10:])
    assert [one.seq for one in reader.page(2, 10).lines] == [2]


def test_tail_and_edges(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    assert LogReader(path).page(0, 10).total == 0
    write(path, 25)
    assert numbers(path, -3) == [22, 23, 24]
    assert numbers(path, -100, 2) == [0, 1]
    assert numbers(path, 25) == numbers(path, 99) == []
    assert LogReader(path).page(99, 10).next == 25
    assert numbers(path, 0, 0) == []


def test_a_page_is_bounded_in_bytes(tmp_path: Path) -> None:
    """What a program that prints 300 MB without a line's end leaves: records of ten thousand characters."""
    path, count = tmp_path / "log.jsonl", 3_000
    with path.open("wb") as file:
        file.writelines(line(number, "x" * 10_000) for number in range(count))
    reader, seen, since = LogReader(path), 0, 0
    reader.page(0, 1)  # the index is made
    tracemalloc.start()
    while since < count:
        page = reader.page(since, 10_000)
        assert sum(len(one.text) for one in page.lines) <= PAGE_BYTES
        assert (page.lines[0].seq, page.lines[-1].seq, page.total) == (since, page.next - 1, count)
        seen, since = seen + len(page.lines), page.next
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == count
    assert peak < 8 * PAGE_BYTES, f"{peak >> 20} MiB for pages of one"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.integers(0, 400), max_size=40), st.integers(-45, 45), st.integers(0, 50), st.integers(1, 2000))
def test_pages_of_any_size_are_whole_lines(
    tmp_path: Path, lengths: list[int], since: int, limit: int, size: int
) -> None:
    path = tmp_path / "log.jsonl"
    raw = [line(number, "x" * length) for number, length in enumerate(lengths)]
    path.write_bytes(b"".join(raw))
    page = LogReader(path).page(since, limit, size)
    got = [one.seq for one in page.lines]
    assert got == list(range(page.next - len(got), page.next)) and page.total == len(raw)
    assert len(got) <= limit and (len(got) <= 1 or sum(len(raw[number]) for number in got) <= size)
    start = page.next - len(got)
    if since >= 0:
        assert start == min(since, len(raw))
        fits = limit > len(got) and page.next < len(raw)  # then one more would have been too much
        assert not fits or sum(map(len, raw[start : page.next + 1])) > size
    elif raw and limit >= len(raw):
        assert page.next == len(raw), "the end is what was asked for"
        more = start > max(0, len(raw) + since)
        assert not more or sum(map(len, raw[start - 1 :])) > size


def test_file_that_was_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    write(path, 50)
    reader = LogReader(path)
    assert reader.page(0, 1).total == 50
    path.unlink()
    write(path, 3)
    assert reader.page(0, 10).total == 3


def test_damaged_line_keeps_the_numbering(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line(0) + b"\x00\xff garbage\n" + line(2))
    page = LogReader(path).page(0, 10)
    assert [one.seq for one in page.lines] == [0, 1, 2] and "garbage" in page.lines[1].text


def test_saying_something_goes_on_with_the_numbers(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    write(folder.log, 2)
    with folder.log.open("ab") as file:
        file.write(b'{"n":2,"t"')
    assert say(folder, "one", "two")
    assert [json.loads(one)["n"] for one in folder.log.read_text().splitlines()] == [0, 1, 2, 3]


def test_nobody_writes_beside_the_runner(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    runner = FileLock(folder.lock)
    assert runner.acquire()
    assert not say(folder, "not now") and not folder.log.exists()
    runner.release()
    assert say(folder, "now")


@pytest.mark.parametrize("count", [3, 200])
def test_few_indexes_are_kept(tmp_path: Path, count: int) -> None:
    readers = LogReaders(most=5)
    for number in range(count):
        readers.of(tmp_path / str(number))
    assert readers.of(tmp_path / str(count - 1)) is readers.of(tmp_path / str(count - 1))
