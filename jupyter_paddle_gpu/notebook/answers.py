"""Answers as a job takes them: values bound in the notebook, environment variables, and what only an estimate needs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

import msgspec

from ..domain.descriptions import is_description
from ..domain.notebooks import FactValue, NotebookFacts
from ..domain.parsing import parse


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What a job is run with.

    Attributes:
        sets: values that are bound in the cells.
        environment: values of variables that the notebook reads, or that none of its cells binds: a module beside it
            may read those.
    """

    sets: dict[str, FactValue] = {}
    environment: dict[str, str] = {}


def for_job(facts: NotebookFacts, answers: Mapping[str, FactValue]) -> Answers:
    """Answers by where a job takes them; what data looks like is left out, since the job has the data itself."""
    values = {name: value for name, value in answers.items() if not is_description(value)}
    nodes = [node for cell in facts.cells for node in _nodes(cell.source)]
    declared = {node.target for node in nodes if isinstance(node, ast.AnnAssign) and node.value is None}
    names = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    bound = {node.id for node in names if node not in declared}
    read = set(_read(nodes))
    fields = {name for node in nodes for name in _fields_of(node)}
    return Answers(
        sets=values,
        environment={
            name: str(value)
            for name, value in values.items()
            if name in read or name not in bound or _is_of_field(name, fields)
        },
    )


def are_values(answers: Mapping[str, FactValue]) -> bool:
    """Whether answers say more than what data looks like."""
    return not all(map(is_description, answers.values()))


def _nodes(source: str) -> list[ast.AST]:
    try:
        return list(ast.walk(parse(source)))
    except (SyntaxError, ValueError):
        return []


def _read(nodes: Iterable[ast.AST]) -> Iterable[str]:
    """Names of environment variables: `os.environ["A"]`, `os.getenv("A")`, and texts by which a library, or a function,
    may look one up: what a call has first (`env.int("a")`), and any that is written as variables are."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isupper():
            yield node.value
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and _is_environment(node.value):
            key = node.slice
        elif isinstance(node, ast.Call) and node.args:
            key = node.args[0]
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def _fields_of(node: ast.AST) -> Iterable[str]:
    """What a class of settings reads from the environment (`class Settings(BaseSettings)`), in small letters."""
    if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Settings") for base in node.bases):
        declared = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
        yield from (target.id.lower() for target in declared if isinstance(target, ast.Name))


def _is_of_field(name: str, fields: set[str]) -> bool:
    """Whether it may be the variable of a declared field, behind prefixes: `TRAIN_BATCH` of `batch: int`."""
    words = name.lower().split("_")
    return any("_".join(words[first:]) in fields for first in range(len(words)))


def _is_environment(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )
