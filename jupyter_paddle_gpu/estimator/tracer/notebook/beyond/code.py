"""What a program does beside its steady step: whether its code has anything there, and how that is come to soon."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from ...session import current
from ...step.steps import StepWatch
from ..sites import STEPS, TRAININGS, Sites
from ..syntax import nodes

EVERY = "__every__"
"""The name under which a condition on a count finds `every`."""
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_JUMPS = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom)
_NOT_OF_LOOPS = frozenset(("forward", "__getitem__", "__len__", "__iter__", "__next__"))
"""Functions whose conditions on a count are no loop's."""
_LITTLE = frozenset(
    (
        *("print", "info", "debug", "format", "join", "write", "writerow", "flush", "close", "save", "state_dict"),
        *("float", "int", "len", "round", "str", "range", "enumerate", "zip", "sum", "min", "max", "item", "append"),
        *("train", "eval", "step", "get_lr", "set_lr", "time", "perf_counter", "strftime", "update", "seed"),
        *("tqdm", "set_description", "set_postfix", "add_scalar", "add_scalars", "log", "reset", "shuffle"),
    )
)
"""Calls that hold no tensors worth a look."""


def is_any(sources: Iterable[str], sites: Sites) -> bool:
    """Whether a loop has anything beside a training that it repeats (another one too, or other data in each round), a
    training something that it does only every so many steps, or `fit` data to evaluate with."""
    everything = [node for source in sources for node in nodes(source)]
    if any(isinstance(node, ast.Call) and _evaluates(node) for node in everything):
        return True
    loops = [node for node in everything if isinstance(node, _LOOPS) and sites.held(node).trains]
    for loop in loops:
        inner = [one for one in loop.body if _is_round(one, sites)]
        if len(inner) > 1 or (inner and (_goes_through_things(loop, everything) or _hangs_on_round(loop))):
            return True
        if inner and any(_does(one) for one in loop.body if one not in inner):
            return True
    counted = (node for node in everything if isinstance(node, ast.If) and _is_counted(node))
    return bool(loops) and any(_does(one) for node in counted for one in node.body)


_LITERALS = (ast.List, ast.Tuple, ast.Dict, ast.Set)


def _goes_through_things(loop: ast.AST, everything: Iterable[ast.AST]) -> bool:
    """Whether a loop goes through things that may differ (`for size in (16, 24):`, `for name, data in sets.items():`),
    not through numbers of rounds."""
    through = getattr(loop, "iter", None)
    if isinstance(through, ast.Name):
        bound = (one for one in everything if isinstance(one, ast.Assign))
        return any(isinstance(one.value, _LITERALS) for one in bound if _root(one.targets[0]) == through.id)
    return isinstance(through, _LITERALS) or (
        isinstance(through, ast.Call) and getattr(through.func, "attr", "") in {"items", "values"}
    )


def _hangs_on_round(loop: ast.stmt) -> bool:
    """Whether numbers follow from that of the round, which may be sizes: `size = sizes[epoch]`,
    `paddle.rand([4, 16 * (stage + 1)])`."""
    target = getattr(loop, "target", None)
    names = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)} if target is not None else set()
    for part in ast.walk(loop):
        computed: list[ast.AST] = []
        if isinstance(part, ast.Assign):
            computed = [part.value]
        elif isinstance(part, ast.Call) and getattr(part.func, "attr", getattr(part.func, "id", "")) not in _LITTLE:
            given = [*part.args, *(one.value for one in part.keywords)]
            computed = [one for value in given for one in ast.walk(value) if isinstance(one, ast.BinOp)]
        if any(isinstance(one, ast.Name) and one.id in names for value in computed for one in ast.walk(value)):
            return True
    return False


def comes_behind(cells: Iterable[tuple[int, str]], sites: Sites) -> bool:
    """Whether anything that may take tensors comes behind a training: in the statements behind it, in the cells behind
    its own, or in a function that trains.

    Args:
        cells: indices and sources.
    """
    cells = list(cells)
    trees = [node for _, source in cells for node in nodes(source)]
    others = _of_others(trees)
    first = min(((site.cell, site.end) for site in sites.all), default=None)
    if first is None:
        return False
    for index, source in cells:
        module = next(node for node in nodes(source) if isinstance(node, ast.Module))
        behind = [one for one in module.body if (index, one.lineno) > first and not sites.held(one).trains]
        if any(_computes(one, others) for one in behind):
            return True
    functions = (node for node in trees if isinstance(node, ast.FunctionDef) and node.name not in _NOT_OF_LOOPS)
    return any(_computes(one, others) for function in functions for one in _behind(function.body, sites))


