"""What `--help` lists: by what it is for, and whole."""

from __future__ import annotations

import copy

import click
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from jupyter_paddle_gpu.commands import click_words
from jupyter_paddle_gpu.commands.group import COMMANDS, paddle_gpu
from jupyter_paddle_gpu.commands.listing import SECTIONS
from jupyter_paddle_gpu.commands.options import localise
from jupyter_paddle_gpu.commands.speech import Speech


def test_every_command_stands_in_one_section():
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(str(command.name) for command in COMMANDS)


@pytest.mark.parametrize("name", [None, *(one.name for one in COMMANDS if isinstance(one, click.Group))])
def test_no_sentence_of_the_list_is_cut(name):
    shown = CliRunner().invoke(paddle_gpu, [*filter(None, [name]), "--help"]).output
    assert "..." not in shown.partition("Options:")[2]
    assert ("Run it:" in shown) is (name is None)


def test_a_word_where_a_number_is_meant_is_refused_in_plain_words():
    shown = CliRunner().invoke(paddle_gpu, ["estimate", "--batch-size", "abc"]).output
    assert "'abc' is not a valid whole number." in shown


@pytest.mark.parametrize("name", ["jobs", "logs", "cancel", "rerun", "delete", "compare", "contribute"])
def test_a_command_that_takes_a_job_says_how_one_is_named(name):
    shown = CliRunner().invoke(paddle_gpu, [name, "--help"]).output
    assert "JOB is its name, its id" in shown


def test_chinese_help_fills_the_columns_of_its_terminal_and_leaves_no_mark_alone():
    """A wide character takes two columns; click counts it as one."""
    say = Speech("zh_CN")
    command = copy.deepcopy(paddle_gpu)
    for columns in (60, 80):
        with click_words.spoken(say):
            localise(command, say)
            pages = [
                CliRunner().invoke(command, [name, "--help"], terminal_width=columns).output
                for name in ("estimate", "submit", "sweep")
            ]
        lines = [line for page in pages for line in page.splitlines()]
        assert max(map(cell_len, lines)) <= columns
        assert max(map(cell_len, lines)) > columns - 6
        assert not [line for line in lines if line.strip()[:1] in set("。，、；：）")]


def test_explain_says_that_it_takes_a_job_and_words_are_shown_as_they_are_written(cli):
    assert "| JOB]" in cli("explain", "--help").out
    refused = cli("estimate", "x.ipynb", "--amp", "O7")
    assert "'O1'" in refused.err
    assert "--catalog " in cli("gpus", "--help").out
    assert "catalogue" not in cli("gpus", "--help").out
    assert "is not a valid number" in cli("gpus", "--interval", "abc").err
