"""Scripts that cells start by `!python train.py`, in a cell of the shell (`%%bash`), or by `subprocess` and
`os.system`: processes of their own, which get the notebook's answers as well.

Where an answer changes something in such a script, or the job has a file of settings of its own, it is run by way of
this runner (`--answered`), which puts the answers into it as they are put into cells. Paddle's launcher is told the
job's devices (`launches`); every other command runs as it is typed.
"""

import ast
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional

from .. import own_settings, spawned
from . import launches, lookups, parsers, sets

VARIABLE = "PADDLE_GPU_ANSWERS"
"""Holds the answers as JSON for the process that is started."""
ANSWERED = "--answered"
"""Stands before a script that is run by way of the runner."""
SHELLS = frozenset({"bash", "sh"})
"""Cell magics whose body is a shell's."""
_PYTHON = re.compile(r"(?:^|/)python[\d.]*$")
_WORDS = (".py", "-m ", ".sh")
"""A command without any of these starts no script."""
_MOST_MODULES = 200
"""Modules beside a script that are looked at."""
_WITH_VALUE = frozenset({"-W", "-X"})
"""Options of Python whose value stands behind them."""


def command(text: str, values: Dict[str, Any], folder: str = "") -> str:
    """The shell command, with each script of Python's that an answer changes started by way of the runner.

    Args:
        folder: where it is run, if not in the process's own.
    """
    if not reaches(values) or not any(word in text for word in _WORDS):
        return text
    entry = _entry(values) if values or own_settings.are_any() else None
    inside = Path(folder)

    def one(part: "re.Match[str]") -> str:
        nonlocal inside
        try:
            words = shlex.split(part.group())
        except ValueError:
            return part.group()
        if words[:1] == ["cd"] and len(words) == 2:
            inside /= Path(words[1]).expanduser()
        return launches.line(_one(part.group(), words, values, entry, inside))

    return re.sub(r"[^;&|\n]+", one, text)


def reaches(values: Dict[str, Any]) -> bool:
    """Whether anything of the job's reaches what its cells start."""
    return bool(values) or own_settings.are_any() or launches.are_any()


def _entry(values: Dict[str, Any]) -> Optional[str]:
    """What runs a script with the answers in it; None where that is not to be had."""
    # The file, not the folder: Paddle's launcher hands to Python what ends in .py.
    entry = Path(os.environ.get("PADDLE_GPU_RUNNER", ""), "__main__.py")
    if not entry.is_file():  # the runner is a zip
        return None
    os.environ[VARIABLE] = json.dumps(values)
    return str(entry)


class Started(NamedTuple):
    """What a command has Python run: the word that says so (a script, or `-m`), and the file."""

    word: str
    path: str


def _one(part: str, words: List[str], values: Dict[str, Any], entry: Optional[str], folder: Path) -> str:
    """One command of a line of several."""
    if len(words) > 1 and words[0] in SHELLS and words[1].endswith(".sh"):
        return _shell_script(part, words[1], values, folder)
    found = started(words)
    if entry is None or found is None or not _is_changed(folder / found.path, values):
        return part
    # The text stays as it was typed: quotes and redirections are the shell's.
    way = " ".join((shlex.quote(entry), ANSWERED, shlex.quote(found.word)))
    return re.sub(_standing(found.word), lambda _: way, part, count=1)


def _standing(word: str) -> str:
    """A word of a command, in quotes or without."""
    return r"(?<!\S)(['\"]?)%s\1(?!\S)" % re.escape(word)


