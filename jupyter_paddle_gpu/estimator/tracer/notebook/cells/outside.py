"""What a program asks of its surroundings: environment variables, arguments of a command line, a person's input.

Each is a question by its own name; the answer takes its place here as it does in a job (`runner/sets`).
"""

from __future__ import annotations

import argparse
import ast
import io
import linecache
import os
import re
import sys
from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any

from ...session import Session
from ..syntax import nodes

INPUT = "input"
"""The name that an `input()` is answered by where the notebook gives what it returns none."""
PLACE = "argv_"
"""How the name begins that an argument of a script is answered by which it reads by its place."""
_MOST_PLACES = 9
_READS = frozenset(("getenv", "get", "pop"))
_SAID = 2000
"""Characters that are kept of what a program says; of a line that is told, a tenth."""
_COLORS = re.compile(r"\x1b\[[0-9;]*m")


def environment_of(problem: BaseException, source: str, line: int) -> list[str]:
    """The environment variables without which a statement failed."""
    step = problem.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if isinstance(problem, KeyError) and step is not None and step.tb_frame.f_globals.get("__name__") == "os":
        return [str(problem.args[0])]
    if not isinstance(problem, (TypeError, AttributeError, ValueError)):
        return []
    failed = (statement(source, line), failing(problem, source, line))
    return [name for name in environment_names(failed) if name not in os.environ]


def environment_names(sources: Iterable[str]) -> list[str]:
    """Names of the environment variables that code reads: `os.environ["A"]`, `os.environ.get("A")`, `getenv("A")`."""
    found: dict[str, None] = {}
    for source in sources:
        for node in nodes(source):
            if name := _read(node):
                found[name] = None
    return list(found)


def _read(node: ast.AST) -> str:
    if isinstance(node, ast.Subscript) and _is_environment(node.value):
        key: ast.expr | None = node.slice
    elif isinstance(node, ast.Call):
        func = node.func
        called = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        owner = func.value if isinstance(func, ast.Attribute) else None
        is_read = called == "getenv" or (called in _READS and owner is not None and _is_environment(owner))
        key = node.args[0] if is_read and node.args else None
    else:
        return ""
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _is_environment(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )


def statement(source: str, line: int) -> str:
    """The innermost statement at a line, or all that stand on it side by side: `import os; B = os.environ["B"]`."""
    statements = [node for node in nodes(source) if isinstance(node, ast.stmt)]
    here = [node for node in statements if node.lineno <= line <= (node.end_lineno or line)]
    innermost = [node for node in here if node.lineno == max(one.lineno for one in here)]
    inside = {id(part) for node in innermost for part in ast.walk(node) if part is not node}
    return "\n".join(ast.unparse(node) for node in innermost if id(node) not in inside)


def failing(problem: BaseException, source: str, line: int) -> str:
    """The innermost statement that failed, in the cell or in a module that it imports."""
    steps, step = [], problem.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    for step in reversed(steps):
        if step.tb_frame.f_globals.get("__name__") != "os":
            text = "".join(linecache.getlines(step.tb_frame.f_code.co_filename))
            return statement(text, step.tb_lineno) if text else statement(source, line)
    return statement(source, line)


def arguments_of(problem: BaseException, parsers: Parsers) -> list[str]:
    """The arguments of a command line that the program cannot do without and that were not given, by the names that it
    has for them."""
    if isinstance(problem, SystemExit):
        step = problem.__traceback__
        while step is not None:
            message = step.tb_frame.f_locals.get("message")
            if step.tb_frame.f_code.co_name == "error" and isinstance(message, str):
                _, found, names = message.partition("required: ")
                if found:
                    return [destination(name.split("/")[-1]) for name in names.split(", ")]
                break
            step = step.tb_next
    return list(_left_out(problem)) or list(_refused_without(problem, parsers))


def usage_of(problem: BaseException) -> ArgumentError | None:
    """What a parser says of a command line that it does not take (`unrecognized arguments: --widht 300`), in place of
    the exit that it says it by."""
    step = problem.__traceback__ if isinstance(problem, SystemExit) and problem.__context__ is None else None
    while step is not None:
        message = step.tb_frame.f_locals.get("message")
        if step.tb_frame.f_code.co_name == "error" and isinstance(message, str):
            return ArgumentError(None, message).with_traceback(problem.__traceback__)
        step = step.tb_next
    return None


