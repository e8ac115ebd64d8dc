"""Answers that nothing takes: a misspelt name would otherwise be accepted, and change nothing.

An answer counts as taken where a cell, or what it runs and imports, has its name where an answer may stand, or where
anything that runs asks for it: made-up data by the name of its part, a module by an environment variable. While a
question is open, the program has not come to all that would ask: what may be asked for behind it is not told of.
"""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ...patches.processes.command_lines import SUBCOMMAND, destination
from ..outside.answers import environment_names
from ..questions import paths
from ..syntax import nodes

_NEAR = 0.75
"""How alike a name must be, from 0 to 1, to be the one that was meant."""
_MOST_NAMES = 8


class Asked:
    """What the runs of one request have asked for by its name.

    Attributes:
        names: which names.
        variables: those of `os.environ`.
        sources: all of the code that has run.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.variables: set[str] = set()
        self.sources: dict[str, None] = {}

    @contextmanager
    def of_environment(self) -> Iterator[None]:
        """Listen to what is asked of `os.environ`: every way to read it passes by `encodekey`."""
        encode = os.environ.encodekey

        def listening(key: Any) -> Any:
            if isinstance(key, str):
                self.names.add(key)
                self.variables.add(key)
            return encode(key)

        os.environ.encodekey = listening
        try:
            yield
        finally:
            os.environ.encodekey = encode


class Given(dict[str, Any]):
    """Answers that tell which of them were asked for."""

    def __init__(self, answers: dict[str, Any], asked: Asked) -> None:
        super().__init__(answers)
        self._asked = asked

    def get(self, name: str, default: Any = None) -> Any:
        """The answer for a name."""
        self._asked.names.add(name)
        return super().get(name, default)

    def values(self) -> Any:
        """All answers: who looks at them by their content may take any."""
        self._asked.names.update(self)
        return super().values()


def note(answers: dict[str, Any], asked: Asked, questions: Iterable[dict[str, Any]] = ()) -> dict[str, Any] | None:
    """What is told of answers that nothing takes; None where each is taken.

    Args:
        questions: that are open.
    """
    if not answers:
        return None
    open_still = dict.fromkeys(one["name"] for one in questions if one["name"])
    taken, nameable = asked.names | _read_names(asked.sources), {**open_still, **_nameable(asked.sources)}
    left = [name for name in answers if name not in taken and name not in nameable]
    if open_still:
        later = _parameters(asked.sources)
        left = [one for one in left if one not in later and not (set(_heads(one)) & (taken | later))]
    if not left:
        return None
    names = ", ".join(left)
    near = dict.fromkeys(one for name in left if (one := _nearest(name, nameable)) and one not in answers)
    if near:
        return {"code": "answers_misspelt", "params": {"names": names, "near": ", ".join(near)}}
    others = [name for name in nameable if name not in answers][:_MOST_NAMES]
    if others:
        return {"code": "answers_untaken", "params": {"names": names, "others": ", ".join(others)}}
    return {"code": "answers_untaken_alone", "params": {"names": names}}


def _read_names(sources: Iterable[str]) -> set[str]:
    """Names of any kind that code reads or binds, where an answer may stand: more than are told of. What only
    parameters of functions are called is the caller's."""
    found, parameters, bound = set[str](), set[str](), set[str]()
    for source in sources:
        for node in nodes(source):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    bound.add(name)
                case ast.Name(id=name):
                    found.add(name)
                case ast.arg(arg=name):
                    parameters.add(name)
                case ast.alias(name=name, asname=other):
                    bound.add(other or name.partition(".")[0])
                case ast.Constant(value=str(text)):  # a path, an environment variable, an argument of a parser
                    found |= {text, paths.path_name(text), destination(text)}
    return bound | (found - parameters)


def _parameters(sources: Iterable[str]) -> set[str]:
    """What functions of the code take: libraries make options of them (`def main(width: int)`), and a subcommand."""
    return {node.arg for source in sources for node in nodes(source) if isinstance(node, ast.arg)} | {SUBCOMMAND}


def _heads(name: str) -> Iterator[str]:
    """What a part of data may be one of (`config_model_width`: `config`), or a subcommand the last word of."""
    words = name.split("_")
    yield from ("_".join(words[:number]) for number in range(1, len(words)))
    yield words[-1] if words[-1] == SUBCOMMAND else ""


def _nameable(sources: Iterable[str]) -> dict[str, None]:
    """Names by which the notebook's own values can be given, in the order in which they stand there; none of Python's
    own (`__file__`)."""
    found: dict[str, None] = {}
    for source in sources:
        for node in nodes(source):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant())
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant())
                ) if not name.startswith("__"):
                    found[name] = None
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=[*flags]):
                    texts = [one.value for one in flags if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                    found.update(dict.fromkeys(map(destination, texts[-1:])))
        found.update(dict.fromkeys(environment_names([source])))
    return found


def _nearest(name: str, known: Iterable[str]) -> str | None:
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), by_lower, 1, _NEAR)
    return by_lower[near[0]] if near else None