def _shell_script(part: str, path: str, values: Dict[str, Any], folder: Path) -> str:
    """`bash run.sh`, where an answer changes what that starts: the shell is handed its text."""
    try:
        text = (folder / path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return part
    changed = command(text, values, str(folder))
    way = "-c %s %s" % (shlex.quote(changed), shlex.quote(path))
    return part if changed == text else re.sub(_standing(path), lambda _: way, part, count=1)


def started(words: List[str]) -> Optional[Started]:
    """The script or the module that a command has Python run; also by `-m paddle.distributed.launch`."""
    at = next((number for number, word in enumerate(words) if _PYTHON.search(word)), None)
    if at is None or ANSWERED in words:
        return None
    rest, launched = words[at + 1 :], False
    while rest:
        word = rest.pop(0)
        if word == "-m":
            name = rest.pop(0) if rest else ""
            launched = name.endswith("distributed.launch")
            if not launched:
                return Started(word, name.replace(".", "/") + ".py")
        elif word == "-c":
            return None
        elif word in _WITH_VALUE:
            rest[:1] = []
        elif word.endswith(".py"):
            return Started(word, word)
        elif not launched and not word.startswith("-"):
            return None
    return None


def _is_changed(script: Path, values: Dict[str, Any]) -> bool:
    try:
        source = script.read_text(encoding="utf-8")
        if own_settings.are_any() or ast.dump(ast.parse(source)) != ast.dump(sets.bind(ast.parse(source), values)):
            return True
        return any(_asks(one, values) for one in sorted(script.parent.glob("**/*.py"))[:_MOST_MODULES])
    except (OSError, ValueError, SyntaxError):
        return False


def _asks(module: Path, values: Dict[str, Any]) -> bool:
    """Whether a parser for one of the answers may stand in a module beside the script."""
    source = module.read_text(encoding="utf-8", errors="replace")
    if any(name.endswith(parsers.SUBCOMMAND) for name in values) and _calls(parsers.COMMANDS, source):
        return True
    if values and lookups.READS.search(source):
        return True
    return _calls(parsers.DECLARES, source) and any(name in source.replace("-", "_") for name in values)


def _calls(names: str, source: str) -> bool:
    return re.search(r"\b(%s)\(" % names, source) is not None


_open, _system = subprocess.Popen.__init__, os.system


def reach_started(values: Dict[str, Any]) -> None:
    """Have what the code of cells starts by itself take the answers (`subprocess.run([...])`, `os.system(...)`)."""

    def opened(process: Any, args: Any, *given: Any, **named: Any) -> None:
        args = _told(args, values, os.fspath(named.get("cwd") or ""))
        if named.get("env") is not None:
            ours = (name for name in (VARIABLE, own_settings.VARIABLE) if name in os.environ)
            named["env"] = {**named["env"], **{name: os.environ[name] for name in ours}}
        _open(process, args, *given, **named)

    def system(text: Any) -> int:
        return _system(command(os.fsdecode(text), values))

    is_any = reaches(values)
    subprocess.Popen.__init__ = opened if is_any else _open  # type: ignore[method-assign,assignment]
    os.system = system if is_any else _system  # type: ignore[assignment]
    if values or own_settings.are_any():
        spawned.reach(values)


def _told(args: Any, values: Dict[str, Any], folder: str) -> Any:
    if isinstance(args, str):
        return command(args, values, folder)
    if not isinstance(args, (list, tuple)):
        return args
    words = [os.fspath(one) for one in args]
    if not all(isinstance(one, str) for one in words):
        return args
    told = launches.words(words)
    found = started(told) if values or own_settings.are_any() else None
    if found is None or not _is_changed(Path(folder, found.path), values) or (entry := _entry(values)) is None:
        return args if told == words else told
    at = told.index(found.word)
    return [*told[:at], entry, ANSWERED, *told[at:]]


def main(script: str, *arguments: str) -> int:
    """Run a script as `python script.py` does, or a module as `python -m` does, with the environment's answers in it.

    Args:
        script: its path, or `-m` with the module's name behind it.
    """
    values = json.loads(os.environ.get(VARIABLE) or "{}")
    own_settings.install_from_environment()
    module = types.ModuleType("__main__")
    folder = str(Path(script).resolve().parent)
    if script == "-m":
        name, *rest = arguments
        script, folder, arguments = name.replace(".", "/") + ".py", str(Path.cwd()), tuple(rest)
        module.__package__ = name.rpartition(".")[0]
    sys.path.insert(0, folder)
    tree = sets.bind(ast.parse(Path(script).read_text(encoding="utf-8"), script), values)
    sets.reach_parsers(values)
    spawned.reach(values)
    module.__file__ = script
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    sys.argv = [script, *arguments]
    if module.__package__:
        importlib.import_module(module.__package__)
    exec(compile(tree, script, "exec"), module.__dict__)
    return 0
