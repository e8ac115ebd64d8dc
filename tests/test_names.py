"""No room but its own knows an engine or a device maker by its name: what differs is asked of their rows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import jupyter_paddle_gpu
from jupyter_paddle_gpu.devices.makers.registry import makers
from jupyter_paddle_gpu.engines.registry import BUILT_IN

PACKAGE = Path(jupyter_paddle_gpu.__file__).parent
ROOMS = ("devices/makers/", "devices/tools/", "engines/docker/", "engines/local/")
OF_OTHERS = {
    "devices/contexts.py": "published figures, with what they were read under, that several makers' rows name",
    "devices/processes.py": "control groups as container daemons name them",
    "domain/containers/references.py": "Docker Hub, by which every image is meant that names no registry",
    "notebook/cells.py": "commands that people type into cells",
    **dict.fromkeys(
        (
            "estimator/tracer/patches/devices.py",
            "estimator/zygote/real_run.py",
            "notebook/changes/on_cpu.py",
            "notebook/changes/training_step.py",
            "notebook/training/models.py",
        ),
        "Paddle's own modules and methods (`paddle.device.cuda`, `Tensor.cuda`)",
    ),
    "commands/views/contribution.py": "a line of a training's log, in Paddle's word for it",
}
"""Names in the languages of others, who are no engine and no maker of ours."""

EVERYDAY = {"ascend", "local"}
"""Names that are words of English as well."""


def _words() -> re.Pattern[str]:
    rows = makers().rows.values()
    names = {word for row in rows for word in (row.name, *row.tools, row.visible_devices, *row.reserved)}
    names |= {row.releases.platform for row in rows if row.releases is not None}
    names = (names | {engine.name for engine in BUILT_IN}) - EVERYDAY
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(names)))})(?![\w])", re.IGNORECASE)


def _texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """Strings of the code, docstrings and those below an attribute left out."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node


@cache
def _found() -> dict[str, list[str]]:
    words, found = _words(), {}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(ROOMS) or not words.search(source := path.read_text()):
            continue
        if hits := [f"{one.lineno}: {one.value[:60]}" for one in _texts(ast.parse(source)) if words.search(one.value)]:
            found[name] = hits
    return found


def test_no_other_room_says_the_name_of_an_engine_or_a_maker() -> None:
    assert {name: hits for name, hits in _found().items() if name not in OF_OTHERS} == {}


@pytest.mark.parametrize("name", OF_OTHERS)
def test_a_room_that_speaks_another_language_still_does(name: str) -> None:
    assert name in _found()


def test_the_panel_compares_no_name() -> None:
    words, source = _words(), PACKAGE.parent / "src"
    lines = {
        f"{path.relative_to(source)}: {line.strip()}"
        for path in source.rglob("*.ts*")
        if path.name != "openapi.ts"
        for line in path.read_text().splitlines()
        if words.search(line) and not line.strip().startswith(("*", "//", "/**"))
    }
    assert not lines
