"""What an argument of a command line may be: as its choices, the documents beside the program and its configurations
say."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from argparse import Action, ArgumentParser
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...session import paused

DOCUMENTED, NEAR, CODE = "documented", "near", "code"
_DOCUMENTS = ("README*", "readme*", "*.md", "*.sh", "*.bat", "scripts/*.sh", "script/*.sh", "docs/*.md", ".env.*")
_CONFIGURES = re.compile(
    r"(?i)(^|_)(c|cfg|conf|config|configs|yaml|yml|opts?|settings?|param|params|hparams)(_|$)|config"
)
_CONFIGURATIONS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")
_NONE = ("package.json", "package-lock.json", "tsconfig.json", "pyproject.toml", "environment.yml", "environment.yaml")
"""Files of those endings that configure something else."""
_STARTED = r"python[\d.]*[ \t]+(?:\S*/)?"
"""Before a script's name where Python runs it."""
_MOST_FILES, _LARGEST, _MOST = 40, 200_000, 6
_MOST_ABOVE = 4


def arguments(name: str, parser: ArgumentParser | None) -> list[tuple[Any, str]]:
    """Values of an argument of the program that runs, the likeliest first, each with where it comes from.

    Args:
        parser: that wants it, where it is known.
    """
    found: dict[Any, str] = {}
    with paused():  # what is looked for here is none of the program's data
        for value, source in _found(name, parser):
            found.setdefault(value, source)
    return list(found.items())


def places(place: int) -> list[tuple[str, str]]:
    """Values of the argument at a place of the command line, as documents show the program."""
    with paused():
        shown = [words[:place] for words in _commands(Path(sys.argv[0]).name, _STARTED) if place <= len(words)]
    given = [words[-1] for words in shown if not any(word.startswith("-") for word in words)]
    return [(value, DOCUMENTED) for value in dict.fromkeys(given) if _is_plain(value)][:_MOST]


def lines() -> list[tuple[str, str]]:
    """All that stands behind the program in a command that documents show."""
    with paused():
        given = [words for words in _commands(Path(sys.argv[0]).name, _STARTED) if all(map(_is_plain, words))]
    shown = map(shlex.join, given)
    return [(line, DOCUMENTED) for line in dict.fromkeys(filter(None, shown))][:_MOST]


def in_place_of(path: str, parser: ArgumentParser | None) -> tuple[str, list[tuple[Any, str]]] | None:
    """The option that names a file that is not here, and files that are here which it may name: those that documents
    give for it, then those of the same name below the folder; None where there is no such option or file."""
    if parser is None:
        return None
    with paused():
        name = next((one.dest for one in parser._actions if _is_same(one.default, path)), "")
        given = [*_found(name, parser), *((str(one), NEAR) for one in _below(Path(path).name))] if name else []
        found: dict[Any, str] = {}
        for value, source in sorted(
            given, key=lambda one: (one[1] != DOCUMENTED, Path(str(one[0])).name != Path(path).name)
        ):
            if isinstance(value, str) and _is_there(value) and (source != NEAR or _form(value) == _form(path)):
                found.setdefault(value, source)
    return (name, list(found.items())) if found else None


def variables(name: str) -> list[tuple[str, str]]:
    """Values of an environment variable that documents set: `BATCH=32 python train.py`, `export BATCH=32`."""
    with paused():
        set_to = re.compile(rf"""(?<![\w-]){re.escape(name)}=["']?([^\s"'`;|&]+)""")
        given = [value for text in _texts() for value in set_to.findall(text) if _is_plain(value)]
    return [(value, DOCUMENTED) for value in dict.fromkeys(given)][:_MOST]


def assigned(way: str) -> list[tuple[Any, str]]:
    """Values of a setting in commands that documents show: `python train.py model.width=64`."""
    with paused():
        words = [word for line in _commands(Path(sys.argv[0]).name, _STARTED) for word in line]
    given = (value for name, sign, value in (word.lstrip("+").partition("=") for word in words) if sign and name == way)
    return [(_read(value), DOCUMENTED) for value in dict.fromkeys(given) if _is_plain(value)][:_MOST]


def _read(text: str) -> Any:
    with suppress(ValueError, SyntaxError):
        value = ast.literal_eval(text)
        return value if isinstance(value, (int, float)) else text
    return text


