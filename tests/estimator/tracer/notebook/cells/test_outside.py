"""A program that ends itself says why, and the estimate says it again."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle

PROGRAM = """
import logging, sys
import paddle
told = logging.getLogger("settings")
told.addHandler(logging.StreamHandler({stream}))
settings = {{}}
print("begin")
if "classes" not in settings:
    {says}
    sys.exit({status})
"""
SAYS = 'told.error("\\x1b[31mno classes in the settings\\x1b[0m\\n----")'
PROGRAMS = {
    "logged": PROGRAM.format(stream="sys.stderr", says=SAYS, status=1),
    "logged beside what is printed": PROGRAM.format(stream="sys.stdout", says=SAYS, status=2),
    "printed": PROGRAM.format(stream="sys.stderr", says='print("no classes in the settings")', status=1),
    "silent": PROGRAM.format(stream="sys.stderr", says="pass", status=1).replace('print("begin")', ""),
}
PROGRAMS["asks for itself"] = """
import importlib.metadata, paddle, module_of_nobody
VERSION = importlib.metadata.version("paddle-of-nobody")
"""
ASKED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tracer
for name, source in json.load(sys.stdin).items():
    found = tracer.trace_notebook({"cells": [{"index": 0, "source": source}], "answers": {}, "target": "cpu"})
    print(json.dumps([name, [[one["why"], one["params"]] for one in found["questions"]]]))
"""


@pytest.fixture(scope="module")
def found(run_code):
    return run_code(ASKED, PROGRAMS)


@pytest.mark.parametrize(
    ("name", "status"), [("logged", "1"), ("logged beside what is printed", "2"), ("printed", "1")]
)
def test_the_last_words_are_told(found, name, status):
    """A configuration of PaddleDetection without a number of classes: "SystemExit: 1" was all that was said."""
    said = {"error": "SystemExit", "message": status, "said": "no classes in the settings"}
    assert found[name] == [["ends_itself", said]]


def test_without_a_word_its_status_is_told(found):
    assert found["silent"] == [["cell_failed", {"error": "SystemExit", "message": "1"}]]


def test_a_package_that_was_never_installed_is_told_by_its_name(found):
    """PaddleX's `main.py` in its clone: "run the script to see the same fault" was all that was said."""
    assert ["module_missing", {"module": "paddle-of-nobody", "is_package": 1}] in found["asks for itself"]
