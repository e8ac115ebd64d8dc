"""Lines as a terminal shows them, the log file's numbering and its repair, progress read from lines."""

from __future__ import annotations

import itertools
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.runner import channel, metrics
from jupyter_paddle_gpu.runner.lines import Lines
from jupyter_paddle_gpu.runner.log import Log

Execute = Callable[..., Any]


def assemble(*texts: str, limit: int = 1000, state_seconds: float = 0.0) -> list[tuple[str, bool, bool, str]]:
    out: list[tuple[str, bool, bool, str]] = []
    lines = Lines(lambda *event: out.append(event), limit=limit, state_seconds=state_seconds, partial_seconds=1e9)
    for text in texts:
        lines.feed(text)
    lines.finish()
    return out


def final(*texts: str, **options: Any) -> list[str]:
    return [text for text, _, complete, _ in assemble(*texts, **options) if complete]


def test_lines_are_cut_at_line_feeds() -> None:
    assert assemble("a\nb", "c\n", "d") == [("a", False, True, "\n"), ("bc", False, True, "\n"), ("d", False, True, "")]


def test_carriage_return_writes_over() -> None:
    assert final("10%\r20%\rdone\n") == ["done"]
    assert final("abcdef\rxy\n") == ["xycdef"]
    assert final("a\r\nb\r\n") == ["a", "b"]
    assert final("abc\b\bX\n") == ["aXc"]
    assert final("long text\r\x1b[Kx\n") == ["x"]


def test_states_of_a_bar_replace_each_other_and_the_last_one_stays() -> None:
    events = assemble("\r1/3", "\r2/3", "\r3/3", "\nnext\n")
    assert [(text, replaces) for text, replaces, _, _ in events] == [
        ("1/3", False),
        ("2/3", True),
        ("3/3", True),
        ("3/3", True),
        ("next", False),
    ]


def test_states_are_throttled_but_the_last_is_kept() -> None:
    events = assemble(*[f"\r{n}/1000" for n in range(1, 1001)], "\n", state_seconds=1000.0)
    assert [text for text, *_ in events][-1] == "1000/1000" and len(events) <= 2


def test_long_lines_are_cut_and_nothing_is_lost() -> None:
    pieces = final("x" * 2500 + "\n", limit=1000)
    assert [len(piece) for piece in pieces] == [1000, 1000, 500]


@given(st.lists(st.text(alphabet="ab\n", max_size=8), max_size=8))
def test_however_text_is_cut_the_lines_are_the_same(pieces: list[str]) -> None:
    whole = "".join(pieces)
    expected = whole.split("\n") if whole else []
    assert final(*pieces) == (expected[:-1] if expected and not expected[-1] else expected)


@given(st.binary(max_size=60), st.lists(st.integers(0, 80), max_size=5))
def test_marks_are_found_however_the_bytes_are_cut(printed: bytes, cuts: list[int]) -> None:
    nonce = "0123456789abcdef"
    data = printed + channel.mark(nonce) + printed
    receiver = channel.Receiver(nonce)
    body = json.dumps({"kind": "x"}).encode()
    receiver.take_messages(len(body).to_bytes(4, "big") + body)
    out: list[Any] = []
    edges = sorted({0, len(data), *[cut for cut in cuts if cut < len(data)]})
    for start, stop in itertools.pairwise(edges):
        receiver.take_printed(data[start:stop])
        out += receiver.ready()
    receiver.take_printed(b"", last=True)
    out += receiver.ready()
    where = out.index({"kind": "x"})
    assert b"".join(out[:where]) == printed and b"".join(out[where + 1 :]) == printed


def test_log_goes_on_after_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for text in "ab":
        log = Log(path)
        log.add(1.0, "stdout", text)
        log.flush()
        log.close()
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"n": 0, "t": 1.0, "s": "stdout", "x": "a"},
        {"n": 1, "t": 1.0, "s": "stdout", "x": "b"},
    ]


@pytest.mark.parametrize("size", [10, 200_000])
def test_half_a_last_line_is_cut_off(tmp_path: Path, size: int) -> None:
    path = tmp_path / "log.jsonl"
    whole = "".join(json.dumps({"n": n, "t": 0, "s": "stdout", "x": "x" * size}) + "\n" for n in range(3))
    path.write_text(whole + '{"n":3,"t":0,"s":"std' + "y" * size)
    log = Log(path)
    log.add(1.0, "stdout", "next")
    log.flush()
    log.close()
    assert path.read_text().startswith(whole)
    assert json.loads(path.read_text().splitlines()[3])["n"] == 3


def test_what_the_disk_does_not_take_is_kept_back(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    pid = os.fork()
    if not pid:  # the limit holds for a whole process
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (500, resource.RLIM_INFINITY))
            log = Log(path)
            for n in range(50):
                log.add(0.0, "stdout", f"line {n}")
            assert not log.flush()
            assert path.read_bytes().endswith(b"}\n") and 0 < path.stat().st_size <= 500
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            assert log.flush()
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    assert [json.loads(line)["n"] for line in path.read_text().splitlines()] == list(range(50))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Epoch 3/5", {"epoch": 3, "epochs": 5}),
        (
            "step 20/22 - loss: 0.7403 - acc: 0.5078 - 119ms/step",
            {"step": 20, "steps": 22, "metrics": {"loss": 0.7403, "acc": 0.5078}},
        ),
        (
            "epoch 1/4 step 5/12 loss 0.5123",
            {"epoch": 1, "epochs": 4, "step": 5, "steps": 12, "metrics": {"loss": 0.5123}},
        ),
        ("epoch: 2, batch_id: 100, loss is: [0.25]", {"epoch": 2, "metrics": {"loss": 0.25}}),
        ("Epoch [2/10], val_loss=1e-3, accuracy = 93.5%", None),
        ("the lossless epochal batch", {}),
        ("no numbers here", {}),
    ],
)
def test_progress_in_lines(line: str, found: dict[str, Any] | None) -> None:
    if found is None:
        found = {"epoch": 2, "epochs": 10, "metrics": {"val_loss": 0.001, "accuracy": 0.935}}
    assert metrics.read(line) == found


def test_progress_bar_of_a_real_process(execute: Execute) -> None:
    run = execute(
        "import sys, time\nfor n in range(1, 2001):\n    print(f'\\rstep {n}/2000 loss: {1 / n:.4f}', end='')\n"
        "print()\nprint('Epoch 2/2')"
    )
    states = [line for line in run.log if line["s"] == "stdout"]
    assert states[-2]["x"] == "step 2000/2000 loss: 0.0005" and states[-1]["x"] == "Epoch 2/2"
    assert len(states) < 200
    assert run.stream(0) == "step 2000/2000 loss: 0.0005\nEpoch 2/2\n"
    metric = [event for event in run.events if event["type"] == "metric"]
    assert {**metric[-1], "t": 0}["epoch"] == 2 and any(event.get("step") == 2000 for event in metric)


def test_output_beyond_the_limit_is_in_the_log_only(execute: Execute) -> None:
    run = execute(
        "for n in range(5000):\n    print('line', n)",
        "print('small')",
        limits={"cell_stream_bytes": 1000},
    )
    text = run.stream(0)
    assert text.startswith("line 0\n") and text.endswith("line 4999\n") and "bytes left out" in text
    assert len(run.texts()) == 5001 and run.stream(1) == "small\n"


def test_text_that_is_no_utf8(execute: Execute) -> None:
    run = execute("import os\nos.write(1, b'caf\\xe9 \\xe4\\xb8')\nos.write(1, b'\\xad\\n')")
    assert run.texts() == ["caf\ufffd 中"]
