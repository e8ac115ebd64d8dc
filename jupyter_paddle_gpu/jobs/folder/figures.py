"""Pictures that a job's notebook has drawn so far, the newest of them, at a bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ...domain.jobs.figures import Figure
from ...engines import own_files
from ...engines.base import JobFolder
from ...runner.records.outputs import PICTURES

NOTEBOOK_BYTES = 96 << 20
"""Largest executed notebook that is looked into; the runner keeps at most 64 MiB of pictures of one cell."""
MOST = 24
MOST_CHARACTERS = 8 << 20
"""Of all pictures together, as base64: what a page can show at once."""
_KINDS = PICTURES


def read_figures(folder: JobFolder) -> tuple[Figure, ...]:
    """The figures in their order; of many the newest. A job can write that file: what is no notebook has none."""
    try:
        content = msgspec.json.decode(own_files.read(folder.notebook, NOTEBOOK_BYTES))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()
    found = list(_figures(content))
    kept, room = list[Figure](), MOST_CHARACTERS
    for figure in reversed(found[-MOST:]):
        room -= len(figure.data)
        if room < 0:
            break
        kept.append(figure)
    return tuple(reversed(kept))


def _figures(content: Any) -> Iterator[Figure]:
    for index, cell in enumerate(_list(content, "cells")):
        number = 0
        for output in _list(cell, "outputs"):
            data = output.get("data") if isinstance(output, dict) else None
            if not isinstance(data, dict):
                continue
            kind = next((kind for kind in _KINDS if kind in data), None)
            if kind is None:
                continue
            raw = data[kind]
            text = "".join(raw) if isinstance(raw, list) and all(isinstance(part, str) for part in raw) else raw
            if isinstance(text, str):
                number += 1
                yield Figure(cell=index, mime=kind, data=text.strip(), number=number)


def _list(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []
