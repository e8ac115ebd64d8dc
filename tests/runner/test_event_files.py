"""Curves that a program writes which the notebook starts are told as those are that the notebook writes itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCRIPT = """
import os, time
os.makedirs("curves/first")
with open("curves/first/vdlrecords.1.log", "w"), open("curves/events.out.tfevents.1", "w"), open("notes.txt", "w"):
    while not os.path.exists("go"):
        time.sleep(0.02)
"""


def test_what_a_program_of_the_notebook_writes_is_told_once(prepare: Callable[..., Any]) -> None:
    run = prepare("!python train.py", "print('on')")
    work = Path(json.loads((run.folder / "spec.json").read_text())["folder"])
    (work / "train.py").write_text(SCRIPT)
    run.start()

    def told() -> list[tuple[str, str]]:
        events = run.events if (run.folder / "events.jsonl").exists() else []
        return sorted((one["viewer"], one["folder"]) for one in events if one["type"] == "event_files")

    wanted = [("tensorboard", str(work / "curves")), ("visualdl", str(work / "curves" / "first"))]
    run.until(lambda: told() == wanted)
    (work / "go").touch()
    run.wait()
    assert run.result["reason"] == "succeeded", run.log
    assert told() == wanted
