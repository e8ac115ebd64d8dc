"""Lines as a terminal shows them, the log file's numbering and its repair, progress read from lines."""

from __future__ import annotations

import itertools
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_paddle_gpu.runner import channel
from jupyter_paddle_gpu.runner.records import metrics
from jupyter_paddle_gpu.runner.records.lines import Lines, plain
from jupyter_paddle_gpu.runner.records.log import Log

Execute = Callable[..., Any]


def assemble(*texts: str, limit: int = 1000, state_seconds: float = 0.0) -> list[tuple[str, bool, bool, str]]:
    out: list[tuple[str, bool, bool, str]] = []
    lines = Lines(
        lambda *event: out.append(event),
        lambda many: out.extend((text, False, True, "\n") for text in many),
        limit=limit,
        state_seconds=state_seconds,
        partial_seconds=1e9,
    )
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


def test_colours_stay_and_other_moves_do_not_however_they_are_cut() -> None:
    text = "a\x1b[31mred\x1b[0m\x1b[2Ab\n"
    for cut in range(len(text)):
        assert final(text[:cut], text[cut:]) == ["a\x1b[31mred\x1b[0mb"]


@pytest.mark.parametrize("cut", [1, 7, 10_000])
def test_a_bar_within_a_bar_takes_one_row(cut: int) -> None:
    """What tqdm writes for two of them, one loop in another: it goes down for the inner one and up again."""
    text = "epochs\n\repoch 0/2"
    for epoch in (1, 2):
        text += "".join(f"\n\rstep {step}/3\x1b[A" for step in range(4))
        text += f"\n\r        \x1b[A\repoch {epoch}/2"
    text += "\nthe end\n"
    pieces = [text[at : at + cut] for at in range(0, len(text), cut)]
    assert final(*pieces) == ["epochs", "epoch 0/2", "epoch 1/2", "epoch 2/2", "the end"]
    states = [line for line, _, complete, _ in assemble(*pieces) if not complete]
    assert cut > 7 or {"step 1/3", "step 2/3"} <= set(states)


def test_a_bar_that_stays_has_its_row_and_what_goes_down_again_does_too() -> None:
    assert final("e 0\n\rs 0\x1b[A\n\rs 1\x1b[A\rs 1\n\re 1\n") == ["e 0", "s 1", "e 1"]
    assert final("one\ntwo\n\x1b[2A\n\nthree") == ["one", "two", "three"]
    assert final("first\x1b[9A still first\n") == ["first still first"]


@pytest.mark.parametrize("end", ["\x07", "\x1b\\"])
def test_addresses_behind_words_are_left_out_however_they_are_cut(end: str) -> None:
    text = f"\x1b]8;;https://example.org{end}words\x1b]8;;{end} after\r\n"
    for cut in range(len(text)):
        assert [plain(line) for line in final(text[:cut], text[cut:])] == ["words after"]


def test_long_lines_are_cut_and_nothing_is_lost() -> None:
    pieces = final("x" * 2500 + "\n", limit=1000)
    assert [len(piece) for piece in pieces] == [1000, 1000, 500]


@given(st.lists(st.text(alphabet="ab\n", max_size=8), max_size=8))
def test_however_text_is_cut_the_lines_are_the_same(pieces: list[str]) -> None:
    whole = "".join(pieces)
    expected = whole.split("\n") if whole else []
    assert final(*pieces) == (expected[:-1] if expected and not expected[-1] else expected)


@given(st.binary(max_size=60), st.lists(st.integers(0, 200), max_size=5))
def test_marks_are_found_however_the_bytes_are_cut(printed: bytes, cuts: list[int]) -> None:
    nonce = "0123456789abcdef"
    errors = channel.mark(nonce, channel.ERRORS) + b"err" + printed + channel.mark(nonce, channel.OUTPUT)
    data = printed + channel.mark(nonce) + printed + errors + printed
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
    assert joined(out[:where]) == ([("stdout", printed)] if printed else [])
    rest = [("stdout", printed), ("stderr", b"err" + printed), ("stdout", printed)]
    assert joined(out[where + 1 :]) == [item for item in rest if item[1]]


def joined(items: list[Any]) -> list[Any]:
    """Pieces of the same stream put together."""
    streams = itertools.groupby(items, key=lambda item: item[0])
    return [(name, b"".join(text for _, text in group)) for name, group in streams]


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