def places_of(problem: BaseException) -> list[str]:
    """The arguments that a script reads by their places in `sys.argv`, or says that it cannot do without
    (`if len(sys.argv) < 3: sys.exit("usage: ...")`), and that were not given: `argv_1` is the first."""
    steps, step = [], problem.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    for step in reversed(steps):
        whole = nodes("".join(linecache.getlines(step.tb_frame.f_code.co_filename)))
        wanted = max((_wanted(node, step.tb_lineno, problem) for node in whole), default=0)
        if wanted > len(sys.argv):
            return [f"{PLACE}{number}" for number in range(len(sys.argv), wanted)]
    return []


def _wanted(node: ast.AST, line: int, problem: BaseException) -> int:
    """How many words `sys.argv` is to have for the statement at a line, or for that line not to be come to."""
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=int(place)), lineno=first, end_lineno=last):
            is_here = isinstance(problem, IndexError) and first <= line <= (last or first)
            return place + 1 if is_here and _is_words(value) else 0
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value, lineno=first, end_lineno=last):
            is_here = isinstance(problem, ValueError) and first <= line <= (last or first)
            is_rest = isinstance(value, ast.Subscript) and ast.unparse(value.slice) == "1:"
            words = value.value if isinstance(value, ast.Subscript) and is_rest else value
            return len(names) + is_rest if is_here and _is_words(words) else 0
        case ast.If(test=test, body=body, orelse=other) if not isinstance(problem, (IndexError, ValueError)):
            inside = [is_so for is_so, part in ((True, body), (False, other)) if _spans(part, line)]
            return _least(test, not inside[0]) if inside else 0
        case ast.Assert(test=test, lineno=first, end_lineno=last) if first <= line <= (last or first):
            return _least(test, True)
    return 0


def _spans(part: list[ast.stmt], line: int) -> bool:
    return bool(part) and part[0].lineno <= line <= (part[-1].end_lineno or line)


def _is_words(node: ast.AST) -> bool:
    return ast.unparse(node) in {"sys.argv", "argv"}


def _least(test: ast.expr, ends: bool) -> int:
    """The fewest words of `sys.argv` with which a test of their number comes out so; 0: it is of something else."""
    counted = {id(one) for one in ast.walk(test) if isinstance(one, ast.Call) and ast.unparse(one.func) == "len"}
    own = {name for one in ast.walk(test) if isinstance(one, ast.Name) and (name := one.id)}
    if (
        not counted
        or not own <= {"len", "sys", "argv"}
        or any(isinstance(one, ast.Call) and id(one) not in counted for one in ast.walk(test))
    ):
        return 0
    code = compile(ast.Expression(test), "<test>", "eval")
    for number in range(len(sys.argv) + 1, len(sys.argv) + _MOST_PLACES):
        words = [*sys.argv, *[""] * (number - len(sys.argv))]
        names = {"__builtins__": {"len": len}, "sys": SimpleNamespace(argv=words), "argv": words}
        if bool(eval(code, names)) is ends:
            return number
    return 0


def _left_out(problem: BaseException) -> Iterator[str]:
    """The arguments that are None where something else was needed: `open(args.config)`."""
    step = problem.__traceback__ if isinstance(problem, TypeError) and "NoneType" in str(problem) else None
    while step is not None:
        names = {**step.tb_frame.f_globals, **step.tb_frame.f_locals}
        source = "".join(linecache.getlines(step.tb_frame.f_code.co_filename))
        for node in nodes(statement(source, step.tb_lineno)):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr) if isinstance(names.get(name), Namespace):
                    if getattr(names[name], attr, "") is None:
                        yield attr
        step = step.tb_next


def _refused_without(problem: BaseException, parsers: Parsers) -> Iterator[str]:
    """The arguments for want of which the program ends itself: `if not args.data: parser.error(...)`,
    `assert args.width`, `if data is None: raise ValueError(...)`."""
    steps, step = [], problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename != argparse.__file__:
            steps.append(step)
        step = step.tb_next
    if not steps or parsers.given is None or parsers.last is None:
        return
    frame, line = steps[-1].tb_frame, steps[-1].tb_lineno
    defaults = {action.dest: action.default for action in parsers.last._actions}
    given = vars(parsers.given)
    absent = {name for name, value in given.items() if not value and value == defaults.get(name, value)}
    for test, holds in _reasons("".join(linecache.getlines(frame.f_code.co_filename)), line):
        if wanted := list(_wanted(test, holds, absent, {**frame.f_globals, **frame.f_locals})):
            yield from dict.fromkeys(wanted)
            return


