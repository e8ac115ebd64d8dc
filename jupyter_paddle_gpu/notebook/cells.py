"""Code cells made parseable: what IPython would transform is masked line for line, so that line numbers stay."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..domain.messages import Message
from ..domain.notebooks import CELL_NOT_PYTHON, CodeCell
from ..domain.parsing import parse
from . import cell_magics
from .shell_lines import fails_at

MAX_PASSES = 500
"""A cell is tokenised anew after a masked line that upset the tokeniser; IPython stops after as many passes."""

MAX_CODE_CHARACTERS = 400_000
"""Code read in one notebook: six times the longest seen among 106 of PaddlePaddle's; a syntax tree of dense code of
this size takes about 250 MB and 3 s. A cell beyond it is left unread."""

PYTHON_CELL_MAGICS = frozenset({"time", "timeit", "capture", "prun", "debug", "memit", "mprun"})
"""Cell magics that run the rest of the cell as Python in the notebook's own namespace."""
PYTHON_LINE_MAGICS = frozenset({"time", "timeit", "prun", "memit"})
"""Line magics that run the rest of the line likewise."""
MAY_FAIL = "raises-exception"
"""Tag of a cell behind which a job goes on where it fails, as nbclient does."""
_HARMLESS = re.compile(
    r"(?:[!%]\s*(?:pip|conda|mamba|apt|apt-get|ls|pwd|echo|nvidia-smi|python\s+-V|cat|head|which|df|free)\b"
    r"|%(?:matplotlib|config|time|timeit|prun|memit|autoreload|load_ext|env|precision|paddle_gpu|xmode|who|whos)\b|[^!%])"
)
"""Commands that leave no names and no files behind on which the notebook's code could rest."""
_COMMAND = re.compile(r"\s*([!%]{1,2}\w)")
_NAMED = re.compile(r"!\s*(?:\{(\w+)\}|\$(\w+))(?=\s|$)([^\n]*)")
"""A command whose program is what a name holds: `!{line} --epochs 3`, `!$line`."""
_WRITTEN_OUT = re.compile(r"^(\s*)get_ipython\(\)\.run_line_magic\((['\"])(\w+)\2,\s*(['\"])((?:(?!\4)[^\\])*)\4\)\s*$")
"""A line magic as IPython runs it, and as `nbconvert` writes it."""
_OF_SHELL = re.compile(r"\A%(?:sx|system)\s+|\A%time\s+!\s*")
"""How a line magic hands its line to a shell: `%sx python train.py`, `%time !python train.py`."""
_BARE = re.compile(r"ls|ll|pwd")
_AUTOMATIC = re.compile(
    r"(?:cd|pwd|pushd|popd|ls|ll|cat|cp|mv|rm|mkdir|rmdir|pip|conda|mamba|env|set_env|load_ext|reload_ext|autoreload"
    r"|matplotlib|config|run|time|timeit|precision|pylab|xmode)\s+[^\s=].*"
)
"""What IPython takes for a command though nothing marks it, where it is all of a cell and no Python: `cd data`."""
_FILLED = re.compile(r"\{([A-Za-z_]\w*)\}")
_HELP = frozenset({"?", "??"})


class Magic(NamedTuple):
    """A masked command: `text` as written without its continuation marks, `line` in the cell (from 1)."""

    text: str
    line: int


class ParsedCell(NamedTuple):
    """A code cell with its syntax tree; `tree` is None and `problem` says why where it is not Python."""

    cell: CodeCell
    magics: tuple[Magic, ...]
    tree: ast.Module | None
    problem: Message | None


def parsed_cells(cells: list[dict[str, Any]]) -> Iterator[ParsedCell]:
    """The code cells among nbformat-4 `cells` (whose sources are strings), in order."""
    left = MAX_CODE_CHARACTERS
    brings = cell_magics.brings_any(cell["source"] for cell in cells if cell.get("cell_type") == "code")
    for index, cell in enumerate(cells):
        if cell.get("cell_type") != "code":
            continue
        source, identity = cell["source"], cell.get("id")
        identity = identity if isinstance(identity, str) else f"cell-{index}"
        if len(source) > left:
            yield ParsedCell(CodeCell(index=index, id=identity, source=source), (), None, _too_long(index))
        else:
            left -= len(source)
            yield parse_cell(source, index, identity, may_fail=MAY_FAIL in _tags(cell), brings_magics=brings)


