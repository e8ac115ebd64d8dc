"""What a notebook installs for itself: the arguments of its `pip install` lines."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from .cells import Magic

_INSTALL = re.compile(r"^\s*[!%]{0,2}\s*(?:[\w./]*python[\d.]*\s+-m\s+|[\w./{}]*\s+-m\s+)?pip[\d.]*\s+install\s+(.*)$")
_WITH_VALUE = frozenset(
    {"-i", "--index-url", "--extra-index-url", "-f", "--find-links", "-t", "--target", "-c", "--constraint", "--prefix"}
    | {"--trusted-host", "--root", "--timeout", "--retries", "--proxy", "--cache-dir", "--platform", "--python-version"}
    | {"--progress-bar"}
)
"""Options of pip that take the next word."""
_FILE = frozenset({"-r", "--requirement"})


def read_requirements(magics: Iterable[Magic]) -> tuple[str, ...]:
    """Requirement specifiers in the order of the notebook, each once; `-r FILE` is kept as it is written."""
    found: dict[str, None] = {}
    for magic in magics:
        for line in magic.text.splitlines():
            for command in re.split(r"&&|;|\|", line):
                if (match := _INSTALL.match(command)) is not None:
                    found |= dict.fromkeys(_specifiers(match[1]))
    return tuple(found)


def _specifiers(text: str) -> list[str]:
    try:
        words = shlex.split(text, comments=True)
    except ValueError:  # an open quote
        words = text.split()
    found: list[str] = []
    skip = False
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if skip:
            skip = False
        elif word in _FILE:
            found.append(f"-r {following}")
            skip = True
        elif word in _WITH_VALUE:
            skip = True
        elif word in (">", ">>", "2>", "2>&1") or word.startswith(("2>", ">/")):
            break
        elif not word.startswith("-"):
            found.append(word)
    return found
