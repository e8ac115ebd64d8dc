"""Which images a Dockerfile beside a notebook takes anything from, read no more generously than the builder reads it.

A flag or a line that only the builder would understand is refused: what is overlooked here would be an image that
nobody has allowed. Source: github.com/moby/buildkit, `frontend/dockerfile/parser`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....domain.errors import PaddleGpuError

BASES = ("${BASE_IMAGE}", "$BASE_IMAGE", "scratch")
"""What a Dockerfile may start from besides images: the one chosen for the job, or nothing."""

_DIRECTIVE = re.compile(r"#\s*(escape|syntax)\s*=", re.IGNORECASE)
_DIRECTIVE_LINES = 20
"""Directives stand above all else; in so many lines one is looked for."""
_SPACE = re.compile(r"[\t\v\f\r ]+")
_CONTINUED = re.compile(r"\\[ \t]*$")
_HEREDOC = re.compile(r"(?:^|\s)[0-9]*<<-?[^<\s]")
_STAGE = re.compile(r"[a-z][a-z0-9_.-]*", re.IGNORECASE)
_FROM = re.compile(r"(?:--platform=\S+\s+)?(?P<image>\S+)(?:\s+AS\s+(?P<name>\S+))?", re.IGNORECASE)
_FLAG_FROM = {
    "COPY": re.compile(r"--from=(?P<image>\S+)", re.IGNORECASE),
    "ADD": re.compile(r"--from=(?P<image>\S+)", re.IGNORECASE),
    "RUN": re.compile(r"--mount=(?:\S*,)?from=(?P<image>[^,\s]+)(?:,\S*)?", re.IGNORECASE),
}
"""Flags of instructions by which content of another image comes in."""
_WORDS = ("FROM", "COPY", "ADD", "ONBUILD")


def images_of(text: str) -> tuple[str, ...]:
    """The images a Dockerfile names, its own stages and `BASES` left out.

    Raises:
        PaddleGpuError: `dockerfile_base` (403), where it does not say plainly which they are.
    """
    images: list[str] = []
    stages: list[str] = []
    for word, rest in _instructions(text):
        if word == "FROM":
            found = _FROM.fullmatch(rest)
            if found is None or not (found["name"] is None or _STAGE.fullmatch(found["name"])):
                raise _unclear()
            if found["image"].lower() not in stages:
                images.append(found["image"])
            stages.append((found["name"] or "").lower())
        elif word in _FLAG_FROM:
            earlier = {*stages, *map(str, range(len(stages)))}
            images += [image for image in _from_flags(word, rest) if image.lower() not in earlier]
    if not stages:
        raise _unclear()
    return tuple(image for image in images if image not in BASES and _is_literal(image))


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    """(instruction, the rest of its line) with continued lines joined; comments and empty lines left out."""
    line = ""
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n")):
        part = raw.rstrip("\r")
        said = part.strip()
        if not said or said.startswith("#"):
            # A directive may change what joins lines, or who reads the file.
            if number < _DIRECTIVE_LINES and _DIRECTIVE.match(said):
                raise _unclear()
            continue
        if line and _may_begin(said):
            raise _unclear()
        if _CONTINUED.search(part):
            line += _CONTINUED.sub("", part)
            continue
        yield _parted(line + part)
        line = ""
    if line.strip():
        yield _parted(line)


def _may_begin(said: str) -> bool:
    """Whether a line that goes on with another one could be an instruction of its own to a builder which ends the one
    before it elsewhere (at a comment, an empty line or two backslashes: their versions differ)."""
    word = _SPACE.split(said, maxsplit=1)[0].upper()
    begun = word.removesuffix("\\")
    return word in _WORDS or (begun != word and any(known.startswith(begun) for known in _WORDS))


def _parted(line: str) -> tuple[str, str]:
    if _HEREDOC.search(line):  # the lines after it are no instructions, and the classic builder runs none of it
        raise _unclear()
    word, *rest = _SPACE.split(line.strip(), maxsplit=1)
    return _parted(rest[0]) if word.upper() == "ONBUILD" and rest else (word.upper(), "".join(rest).strip())


def _from_flags(word: str, rest: str) -> Iterator[str]:
    """The images that the flags before an instruction's arguments name. Quotes and backslashes in them would be taken
    away by the builder."""
    for flag in rest.split():
        if not flag.startswith("--"):
            return
        if any(c in flag for c in "\"'\\"):
            raise _unclear()
        if found := _FLAG_FROM[word].fullmatch(flag):
            yield found["image"]


def _is_literal(image: str) -> bool:
    if "$" not in image:
        return True
    raise PaddleGpuError(
        "dockerfile_base",
        "The Dockerfile starts from {image}, which is only known while it is built.",
        hint="Only $BASE_IMAGE may stand there; it is the image chosen for the job.",
        status=403,
        image=image[:200],
    )


def _unclear() -> PaddleGpuError:
    return PaddleGpuError(
        "dockerfile_base",
        "The Dockerfile does not say plainly which image it starts from.",
        hint="Begin it with `ARG BASE_IMAGE` and `FROM $BASE_IMAGE`; leave out escape and syntax lines, `<<` and "
        "quotes around flags.",
        status=403,
    )
