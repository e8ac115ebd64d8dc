"""Which place is full, as the result names it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_paddle_gpu.runner import files, space

Execute = Callable[..., Any]

NO_SPACE = "[Errno 28] No space left on device"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("'/nowhere' is missing", None),
        (NO_SPACE, "disk_full"),
        (f"{NO_SPACE}: '/data/checkpoints/7.pdparams'", "disk_full"),
        ("[Errno 122] Disk quota exceeded: '/home/me/x'", "disk_full"),
        (f"{NO_SPACE}: '/dev/shm/psm_1234'", "shared_memory_full"),
        (
            "(Fatal) DataLoader process (pid 7) exited is killed by signal: Bus error.\n  It may be caused by "
            "insufficient shared storage space.",
            "shared_memory_full",
        ),
    ],
)
def test_of_texts(text: str, reason: str | None) -> None:
    assert space.reason_of(text, ()) == reason


def test_a_text_without_a_path_is_about_the_place_that_is_full(small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(1)
    (disk / "filler").write_bytes(bytes(1 << 20))
    assert space.is_full(disk) and not space.is_full(disk / "no such folder")
    assert space.reason_of(NO_SPACE, (disk,)) == "disk_full"


def test_a_file_that_was_kept_takes_its_content_on_a_full_disk(small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(1)
    files.keep(disk / "kept", 64 << 10)
    with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space left"):
        while True:
            filler.write(bytes(4096))
    with pytest.raises(OSError, match="No space left"):
        files.replace(disk / "result.json", b"x" * 10_000)
    files.replace_within(disk / "kept", disk / "result.json", b"x" * 10_000)
    assert (disk / "result.json").read_bytes() == b"x" * 10_000
    assert {path.name for path in disk.iterdir()} == {"filler", "result.json"}


def test_the_result_of_a_job_that_takes_every_byte(prepare: Execute, small_disk: Callable[[int], Path]) -> None:
    """It swallows its errors, and something takes what the runner frees: the result is there all the same."""
    run = prepare("")
    disk = small_disk(4)
    source = (
        f"import os, subprocess, sys, time\nfile = os.open({str(disk / 'filler')!r}, os.O_WRONLY | os.O_CREAT)\n"
        "def fill():\n    try:\n        while True: os.write(file, bytes(4096))\n    except OSError: pass\n"
        "while True:\n    fill()\n    print('x' * 100)\n    time.sleep(0.001)"
    )
    folder = disk / "job"
    folder.mkdir()
    notebook = json.loads((run.folder / "source.ipynb").read_text())
    notebook["cells"][0]["source"] = source
    (folder / "source.ipynb").write_text(json.dumps(notebook))
    spec = json.loads((run.folder / "spec.json").read_text())
    spec.update(limits={"disk_patience_seconds": 1.0}, stop_seconds=2.0)
    (folder / "spec.json").write_text(json.dumps(spec))
    run.folder = folder
    run.start().wait()
    assert run.result["reason"] == "disk_full", run.result
    assert [line["n"] for line in run.log] == list(range(len(run.log)))
    assert not (folder / "result.reserve").exists() and not (folder / "reserve").exists()


def test_an_error_of_another_name_is_known_too(execute: Execute) -> None:
    run = execute(f"raise RuntimeError('fwrite failed: {NO_SPACE}')".replace("[Errno 28] ", ""))
    assert run.result["reason"] == "disk_full"
