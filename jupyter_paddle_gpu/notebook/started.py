"""Programs that cells start by a call of Python's: `subprocess.run([sys.executable, "train.py"])`, `os.system("…")`,
`get_ipython().system("…")`. Each is read as the line of a shell that it comes to."""

from __future__ import annotations

import ast
import copy
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

from .cells import Magic, ParsedCell

STARTERS = frozenset(
    (
        *("system", "getoutput", "getstatusoutput", "run", "Popen", "call", "check_call", "check_output"),
        *("create_subprocess_exec", "create_subprocess_shell"),
    )
)
"""Calls that start a program, by their last name."""
_RUNS = frozenset(("run_path", "exec", "run_module"))
"""Calls that run a file or a module in this process: `runpy.run_path("train.py")`, `exec(open("train.py").read())`."""
_SCRIPT = re.compile(r"\.py|(?:^| )-m ")
_UNKNOWN = "…"
"""Stands for a word that only running the code would give."""


def started_programs(cells: Iterable[ParsedCell]) -> list[tuple[int, Magic]]:
    """Lines that start a script of Python, each with the index of its cell."""
    trees = [(cell.cell.index, cell.tree) for cell in cells if cell.tree is not None]
    bound: dict[str, ast.expr] = {}
    for _, tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                bound[node.targets[0].id] = node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                bound[node.target.id] = node.value
    return [
        (index, Magic("!" + text, node.lineno))
        for index, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and _name(node.func) in STARTERS | _RUNS
        and _SCRIPT.search(text := _line(node, bound))
    ]


def _line(call: ast.Call, bound: dict[str, ast.expr]) -> str:
    if _name(call.func) == "run_module":
        return shlex.join(["python", "-m", _text(call.args[0])]) if call.args else ""
    if _name(call.func) in _RUNS:
        texts = (one.value for one in ast.walk(call) if isinstance(one, ast.Constant))
        file = next((one for one in texts if isinstance(one, str) and one.endswith(".py")), "")
        return shlex.join(["python", file]) if file else ""
    given = [*call.args, *(one.value for one in call.keywords if one.arg in {"args", "cmd", "command"})]
    given = [_Filled(bound).visit(copy.deepcopy(one)) for one in given]
    folder = next((_text(one.value) for one in call.keywords if one.arg == "cwd"), "")
    if _name(call.func) == "create_subprocess_exec":
        line = shlex.join(map(_text, given))
    elif given and _is_list(given[0]):
        line = shlex.join(_items(given[0]))
    else:
        line = _text(given[0]) if given else ""
    return f"cd {shlex.quote(folder)} && {line}" if line and folder not in {"", _UNKNOWN} else line


def _is_list(node: ast.expr) -> bool:
    is_sum = (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and (_is_list(node.left) or _is_list(node.right))
    )
    return is_sum or isinstance(node, (ast.List, ast.Tuple))


class _Filled(ast.NodeTransformer):
    """Puts what names hold in their places: `script = "train.py"`, `line = f"python {script}"`."""

    def __init__(self, bound: Mapping[str, ast.expr]) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name in an expression."""
        if not isinstance(node.ctx, ast.Load) or node.id not in self._bound:
            return node
        others = {name: value for name, value in self._bound.items() if name != node.id}
        filled: ast.AST = _Filled(others).visit(copy.deepcopy(self._bound[node.id]))
        return filled


def _items(node: ast.expr) -> Iterator[str]:
    """The words of a list, also of `["python", "train.py"] + rest` and of `"python train.py".split()`."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            for part in parts:
                yield from _items(part.value) if isinstance(part, ast.Starred) else [_text(part)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _items(left)
            yield from _items(right)
        case _:
            yield _text(node)


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.Attribute(attr="executable"):
            return "python"
        case ast.JoinedStr(values=parts):
            return "".join(_text(part.value if isinstance(part, ast.FormattedValue) else part) for part in parts)
        case ast.BinOp():
            return _text_of_two(node)
        case ast.Call():
            return _text_of_call(node)
    return _UNKNOWN


def _text_of_two(node: ast.BinOp) -> str:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):  # of paths
            return _path(left, right)
        case ast.BinOp(left=ast.Constant(value=str(form)), op=ast.Mod(), right=ast.Tuple(elts=parts)):
            return _filled(form, "%s", parts)
        case ast.BinOp(left=ast.Constant(value=str(form)), op=ast.Mod(), right=right):
            return _filled(form, "%s", [right])
    return _UNKNOWN


def _filled(form: str, place: str, parts: Iterable[ast.expr]) -> str:
    """A text with others in its places."""
    for part in parts:
        form = form.replace(place, _text(part), 1)
    return form


def _path(*parts: ast.expr) -> str:
    """A path that is put together; what nobody knows of its beginning is taken for the notebook's folder."""
    known = [text for text in map(_text, parts) if text != _UNKNOWN]
    return os.path.normpath(os.path.join(*known)) if known else _UNKNOWN  # noqa: PTH118 - of text


def _text_of_call(call: ast.Call) -> str:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(form)), attr="format"), args=parts):
            return _filled(form, "{}", parts)
        case ast.Call(func=ast.Attribute(attr="join"), args=[words]):
            return " ".join(_items(words))
        case (
            ast.Call(func=ast.Attribute(value=one, attr="split"), args=[])
            | ast.Call(func=ast.Attribute(value=ast.Name(id="shlex"), attr="split"), args=[one])
            | ast.Call(func=ast.Name(id="str"), args=[one])
        ):
            return _text(one)
    return _path_of_call(call)


def _path_of_call(call: ast.Call) -> str:
    match call:
        case (
            ast.Call(func=ast.Attribute(value=ast.Attribute(attr="path"), attr="join"), args=parts)
            | ast.Call(func=ast.Name(id="Path" | "PurePath"), args=parts)
            | ast.Call(func=ast.Attribute(attr="Path" | "PurePath"), args=parts)
        ):
            return _path(*parts)
        case ast.Call(func=ast.Attribute(value=one, attr="joinpath"), args=parts):
            return _path(one, *parts)
        case (
            ast.Call(func=ast.Attribute(value=ast.Attribute(attr="path"), attr="abspath" | "realpath"), args=[one])
            | ast.Call(func=ast.Attribute(attr="fspath"), args=[one])
            | ast.Call(func=ast.Attribute(value=one, attr="resolve" | "absolute" | "as_posix"), args=[])
        ):
            return _text(one)
    return _UNKNOWN


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
