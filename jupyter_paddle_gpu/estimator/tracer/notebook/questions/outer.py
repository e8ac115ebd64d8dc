"""What a value from outside of the program may be: an argument of its command line, an environment variable, what a
person types.

Documents beside the program give it, the code compares it with something or looks something up by it, its type and its
name say which number it is. Where nothing does, any text is as good: a program in which it names a table or a class
refuses it in a trace, and then nothing is suggested.
"""

from __future__ import annotations

import ast
import re
from argparse import Action, ArgumentParser
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

from ...patches.processes.alone import ALONE, VARIABLES
from ...patches.processes.command_lines import TRAINS, destination
from ...patches.processes.options import options_of
from ..sites import name_of
from ..syntax import nodes
from . import documented
from .documented import CODE
from .numbers import by_name

Candidate = tuple[Any, str]
ANY = "any"
"""Where what is suggested is neither said nor looked at by anything."""
_PATH = re.compile(r"(?i)(^|_)(dir|path|root|folder|file|dataset|data|csv)s?(_|$)|(dir|path|root|folder|file)$")
"""What arguments are called that name a place."""
_PLACE = "data"
_HELD = re.compile(r"(?:\be\.?g\.?,?|\bsuch as|\bfor example:?|\bdefault(?:s to)?:?)\s*[\"'`(]?([A-Za-z][\w./-]*\w)")
"""An example in the help of an argument: `the city (e.g. Shenzhen)`."""
_HOLD_ALL = frozenset(("globals", "locals", "vars"))
_CONVERTS = frozenset(("int", "float"))
_MOST = 6


def arguments(name: str, parser: ArgumentParser | None, sources: Iterable[str]) -> list[Candidate]:
    """Values of an argument that the program requires, the likeliest first, each with where it comes from.

    Args:
        parser: that wants it, where it is known.
        sources: all of the code.
    """
    known = documented.arguments(name, parser)
    actions = parser._actions if parser is not None else []
    action = next((one for one in actions if name in {one.dest, *map(destination, one.option_strings)}), None)
    if action is not None and (action.choices or action.nargs == 0):  # of a flag what it is where it is given
        return known if action.choices else [(action.const if action.const is not None else True, CODE)]
    said = [(value, CODE) for value in (*by_code(name, sources), *_by_help(action))]
    number = getattr(getattr(action, "type", None), "__name__", "")
    number = number if number in _CONVERTS else str(getattr(action, "metavar", "") or number)
    assumed = dict.fromkeys((_neutral(name, number), by_name(name)))
    return _each([*known, *said, *((value, ANY) for value in assumed if value is not None)])


def words(sources: Iterable[str]) -> list[Candidate]:
    """All words of a command line, as one text: those of documents, those of a usage, and what functions, methods and
    records of the code are called and take, as libraries make subcommands and options of them, those first that sound
    like a training."""
    whole = [node for source in sources for node in nodes(source)]
    used = [*filter(None, (_used(node) for node in whole)), *_with_options(whole)]
    made = [one for one in whole if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and not one.name.startswith("_")]
    taken: list[str] = []
    for one in sorted(made, key=lambda one: not TRAINS.search(one.name)):
        options = " ".join(_options(one))
        taken += [one.name, *([f"{one.name} {options}", options] if options else [])]
    known = documented.lines()
    taken = [] if any(_reads_options(node) for node in whole) else taken
    return [*known, *((line, CODE) for line in dict.fromkeys([*used, *taken]))][: 2 * _MOST + len(known)]