def _form(path: str) -> str:
    return Path(path).suffix.lower().replace("yaml", "yml")


def _is_same(default: Any, path: str) -> bool:
    return isinstance(default, str) and default != "" and Path(default).absolute() == Path(path).absolute()


def _below(name: str) -> Iterator[Path]:
    here = Path.cwd()
    return (one.relative_to(here) for pattern in ("*", "*/*") for one in sorted(here.glob(f"{pattern}/{name}"))[:_MOST])


def _found(name: str, parser: ArgumentParser | None) -> Iterator[tuple[Any, str]]:
    action = next((one for one in parser._actions if one.dest == name), None) if parser is not None else None
    typed = list(_typed(name, parser, action))
    yield from ((value, DOCUMENTED) for value in sorted(typed, key=lambda one: not _is_there(one)))
    if action is not None and action.choices:
        yield from ((one, CODE) for one in list(action.choices)[:_MOST] if isinstance(one, (str, int, float)))
    elif _CONFIGURES.search(name):
        yield from ((str(file), NEAR) for file in _configurations())


def _typed(name: str, parser: ArgumentParser | None, action: Action | None) -> Iterator[Any]:
    """What commands in documents give for it."""
    for words in _commands(Path(sys.argv[0]).name):
        given: Any = None
        if parser is not None and action is not None:
            with suppress(SystemExit, Exception):
                given = getattr(type(parser).parse_known_args(parser, words)[0], name, None)
        given = _after(name, words) if given is None else given
        if isinstance(given, (str, int, float)) and not isinstance(given, bool) and _is_plain(given):
            yield given


def _after(name: str, words: list[str]) -> str | None:
    """The word behind an option of that name."""
    for number, word in enumerate(words):
        flag, _, value = word.partition("=")
        if word.startswith("-") and re.sub(r"\W", "_", flag.lstrip("-")) == name:
            return value or next((one for one in words[number + 1 : number + 2] if not one.startswith("-")), None)
    return None


def _is_plain(value: Any) -> bool:
    """Whether it is no placeholder (`<path>`, `$DATA`, `/path/to/data`)."""
    return not re.search(r"[<>${}*\[\]…]|^\.\.\.$|path[/_]to|your", str(value), re.IGNORECASE)


def _is_there(value: Any) -> bool:
    with suppress(OSError, ValueError):
        return not isinstance(value, str) or Path(value).exists()
    return False


def _commands(script: str, before: str = r"(?:^|[\s/`])") -> Iterator[list[str]]:
    """The words behind a script in the commands that documents beside it show.

    Args:
        before: what stands before its name, as a regular expression; without an option, prose may follow it.
    """
    called = re.compile(rf"{before}{re.escape(script)}((?:[ \t]+[^\n`|;&>]+)?)")
    for text in _texts():
        for found in called.finditer(re.sub(r"\\\s*\n", " ", text)):
            with suppress(ValueError):
                yield shlex.split(found[1], comments=True)


def _texts() -> Iterator[str]:
    program = Path(sys.argv[0]).resolve().parent
    folders = dict.fromkeys((Path.cwd(), program, *_above(program)))
    files = dict.fromkeys(file for folder in folders for one in _DOCUMENTS for file in sorted(folder.glob(one)))
    for file in list(files)[:_MOST_FILES]:
        with suppress(OSError):
            if file.is_file() and file.stat().st_size < _LARGEST:
                yield file.read_text(encoding="utf-8", errors="replace")


def _configurations() -> Iterator[Path]:
    """Configurations at or below the folder in which the program runs, those that lie nearest first."""
    here = Path.cwd()
    for pattern in ("*", "*/*", "*/*/*"):
        found = [one for one in sorted(here.glob(pattern)) if one.suffix in _CONFIGURATIONS and one.name not in _NONE]
        yield from (one.relative_to(here) for one in found[:_MOST] if not one.name.startswith("."))


def _above(folder: Path) -> Iterator[Path]:
    """The folders above one up to that of its repository, which says in its README how each of its programs is run;
    none where it is in no repository."""
    above = list(folder.parents)[:_MOST_ABOVE]
    with suppress(OSError):
        tops = [number for number, one in enumerate([folder, *above]) if (one / ".git").exists()]
        yield from above[: tops[0]] if tops else ()
