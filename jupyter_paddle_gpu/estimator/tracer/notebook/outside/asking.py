"""The questions for what a program lacks of its surroundings: which they are, and what their answers may be."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from ...patches.processes.command_lines import Parsers, destination
from ...patches.processes.open_settings import OpenSettings
from ...session import Session
from ..questions import outer
from . import endings, lacking, variables
from .answers import INPUT, PLACE, WORDS
from .endings import Lack
from .surroundings import Spoken

_OPTIONS = re.compile(r"\bgetopt\(|\bgnu_getopt\(|\bOptionParser\(")
_OF_SCRIPTS = frozenset(("place_missing", "words_missing"))


def lacks(
    problem: BaseException, cell: dict[str, Any], question: dict[str, Any], session: Session, looked_up: Collection[str]
) -> list[Lack]:
    """What a cell ended for want of: a variable, an argument, a person's input.

    Args:
        question: with the line at which the cell ended, and the name that it would have bound.
        looked_up: environment variables that anything has looked for.
    """
    parsers = session.of(Parsers)
    found = [
        *(Lack(variables.WHY, name) for name in lacking.environment_of(problem, cell["source"], question["line"])),
        *lacking.arguments_of(problem, parsers),
        *(Lack("place_missing", name) for name in lacking.places_of(problem, parsers)),
    ]  # fmt: skip
    said = session.of(Spoken).last if isinstance(problem, SystemExit) else ""
    found = found or variables.missed(problem, looked_up, said)
    found = found or _left_open(problem, session.of(OpenSettings), said) or endings.lacks(problem, parsers)
    if lacking.awaits_input(problem):
        found.append(Lack("input_missing", question["name"] or INPUT))
    return list(dict.fromkeys(one._replace(name=parsers.aliases.get(one.name, one.name)) for one in found))


def _left_open(problem: BaseException, settings: OpenSettings, said: str) -> list[Lack]:
    """The settings that a configuration leaves open and that an error names by the way to them."""
    texts = [str(one) for one in variables.chain(problem) if not isinstance(one, KeyError)] + [said]
    named = (way for way in settings.choices if any(_names(text, way) for text in texts))
    return [Lack("setting_missing", destination(way)) for way in named]


def _names(text: str, way: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(way)}(?![\w\[]|\.\w)", text) is not None


def of_program(found: list[Lack], parsers: Parsers, sources: Sequence[str], *, is_started: bool) -> list[Lack]:
    """Those that can be answered: a command that starts a program says itself what it gives by places."""
    if not is_started and any("\nsys.argv = [" in source for source in sources):
        # A program that reads options counts its words before it does: which of them it wants is not known.
        reads = any(_OPTIONS.search(source) for source in sources)
        is_counted = reads and parsers.rest is None and any(one.why == "place_missing" for one in found)
        return [Lack("words_missing", WORDS)] if is_counted else found
    return [one for one in found if one.why not in _OF_SCRIPTS]


def question(lack: Lack, statement: str, session: Session, sources: Sequence[str]) -> dict[str, Any]:
    """The question for one thing, but for its place.

    Args:
        statement: that failed.
        sources: all of the code.
    """
    kind, params, parsers = "value", {}, session.of(Parsers)
    match lack.why:
        case "argument_missing" | "subcommand_missing":
            candidates = outer.arguments(lack.name, parsers.of(lack.name), sources)
        case "words_missing":
            candidates = outer.words(sources)
        case "place_missing":
            params = {"place": lack.name.removeprefix(PLACE)}
            candidates = outer.places(int(params["place"]), sources)
        case "setting_missing":
            ways = {destination(way): (way, known) for way, known in session.of(OpenSettings).choices.items()}
            way, known = ways[lack.name]
            candidates = outer.setting(way, known, sources)
        case variables.WHY:
            kind, candidates = "environment", outer.environment(lack.name, statement, sources, lack.number)
            candidates = [*outer.of_choices(lack.choices), *candidates]
        case _:
            candidates = outer.typed(lack.name, statement, sources)
    return {"kind": kind, "why": lack.why, "name": lack.name, "params": params, "candidates": candidates}
