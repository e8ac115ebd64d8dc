"""Answers for options that a program reads by Python's getopt and optparse, and that were not given; as the estimate
has them (`tracer/patches/processes/options`)."""

import ast
import contextlib
import linecache
import sys
from typing import Any, Dict, Iterable, Iterator, List, Tuple

from .lookups import destination

Group = Tuple[List[str], List[str]]
"""An option of getopt's: how it is written, and what code binds where it is given."""


def _groups(known: Iterable[str], nodes: Iterable[ast.AST]) -> List[Group]:
    """The options that code has as one (`elif option in ("-b", "--batch"): batch = int(value)`), and the others."""
    found: List[Group] = []
    left = list(known)
    for node in nodes:
        chosen = getattr(node, "test", None) if isinstance(node, ast.If) else getattr(node, "pattern", None)
        if chosen is None or not hasattr(node, "body"):
            continue
        texts = [one.value for one in ast.walk(chosen) if isinstance(one, ast.Constant)]
        flags = [one for one in left if one in texts]
        made = [one for part in node.body for one in ast.walk(part) if isinstance(one, ast.Assign)]
        if flags:
            found.append((flags, [name for one in made for name in _bound(one.targets[0])]))
            left = [one for one in left if one not in flags]
    return found + [([one], []) for one in left]


def _bound(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Subscript):
        key = getattr(target.slice, "value", None)
        if isinstance(key, str):
            yield key


def _code(file: str) -> Iterator[ast.AST]:
    """The nodes of a file and of all cells."""
    cells = [lines for size, mtime, lines, _ in list(_held()) if mtime is None]
    for text in {"".join(lines) for lines in [linecache.getlines(file), *cells]}:
        with contextlib.suppress(SyntaxError, ValueError):
            yield from ast.walk(ast.parse(text))


def _held() -> Iterator[Tuple[Any, ...]]:
    return (entry for entry in list(linecache.cache.values()) if len(entry) == 4)


def of_getopt(module: Any, answers: Dict[str, Any]) -> None:
    """Have both functions of the module give the options that are answered."""
    for name in ("getopt", "gnu_getopt"):
        setattr(module, name, _answering(getattr(module, name), answers))


def _answering(read: Any, answers: Dict[str, Any]) -> Any:
    def answered(words: Any, short: str, long: Any = (), *more: Any) -> Any:
        found, rest = read(words, short, long, *more)
        if answers:
            letters = short.lstrip("+-")
            takes = {"-" + one: letters[at + 1 : at + 2] == ":" for at, one in enumerate(letters) if one != ":"}
            takes.update(
                {"--" + one.rstrip("="): one.endswith("=") for one in ([long] if isinstance(long, str) else long)}
            )
            for flags, bound in _groups(takes, _code(sys._getframe(1).f_code.co_filename)):
                long_ones = [flag for flag in flags if flag.startswith("--")]
                names = [*map(destination, long_ones), *bound, *map(destination, flags)]
                given = [answers[one] for one in names if answers.get(one) is not None]
                if given and not any(flag in flags for flag, _ in found) and (given[0] or takes[flags[0]]):
                    flag = max(flags, key=len)
                    found.append((flag, str(given[0]) if takes[flag] else ""))
        return found, rest

    return answered


def of_optparse(module: Any, answers: Dict[str, Any]) -> None:
    """Have parsers take the answers as what their options are by default."""
    parse = module.OptionParser.parse_args

    def parsing(parser: Any, *given: Any, **named: Any) -> Any:
        for one in parser._get_all_options():
            if one.dest is not None and answers.get(one.dest) is not None:
                answer = answers[one.dest]
                parser.defaults[one.dest] = str(answer) if one.takes_value() else answer
        return parse(parser, *given, **named)

    module.OptionParser.parse_args = parsing
