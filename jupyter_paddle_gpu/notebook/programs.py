"""Programs that a notebook runs: `!python train.py --epochs 2`, `%run`, the launcher of distributed trainings, and the
files that `%%writefile` makes of cells. Only Python's; read, never run."""

from __future__ import annotations

import ast
import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from ..domain.errors import PaddleGpuError
from ..domain.notebooks import Command
from .cells import Magic, ParsedCell, parse_cell, parsed_cells
from .files.reading import read_notebook
from .shell_lines import Flow, Shell, deciding, is_python, other_launch, words_of

SHELLS = frozenset({"bash", "sh", "script"})
"""Cell magics whose lines are commands."""
PYTHON_CELLS = frozenset({"python", "python3"})
"""Cell magics whose lines are a program of Python in a process of its own."""
MAX_FILES, MAX_CHARACTERS = 40, 400_000
"""Files beside the notebook that are read, and characters of all of them."""
NOTEBOOK = ".ipynb"
_EXPRESSION = re.compile(r"(?<!\$)\{[\w\s.+*/%()\[\]-]+\}")
"""`{width * 2}`, which is one word."""
_FILE_MAGICS = frozenset({"writefile", "file"})


def read_commands(cells: Iterable[ParsedCell], folder: Path) -> tuple[Command, ...]:
    """What the notebook's commands run and write, in its order.

    Args:
        folder: the notebook's, where other notebooks are read that it runs.
    """
    shell = Shell(folder)
    return tuple(found for cell in cells for magic in cell.magics for found in _of_magic(cell, magic, folder, shell))


def commands_of(lines: Iterable[tuple[int, Magic]], folder: Path) -> Iterator[Command]:
    """What lines of a shell run that the code of cells comes to, each with the index of its cell."""
    for cell, line in lines:
        yield from Shell(folder).commands(line.text.lstrip("!"), cell, line.line, is_alone=True)


def _of_magic(cell: ParsedCell, magic: Magic, folder: Path, shell: Shell) -> Iterator[Command]:
    index, name = cell.cell.index, cell.cell.cell_magic
    if name in _FILE_MAGICS:
        head, _, text = magic.text.partition("\n")
        words = words_of(head)[1:]
        named = [word for word in words if not word.startswith("-")]
        if named:
            yield Command(
                kind="write", cell=index, line=magic.line, path=named[0], text=text + "\n", appends="-a" in words
            )
    elif name in PYTHON_CELLS or (name == "script" and is_python(magic.text)):
        # As many lines above it as in the cell, so that its own are the cell's.
        text = "\n" * magic.line + magic.text.partition("\n")[2] + "\n"
        yield Command(kind="cell", cell=index, line=magic.line, path=f"cell-{index + 1}.py", text=text)
    elif name in SHELLS:
        yield from _of_shell(magic, index, shell)
    elif magic.text.startswith("!"):
        text = _EXPRESSION.sub(lambda found: found[0].replace(" ", ""), magic.text.lstrip("!"))
        yield from shell.commands(text, index, magic.line, is_alone=True)
    elif magic.text.startswith("%"):
        words = words_of(magic.text[1:])
        if words[:1] == ["cd"] and len(words) == 2:
            shell.goes(words[1])
            yield Command(kind="folder", cell=index, line=magic.line, path=words[1])
        elif words[:1] in (["env"], ["set_env"]):
            name, _, value = " ".join(words[1:]).replace("=", " ", 1).partition(" ")
            if value:  # else it only tells it
                yield Command(kind="variable", cell=index, line=magic.line, path=name, text=value)
        elif words[:1] == ["run"]:
            if len(words) > 1 and (folder / f"{words[1]}.py").is_file():  # `%run helpers`
                words[1] += ".py"
            at = next((at for at, word in enumerate(words) if word.endswith((".py", NOTEBOOK))), None)
            if at is not None:
                path, arguments = words[at], tuple(words[at + 1 :])
                text = _code_of(folder / path) if path.endswith(NOTEBOOK) else ""
                yield Command(kind="run", cell=index, line=magic.line, path=path, arguments=arguments, text=text)


def _of_shell(magic: Magic, index: int, shell: Shell) -> Iterator[Command]:
    """The lines of `%%bash`, which one shell runs."""
    flow, began = Flow(), shell.here
    head, *lines = magic.text.split("\n")
    is_plain = head.split() in [[f"%%{name}"] for name in SHELLS]  # an option may let it fail
    ends = deciding(lines) if is_plain else frozenset()
    for offset, line in enumerate(lines):
        for one in shell.commands(line, index, magic.line + offset + 1, flow):
            yield msgspec.structs.replace(one, ends=True) if offset in ends and one.kind != "folder" else one
    back = os.path.relpath(began, shell.here)
    if back != ".":  # that shell is over, and the notebook is where it was
        shell.goes(back)
        yield Command(kind="folder", cell=index, line=magic.line + len(lines), path=back)


def _code_of(path: Path) -> str:
    """The code of a notebook that `%run` runs, its cells one below the other; empty where it cannot be read.

    Its commands are left out.
    """
    with contextlib.suppress(OSError, ValueError, PaddleGpuError):
        cells = read_notebook(path).content["cells"]
        return "\n".join(one.cell.source for one in parsed_cells(cells) if one.tree is not None) + "\n"
    return ""


