"""How it is said where a notebook would end with an error."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_paddle_gpu.domain.mistakes.stops import Stop
from jupyter_paddle_gpu.domain.notebooks import Place

STOP = Stop(cell=0, line=7, error="ValueError: (InvalidArgument) no such size", answers="size=-5")


@pytest.mark.parametrize(
    ("changes", "begins"),
    [
        ({}, "With the answers that were given the notebook would stop in cell 1, line 7"),
        ({"raised": Place(cell=1, line=2)}, "With the answers that were given the notebook would stop in cell 1"),
        ({"is_script": True}, "With the answers that were given the script would stop in line 7"),
        ({"error": "TypeError: (InvalidType) Type promotion only support"}, "With the answers that were given"),
        ({"answers": ""}, "The notebook would stop in cell 1, line 7"),
    ],
)
def test_an_answer_that_may_be_to_blame_is_named(changes, begins):
    said = msgspec.structs.replace(STOP, **changes).says(behind=False)
    assert said.render().startswith(begins)
    assert ("It was answered: size=-5." in said.render_hint()) == ("answers" not in changes)


def test_behind_the_step_the_hint_names_it():
    said = STOP.says(behind=True)
    assert said.render().startswith("The training step runs") and "size=-5" in said.render_hint()


@pytest.mark.parametrize("error", [STOP.error, "TypeError: (InvalidType) Type promotion only support"])
def test_what_would_not_even_end_is_not_told_to_end(error):
    stop = msgspec.structs.replace(STOP, answers="", error=error)
    assert "the job ends there" in stop.says(behind=False).render_hint()
    hint = msgspec.structs.replace(stop, hangs=True).says(behind=False).render_hint()
    assert "would not even end" in hint and "the job ends there" not in hint
