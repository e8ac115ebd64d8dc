"""What a job is called, and what the notebook that it leaves."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

OUTPUT_ID = "{id}"
"""Stands for the job's short id in `JobSpec.output`, which is written before there is an id."""

NAME_BYTES = 225
"""Most bytes of a published notebook's name: file systems take 255, and while it is written it has some 25 more."""


def new_id(now: float) -> str:
    """Readable, sorts by time, unique without asking anybody."""
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(now)) + "-" + secrets.token_hex(3)


def short(job_id: str) -> str:
    """The random end of an id: what tells the outputs of one notebook's jobs apart."""
    return job_id.rsplit("-", 1)[-1]


def output_of(output: str, job_id: str) -> str:
    """Where a job's notebook is published: with its id in the name, of which no more is kept than can be written (the
    end of what stands before the id goes)."""
    path = Path(output)
    before, mark, after = path.name.partition(OUTPUT_ID)
    if not mark:
        before, after = path.stem, path.suffix
    after = (short(job_id) if mark else "") + after
    room = NAME_BYTES - len(os.fsencode(after))
    if len(os.fsencode(before)) > room:
        before = os.fsencode(before)[: room - 1].decode("utf-8", "ignore") + ("-" if mark else "")
    return str(path.with_name(before + after))
