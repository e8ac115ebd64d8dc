"""The form of the documents: lines of at most 120 characters, and where a paragraph needs more, one sentence a line.

`python docs/programs/form.py` names what is not so, with `--write` it puts it right (part of `make format`). Tables,
code, headings and pictures stay as they are. A paragraph whose lines are short enough is left alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 120
DOCUMENTS = ("README*.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/*.md")
WRITTEN_BY_PROGRAMS = {"kernels.md"}
#: What begins a line that is no prose.
KEPT = re.compile(r"\s*(\||#|!\[|```|<|$)|---|    \S|\t")
ITEM = re.compile(r"(\s*)([-*+]|\d+\.)(\s+)")
#: Between two sentences: an end, what may close behind it, room, and a beginning.
BETWEEN = re.compile(r"(?<=[.!?])([)”\"*]*)\s+(?=[A-Z0-9`*“\"(\[_])|(?<=[。！？])([）”]*)\s*")
#: Ends that are none.
ABBREVIATED = re.compile(r"(\b(e\.g|i\.e|vs|cf|No|etc)|\.\.|\b[A-Z])\.$")
#: No place for a new line: the room inside of code and of links.
WHOLE = re.compile(r"`[^`]*`|\]\([^)]*\)")
ROOM, START = "\N{NO-BREAK SPACE}", re.compile(r"([-+*#>]|\d+\.)(\s|$)")


def documents() -> Iterator[Path]:
    """The documents that people write."""
    for pattern in DOCUMENTS:
        yield from (path for path in sorted(ROOT.glob(pattern)) if path.name not in WRITTEN_BY_PROGRAMS)


def too_long(text: str) -> list[int]:
    """Numbers of the lines (from 1) that are longer than they may be, outside of what stays as it is."""
    return [number for number, line, prose in _lines(text) if prose and len(line) > WIDTH and _breakable(line)]


def formed(text: str) -> str:
    """The text with every paragraph that has too long a line broken anew."""
    done: list[str] = []
    paragraph: list[str] = []

    def end() -> None:
        if any(len(line) > WIDTH for line in paragraph):
            done.extend(_broken(paragraph))
        else:
            done.extend(paragraph)
        paragraph.clear()

    for _, line, prose in _lines(text):
        if not prose or ITEM.match(line):
            end()
        if prose:
            paragraph.append(line)
        else:
            done.append(line)
    end()
    return "\n".join(done) + "\n"


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Number, line and whether it is prose."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith("```")
        yield number, line, not (code or fence or KEPT.match(line))
        code ^= fence


def _breakable(line: str) -> bool:
    return re.search(r"\s", WHOLE.sub("", line.strip()[2:])) is not None


def _broken(paragraph: list[str]) -> list[str]:
    item = ITEM.match(paragraph[0])
    first = item[0] if item else re.match(r"\s*", paragraph[0])[0]  # type: ignore[index]  # matches everything
    rest = " " * len(first)
    chinese = re.search(r"[\u4e00-\u9fff]", paragraph[0]) is not None
    words = "" if chinese and all(re.search(r"[\u3000-\uffef]$", line) for line in paragraph[:-1]) else " "
    text = words.join(line.strip() for line in [paragraph[0][len(first) :], *paragraph[1:]])
    text = WHOLE.sub(lambda found: found[0].replace(" ", ROOM), text)
    lines = [part for sentence in _sentences(text) for part in _wrapped(sentence, WIDTH - len(first))]
    return [(rest if number else first) + line.replace(ROOM, " ") for number, line in enumerate(lines)]


def _sentences(text: str) -> list[str]:
    found, begin = [], 0
    for between in BETWEEN.finditer(text):
        end = between.end(1) if between[1] is not None else between.end(2)
        if not ABBREVIATED.search(text[begin : between.start()]) and text[end:].strip():
            found.append(text[begin:end].strip())
            begin = between.end()
    return [*found, text[begin:].strip()]


def _wrapped(sentence: str, width: int) -> list[str]:
    """Broken at room, or in Chinese behind a mark; never so that a line begins like an item or a heading."""
    lines, line = [], ""
    for piece in re.findall(r"[^ ]+?(?:[，；：、。]|(?= )|$) ?", sentence):
        if line and len(line) + len(piece.rstrip()) > width and not START.match(piece):
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


def main(arguments: list[str]) -> int:
    """Name or mend; the exit status is 1 where something is named."""
    found = 0
    for path in documents():
        text = path.read_text(encoding="utf-8")
        if "--write" in arguments:
            path.write_text(formed(text), encoding="utf-8")
            continue
        for number in too_long(text):
            print(f"{path.relative_to(ROOT)}:{number}: longer than {WIDTH} characters")
            found = 1
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
