"""Lines of a shell: the programs of Python that one starts, also behind `nohup`, `time` or `nice`, by `-m`, in a `for`
loop, or through a script of the shell beside the notebook (`bash run.sh`) or a target of `make`."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from ..domain.notebooks import Command
from . import makefiles

LAUNCHER = "paddle.distributed.launch"
OTHER_LAUNCHERS: tuple[tuple[str, ...], ...] = (
    ("torchrun",), ("accelerate", "launch"), ("deepspeed",),
    ("python", "-m", "torch.distributed.run"), ("python", "-m", "torch.distributed.launch"),
)  # fmt: skip
"""Launchers of PyTorch's trainings, by their first words."""
MAX_DEPTH, MAX_BYTES, MAX_ROUNDS = 3, 100_000, 50
"""Scripts of the shell that start each other, and bytes of one, that are read; rounds of its loops."""
_PYTHON = re.compile(r"(?:\S*/)?python[\d.]*w?$|\{sys\.executable\}$")
_SHELL = re.compile(r"(?:\S*/)?(?:bash|sh|zsh|source|\.)$")
_INTERPRETER_OPTION_WITH_VALUE = frozenset({"-W", "-X"})
_WRAPPERS = {
    "nohup": 0, "time": 0, "exec": 0, "env": 0, "sudo": 0, "nice": 0, "ionice": 0, "stdbuf": 0, "timeout": 1,
}  # fmt: skip
"""Programs that start what is written behind them, with the number of words of their own."""
_ENVIRONMENTS = frozenset(("uv", "conda", "mamba", "micromamba", "poetry", "pipenv", "pdm", "pixi", "rye", "hatch"))
"""Programs that start what is behind their `run` in an environment: `uv run train.py`, `conda run -n base python …`."""
_WRAPPER_OPTION_WITH_VALUE = frozenset(
    ("-n", "-c", "-k", "-s", "-u", "-o", "-e", "-i", "-p", "--name", "--prefix", "--with", "--python", "--project")
)
_CUT = re.compile(r"\s*(?:&&|;|\|\||\|)\s*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ALL_ARGUMENTS = re.compile(r"\"\$[@*]\"|\"\$\{[@*]\}\"|\$[@*]|\$\{[@*]\}")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")

_SEQUENCE = re.compile(r"\$\(seq (\d+)(?: (\d+))?\)|\{(\d+)\.\.(\d+)\}")
_BEFORE_A_COMMAND = frozenset({"do", "then", "else"})

_STEERS = re.compile(r"\b(if|for|while|until|case|select|function|trap)\b|<<|[(){}`]|\\\s*$")
"""What makes it hang on more than a line by itself whether a shell comes there."""
_ENDS = re.compile(r"(?:false|exit\s+(\d+))\s*;?$")
_MAY_FAIL = re.compile(r"\||;|(?<!&)&(?![&>\d])")
"""What lets a line end well though one of its programs does not: `a | b`, `a || b`, `a; b`, `a &`."""
_SETS = re.compile(r"set\s+-\w*e")

SHELL_WORDS = 2
"""Words before a command's text in `bash -c "python train.py"`."""
Kind = Literal["python", "launch", "module"]


