"""What calls and texts in code name: scripts, modules, parts of a training."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping

from ..syntax import nodes, parsed

STARTERS = frozenset(
    (
        *("system", "getoutput", "getstatusoutput", "run", "Popen", "call", "check_call", "check_output"),
        *("create_subprocess_exec", "create_subprocess_shell"),
    )
)
"""Calls by which Python starts a program."""
IN_PLACE = frozenset(("run_path", "exec"))
"""Calls that run a file of Python in the process that calls them."""
BY_NAME = frozenset(("import_module", "run_module", "__import__"))
"""Calls that run a module, which they are given by its name."""


def started(source: str) -> list[str]:
    """Where the scripts may lie that code starts by a call of Python's: all that it names, where it starts anything, in
    each folder that it goes to."""
    starting = STARTERS | IN_PLACE
    calls = [node for node in nodes(source) if isinstance(node, ast.Call) and name_of(node.func) in starting]
    if not calls:
        return []
    told = [word.value for call in calls for word in call.keywords if word.arg == "cwd"]
    folders = [one.value for one in told if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    tree = parsed(source)
    folders += [folder for text in texts(tree) for folder in _GOES.findall(text)]
    return [os.path.join(folder, script) for script in scripts_in(tree) for folder in ("", *folders)]  # noqa: PTH118


LOOKED_UP = frozenset(("getattr", "globals", "locals", "vars"))
"""Calls that give a function by a name which may be told by a text."""


def ancestors(kind: str, bases: Mapping[str, list[str]]) -> list[str]:
    """A class and those that it is made of, by their names, the nearest first."""
    found = [kind]
    for one in found:  # which grows
        found += [base for base in bases.get(one, ()) if base not in found]
    return found


def is_for_scripts(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, which an import passes by."""
    return isinstance(node, ast.If) and any(name_of(one) == "__name__" for one in ast.walk(node.test))


_GOES = re.compile(r"\bcd\s+([^\s;&|]+)")


def scripts_in(node: ast.AST) -> list[str]:
    """Scripts of Python that a piece of code names, also where a path is put together (`Path("x") / "train.py"`)."""
    whole = ["/".join(texts(one)) for one in ast.walk(node) if _joins(one)]
    words = (word.strip("'\"") for text in (*whole, *texts(node)) if ".py" in text for word in text.split())
    return [word for word in words if word.endswith(".py")]


def _joins(node: ast.AST) -> bool:
    """Whether an expression puts a path together."""
    is_call = isinstance(node, ast.Call) and name_of(node.func) in {"join", "joinpath", "Path", "PurePath"}
    return is_call or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div))


def texts(node: ast.AST) -> Iterator[str]:
    """All texts in a piece of code."""
    return (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))


FITS = "sklearn"
"""The package whose things are fitted too, and train no model of Paddle's: a scaler, an encoder."""


def of_scikit_learn(source: str) -> Iterator[str]:
    """Names under which a source has scikit-learn's classes and modules, and what it made of them."""
    found: set[str] = set()
    for node in nodes(source):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == FITS:
            found |= {one.asname or one.name for one in node.names}
        elif isinstance(node, ast.Import):
            found |= {one.asname or FITS for one in node.names if one.name.partition(".")[0] == FITS}
    yield from found
    for node in nodes(source):
        made = node.value.func if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else None
        if made is not None and isinstance(node, ast.Assign) and not found.isdisjoint(names_of(made)):
            yield from filter(None, map(name_of, node.targets))


def names_of(node: ast.expr) -> list[str]:
    """The parts of a dotted name: `preprocessing` and `StandardScaler` of `preprocessing.StandardScaler()`."""
    found = [name_of(node)]
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
        found.append(name_of(node))
    return found


_EVALUATES = re.compile("test|infer|eval|valid", re.IGNORECASE)
"""Names of programs that train nothing."""


def feeds(call: ast.Call) -> bool:
    """Whether an executor runs a step of a static graph: `exe.run(main, feed={...}, fetch_list=[loss])`."""
    is_fed = any(one.arg == "feed" for one in call.keywords)
    programs = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "program")]
    return is_fed and not any(_EVALUATES.search(ast.unparse(one)) for one in programs)


def gives_parameters(call: ast.Call) -> bool:
    """Whether a call makes an optimizer, whatever its class is called there: `getattr(paddle.optimizer, name)(
    parameters=net.parameters())`. A name with `_` at its end changes what it is given (`clip_grad_norm_`)."""
    return any(one.arg == "parameters" for one in call.keywords) and not name_of(call.func).endswith("_")


def takes(function: ast.AST, call: ast.Call) -> bool:
    """Whether a call may be of a function: `net.train()` sets a mode where `train(net, loader)` wants arguments."""
    if call.args or call.keywords or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return True
    own = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    needed = len(own) - len(function.args.defaults) - (own[:1] in (["self"], ["cls"]))
    return needed <= 0


def name_of(node: ast.AST) -> str:
    """The last part of a name: `step` of `self.optimizer.step`; of a call that of what is called."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