def _reasons(source: str, line: int) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions under which a program ends itself at a line, the innermost first, and whether they hold then."""
    around = [
        one for one in nodes(source) if getattr(one, "lineno", line + 1) <= line <= (getattr(one, "end_lineno", 0))
    ]
    here = [one for one in around if isinstance(one, ast.stmt)]
    ends = max(here, key=lambda one: (one.lineno, one.col_offset), default=None)
    match ends:
        case ast.Assert(test=test):
            yield test, False
        case (
            ast.Raise()
            | ast.Expr(
                value=ast.Call(func=ast.Name(id="exit" | "quit") | ast.Attribute(attr="exit" | "error" | "_exit"))
            )
        ):
            functions = [one.lineno for one in here if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
            choices = [one for one in here if isinstance(one, ast.If) and one.lineno >= max(functions, default=0)]
            for one in sorted(choices, key=lambda one: (-one.lineno, -one.col_offset)):
                yield one.test, any(part.lineno <= line <= (part.end_lineno or 0) for part in one.body)


def _wanted(test: ast.expr, holds: bool, absent: set[str], names: dict[str, Any]) -> Iterator[str]:
    """Of arguments that were left out those which would have to be given so that a condition is otherwise."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _wanted(inner, not holds, absent, names)
        case ast.BoolOp(op=op, values=values):
            parts = [list(_wanted(one, holds, absent, names)) for one in values if _is(one, names) is holds]
            if isinstance(op, ast.Or) is holds:  # each of them alone is reason enough
                yield from (name for part in parts for name in part)
            elif all(parts):  # one of them given is enough: rather that of a training
                yield from min(parts, key=lambda part: not any("train" in name for name in part), default=[])
        case _:
            for node in ast.walk(test):
                match node:
                    case (
                        ast.Attribute(attr=name)
                        | ast.Name(id=name)
                        | ast.Subscript(slice=ast.Constant(value=str() as name))
                    ):
                        if name in absent and not _is(node, names):
                            yield name


def _is(node: ast.expr, names: dict[str, Any]) -> bool:
    """What a condition says where the program ended, as far as that can be asked; else that it held."""
    with suppress(Exception):  # what a program's own objects answer
        return bool(eval(compile(ast.Expression(node), "<condition>", "eval"), names))
    return True


def behind_exit(problem: BaseException) -> Exception | None:
    """The error that a program handled by leaving (`except Exception: sys.exit(1)`), with the way to that exit as its
    traceback; None where it left by itself, or well."""
    handled = problem.__context__
    if not isinstance(problem, SystemExit) or problem.code in {None, 0} or not isinstance(handled, Exception):
        return None
    steps, step = [], problem.__traceback__
    while step is not None:
        steps.append(step)
        step = step.tb_next
    joined = handled.__traceback__
    for one in reversed(steps):
        joined = TracebackType(joined, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return handled.with_traceback(joined)


def destination(flag: str) -> str:
    """The name under which a parser keeps an argument."""
    return re.sub(r"\W", "_", flag.strip().lstrip("-"))


def awaits_input(problem: BaseException) -> bool:
    """Whether a person was to type something: a file that ends too early is another thing."""
    return isinstance(problem, EOFError) and str(problem).startswith("EOF when reading a line")


@contextmanager
def environment(answers: dict[str, Any], sources: list[str]) -> Iterator[None]:
    """Answers as environment variables: those that the program reads by that name, and those that it never binds."""
    before = dict(os.environ)
    os.environ.update({name: str(answers[name]) for name in _of_environment(answers, sources)})
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if os.environ.get(name) != value})


def argument_names(sources: Iterable[str]) -> set[str]:
    """Names of the arguments that parsers in the code take."""
    calls = (node for source in sources if "add_argument" in source for node in nodes(source))
    return {
        name
        for node in calls
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"
        for name in _names_of(node)
    }