class Flow:
    """Variables and loops of a shell, as far as its lines were read.

    Args:
        arguments: what its script was given.
    """

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self._arguments = shlex.join(arguments)
        self._values = {str(number): one for number, one in enumerate(arguments, 1)}
        self._exported: set[str] = set()
        self._loops: list[list[dict[str, str]]] = []

    @property
    def environment(self) -> dict[str, str]:
        """What it gives to all that it starts."""
        return {name: self._values[name] for name in sorted(self._exported) if name in self._values}

    def _assigns(self, words: list[str]) -> bool:
        """Whether a command does nothing but set variables: `A=1 B=2`, `export A=1`."""
        is_for_all = words[:1] == ["export"]
        if not words or not (is_for_all or all(map(_ASSIGNMENT.match, words))):
            return False
        self._exported |= {one.partition("=")[0] for one in words[1:] if is_for_all}
        for one in filter(_ASSIGNMENT.match, words):
            name, _, value = _filled(one, self._values).partition("=")
            self._values[name] = value if len(value) <= makefiles.LONG else ""
        return True

    def texts(self, part: str) -> list[str]:
        """What a command comes to, once for each round of the loops that it stands in; nothing for what steers them."""
        part = _ALL_ARGUMENTS.sub(lambda _: self._arguments, part)
        first, _, rest = part.strip().partition(" ")
        if first in _BEFORE_A_COMMAND:
            return self.texts(rest)
        match words_of(part):
            case ["for", name, "in", *_]:
                items = words_of(_SEQUENCE.sub(_numbers, _filled(part.partition(" in ")[2], self._values)))
                is_known = not any("$" in one or "`" in one for one in items)
                self._loops.append([{name: one} for one in items[:MAX_ROUNDS]] if is_known else [{}])
                return []
            case ["while" | "until", *_]:
                self._loops.append([{}])
                return []
            case ["done", *_]:
                del self._loops[-1:]
                return []
            case [*words] if self._assigns(words):
                return []
        rounds = itertools.islice(itertools.product(*self._loops), MAX_ROUNDS)
        known = ({name: value for one in each for name, value in one.items()} for each in rounds)
        return [_filled(part, {**self._values, **each}) for each in known]


def _filled(text: str, values: dict[str, str]) -> str:
    if len(text) > makefiles.LONG:  # no command; what it would come to might have no room
        return text
    return _VARIABLE.sub(lambda found: values.get(found[1] or found[2], found[3] or found[0]), text)


def _numbers(found: re.Match[str]) -> str:
    """`$(seq 3)`, `$(seq 2 4)`, `{1..3}`."""
    first, last = (found[3], found[4]) if found[3] else (found[1], found[2]) if found[2] else ("1", found[1])
    return " ".join(map(str, range(int(first), min(int(last), int(first) + MAX_ROUNDS) + 1)))


