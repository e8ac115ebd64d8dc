"""Magics and `!` lines for the executor without IPython: turned into calls before the cell is parsed.

Each line stays one line, so that line numbers in errors are those of the cell. What is not known is an error that names
the magic and its place: a training that silently went on without it would be another training.
"""

import ast
import io
import re
import tokenize
from typing import List, NamedTuple, Optional, Tuple

CALL = "__paddle_gpu__"
"""The name under which the cell's namespace holds the helper that the calls go to."""

_SETTINGS = frozenset({"matplotlib", "config", "load_ext", "reload_ext", "autoreload", "pylab", "xmode", "colors"})
_SHELL = frozenset(
    {"ls", "mkdir", "rm", "cp", "mv", "cat", "pip", "conda", "sx", "system", "cd", "pwd", "env", "set_env"}
)
LINE_MAGICS = _SETTINGS | _SHELL | frozenset({"time", "timeit", "reset", "run", "who", "whos"})
CELL_MAGICS = frozenset({"time", "timeit", "capture", "bash", "sh", "script", "writefile", "file", "python", "python3"})

_LINE = re.compile(r"^(\s*)(?:([A-Za-z_][\w, ]*?)\s*=\s*)?(!!?|%)(.*)$")
_CELL = re.compile(r"^\s*%%(\w+)[ \t]*(.*)$")
_OPERATOR = re.compile(r"^\s*%[^A-Za-z_]")


class MagicError(Exception):
    """A magic that only IPython knows; `line` counts from 1 in the cell."""

    __module__ = "builtins"  # a traceback names it without a module that nobody knows

    def __init__(self, name: str, line: int) -> None:
        super().__init__(
            "The magic %s in line %d needs IPython, which the Python of this job does not have: "
            "install ipython there or take the line out" % (name, line)
        )
        self.line = line


class Prepared(NamedTuple):
    """A cell ready for the parser, or for its cell magic (`magic`, `argument`; then `source` is the body as it is)."""

    source: str
    magic: Optional[str] = None
    argument: str = ""


def prepare(source: str) -> Prepared:
    """Take the cell magic off and turn line magics into calls. Raises `MagicError`."""
    lines = source.splitlines()
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    match = _CELL.match(lines[first]) if first is not None else None
    if match is None or first is None:
        return Prepared(transform(source))
    name, argument = match.group(1), match.group(2).strip()
    if name not in CELL_MAGICS:
        raise MagicError("%%" + name, first + 1)
    body = "\n".join([""] * (first + 1) + lines[first + 1 :])
    if name in ("time", "capture"):
        return Prepared(transform(body), name, argument)
    return Prepared("\n".join(lines[first + 1 :]), name, argument)


def transform(source: str) -> str:
    """Line magics, `!` lines and `?` lines turned into Python."""
    out: List[str] = []
    lines = source.split("\n")
    inside = _inside_strings(lines)
    number = 0
    while number < len(lines):
        line, start = lines[number], number
        match = None if inside[number] else _LINE.match(line)
        if match and not _OPERATOR.match(line):
            text = match.group(4)
            while text.endswith("\\") and number + 1 < len(lines):  # a command that goes on in the next line
                number += 1
                text = text[:-1] + lines[number]
            out.append(_call(match.group(1), match.group(2), match.group(3), text, start + 1))
            out.extend([""] * (number - start))
        elif not inside[number] and re.match(r"^\s*\??\??[\w.]+\?{1,2}\s*$|^\s*\?{1,2}[\w.]+\s*$", line):
            out.append(re.match(r"\s*", line).group(0) + "pass")  # type: ignore[union-attr]  # help is for people
        else:
            out.append(line)
        number += 1
    return "\n".join(out)


def _call(indent: str, target: Optional[str], sign: str, text: str, number: int) -> str:
    before = indent + (target + " = " if target else "")
    if sign.startswith("!"):
        function = "capture_system" if target or sign == "!!" else "system"
        return "%s%s.%s(%r, globals(), locals())" % (before, CALL, function, text.strip())
    name, _, argument = text.strip().partition(" ")
    if name not in LINE_MAGICS:
        raise MagicError("%" + name, number)
    if name == "time" and argument.strip():
        return _timed(before, indent, argument.strip(), number)
    return "%s%s.magic(%r, %r, globals(), locals())" % (before, CALL, name, argument.strip())


def _timed(before: str, indent: str, source: str, number: int) -> str:
    """`%time …`: what it binds stays bound, and a value is given on as if the magic were not there."""
    source = _without_comment(source)
    expression, semicolon = source.rstrip("; "), ";" * source.endswith(";")
    if _parses(expression, "eval"):
        return "%s%s.tock(%s.tick(), (%s))%s" % (before, CALL, CALL, expression, semicolon)
    head = before + "%s.tick(); " % CALL if before == indent else ""
    if head and _parses("pass; %s; pass" % source.rstrip("; "), "exec"):
        return "%s%s; %s.tock()" % (head, source.rstrip("; "), CALL)
    if head and _parses(source, "exec"):
        return "%s%s.time_statement(%r, globals(), locals())" % (indent, CALL, source)
    raise SyntaxError("%%time in line %d cannot be read: %s" % (number, source))


def _parses(source: str, mode: str) -> bool:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        compile(source, "<%time>", mode, flags)
    except (SyntaxError, ValueError):
        return False
    return True


def _without_comment(source: str) -> str:
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                return source[: token.start[1]].rstrip()
    except (tokenize.TokenError, SyntaxError):
        pass
    return source


def _inside_strings(lines: List[str]) -> List[bool]:
    """For each line: does it begin inside a triple-quoted string, a bracket or a continued line?"""
    state: Tuple[str, int] = ("", 0)
    inside: List[bool] = []
    continued = False
    for line in lines:
        quote, depth = state
        inside.append(bool(quote) or depth > 0 or continued)
        magic = not inside[-1] and _LINE.match(line) and not _OPERATOR.match(line)
        state = (quote, depth) if magic else _scan(line, quote, depth)
        continued = not magic and not state[0] and line.endswith("\\")
    return inside


def _scan(line: str, quote: str, depth: int) -> Tuple[str, int]:
    position = 0
    while position < len(line):
        if quote:
            if line[position] == "\\":
                position += 2
                continue
            if line.startswith(quote, position):
                position += len(quote)
                quote = ""
                continue
        elif line[position] == "#":
            break
        elif line[position] in "\"'":
            quote = line[position] * 3 if line.startswith(line[position] * 3, position) else line[position]
            position += len(quote)
            continue
        elif line[position] in "([{":
            depth += 1
        elif line[position] in ")]}":
            depth = max(0, depth - 1)
        position += 1
    return (quote if len(quote) == 3 else ""), depth
