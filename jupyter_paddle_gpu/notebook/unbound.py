"""Names that no code binds: where a job comes to one, it ends.

A trace ends with the training's step; of the cells behind it only their names are looked at, and only of what surely
runs there: statements that no condition, loop or `try` stands around, and the functions that they call.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence

from ..domain.notebooks import Place, Unbound
from .cells import ParsedCell

_OF_IPYTHON = frozenset(("display", "get_ipython", "In", "Out", "exit", "quit", "_", "__", "___", "_ih", "_oh", "_dh"))
_OF_MODULES = frozenset(
    ("__name__", "__file__", "__doc__", "__builtins__", "__spec__", "__loader__", "__package__", "__annotations__",
     "__class__")
)  # fmt: skip
_KNOWN = {*dir(builtins), *_OF_IPYTHON, *_OF_MODULES}
_BINDS_OTHERWISE = re.compile(
    r"\bimport\s*\*|\bglobals\(|\blocals\(|\bvars\(|(?<!\.)\bexec\(|(?<!\.)\beval\(|\bsetattr\(|\.push\(|\brun_line_magic|\brun_cell|"
    r"\bsettrace\(|__main__"
)
"""What may bind names that nothing here sees; `net.eval()` does not."""
_MAIN = "__main__"
_UNCERTAIN = (ast.Try, ast.AsyncFor, ast.AsyncWith, ast.Match, ast.Assert, ast.AnnAssign)
_CATCHES = re.compile(r"suppress|raises")
_LEAVES = frozenset(("exit", "quit", "abort", "_exit", "skip"))
_MOST_DEPTH = 5
"""Functions that call each other are followed that far."""


def unbound_names(cells: Sequence[ParsedCell]) -> tuple[Unbound, ...]:
    """The first name of each cell that surely runs there and that nothing binds, in the order of the notebook.

    None is told of where code may bind names unseen (`import *`, `exec`, `%run`).
    """
    if any(_binds_unseen(cell) for cell in cells):
        return ()
    trees = [cell.tree for cell in cells if cell.tree is not None]
    bound = {name for tree in trees for node in ast.walk(tree) for name in _bound(node)} | _KNOWN
    functions = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: list[Unbound] = []
    for cell in cells:
        if cell.tree is None or cell.cell.may_fail:
            continue
        for node in _Path(functions, bound).names(cell.tree.body):
            found.append(Unbound(name=node.id, place=Place(cell.cell.index, node.lineno)))
            break
    return tuple(found)


def _binds_unseen(cell: ParsedCell) -> bool:
    source = cell.cell.source.replace(f'"{_MAIN}"', "").replace(f"'{_MAIN}'", "")
    return cell.cell.hides or _BINDS_OTHERWISE.search(source) is not None


class _Path:
    """What surely runs of a list of statements."""

    def __init__(self, functions: dict[str, ast.FunctionDef], bound: set[str]) -> None:
        self._functions, self._bound = functions, bound
        self._is_left = False

    def names(self, body: Iterable[ast.stmt], depth: int = 0) -> Iterator[ast.Name]:
        """Names that nothing binds; each stands at the line of the cell's own statement."""
        for statement in body:
            if self._is_left:
                return
            own, inner = _runs(statement)
            for part in own:
                yield from self._of(part, statement, depth)
            if inner:
                yield from self.names(inner, depth)
            if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)) or _leaves(statement):
                self._is_left = not isinstance(statement, ast.Return) or depth == 0
                return

    def _of(self, part: ast.AST, statement: ast.stmt, depth: int) -> Iterator[ast.Name]:
        for node in _evaluated(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in self._bound:
                yield node
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            function = self._functions.get(called)
            if function is not None and depth < _MOST_DEPTH and not function.decorator_list:
                for name in self.names(function.body, depth + 1):
                    yield ast.copy_location(ast.Name(name.id, name.ctx), statement)


def _runs(statement: ast.stmt) -> tuple[list[ast.AST], list[ast.stmt]]:
    """What is evaluated of a statement for certain, and the statements within it that surely run.

    An assertion may be left out by a job, and what is annotated need not be bound.
    """
    own: list[ast.AST] = []
    inner: list[ast.stmt] = []
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            own = [*statement.decorator_list]
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()])):
            inner = statement.body
        case ast.If() | ast.While():
            own = [statement.test]
        case ast.For():
            own = [statement.iter]
        case ast.With():
            own = [item.context_expr for item in statement.items]
            inner = [] if any(_CATCHES.search(ast.unparse(one)) for one in own) else statement.body
        case ast.AnnAssign(value=ast.expr() as value):
            own = [value]
        case _ if not isinstance(statement, _UNCERTAIN):
            own = [statement]
    return own, inner


def _evaluated(part: ast.AST) -> Iterator[ast.AST]:
    """Every expression in it that is surely evaluated, in the order in which Python does: not the rest of a condition,
    nor a function's body."""
    pending = [(part, False)]
    while pending:
        node, is_open = pending.pop()
        if is_open:
            yield node
        else:
            pending += [(node, True), *((one, False) for one in reversed(_parts(node)))]


def _parts(node: ast.AST) -> list[ast.AST]:
    """What is evaluated for a node, in that order."""
    parts: list[ast.AST | None] = [*ast.iter_child_nodes(node)]
    match node:
        case ast.Lambda():
            parts = []
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            parts = [node.generators[0].iter]
        case ast.BoolOp():
            parts = [node.values[0]]
        case ast.IfExp():
            parts = [node.test]
        case ast.Compare():
            parts = [node.left, node.comparators[0]]
        case ast.Assign():
            parts = [node.value, *node.targets]
        case ast.Dict():
            parts = [one for pair in zip(node.keys, node.values, strict=True) for one in pair]
    return [one for one in parts if one is not None]


def _leaves(statement: ast.stmt) -> bool:
    """Whether the program ends there: `sys.exit()`."""
    called = statement.value if isinstance(statement, ast.Expr) else None
    function = called.func if isinstance(called, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", "")) in _LEAVES


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a node binds, in whatever scope."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.Constant(value=str(text)) if text.isidentifier():  # `namespace["name"]`
            yield text
