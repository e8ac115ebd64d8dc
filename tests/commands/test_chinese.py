"""What terminal and cell say exists in Chinese: sentences, the words of tables, and the help of every command."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import click

import jupyter_paddle_gpu
from jupyter_paddle_gpu.commands.click_words import WORDS
from jupyter_paddle_gpu.commands.group import paddle_gpu
from jupyter_paddle_gpu.commands.speech import Speech
from jupyter_paddle_gpu.commands.views import comparison as comparison_view
from jupyter_paddle_gpu.commands.views import estimate as estimate_view
from jupyter_paddle_gpu.commands.views import machine as machine_view
from jupyter_paddle_gpu.commands.views import states
from jupyter_paddle_gpu.commands.views.changes import headed
from jupyter_paddle_gpu.commands.views.plans import schedules as schedules_view
from jupyter_paddle_gpu.commands.views.plans import sweeps as sweeps_view
from jupyter_paddle_gpu.i18n import translator

PACKAGE = Path(jupyter_paddle_gpu.__file__).parent
TABLES = (
    *(estimate_view._EVIDENCE, estimate_view._KINDS, estimate_view._FITS),
    *(states.TRIAL_STATES, sweeps_view._OUTCOMES),
    *(schedules_view._STATES, schedules_view._SOURCES, comparison_view._KINDS, comparison_view._ROLES),
)


def said():
    for path in (path for room in ("commands", "cli", "magics") for path in PACKAGE.glob(f"{room}/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "say":
                yield from literals(node.args[:1])
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "n":
                yield from literals(node.args[:2])
    for table in TABLES:
        yield from table.values()
    yield from schedules_view._DAYS
    yield from machine_view._PARTS


def literals(nodes):
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def helps(command: click.Command):
    yield inspect.cleandoc(command.help)
    yield from (p.help for p in command.params if isinstance(p, click.Option))
    if isinstance(command, click.Group):
        for below in command.commands.values():
            yield from helps(below)


def untranslated(texts):
    translate = translator("zh-CN")
    return sorted({text for text in texts if text and translate(text) == text and text not in _SAME})


_SAME = {"Notebook"}


def test_every_word_has_its_chinese():
    assert untranslated(said()) == []


def test_every_word_of_click_has_its_chinese():
    assert untranslated(WORDS) == []


def test_every_help_has_its_chinese():
    assert untranslated(helps(paddle_gpu)) == []


def test_a_difference_names_its_cells_in_chinese():
    told = headed('--- cell 2\n+++ cell 2\n-a = "cell 2"\n+--- cell 2\n--- after cell 3\n+++ run.yml', Speech("zh-CN"))
    assert told == '--- 单元格 2\n+++ 单元格 2\n-a = "cell 2"\n+--- cell 2\n--- 单元格 3 之后\n+++ run.yml'