class Parsers:
    """The parser of a command line that was asked last, and what it gave."""

    last: ArgumentParser | None = None
    given: Namespace | None = None


@contextmanager
def arguments(answers: Mapping[str, Any], parsers: Parsers) -> Iterator[None]:
    """Answers as what a parser takes for arguments that were not given, wherever it stands: in a module, too."""
    parse = ArgumentParser.parse_known_args

    def parsing(parser: ArgumentParser, *given: Any, **named: Any) -> Any:
        parsers.last = parser
        for action in parser._actions:
            if action.dest in answers:
                action.default, action.required = answers.get(action.dest), False
                action.nargs = action.nargs if action.option_strings else "?"
        found = parse(parser, *given, **named)
        parsers.given = found[0]
        return found

    ArgumentParser.parse_known_args = parsing  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        ArgumentParser.parse_known_args = parse  # type: ignore[method-assign]


def _of_environment(answers: dict[str, Any], sources: list[str]) -> list[str]:
    if not answers:
        return []
    bound = {
        node.id
        for source in sources
        for node in nodes(source)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    read = set(environment_names(sources))
    return [name for name in answers if name in read or name not in bound]


class OutsideAnswers(ast.NodeTransformer):
    """Puts answers into `input()` and into the arguments of a parser, which may read them before it parses."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`input("...")`, `parser.add_argument("--data", required=True)`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == INPUT and INPUT in self._answers:
            return ast.copy_location(ast.Constant(str(self._answers[INPUT])), node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            self._argument(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`sys.argv = ["train.py"]`, with which a script begins: what it was not given stands behind it."""
        self.generic_visit(node)
        if ast.unparse(node.targets[0]) == "sys.argv" and isinstance(words := node.value, ast.List):
            while (answer := self._answers.get(f"{PLACE}{len(words.elts)}")) is not None:
                words.elts.append(ast.copy_location(ast.Constant(str(answer)), node))
        return node

    def _argument(self, node: ast.Call) -> None:
        name = next((name for name in _names_of(node) if name in self._answers), None)
        if name is None:
            return
        flags = _flags(node)
        node.keywords = [word for word in node.keywords if word.arg not in {"required", "default"}]
        if not flags[0].startswith("-"):
            node.keywords = [word for word in node.keywords if word.arg != "nargs"]
            node.keywords.append(ast.keyword("nargs", ast.Constant("?")))
        node.keywords.append(ast.keyword("default", ast.Constant(self._answers[name])))


def _flags(call: ast.Call) -> list[str]:
    return [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _names_of(call: ast.Call) -> list[str]:
    """The names by which a parser may keep the argument of a call of `add_argument`."""
    named = [word.value.value for word in call.keywords if word.arg == "dest" and isinstance(word.value, ast.Constant)]
    return [*(name for name in named if isinstance(name, str)), *map(destination, reversed(_flags(call)))]


@contextmanager
def working_in(folder: str | None) -> Iterator[None]:
    """A notebook's folder as that in which its program runs, and whose modules it imports."""
    before = Path.cwd()
    if folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        os.chdir(before)
        if folder and folder in sys.path:
            sys.path.remove(folder)


@dataclass
class Spoken:
    """The end of what was printed and logged: where a program ends itself, that is its reason."""

    text: str = ""

    @property
    def last(self) -> str:
        """Its last line with words in it."""
        lines = (_COLORS.sub("", line).strip() for line in reversed(self.text.splitlines()))
        return next((line[: _SAID // 10] for line in lines if any(map(str.isalpha, line))), "")


class _Stream(io.StringIO):
    """Keeps the end of it alone, for both streams in their order."""

    def __init__(self, spoken: Spoken) -> None:
        super().__init__()
        self._spoken = spoken

    def write(self, text: str) -> int:
        self._spoken.text = (self._spoken.text + text)[-_SAID:]
        return len(text)


def heard(session: Session) -> ExitStack:
    """While the program speaks: nothing of it is shown."""
    stack, spoken = ExitStack(), session.of(Spoken)
    stack.enter_context(redirect_stdout(_Stream(spoken)))
    stack.enter_context(redirect_stderr(_Stream(spoken)))
    return stack
