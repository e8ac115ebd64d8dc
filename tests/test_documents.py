"""The documents have the form that they shall have, and the README's first screen no figures that nobody remembers."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests.test_words import BRITISH

ROOT = Path(__file__).parents[1]
_specification = importlib.util.spec_from_file_location("form", ROOT / "docs" / "programs" / "form.py")
assert _specification is not None and _specification.loader is not None
form = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(form)

#: Lines that a reader sees before scrolling.
FIRST_SCREEN = 30
HEADINGS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize("path", list(form.documents()), ids=lambda path: path.name)
def test_lines_are_short(path: Path) -> None:
    assert form.too_long(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", list(form.documents()), ids=lambda path: path.name)
def test_spelling_is_american_as_in_all_faces(path: Path) -> None:
    text = re.sub(r"(?ms)^ *```.*?^ *```", "", path.read_text(encoding="utf-8"))
    text = re.sub(r"`[^`\n]*`|\]\([^)]*\)|https?://\S+", "", text)  # what is typed as it is is no word
    assert sorted({found[0] for found in BRITISH.finditer(text)}) == []


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_first_screen_has_no_figures_of_four_digits(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()[:FIRST_SCREEN]
    assert [line for line in lines if re.search(r"\d[\d.,]{3,}\d|\d{4}", re.sub(r"\]\(.*?\)", "", line))] == []


def test_the_changelog_has_the_usual_headings() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    versions = [line for line in lines if line.startswith("## ")]
    assert versions and all(
        re.fullmatch(r"## \[(Unreleased|\d+\.\d+\.\d+)\]( - \d{4}-\d\d-\d\d)?", v) for v in versions
    )
    kinds = [line[4:] for line in lines if line.startswith("### ")]
    assert kinds and set(kinds) <= HEADINGS


def test_a_long_paragraph_gets_one_sentence_a_line() -> None:
    long = "- Short one. Many " + "words " * 30 + "`code. With room` e.g. ends. Last.\n"
    broken = form.formed(long).splitlines()
    assert broken[0] == "- Short one."
    assert broken[-1] == "  Last."
    assert all(len(line) <= form.WIDTH for line in broken)
    assert " ".join(line.strip() for line in broken) == long.strip()
    for whole in ("| a " + "b" * 130 + " |\n", "```\n" + "c " * 80 + "\n```\n", "short\nlines. Stay.\n"):
        assert form.formed(whole) == whole