def absent_scripts(commands: Sequence[Command], folder: Path) -> list[Command]:
    """Scripts that commands run and that are neither in the folder nor written by a cell."""
    here, written, absent = "", set[str](), list[Command]()
    for one in (one for one in commands if one.kind != "variable"):
        place = os.path.normpath(os.path.join(here, one.folder, one.path))  # noqa: PTH118 - keeps no `..`
        if one.kind == "folder":
            here = place
        elif one.kind == "write":
            written.add(place)
        elif not _is_filled_in(place) and place not in written and not one.text and not (folder / place).is_file():
            absent.append(one)
    return absent


def launched_otherwise(lines: Iterable[tuple[int, Magic]]) -> Iterator[tuple[Command, str]]:
    """Scripts that lines of a shell start by PyTorch's launcher, with its name."""
    for cell, magic in lines:
        text = magic.text if magic.text.startswith(("!", *(f"%%{one}" for one in SHELLS))) else ""
        for offset, line in enumerate(text.split("\n")):
            if found := other_launch(line.lstrip("!")):
                yield Command(kind="python", cell=cell, line=magic.line + offset, path=found[1]), found[0]


def _is_filled_in(path: str) -> bool:
    """Whether a name in it is known only where the notebook runs."""
    return any(mark in path for mark in "${…")


class Beside:
    """Sources that a notebook's code runs or imports and that do not stand in its cells.

    Args:
        folders: where modules are looked for.
        commands: its commands.
    """

    def __init__(self, folders: Iterable[Path], commands: Iterable[Command]) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._added: list[Path] = []
        self._commands = tuple(commands)
        self._written: dict[str, Command] = {}
        self._notebooks: dict[str, str] = {}
        self._run: list[tuple[str, int, int]] = []
        here = ""
        for one in (one for one in self._commands if one.kind != "variable"):
            place = os.path.normpath(os.path.join(here, one.folder, one.path))  # noqa: PTH118 - keeps no `..`
            if one.kind == "folder":
                here = place
            elif one.kind == "write":
                self._written[place] = one
            elif one.text:  # a notebook
                self._notebooks[place] = one.text
                self._run.append((place, one.cell, one.line))
            else:
                self._run.append((place, one.cell, one.line))
        self._left = MAX_CHARACTERS
        self._seen: set[str] = set()

    def cells(self, cells: Iterable[ParsedCell]) -> Iterator[ParsedCell]:
        """Each as a cell that stands at the line which runs or imports it; a written file at its own cell."""
        waiting = list(self._run)
        cells = list(cells)
        added = [folder for one in cells for folder in _added_to_path(one.tree)]
        self._added = [folder / one for one in dict.fromkeys(added) for folder in self._folders[:1]]
        for one in cells:
            waiting += [(path, one.cell.index, line) for path, line in _imported(one.tree)]
        while waiting and len(self._seen) < MAX_FILES:
            path, cell, line = waiting.pop(0)
            found = self._read(path, cell, line)
            if found is not None:
                inside = str(Path(path).parent)
                yield found
                modules = [module for module, _ in _imported(found.tree)]
                waiting += [(str(Path(inside) / module), cell, line) for module in modules]
                if inside != ".":  # a package's modules name others from the folder that the package is in
                    waiting += [(module, cell, line) for module in modules]

    def _read(self, path: str, cell: int, line: int) -> ParsedCell | None:
        path = os.path.normpath(path)
        if path in self._seen:
            return None
        self._seen.add(path)
        written = self._written.get(path)
        text = self._text(path) if written is None else written.text
        if text is None or len(text) > self._left:
            return None
        self._left -= len(text)
        parsed = parse_cell(text, cell if written is None else written.cell, f"file-{path}")
        if parsed.tree is not None:
            for node in ast.walk(parsed.tree):
                if hasattr(node, "lineno"):
                    shifted = line if written is None else written.line + node.lineno
                    node.lineno = node.end_lineno = shifted  # type: ignore[attr-defined]
        return parsed

    def _text(self, path: str) -> str | None:
        if path in self._notebooks:
            return self._notebooks[path]
        for folder in (*self._folders, *self._added):
            place = folder / path
            with contextlib.suppress(OSError, ValueError):
                if place.suffix == ".py" and place.is_file() and place.stat().st_size <= self._left:
                    return place.read_text(encoding="utf-8", errors="replace")
        return None


IMPORTS = frozenset(("importlib.import_module", "import_module", "__import__"))
"""Calls that import the module that their first argument names."""


def _added_to_path(tree: ast.Module | None) -> Iterator[str]:
    """Folders of `sys.path.append("../lib")`, also where they are put together (`os.path.join("..", "lib")`)."""
    for node in ast.walk(tree) if tree is not None else ():
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="path"), attr="append" | "insert"), args=[*_, folder]
            ):
                texts = [one.value for one in ast.walk(folder) if isinstance(one, ast.Constant)]
                yield os.path.join(*[one for one in texts if isinstance(one, str)] or [".."])  # noqa: PTH118


def _imported(tree: ast.Module | None) -> Iterator[tuple[str, int]]:
    """Files that an import could be of, relative to the folder, with the import's line."""
    for node in ast.walk(tree) if tree is not None else ():
        names: list[str] = []
        above = ""
        if isinstance(node, ast.Call) and ast.unparse(node.func) in IMPORTS:
            names = [one.value for one in node.args[:1] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
            above = "../" * (node.level - 1)  # `from ..nets import Net`
        for name in filter(None, names):
            path = above + name.replace(".", "/")
            yield f"{path}.py", getattr(node, "lineno", 1)
            yield f"{path}/__init__.py", getattr(node, "lineno", 1)
