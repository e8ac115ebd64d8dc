"""What of a notebook a person would change from run to run, and the rest of its code as a digest."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping

import msgspec

from ..domain.notebooks import Fact, FactValue, NotebookFacts, NotebookSource
from ..domain.parsing import parse
from ..domain.variables import Role, Settings, Variable
from .changes.literals import Calls, Spot, read_calls
from .changes.program import INJECTED, PARAMETERS, tags

MOST = 40
"""Variables that are told; a notebook with more binds tables by hand."""
LONGEST = 200
"""Characters of a text value that is offered for change; a longer one is data."""
_RATE = re.compile(r"(?:base_|init_|initial_)?(?:lr|learning_rate)", re.IGNORECASE)
_EPOCHS = re.compile(r"(?:num_|n_|max_|total_)?epochs?", re.IGNORECASE)
_BATCH = re.compile(r"(?:train_)?(?:batch_size|batchsize|bs)", re.IGNORECASE)


def read_settings(
    source: NotebookSource, facts: NotebookFacts, sets: Mapping[str, FactValue] | None = None
) -> Settings:
    """What a run of the notebook is made with.

    Args:
        facts: what `inspect_notebook` read in it.
        sets: values that are bound in its cells before it runs.
    """
    trees = [(cell.index, tree) for cell in facts.cells if (tree := _parsed(cell.source)) is not None]
    called = read_calls(source)
    plain = _variables(source, facts, trees, called)
    named = {one.name for one in plain}
    bound = [msgspec.structs.replace(one, value=(sets or {}).get(one.name, one.value)) for one in plain]
    others = [Variable(name=name, value=value) for name, value in (sets or {}).items() if name not in named]
    return Settings(variables=(*bound, *others, *_facts(facts, bound)), code=_digest(trees, named, called.places))


def _variables(
    source: NotebookSource, facts: NotebookFacts, trees: list[tuple[int, ast.Module]], called: Calls
) -> tuple[Variable, ...]:
    cells = source.content["cells"]
    often = Counter(name for _, tree in trees for name in _bindings(tree))
    found: dict[str, Variable] = {}
    for index, tree in trees:
        marks = tags(cells[index]) if index < len(cells) else []
        for name, value in _literals(tree):
            own = PARAMETERS in marks or INJECTED in marks
            if own or (often[name] == 1 and name not in found):
                role = _role(name, value, facts) or called.roles.get(name, "")
                found[name] = Variable(name=name, value=value, role=role, cell=index, parameter=own)
    found.update((one.name, one) for one in called.variables if one.name not in found)
    ranked = sorted(found.values(), key=lambda one: (not one.parameter, not one.role))
    return tuple(_one_role_each(ranked[:MOST]))


def _literals(tree: ast.Module) -> Iterator[tuple[str, FactValue]]:
    """Names that a cell's own statements bind to a plain value. Names of the interpreter's kind are nobody's choice."""
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                known, constant = _constant(value)
                if known and not name.startswith("_"):
                    yield name, constant


def _constant(node: ast.expr) -> tuple[bool, FactValue]:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return True, value
        case ast.Constant(value=str() as value) if len(value) <= LONGEST:
            return True, value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return True, -value
    return False, None


def _bindings(tree: ast.Module) -> Iterator[str]:
    """Names that a cell binds at top level, once for each time: what is bound twice changes while the notebook runs."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _role(name: str, value: FactValue, facts: NotebookFacts) -> Role:
    if isinstance(value, (bool, str)):
        return ""
    for role, fact in (("batch_size", facts.batch_size), ("epochs", facts.epochs)):
        if fact is not None and fact.name == name:
            return role  # type: ignore[return-value]
    if _RATE.fullmatch(name):
        return "learning_rate"
    if facts.epochs is None and isinstance(value, int) and _EPOCHS.fullmatch(name):
        return "epochs"
    if facts.batch_size is None and isinstance(value, int) and _BATCH.fullmatch(name):
        return "batch_size"
    return ""


def _one_role_each(variables: Iterable[Variable]) -> Iterator[Variable]:
    """The first that has a role keeps it."""
    taken: set[str] = set()
    for one in variables:
        yield msgspec.structs.replace(one, role="") if one.role in taken and one.role else one
        taken.add(one.role)


def _facts(facts: NotebookFacts, variables: Iterable[Variable]) -> Iterator[Variable]:
    """What the training has without a variable for it."""
    taken = {one.role for one in variables}
    rows: tuple[tuple[Role, Fact | None], ...] = (
        ("batch_size", facts.batch_size),
        ("epochs", facts.epochs),
        ("amp", facts.amp),
        ("optimizer", facts.optimizer),
    )
    for role, fact in rows:
        if fact is not None and fact.value is not None and role not in taken:
            yield Variable(name="", value=fact.value, role=role, cell=fact.place.cell if fact.place else -1)


def _digest(trees: list[tuple[int, ast.Module]], names: set[str], places: Container[Spot]) -> str:
    """Of all cells as code, comments and layout aside, without the values of variables and of hyperparameters."""
    digest = hashlib.sha256()
    for cell, tree in trees:
        for node in tree.body:
            _blank(node, cell, places)
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in names and _constant(value)[0]:
                    digest.update(f"{name}=\n".encode())
                case _:
                    digest.update(ast.dump(node).encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _blank(statement: ast.stmt, cell: int, places: Container[Spot]) -> None:
    for node in ast.walk(statement):
        if isinstance(node, ast.Constant) and (cell, node.lineno, node.col_offset) in places:
            node.value = None


def _parsed(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