def _too_long(index: int) -> Message:
    return Message(
        code="cell_too_long",
        text="Cell {cell} was not read: the notebook holds more than {limit} characters of code.",
        hint="Move data out of the code, into a file.",
        params={"cell": index + 1, "limit": MAX_CODE_CHARACTERS},
    )


def _tags(cell: dict[str, Any]) -> list[Any]:
    tags = cell["metadata"].get("tags") if isinstance(cell.get("metadata"), dict) else None
    return tags if isinstance(tags, list) else []


def parse_cell(
    source: str, index: int, identity: str, *, may_fail: bool = False, brings_magics: bool = True
) -> ParsedCell:
    """Mask and parse one cell; never raises for what stands in it.

    Args:
        may_fail: whether a job goes on behind it where it fails.
        brings_magics: whether the notebook may have cell magics that IPython has not.
    """
    masked, magics, cell_magic = mask(source)
    is_unknown = bool(cell_magic) and not brings_magics and cell_magics.is_unknown(cell_magic)
    if is_unknown:
        at, ends = magics[0].line - 1, cell_magics.raising(cell_magic)
        masked = "\n".join(ends if number == at else line for number, line in enumerate(masked.split("\n")))
    lines = tuple(sorted({number for magic in magics for number in _lines_of(magic)}))
    hides = (
        cell_magic not in PYTHON_CELL_MAGICS
        and not is_unknown
        and any(not _HARMLESS.match(magic.text) for magic in magics)
    )
    cell = CodeCell(
        index=index, id=identity, source=masked, masked=lines, cell_magic=cell_magic, hides=hides, may_fail=may_fail,
        typed=_plain_lines(source) if magics else "",
    )  # fmt: skip
    plain = tuple(Magic(magic.text.replace("\\\n", " "), magic.line) for magic in magics)
    try:
        return ParsedCell(cell, plain, parse(masked), None)
    except SyntaxError as error:
        problem = Message(
            code=CELL_NOT_PYTHON,
            text="Cell {cell} is not valid Python: {error} (line {line}).",
            hint="Correct the cell; the other cells were read.",
            params={"cell": index + 1, "line": error.lineno or 1, "error": error.msg},
        )
    except (ValueError, RecursionError, MemoryError):
        problem = Message(
            code="cell_unreadable",
            text="Cell {cell} cannot be parsed: it is nested too deeply or holds characters that Python refuses.",
            hint="Correct the cell; the other cells were read.",
            params={"cell": index + 1},
        )
    return ParsedCell(cell, plain, None, problem)


def mask(source: str) -> tuple[str, list[Magic], str]:
    """Replace what only IPython understands by `pass` or comments.

    Returns:
        The masked source with as many lines as before, what was masked, and the name of a cell magic or "".
    """
    # Not splitlines(): Python's own lines end at these two alone, and a string may hold the others.
    lines = [_WRITTEN_OUT.sub(r"\1%\3 \5", line) for line in _plain_lines(source).split("\n")]
    source = "\n".join(lines)
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].startswith("%%"):
        return _mask_cell(lines, first)
    if first is not None and _is_unmarked(source.strip()):
        lines[first] = f"%{lines[first].strip()}"
        commands = _mask_lines(lines)
        return "\n".join(lines), commands, ""
    magics = _mask_lines(lines) if _may_hold_magic(source) else []
    return "\n".join(lines), magics, ""


def _is_unmarked(line: str) -> bool:
    """Whether a cell is one line which IPython runs as a magic though it begins with no mark (automagic)."""
    if "\n" in line or not (_BARE.fullmatch(line) or _AUTOMATIC.fullmatch(line)):
        return False
    try:
        parse(line)
    except (SyntaxError, ValueError):
        return True
    return bool(_BARE.fullmatch(line))


def _plain_lines(source: str) -> str:
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _mask_cell(lines: list[str], first: int) -> tuple[str, list[Magic], str]:
    name = lines[first][2:].split(maxsplit=1)[0] if len(lines[first].rstrip()) > 2 else ""
    if name in PYTHON_CELL_MAGICS:
        magics = [Magic(lines[first], first + 1)]
        lines[first] = "pass"
        magics += _mask_lines(lines)
        return "\n".join(lines), magics, name
    # The whole text is one command, so that a shell cell can be searched for what it installs.
    whole = Magic("\n".join(lines[first:]), first + 1)
    masked = ["#" if line.strip() else line for line in lines]
    is_shell = lines[first].split() in (["%%bash"], ["%%sh"])  # an option may let it fail
    if is_shell and (fails := fails_at(lines[first + 1 :])) is not None:
        # As IPython and the runner end such a cell.
        masked[first + 1 + fails[0]] = f"raise __import__('subprocess').CalledProcessError({fails[1]}, '%%{name}')"
    return "\n".join(masked), [whole], name