class Shell:
    """Reads lines that a notebook has a shell run.

    Args:
        folder: the notebook's.
    """

    def __init__(self, folder: Path) -> None:
        self.here = folder

    def goes(self, folder: str) -> None:
        """The notebook goes to a folder."""
        self.here /= folder

    def commands(
        self, text: str, cell: int, line: int, flow: Flow | None = None, *, is_alone: bool = False
    ) -> Iterator[Command]:
        """The commands of one line.

        Args:
            flow: of the lines above it that the same shell runs.
            is_alone: a shell of its own runs them, so that what `cd` changes ends with them.
        """
        gone = Path()
        for one in self._commands(text, cell, line, "", 0, flow or Flow()):
            if one.kind == "folder":
                if not is_alone:
                    gone /= one.path
                    yield one
            elif gone != Path():  # the notebook stands there by now
                inside = os.path.relpath(one.folder, gone)
                yield msgspec.structs.replace(one, folder="" if inside == "." else inside)
            else:
                yield one
        self.here /= gone

    def _commands(  # noqa: PLR0917
        self, text: str, cell: int, line: int, inside: str, depth: int, flow: Flow
    ) -> Iterator[Command]:
        """Those of a line in a folder; `depth`: how many scripts of the shell it stands in."""
        for part in (each for one in _CUT.split(text) for each in flow.texts(one)):
            given = words_of(part)
            words = _unwrapped(given)
            environment = (*flow.environment.items(), *_assigned(given[: len(given) - len(words)]))
            if words[:1] == ["cd"] and len(words) == 2:
                inside = str(Path(inside) / words[1])
                yield Command(kind="folder", cell=cell, line=line, path=words[1])
            elif (script := _script_of_a_shell(words)) is not None:
                begun = self._of_script(script[0], Flow(script[1:]), inside, cell, line, depth + 1)
                yield from (msgspec.structs.replace(one, environment=environment + one.environment) for one in begun)
            elif words[1:2] == ["-c"] and len(words) > SHELL_WORDS and _SHELL.match(words[0]) and depth < MAX_DEPTH:
                own = self._commands(words[2], cell, line, inside, depth + 1, Flow(words[3:]))
                yield from (one for one in own if one.kind != "folder")
            elif words[:1] == ["make"]:
                yield from self._made(words[1:], inside, cell, line, depth + 1)
            elif (found := self._program(words, inside)) is not None:
                kind, path, arguments = found
                told = Command(kind=kind, cell=cell, line=line, path=path, arguments=tuple(arguments), folder=inside)
                yield msgspec.structs.replace(told, environment=environment)

    def _made(self, words: list[str], inside: str, cell: int, line: int, depth: int) -> Iterator[Command]:
        """What `make` runs: each line in a shell of its own."""
        folder, file, targets, values = makefiles.asked(words)
        inside = str(Path(inside) / folder) if folder else inside
        read = (self._lines(Path(inside) / name) for name in ([file] if file else makefiles.NAMES))
        text = next(filter(None, read), []) if depth <= MAX_DEPTH else []
        for step in makefiles.recipe("\n".join(text), targets, values):
            found = self._commands(step, cell, line, inside, depth, Flow())
            yield from (one for one in found if one.kind != "folder")

    def _of_script(  # noqa: PLR0917
        self, path: str, flow: Flow, inside: str, cell: int, line: int, depth: int
    ) -> Iterator[Command]:
        """What a script of the shell runs, with the values of its own variables and of its arguments."""
        for text in self._lines(Path(inside) / path) if depth <= MAX_DEPTH else ():
            for one in self._commands(text, cell, line, inside, depth, flow):
                if one.kind == "folder":
                    inside = str(Path(inside) / one.path)
                else:
                    yield one

    def _lines(self, path: Path) -> list[str]:
        place = self.here / path
        with contextlib.suppress(OSError, ValueError):
            if place.is_file() and place.stat().st_size <= MAX_BYTES:
                text = place.read_text(encoding="utf-8", errors="replace")
                return re.sub(r"\\\r?\n", " ", text).splitlines()
        return []

    def _program(self, words: list[str], folder: str) -> tuple[Kind, str, list[str]] | None:
        """(kind, path, arguments) of `python script.py …`, `python -m module …`, of the launcher, or of `fleetrun`."""
        if words and words[0].rpartition("/")[2] == "fleetrun":
            return _launched(words[1:])
        if words and words[0].endswith(".py"):  # `./train.py`, `uv run train.py`
            words = ["python", *words]
        if not words or not _PYTHON.match(words[0]):
            return None
        rest = words[1:]
        while rest and rest[0].startswith("-") and rest[0] != "-m":
            rest = rest[2 if rest[0] in _INTERPRETER_OPTION_WITH_VALUE else 1 :]
        if rest[:2] == ["-m", LAUNCHER]:
            return _launched(rest[2:])
        if rest[:1] == ["-m"] and len(rest) > 1:
            return self._module(rest[1], rest[2:], folder)
        if rest and rest[0].endswith(".py"):
            return "python", rest[0], rest[1:]
        return None

    def _module(self, name: str, arguments: list[str], folder: str) -> tuple[Kind, str, list[str]] | None:
        """A module beside the notebook; those of libraries are left alone."""
        path = name.replace(".", "/")
        for end in (".py", "/__main__.py"):
            with contextlib.suppress(OSError, ValueError):
                if (self.here / folder / (path + end)).is_file():
                    return "module", path + end, arguments
        return None