def _behind(body: list[ast.stmt], sites: Sites) -> list[ast.stmt]:
    first = next((number for number, one in enumerate(body) if _is_round(one, sites)), len(body))
    return [one for one in body[first + 1 :] if not sites.held(one).trains]


_MAY_COMPUTE = frozenset(("map", "__import__", "exec", "eval"))
_PYTHONS = frozenset(dir(builtins)) - _MAY_COMPUTE


def _of_others(everything: Iterable[ast.AST]) -> set[str]:
    """Names of modules that are not Paddle's, and of what is made by calls of them: `plt`, `frame`, `axis`."""
    others, assigned = set[str](), []
    for node in everything:
        match node:
            case ast.Import(names=names):
                others |= {
                    one.asname or one.name.partition(".")[0] for one in names if not one.name.startswith("paddle")
                }
            case ast.ImportFrom(module=str(module), names=names) if module.partition(".")[0] in _FOREIGN:
                others |= {one.asname or one.name for one in names}
            case ast.Assign(targets=targets, value=ast.Call(func=called)):
                assigned.append((targets, called))
            case ast.withitem(context_expr=ast.Call(func=called), optional_vars=ast.Name() as target):
                assigned.append(([target], called))
    for targets, called in assigned:
        if _root(called) in others | _PYTHONS:
            others |= {part.id for one in targets for part in ast.walk(one) if isinstance(part, ast.Name)}
    return others


_FOREIGN = frozenset(("matplotlib", "numpy", "pandas", "sklearn", "scipy", "seaborn", "PIL", "pathlib", "collections"))


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Calls that a statement makes; what it defines is looked at where it is called."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _calls(child)


def _computes(node: ast.AST, others: set[str]) -> bool:
    """Whether a statement calls what may take tensors: neither Python's functions nor those of other modules."""
    for call in _calls(node):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name not in _LITTLE and _root(call.func) not in others | _PYTHONS:
            return True
    return False


def _is_round(node: ast.stmt, sites: Sites) -> bool:
    """Whether a statement of a loop trains for more than a step."""
    return sites.held(node).trainings > 0


def _does(node: ast.stmt) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            name = getattr(part.func, "attr", getattr(part.func, "id", ""))
            if name not in _LITTLE | STEPS:
                return True
        elif isinstance(part, ast.AugAssign):
            if not isinstance(part.value, ast.Constant) or isinstance(part.op, (ast.Mult, ast.Pow, ast.LShift)):
                return not isinstance(part.op, ast.Div)
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            return True
    return False


def _evaluates(node: ast.Call) -> bool:
    """Whether it is `fit` with data for its evaluations, which may come in larger batches."""
    given = [*node.args[1:2], *(one.value for one in node.keywords if one.arg == "eval_data")]
    is_fit = isinstance(node.func, ast.Attribute) and node.func.attr in TRAININGS
    return is_fit and any(not isinstance(one, ast.Constant) for one in given)


def _is_counted(node: ast.If) -> bool:
    """Whether a condition holds once in so many turns: `if step % 100 == 0:`."""
    return any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in ast.walk(node.test))


class Counted(ast.NodeTransformer):
    """Has what is done every so many steps done at once behind the steady one."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Functions of data and of layers are left as they are."""
        return node if node.name in _NOT_OF_LOOPS else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        """`if step % 100 == 0:` as `if __every__(..., step % 100 == 0):`."""
        self.generic_visit(node)
        if _is_counted(node) and not any(isinstance(part, _JUMPS) for one in node.body for part in ast.walk(one)):
            place = f"{node.lineno}:{node.col_offset}:{ast.unparse(node.test)}"
            call = ast.Call(ast.Name(EVERY, ast.Load()), [ast.Constant(place), node.test], [])
            node.test = ast.fix_missing_locations(ast.copy_location(call, node.test))
        return node


def every(place: str, holds: object) -> object:
    """Whether a condition on a count holds: behind the steady step it does when it first comes up."""
    session = current()
    beyond = None if session is None else session.of(StepWatch).beyond
    return (beyond is not None and beyond.comes_first(place)) or holds
