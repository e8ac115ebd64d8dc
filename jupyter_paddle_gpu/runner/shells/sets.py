"""Answers (`--set name=value`): the name gets the value wherever the notebook binds it at top level.

An `input()` gets the answer for `input`, an argument of a parser the one for its name.
"""

import ast
import os
import re
import shlex
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

from . import parsers


class Binder(ast.NodeTransformer):
    """Rewrites a cell's tree. A plain assignment gets the value instead of its expression, which is not evaluated;
    after any other statement that binds the name (loop, `with`, unpacking, import) an assignment is put."""

    def __init__(self, values: Dict[str, Any]) -> None:
        self._values = values

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Not top level."""
        return self._follow(node, [node.name])

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        """Not top level."""
        return self._follow(node, [node.name])

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Not top level."""
        return self._follow(node, [node.name])

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """Not top level."""
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """`name = …`, `a = name = …`, `name, other = …`.

        A name like that of an argument of a parser, which has its answer from there, is another thing
        (`config = json.load(open(args.config))`), unless a plain value stands there.
        """
        names = [name for name in _names(node.targets) if self._gives(name, node)]
        if names and _DECLARED.issuperset(names) and not isinstance(node.value, ast.Constant):
            return node
        if names and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            node.value = self._given(node.targets[0].id, node.value)
            return node
        return self._follow(node, names)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """`name: int = …`."""
        if isinstance(node.target, ast.Name) and node.value is not None and self._gives(node.target.id, node):
            node.value = self._given(node.target.id, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """`name *= …`."""
        return self._follow(node, _names([node.target]))

    def visit_Import(self, node: ast.Import) -> Any:
        """`import name`."""
        return self._follow(node, [(alias.asname or alias.name).split(".")[0] for alias in node.names])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """`from module import name`."""
        return self._follow(node, [alias.asname or alias.name for alias in node.names])

    def visit_For(self, node: ast.For) -> Any:
        """`for name in …`: bound at the start of each turn."""
        node = self.generic_visit(node)  # type: ignore[assignment]
        node.body = self._bindings(_names([node.target]), node) + node.body
        return node

    def visit_With(self, node: ast.With) -> Any:
        """`with … as name`."""
        node = self.generic_visit(node)  # type: ignore[assignment]
        names = _names([item.optional_vars for item in node.items if item.optional_vars])
        node.body = self._bindings(names, node) + node.body
        return node

    def visit_NamedExpr(self, node: Any) -> Any:
        """`(name := …)`."""
        if self._gives(node.target.id, node):
            node.value = self._constant(node.target.id, node)
        return node

    def _gives(self, name: str, node: ast.AST) -> bool:
        """Whether an answer is what is assigned: where the statement reads it from the environment, the program makes
        of its text what it needs (`BATCH = int(os.environ["BATCH"])`)."""
        if name not in self._values:
            return False
        return os.environ.get(name) != str(self._values[name]) or not _reads_variable(node, name)

    def _follow(self, node: ast.stmt, names: List[str]) -> Any:
        bindings = self._bindings(names, node)
        return [node, *bindings] if bindings else node

    def _bindings(self, names: List[str], place: ast.AST) -> List[ast.stmt]:
        out: List[ast.stmt] = []
        for name in names:
            if name in self._values:
                target = ast.copy_location(ast.Name(id=name, ctx=ast.Store()), place)
                out.append(ast.copy_location(ast.Assign(targets=[target], value=self._constant(name, place)), place))
        return out

    def _given(self, name: str, value: ast.expr) -> ast.expr:
        """The answer in place of an expression; where that waits for a person (`int(input("width? "))`), in place of
        what is typed, as the estimate has it (`tracer/notebook/questions/answers`)."""
        person = _Person(str(self._values[name]))
        made = person.visit(value)
        return made if person.is_asked else self._constant(name, value)

    def _constant(self, name: str, place: ast.AST) -> ast.expr:
        value = _of_variable(name, self._values[name])
        found = None if isinstance(getattr(place, "value", None), str) else _listed(value)
        return _placed(ast.Constant(value=value, kind=None) if found is None else found, place)


def _of_variable(name: str, answer: Any) -> Any:
    """An answer for a variable, which is a text, as a library gives it that reads one: a number where it is one."""
    is_text = isinstance(answer, str) and os.environ.get(name) == answer
    return ast.literal_eval(answer) if is_text and re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", answer) else answer


def _placed(made: ast.expr, place: ast.AST) -> ast.expr:
    for part in ast.walk(made):
        ast.copy_location(part, place)
    return made


_PARTS = (ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)


def _listed(value: Any) -> Optional[ast.expr]:
    """An answer that is written as a list (`[64, 64]`) as one, as the estimate has it; None for any other."""
    if not isinstance(value, str) or value.strip()[:1] not in {"[", "("}:
        return None
    try:
        made = ast.parse(value.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    is_list = isinstance(made, (ast.List, ast.Tuple)) and all(isinstance(one, _PARTS) for one in ast.walk(made))
    return made if is_list else None


def _reads_variable(node: ast.AST, name: str) -> bool:
    """Whether code has the environment variable of that name in it."""
    parts = list(ast.walk(node))
    called = {part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in parts}
    is_named = any(isinstance(part, ast.Constant) and part.value == name for part in parts)
    return is_named and not called.isdisjoint({"environ", "getenv"})


class _Person(ast.NodeTransformer):
    """Puts a text in place of what a person types."""

    def __init__(self, typed: str) -> None:
        self._typed = typed
        self.is_asked = False

    def visit_Call(self, node: ast.Call) -> Any:
        """`input("width? ")`."""
        if isinstance(node.func, ast.Name) and node.func.id == "input":
            self.is_asked = True
            return ast.copy_location(ast.Constant(value=self._typed, kind=None), node)
        return self.generic_visit(node)


class Outside(ast.NodeTransformer):
    """Puts answers where the program asks for them: a person's input, a parser's arguments; in functions as well."""

    def __init__(self, values: Dict[str, Any]) -> None:
        self._values = values

    def visit_Call(self, node: ast.Call) -> Any:
        """`input("…")`, `parser.add_argument("--name", …)`, `open("path")`."""
        self.generic_visit(node)
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        node.args = [self._path(one, called) for one in node.args]
        for word in node.keywords:
            word.value = self._path(word.value, called)
        if "input" in self._values and isinstance(node.func, ast.Name) and node.func.id == "input":
            return _Person(str(self._values["input"])).visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            self._argument(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """`sys.argv = ["train.py"]`, with which a script begins: the answers for all `arguments`, or for `argv_1` and
        on, stand behind it."""
        self.generic_visit(node)
        target, words = node.targets[0], node.value
        if isinstance(target, ast.Attribute) and target.attr == "argv" and isinstance(words, ast.List):
            given = shlex.split(str(self._values.get("arguments") or ""))
            while given or "argv_%d" % len(words.elts) in self._values:
                text = given.pop(0) if given else str(self._values["argv_%d" % len(words.elts)])
                words.elts.append(ast.copy_location(ast.Constant(value=text, kind=None), node))
        return node

    def _path(self, node: ast.expr, called: str) -> ast.expr:
        """The answer for a path that stands in the call: `train_csv` is the one for `data/train.csv`."""
        text = node.value if isinstance(node, ast.Constant) else None
        if not isinstance(text, str) or not _is_path(text, called):
            return node
        last = re.split(r"[/\\]", text.rstrip("/\\"))[-1]
        name = re.sub(r"\W+", "_", last).strip("_")
        answer = self._values.get(name)
        if name in _DECLARED | _BOUND or not isinstance(answer, str) or not _is_place(last, answer):
            return node
        return ast.copy_location(ast.Constant(value=answer, kind=None), node)

    def _argument(self, node: ast.Call) -> None:
        """The answer is the argument's default, so that it is not required any more."""
        flags = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        name = next((name for name in _names_of(node) if name in self._values), None)
        if name is None:
            return
        is_positional = bool(flags) and not flags[0].startswith("-")  # `*FLAGS, dest=` has none to be seen
        left_out = {"required", "default"} | ({"nargs"} if is_positional else set())
        node.keywords = [word for word in node.keywords if word.arg not in left_out]
        if is_positional:
            node.keywords.append(
                ast.keyword(arg="nargs", value=ast.copy_location(ast.Constant(value="?", kind=None), node))
            )
        node.keywords.append(
            ast.keyword(arg="default", value=ast.copy_location(ast.Constant(value=self._values[name], kind=None), node))
        )


_TAKES_PATHS = (
    "DatasetFolder", "ImageFolder", "Path", "exists", "glob", "iglob", "isdir", "isfile", "join", "listdir", "load",
    "open", "read_csv", "scandir", "walk",
)  # fmt: skip
"""Functions in whose arguments a plain word is a file or a folder; as the estimate has them."""


def _is_path(text: str, called: str) -> bool:
    """Whether an argument is written as a path; as the estimate takes it (`tracer/notebook/questions/paths`)."""
    if not text.strip("./\\"):
        return False
    if re.search(r"[/\\]|\.\w", text) and not re.search(r"[\s:*?<>|{}]", text):
        return True
    return text.isidentifier() and called in _TAKES_PATHS


def _is_place(last: str, answer: str) -> bool:
    """Whether an answer may say where a path is: of a mere word, whose name may be that of anything, one that is a path
    itself or that is there; as the estimate takes it."""
    is_path = re.search(r"[/\\]|^[.~]", answer) is not None
    return "." in last.strip(".") or is_path or Path(answer).exists()


def _names(targets: "List[Any]") -> List[str]:
    """Names that targets bind; attributes and subscripts bind none."""
    found: List[str] = []
    for target in targets:
        if isinstance(target, ast.Name):
            found.append(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            found += _names(target.elts)
        elif isinstance(target, ast.Starred):
            found += _names([target.value])
    return found


_DECLARED: Set[str] = set()
"""Names of the arguments that parsers in this process's cells take."""
_BOUND: Set[str] = set()
"""Names that this process's cells bind by themselves."""


def _declare(tree: ast.Module) -> None:
    plain = (node for node in tree.body if isinstance(node, ast.Assign) and len(node.targets) == 1)
    _BOUND.update(name for node in plain for name in _names(node.targets[:1]))
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and re.fullmatch(parsers.DECLARES, called.attr):
            _DECLARED.update(_names_of(node))  # type: ignore[arg-type]


def _names_of(call: ast.Call) -> List[str]:
    """The names by which a parser may keep the argument of a call of `add_argument`."""
    own = {word.arg: word.value for word in call.keywords}.get("dest")
    is_absl = isinstance(call.func, ast.Attribute) and call.func.attr.startswith("DEFINE_")  # behind the name, its help
    words = call.args[:1] if is_absl else call.args
    flags = [one.value for one in words if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    named = [own.value] if isinstance(own, ast.Constant) and isinstance(own.value, str) else []
    return named + [re.sub(r"\W", "_", flag.lstrip("-")) for flag in reversed(flags)]


def reach_parsers(values: Dict[str, Any]) -> None:
    """Have every parser of this process take the answers, those in modules too; none is declared yet."""
    _DECLARED.clear()
    _BOUND.clear()
    parsers.reach(values)


def bind(tree: ast.Module, values: Dict[str, Any]) -> ast.Module:
    """The tree with the answers in it; line numbers stay."""
    if not values:
        return tree
    _declare(tree)
    bound: ast.Module = Outside(values).visit(Binder(values).visit(tree))
    return ast.fix_missing_locations(bound)