def words_of(text: str) -> list[str]:
    """The words of a line, up to where its output is redirected."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError:  # an open quote
        words = text.split()
    redirected = (at for at, word in enumerate(words) if re.match(r"\d?>|<|&$", word))
    return words[: next(redirected, len(words))]


def other_launch(text: str) -> tuple[str, str] | None:
    """PyTorch's launcher and the script that a line starts by it."""
    for part in _CUT.split(text):
        words = _unwrapped(words_of(part))
        plain = ["python" if at == 0 and _PYTHON.match(word) else word for at, word in enumerate(words)]
        launcher = next((one for one in OTHER_LAUNCHERS if tuple(plain[: len(one)]) == one), None)
        script = next((word for word in words if word.endswith(".py")), None)
        if launcher is not None and script is not None:
            return " ".join(launcher), script
    return None


def fails_at(lines: list[str]) -> tuple[int, int] | None:
    """The line, counted from 0, at which a shell surely ends with an error, and its exit status: an `exit 1`, a `false`
    as the last command or behind `set -e`. None where it hangs on what the commands do."""
    told = [(number, line.partition(" #")[0].strip()) for number, line in enumerate(lines)]
    told = [(number, line) for number, line in told if line and not line.startswith("#")]
    ends = False
    for at, (number, line) in enumerate(told):
        if _STEERS.search(line):
            return None
        ends = ends or _SETS.match(line) is not None
        if (found := _ENDS.match(line)) is None:
            continue
        if found[1] is not None:
            return (number, int(found[1])) if int(found[1]) else None
        if ends or at == len(told) - 1:
            return number, 1
    return None


def deciding(lines: list[str]) -> frozenset[int]:
    """The lines, counted from 0, with whose program a cell of the shell surely ends where that fails: the last one, and
    all behind `set -e`. None where conditions or loops stand in it."""
    told = [(number, line.partition(" #")[0].strip()) for number, line in enumerate(lines)]
    told = [(number, line) for number, line in told if line and not line.startswith("#")]
    if any(_STEERS.search(line) for _, line in told):
        return frozenset()
    first = next((at for at, (_, line) in enumerate(told) if _SETS.match(line)), len(told))
    ends = {number for number, line in told[first:] if "&&" not in line} | {number for number, _ in told[-1:]}
    return frozenset(number for number, line in told if number in ends and not _MAY_FAIL.search(line))


def is_python(magic: str) -> bool:
    """Whether `%%script` hands its cell to Python."""
    words = [word for word in words_of(magic.partition("\n")[0])[1:] if not word.startswith("-")]
    return bool(words) and _PYTHON.match(words[0]) is not None


def _assigned(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The variables of `BATCH=8 python train.py`, by name and value."""
    for word in filter(_ASSIGNMENT.match, words):
        name, _, value = word.partition("=")
        yield name, value


def _unwrapped(words: list[str]) -> list[str]:
    """Without variables and without what only starts the rest (`nohup`, `nice -n 5`)."""
    while (
        words
        and (
            _ASSIGNMENT.match(words[0])
            or (name := os.path.basename(words[0])) in _WRAPPERS  # noqa: PTH119
            or (name in _ENVIRONMENTS and words[1:2] == ["run"])
        )
    ):
        own = _WRAPPERS.get(os.path.basename(words[0]), 0)  # noqa: PTH119
        words = words[2 if words[0] not in _WRAPPERS and words[1:2] == ["run"] else 1 :]
        while words and words[0].startswith("-"):
            words = words[2 if words[0] in _WRAPPER_OPTION_WITH_VALUE else 1 :]
        words = words[own:]
    return words


def _launched(words: list[str]) -> tuple[Kind, str, list[str]] | None:
    at = next((at for at, word in enumerate(words) if word.endswith(".py")), None)
    return None if at is None else ("launch", words[at], words[at + 1 :])


def _script_of_a_shell(words: list[str]) -> list[str] | None:
    """The file of `bash run.sh 8`, `source run.sh`, `./run.sh`, and what it is given."""
    if words and words[0].endswith(".sh"):
        return words
    rest = list(itertools.dropwhile(lambda word: word.startswith("-"), words[1:]))
    return rest if words and _SHELL.match(words[0]) and rest and rest[0].endswith(".sh") else None
