"""Questions asked one by one at a terminal, and the way back to an answer that turned out wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ..commands.options import fact_value
from ..domain.descriptions import is_description
from ..domain.estimates import Estimate, Question
from ..domain.messages import Message
from ..domain.notebooks import FactValue

if TYPE_CHECKING:
    from rich.console import Console

    from ..commands.speech import Speech

BACK = "<"
"""Typed for the answer before."""


def unfit(question: Question, answer: FactValue) -> Message | None:
    """Why an answer cannot be one to a question; the panel says the same in its field."""
    if question.kind == "batch" and not is_description(answer):
        return Message(
            code="batch_undescribed",
            text="Write it as {example}",
            params={"example": "float32[32,3,224,224] int64[32,1]"},
        )
    is_size = question.kind == "value" and is_positive(question.suggestion)
    if is_size and not is_positive(answer):
        return Message(code="size_wanted", text="A number above 0 is wanted here.")
    return None


def is_positive(value: FactValue) -> bool:
    """Whether it is a number above 0."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


class Answering:
    """One dialogue: the questions of an estimate, and those of the estimates that the answers lead to.

    What is typed is kept here, so that an earlier answer can be typed anew and the others stay.
    """

    def __init__(self, console: Console, say: Speech) -> None:
        self._console, self._say = console, say
        self._unknown_paths: set[str] = set()
        self._asked: dict[str, Question] = {}
        self._given: dict[str, FactValue] = {}

    def answers(self, estimate: Estimate) -> dict[str, FactValue]:
        """What is answered to the open questions; else, where the notebook would stop with what was answered, an answer
        that is changed. Nothing: the person has none."""
        if estimate.status == "needs_input":
            return self._open(estimate)
        return self._changed(estimate) if estimate.stop is not None and estimate.status != "ok" else {}

    def _open(self, estimate: Estimate) -> dict[str, FactValue]:
        found: dict[str, FactValue] = {}
        for question in estimate.questions:
            if not question.name or question.name in self._unknown_paths:
                continue
            typed = self._typed(question)
            if typed == BACK and self._given:
                return self._keep({**found, **self._again(next(reversed(self._given)))})
            if not typed and question.kind == "path":
                self._unknown_paths.add(question.name)  # whoever does not know it is asked for the batch
                continue
            if not typed:
                return {}
            self._keep({question.name: fact_value(typed)})
            self._asked[question.name] = question
            found[question.name] = self._given[question.name]
        return found

    def _changed(self, estimate: Estimate) -> dict[str, FactValue]:
        """Asked where an answer may be what the notebook stops by."""
        if not self._given or estimate.stop is None:
            return {}
        self._console.print(estimate.stop.says(behind=False).render(self._say.translate), markup=False)
        known = ", ".join(f"{name}={value}" for name, value in self._given.items())
        self._console.print(self._say("Answered so far: {answers}", answers=known), style="dim", markup=False)
        text = self._say("Name of an answer to change (Enter: none)")
        name = str(click.prompt(text, default="", show_default=False)).strip()
        return self._keep(self._again(name)) if name in self._given else {}

    def _again(self, name: str) -> dict[str, FactValue]:
        typed = self._typed(self._asked[name], str(self._given[name]))
        return {name: self._given[name] if typed == BACK else fact_value(typed)}

    def _typed(self, question: Question, before: str = "") -> str:
        suggested = before or ("" if question.suggestion is None else str(question.suggestion))
        self._console.print(question.why.render(self._say.translate), markup=False)
        if hint := question.why.render_hint(self._say.translate):
            self._console.print(hint, style="dim", markup=False)
        if self._given and not before:
            self._console.print(self._say("“<” goes back to the answer before."), style="dim", markup=False)
        while True:
            typed = str(click.prompt(question.name, default=suggested, show_default=bool(suggested))).strip()
            wrong = None if typed in {"", BACK} else unfit(question, fact_value(typed))
            if wrong is None:
                return typed
            self._console.print(wrong.render(self._say.translate), markup=False)

    def _keep(self, answers: Mapping[str, FactValue]) -> dict[str, FactValue]:
        self._given.update(answers)
        return dict(answers)