@given(st.lists(st.text(st.characters()), max_size=5))
def test_records_are_the_json_of_any_text(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.jsonl")
        log = Log(path)
        log.add_lines(1.25, "stdout", texts)
        for text in texts:
            log.add(1.25, "stderr", text, replaces=True, passing=True)
        assert log.flush()
        log.close()
        records = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    shown = [text.encode("utf-8", "replace").decode() for text in texts]
    many = [{"n": n, "t": 1.25, "s": "stdout", "x": text} for n, text in enumerate(shown)]
    one = [
        {"n": n, "t": 1.25, "s": "stderr", "x": text, "r": True, "p": True} for n, text in enumerate(shown, len(many))
    ]
    assert records == many + one


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
        (" 45%|####5     | 45/100 [00:10<00:12,  4.42it/s]", {"step": 45, "steps": 100}),
        (
            "Epoch 1:  45%|#### | 45/100 [00:10<00:12,  4.42it/s, loss=0.5]",
            {"epoch": 1, "step": 45, "steps": 100, "metrics": {"loss": 0.5}},
        ),
        ("epochs:  30%|###  | 3/10 [00:10<00:24,  3.4s/it]", {"step": 3, "steps": 10}),
        ("step 5/12:  45%|#### | 45/100 [00:10<00:12]", {"step": 5, "steps": 12}),
        ("100%|#####| 170M/170M [00:05<00:00, 30MB/s]", {}),
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
    assert all("m" in event for event in run.events), "cells and metrics are told by one clock"


def test_output_beyond_the_limit_is_in_the_log_only(execute: Execute) -> None:
    run = execute(
        "for n in range(5000):\n    print('line', n)",
        "print('small')",
        limits={"cell_stream_bytes": 1000},
    )
    text = run.stream(0)
    assert text.startswith("line 0\n") and text.endswith("line 4999\n") and "bytes left out" in text
    assert len(run.texts()) == 5001 and run.stream(1) == "small\n"


def test_a_flood_of_both_streams_is_whole_and_in_order(execute: Execute) -> None:
    run = execute(
        "import sys\nfor n in range(40_000):\n    print(n)\n    if n % 3 == 0:\n        print('e', n, file=sys.stderr)"
    )
    expected = [text for n in range(40_000) for text in ([str(n), f"e {n}"] if n % 3 == 0 else [str(n)])]
    assert [line["x"] for line in run.log if line["s"] in ("stdout", "stderr")] == expected
    assert [line["n"] for line in run.log] == list(range(len(run.log)))


def test_a_line_without_an_end_of_ten_megabytes(execute: Execute) -> None:
    run = execute("print('x' * 10_000_000, end='')", "print('next')")
    assert "".join(run.texts()[:-1]) == "x" * 10_000_000
    assert max(map(len, run.texts())) <= 10_000
    assert (run.folder / "notebook.ipynb").stat().st_size < 6_000_000 and run.stream(1) == "next\n"


SENDING = """
import signal, sys
from jupyter_paddle_gpu.runner import channel
sender = channel.Sender(1, int(sys.argv[1]), -1, "0123456789abcdef")
signal.signal(signal.SIGINT, lambda number, frame: sender.interrupt())
n = 0
def go():
    global n
    while n < 3000:
        try:
            n += 1
            sender.send("x", n=n, filling="y" * 70_000)  # more than the pipe takes at once
            sender.send_errors(f"{n} ")
        except KeyboardInterrupt:
            pass
while n < 3000:
    try:
        go()
    except KeyboardInterrupt:  # it came between two rounds
        pass
while True:
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # one that is pending is raised in here
        break
    except KeyboardInterrupt:
        pass
"""


def test_an_interrupt_tears_no_message(tmp_path: Path) -> None:
    """A cancel comes at any moment; whatever is sent is sent whole, or the outcome after it would be lost."""
    reading, writing = os.pipe()
    command = [sys.executable, "-c", SENDING, str(writing)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[writing])
    os.close(writing)
    assert process.stdout is not None
    receiver, out, sent = channel.Receiver("0123456789abcdef"), [], 0
    ends = {process.stdout.fileno(): receiver.take_printed, reading: receiver.take_messages}
    while ends:
        ready, _, _ = select.select(list(ends), [], [], 60)
        assert ready
        if 0 < len(out) < 2000 and sent < 900:  # it is listening, and not yet at its end; each may cost a round
            process.send_signal(signal.SIGINT)
            sent += 1
        for end in ready:
            data = os.read(end, 1 << 18)
            ends[end](data)
            if not data:
                del ends[end]
        out += receiver.ready()
    assert process.wait(60) == 0
    process.stdout.close()
    os.close(reading)
    messages = [item["n"] for item in out if isinstance(item, dict)]
    assert messages == sorted(set(messages)) and len(messages) > 2000
    latest = 0
    for item in out:
        if isinstance(item, dict):
            latest = item["n"]
        else:
            assert item[0] == "stderr" and all(int(n) == latest for n in item[1].split())


def test_text_that_is_no_utf8(execute: Execute) -> None:
    run = execute("import os\nos.write(1, b'caf\\xe9 \\xe4\\xb8')\nos.write(1, b'\\xad\\n')")
    assert run.texts() == ["caf\ufffd 中"]


@pytest.mark.parametrize("shell", ["auto", "plain"])
def test_colours_are_kept_beside_the_text_and_a_traceback_names_its_cells(execute: Execute, shell: str) -> None:
    run = execute(
        "def f(x):\n    return 1 / x",
        "",
        "print('a \x1b[31mred\x1b[0m\x1b[2A word')\nprint('plain')\nf(0)",
        shell=shell,
    )
    by_text = {line["x"]: line for line in run.log}
    assert by_text["a red word"]["c"] == "a \x1b[31mred\x1b[0m word"
    assert "c" not in by_text["plain"]
    places = [(line["at"]["cell"], line["at"]["line"]) for line in run.log if "at" in line]
    assert sorted(places) == [(0, 2), (2, 3)], "an empty cell is none that ran, and is counted as a cell"
