"""Which part of the code is ever come to: a function that nothing names is none of what runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .dead import IMPORTED, alive
from .syntax import parsed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BY_TEXT = re.compile(
    r"(?<![.\w])(getattr|eval|exec|globals|locals|vars)\(|\b(attrgetter|methodcaller|fire|inspect)\b|\b__(dict|getattribute)__"
)
"""What finds a method by a text, or calls any (`fire.Fire(Model)`)."""
_REGISTERS = frozenset(("automain", "callback", "command", "group", "main", "subcommand"))
"""Decorators with which libraries of command lines take a function that nothing names (`@app.command()`)."""
_OF_ALL = re.compile(r"\bFire\(\s*\)|(?<![.\w])((globals|locals|vars)\(\s*\)\s*\[\s*[^\s\"']|eval\(\s*[^\s\"'])")
"""What may call each function: by what a person types (`globals()[sys.argv[1]]()`), or as a command of its own."""
_BY_CUSTOM = frozenset(("fit", "run", "forward"))
"""Methods that others call of whatever has them (`GridSearchCV(Net())`)."""


def reached(
    cells: Sequence[str], beside: Iterable[str], known: Mapping[str, Any] | None = None, imported: Iterable[str] = ()
) -> list[str]:
    """The code that may run: what stands outside of functions and classes in cells, and what is named from there on.

    A name is any word of the code that could be one, an attribute's, too: what is left out is sure to be out of reach.
    So it is with methods of a class that nothing outside of the code knows, which has no base but its own: `m.train()`
    names one. A text does only where the code finds anything by a text (`getattr(m, mode)()`), and what has a
    decorator, which may put it into a table.

    Args:
        beside: sources of scripts and modules that the cells run and import; what stands there outside of functions
            runs as well.
        known: what conditions may be told by (`dead.settled`): an arm that never runs is none of it.
        imported: those of `beside` that are no programs.
    """
    known, imported = known or {}, frozenset(imported)
    defined: dict[str, list[Defined]] = {}
    open_still: list[ast.AST] = []
    found: list[str] = []
    sources = (*cells, *beside)
    for source in sources:
        tree = alive(parsed(source), {**known, **(IMPORTED if source in imported else {})})
        body = tree.body if isinstance(tree, ast.Module) else []
        found += [] if body else [source]  # what is no Python is not known to be out of reach
        for statement in body:
            _sort(statement, defined, open_still)
    classes = {name: nodes for name, nodes in defined.items() if any(isinstance(one, ast.ClassDef) for one in nodes)}
    if any(_OF_ALL.search(source) for source in sources):
        open_still += [one for nodes in defined.values() for one in nodes]
    is_by_text = any(_BY_TEXT.search(source) for source in sources)
    methods: dict[str, list[ast.AST]] = {}
    seen: set[str] = set()
    called: set[str] = set()
    while open_still:
        node = open_still.pop()
        if isinstance(node, ast.ClassDef) and not is_by_text and _is_own(node, classes):
            node, apart = _divided(node)
            for method in apart:
                methods.setdefault(method.name, []).append(method)
                open_still += [method] if method.name in called else []
        found.append(ast.unparse(node))
        for name in _names(node, texts=False) - called:
            called.add(name)
            open_still += [*defined.get(name, ()), *methods.get(name, ())]
        for name in _names(node) - called - seen:  # a text: `load(mode="train")` calls no `train`
            seen.add(name)
            open_still += [one for one in defined.get(name, ()) if is_by_text or one.decorator_list]
    return found


def _is_own(node: ast.ClassDef, classes: Mapping[str, Sequence[ast.AST]], above: frozenset[str] = frozenset()) -> bool:
    """Whether a class is one that only the code itself calls: decorators and bases from elsewhere may call any method
    of it (a layer's `forward`, a callback's `on_epoch_end`)."""
    if node.decorator_list or node.keywords or node.name in above:
        return False
    above |= {node.name}
    return all(
        isinstance(base, ast.Name)
        and (
            (base.id == "object" and base.id not in classes)
            or (
                base.id in classes
                and all(isinstance(one, ast.ClassDef) and _is_own(one, classes, above) for one in classes[base.id])
            )
        )
        for base in node.bases
    )


def _divided(node: ast.ClassDef) -> tuple[ast.ClassDef, list[ast.FunctionDef | ast.AsyncFunctionDef]]:
    """A class without the methods that run by their name alone, and these."""
    apart = [
        one
        for one in node.body
        if isinstance(one, _FUNCTIONS)
        and not (one.decorator_list or one.name.startswith("__") or one.name in _BY_CUSTOM)
    ]
    rest = [one for one in node.body if one not in apart]
    own = ast.ClassDef(**{**dict(ast.iter_fields(node)), "body": rest or [ast.Pass()]})
    return ast.copy_location(own, node), apart


def _sort(statement: ast.stmt, defined: dict[str, list[Defined]], runs: list[ast.AST]) -> None:
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        defined.setdefault(statement.name, []).append(statement)
        runs += statement.decorator_list
        if any(getattr(one, "attr", "") in _REGISTERS for one in map(_called, statement.decorator_list)):
            runs.append(statement)
    else:
        runs.append(statement)


def _called(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _names(node: ast.AST, *, texts: bool = True) -> set[str]:
    found: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                found.add(name)
            case ast.Constant(value=str(text)) if texts:
                found.add(text)
            case ast.alias(name=name):
                found.update(name.split("."))
    return found