def _may_hold_magic(source: str) -> bool:
    return any(mark in source for mark in ("%", "!", "?")) or any(
        line.lstrip()[:1] in (",", ";", "/") for line in source.splitlines()
    )


def _mask_lines(lines: list[str]) -> list[Magic]:
    """Mask in place. A line counts only where a logical line begins: `x = (a` / `% (b))` is left alone."""
    magics: list[Magic] = []
    for _ in range(MAX_PASSES):
        upset = False
        logical = _logical_lines(lines)
        if logical is None:  # parsing will say so, at the line that is wrong and not at the first command
            starts = [(i, found.start(1)) for i, line in enumerate(lines) if (found := _COMMAND.match(line))]
            return magics + [_mask_at(lines, line, column, assigned=False) for line, column in starts]
        for tokens in logical:
            found = _command(tokens)
            if found is None:
                continue
            start, column = found.start[0] - 1, found.start[1]
            magic = _mask_at(lines, start, column, assigned="=" in _strings(tokens, found))
            magics.append(magic)
            last = _lines_of(magic)[-1]
            # An unbalanced quote in a shell command swallows the following lines (from Python 3.12 on the tokeniser
            # stops there): look at them again.
            stopped = tokens is logical[-1] and any(line.strip() for line in lines[last:])
            if stopped or not last <= tokens[-1].end[0] <= last + 1:
                upset = True
                break
        if not upset:
            break
    return magics


def _mask_at(lines: list[str], start: int, column: int, *, assigned: bool) -> Magic:
    """Mask the command that begins at a column of a line (both from 0), with the lines that it is continued on."""
    end = start
    while lines[end].endswith("\\") and end + 1 < len(lines):
        end += 1
    text = _OF_SHELL.sub("!", "\n".join([lines[start][column:], *lines[start + 1 : end + 1]]), count=1)
    lines[start] = lines[start][:column] + _stand_in(text, assigned=assigned)
    lines[start + 1 : end + 1] = ["#"] * (end - start)
    return Magic(text, start + 1)


def _logical_lines(lines: list[str]) -> list[list[Any]] | None:
    """Tokens by logical line as IPython cuts them; None where the indentation is no Python's."""
    # The whole first: threads that begin with different parts of it at once meet half of each other's.
    import IPython  # noqa: F401
    from IPython.core.inputtransformer2 import make_tokens_by_line

    try:
        return list(make_tokens_by_line([line + "\n" for line in lines]))
    except SyntaxError:
        return None


def _command(tokens: list[Any]) -> Any:
    """The token at which a command for IPython starts in a logical line, or None."""
    from tokenize import COMMENT, DEDENT, ENDMARKER, INDENT, NEWLINE, NL

    code = [t for t in tokens if t.type not in (INDENT, DEDENT, NEWLINE, NL, COMMENT, ENDMARKER) and t.string.strip()]
    if not code:
        return None
    first = code[0]
    if first.string[0] in "%!?,;/":
        return first
    if code[-1].string in _HELP and code[-1].start[0] == first.start[0]:
        return first
    depth = 0
    for before, token in itertools.pairwise(code):  # files = !ls, info = %who_ls
        if before.string == "=" and depth == 0:
            return token if token.string in ("!", "%") else None
        depth += (before.string in ("(", "[", "{")) - (before.string in (")", "]", "}"))
    return None


def _strings(tokens: list[Any], until: Any) -> list[str]:
    return [t.string for t in tokens if t.start < until.start]


def _stand_in(text: str, *, assigned: bool) -> str:
    if assigned:
        return "None"
    if named := _NAMED.fullmatch(text):
        # As IPython runs it: what the name holds is known to who follows the call.
        parts = enumerate(_FILLED.split(named[3].rstrip()))
        rest = [f"str({part})" if at % 2 else repr(part) for at, part in parts if part]
        return f"get_ipython().system({' + '.join([named[1] or named[2], *rest])})"
    words = text.lstrip("%").split(maxsplit=1)
    if text.startswith("%") and len(words) == 2 and words[0] in PYTHON_LINE_MAGICS and not words[1].startswith("-"):
        return words[1]
    return "pass"


def _lines_of(magic: Magic) -> range:
    return range(magic.line, magic.line + magic.text.count("\n") + 1)