def _functions(whole: Iterable[ast.AST]) -> list[str]:
    """What functions of the code are called that need nothing, those first that sound like a training."""
    made = [one for one in whole if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
    names = dict.fromkeys(one.name for one in made if not list(_options(one)))
    return sorted(names, key=lambda one: not TRAINS.search(one))


def _options(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """What a function or a record cannot do without, each with a value."""
    if isinstance(node, ast.ClassDef):
        fields = (one for one in node.body if isinstance(one, ast.AnnAssign) and one.value is None)
        needed: list[tuple[str, ast.expr | None]]
        needed = [(one.target.id, one.annotation) for one in fields if isinstance(one.target, ast.Name)]
    else:
        known = [*node.args.posonlyargs, *node.args.args]
        alone = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        known = [*known[: len(known) - len(node.args.defaults)], *(one for one, default in alone if default is None)]
        needed = [(one.arg, one.annotation) for one in known if one.arg not in {"self", "cls"}]
    for name, kind in needed:
        number = name_of(kind) if kind is not None else "int" if by_name(name) else ""
        yield f"--{name}={_neutral(name, number)}"


def _reads_options(node: ast.AST) -> bool:
    """Whether it is getopt or optparse that reads the words, to which no function's name is one."""
    return isinstance(node, ast.Call) and name_of(node.func) in _GETOPTS | {"OptionParser"}


_GETOPTS = frozenset(("getopt", "gnu_getopt"))


def _with_options(whole: list[ast.AST]) -> list[str]:
    """The options that getopt or optparse is to read and that take a value, each with one; in their long forms, and in
    their short ones."""
    found: list[tuple[list[str], str]] = []
    for node in whole:
        match node:
            case ast.Call(args=[_, ast.Constant(value=str(short)), *long]) if name_of(node.func) in _GETOPTS:
                listed = [one.value for part in long for one in ast.walk(part) if isinstance(one, ast.Constant)]
                options = options_of(short, map(str, listed), whole)
                found += [(sorted(one.flags, key=len), one.number) for one in options if one.takes]
            case ast.Call(func=ast.Attribute(attr="add_option"), args=flags, keywords=told):
                texts = [one.value for one in flags if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                known = {one.arg: getattr(one.value, "value", "") for one in told}
                if texts and known.keys().isdisjoint(("default", "action")):
                    found.append((sorted(texts, key=len), str(known.get("type", ""))))
    lines = (" ".join(_with_value(flags[at], number) for flags, number in found) for at in (-1, 0))
    return [line for line in dict.fromkeys(lines) if line]


def _with_value(flag: str, number: str) -> str:
    name = destination(flag)
    value = _neutral(name, number or ("int" if by_name(name) else ""))
    return f"{flag}={value}" if flag.startswith("--") else f"{flag} {value}"


_USAGE = re.compile(r"(?is)usage:\s*\S+\s+([^\n]+)")
_LEFT_OUT = re.compile(r"\[[^\[\]]*\]")


def _used(node: ast.AST) -> str:
    """The shortest line of a usage (`Usage: train.py <width> [--batch=<n>]`), with values in it."""
    found = _USAGE.search(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
    line = _LEFT_OUT.sub("", found[1]) if found is not None else ""
    given = re.sub(r"(?:--([\w-]+)[= ])?<([\w-]+)>", _value_of, line)
    return " ".join(given.split())


def _value_of(place: re.Match[str]) -> str:
    named = (place[1] or place[2]).replace("-", "_")
    value = str(_neutral(named, "int" if by_name(named) else ""))
    return f"--{place[1]}={value}" if place[1] else value


def places(place: int, sources: Iterable[str]) -> list[Candidate]:
    """Values of an argument that a script reads by its place in `sys.argv`, as texts: what documents give there, and
    what the name says that the code gives it."""
    whole = [node for source in sources for node in nodes(source)]
    name, number = "", ""
    called: list[str] = []
    for node in whole:
        match node:
            case ast.Subscript(value=ast.Call(func=ast.Name(id=names)), slice=index) if names in _HOLD_ALL:
                called += _functions(whole) if _is_read_at(place, index) else []
            case ast.Assign(targets=[ast.Name(id=own)], value=value) if _is_read_at(place, value):
                name, number = own, _converted(ast.unparse(value))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                at = place - (ast.unparse(value) in {"sys.argv[1:]", "argv[1:]"})
                is_whole = ast.unparse(value) in {"sys.argv", "sys.argv[1:]", "argv", "argv[1:]"}
                if is_whole and at < len(names) and isinstance(names[at], ast.Name):
                    name = name_of(names[at])
            case ast.Call(func=ast.Name(id=function), args=[*given]) if function not in _CONVERTS:
                for at, one in enumerate(given):
                    if _is_read_at(place, one):
                        name, number = name or _parameter(function, at, whole), number or _converted(ast.unparse(one))
    number = number or next(filter(None, map(partial(_made_of, name), whole)), "")
    said = [(value, CODE) for value in (*called, *(by_code(name, sources) if name else ()))]
    return _texts([*documented.places(place), *said, (_neutral(name or str(place), number), ANY)])


def _is_read_at(place: int, node: ast.AST) -> bool:
    return any(ast.unparse(one) in {f"sys.argv[{place}]", f"argv[{place}]"} for one in ast.walk(node))


def _parameter(called: str, at: int, whole: list[ast.AST]) -> str:
    """What a function of the code calls its argument at a place."""
    made = (node for node in whole if isinstance(node, ast.FunctionDef) and node.name == called)
    return next((one.args.args[at].arg for one in made if at < len(one.args.args)), "")


def _made_of(name: str, node: ast.AST) -> str:
    """The number that the code makes of a name elsewhere: `int(batch)`."""
    match node:
        case ast.Call(func=ast.Name(id=kind), args=[ast.Name(id=own)]) if own == name and kind in _CONVERTS:
            return kind
    return ""


def environment(name: str, statement: str, sources: Iterable[str], number: str = "") -> list[Candidate]:
    """Values of an environment variable that is not set, as texts.

    Args:
        statement: that reads it.
        number: what the program makes of it, where that is known.
    """
    said = [value for one in dict.fromkeys((name, name.lower())) for value in by_code(one, sources)]
    found = [*documented.variables(name), *((value, CODE) for value in said)]
    whole = [node for source in sources for node in nodes(source)]
    number = number or _converted(statement, name)
    number = number or next(filter(None, (_number_of(name, node, whole) for node in whole)), "")
    assumed = dict.fromkeys((_neutral(name, number), by_name(name)))
    of_one = [(VARIABLES[name], ALONE)] if name in VARIABLES else []
    return _texts([*of_one, *found, *((value, ANY) for value in assumed if value)])


def of_choices(known: Iterable[str]) -> list[Candidate]:
    """Values of which it is one, those first that sound like a training."""
    return [(one, CODE) for one in sorted(known, key=lambda one: not TRAINS.search(one))]


def setting(way: str, known: Iterable[str], sources: Iterable[str]) -> list[Candidate]:
    """Values of a setting that a configuration leaves open.

    Args:
        way: to it in the configuration: `model.width`.
        known: those of which it is one, if that is known.
    """
    name = re.split(r"\W", way.rstrip("]"))[-1]
    choices = of_choices(known)
    given = [*documented.assigned(way), *choices, *((value, CODE) for value in by_code(name, sources))]
    number = by_name(name)
    assumed = [] if choices else [number, _neutral(name, ""), 1]
    return _each([*given, *((value, ANY) for value in assumed if value)])


def _number_of(name: str, node: ast.AST, whole: list[ast.AST]) -> str:
    """The number that the code makes of a variable: `int(os.environ["BATCH"])`, or of a name that is bound to it."""
    match node:
        case ast.Call(func=ast.Name(id=kind) | ast.Attribute(attr=kind)) if kind in _CONVERTS:
            return kind if _holds(ast.walk(node), name) or any(_is_end(one, name) for one in node.args) else ""
        case ast.Call(args=[own, *_], keywords=words) if _is_end(own, name):
            return next((name_of(one.value) for one in words if name_of(one.value) in _CONVERTS), "")
        case ast.AnnAssign(target=ast.Name(id=own), annotation=ast.Name(id=kind)) if kind in _CONVERTS:
            return kind if _is_end(ast.Constant(own), name) else ""
        case ast.Assign(targets=[ast.Name(id=own)], value=value) if _holds(ast.walk(value), name):
            return next(filter(None, (_made_of(own, one) for one in whole)), "")
    return ""


def _is_end(node: ast.expr, name: str) -> bool:
    """Whether it is the text of a variable's name, or of that behind a prefix: `BATCH` of `TRAIN_BATCH`."""
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and text != "" and f"_{name}".lower().endswith(f"_{text}".lower())


def typed(name: str, statement: str, sources: Iterable[str]) -> list[Candidate]:
    """What a person may type, as texts.

    Args:
        name: what it is bound to.
        statement: that waits for it.
    """
    said = [(value, CODE) for value in by_code(name, sources)]
    return _texts([*said, (_neutral(name, _converted(statement), _words(statement)), ANY)])


def _texts(found: Iterable[Candidate]) -> list[Candidate]:
    return _each((str(value), source) for value, source in found)


def _each(found: Iterable[Candidate]) -> list[Candidate]:
    kept: dict[Any, str] = {}
    for value, source in found:
        kept.setdefault(value, source)
    return list(kept.items())[: 2 * _MOST]


def _words(statement: str) -> list[str]:
    """The words of its texts: what a person is asked (`input("batch size? ")`)."""
    texts = [node.value for node in nodes(statement) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return ["_".join(re.findall(r"\w+", text)) for text in texts]


def _neutral(name: str, number: str, asked: Iterable[str] = ()) -> Any:
    """What stands where nothing says more: a number by its name or by what is `asked` for, a folder, or any text."""
    if number == "int":
        return next(filter(None, map(by_name, (name, *asked))), 1)
    if number == "float":
        return 0.1
    return _PLACE if _PATH.search(name) else name.lower()


def _converted(statement: str, read: str = "") -> str:
    """The type of number that a statement makes of what it reads (`read`: by that name, where several things are
    read); empty where it is a text."""
    whole = nodes(statement)
    calls = [node for node in whole if isinstance(node, ast.Call) and name_of(node.func) in _CONVERTS]
    if read and _holds(whole, read):
        calls = [one for one in calls if _holds(ast.walk(one), read)]
    return next((name_of(one.func) for one in calls), "")


def _holds(parts: Iterable[ast.AST], text: str) -> bool:
    return any(isinstance(one, ast.Constant) and one.value == text for one in parts)


def _by_help(action: Action | None) -> list[str]:
    return _HELD.findall(str(action.help or "")) if action is not None else []


def by_code(name: str, sources: Iterable[str]) -> list[Any]:
    """What the code compares it with, the keys of what it looks up by it, and the ends of names that it makes of it."""
    whole = [node for source in sources for node in nodes(source)]
    tables: dict[str, list[Any]] = {}
    for node in whole:
        match node:
            case ast.Assign(targets=[ast.Name(id=table)], value=ast.Dict(keys=keys)):
                tables[table] = [one.value for one in keys if isinstance(one, ast.Constant)]
    found: dict[Any, None] = {}
    bound = (node for node in whole if isinstance(node, ast.Assign) and _is_value(node.value, name))
    names = [name, *(target.id for node in bound for target in node.targets if isinstance(target, ast.Name))]
    for node, own in product(whole, dict.fromkeys(names)):
        for value in _of_node(node, own, tables, whole):
            if isinstance(value, (str, int, float)) and value != "" and not isinstance(value, bool):
                found[value] = None
    return list(found)[:_MOST]


def _of_node(node: ast.AST, name: str, tables: dict[str, list[Any]], whole: list[ast.AST]) -> Iterator[Any]:
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn()], comparators=[right]) if (
            _is_value(left, name)
        ):
            if isinstance(right, ast.Name):
                yield from tables.get(right.id, ())
            else:
                yield from (one.value for one in getattr(right, "elts", [right]) if isinstance(one, ast.Constant))
        case ast.Subscript(value=ast.Name(id=table), slice=index) if _is_value(index, name):
            yield from tables.get(table, ())
        case ast.Call(func=ast.Name(id="eval"), args=[ast.BinOp(left=ast.Constant(value=str() as head), right=tail)]):
            if _is_value(tail, name):
                yield from (one for one in _ends(head, whole) if one)


def _ends(head: str, whole: list[ast.AST]) -> Iterator[str]:
    """How names of classes and functions go on that begin so."""
    for node in whole:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name.startswith(head):
            yield node.name.removeprefix(head)


def _is_value(node: ast.AST, name: str) -> bool:
    """Whether an expression is the value: `args.name`, `name`, `name.lower()`, `os.environ["name"]`."""
    match node:
        case ast.Attribute(attr=attr):
            return attr == name
        case ast.Name(id=own):
            return own == name
        case ast.Call(func=ast.Attribute(value=value, attr="lower" | "upper" | "strip")):
            return _is_value(value, name)
        case ast.Call(args=[ast.Constant(value=key), *_]) | ast.Subscript(slice=ast.Constant(value=key)):
            return key == name
    return False
