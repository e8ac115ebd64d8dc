"""What `make` runs: the lines of a target's recipe, behind those of what it rests on. Read, never run."""

from __future__ import annotations

import re
from collections.abc import Iterator

NAMES = ("GNUmakefile", "makefile", "Makefile")
"""Files that `make` looks for, in its order."""
_SETS = re.compile(r"(?:export\s+)?(?P<name>[\w.-]+)\s*(?P<how>[:?+]{0,2}=)\s*(?P<value>.*)")
_RULE = re.compile(r"(?P<targets>[^\t#=][^=#]*?)::?(?!=)\s*(?P<rests>[^=]*)")
_VARIABLE = re.compile(r"\$\((\w[\w.-]*)\)|\$\{(\w[\w.-]*)\}|\$\$")
_GOING = frozenset({"-C", "--directory", "-f", "--file", "--makefile"})
_DEEP = 10
"""Variables that hold variables, and targets that rest on targets."""
LONG = 4_000
"""Characters of a line and of what a variable holds; longer ones are passed over: nobody writes such a command, and
one that names itself (`X = $(X)$(X)`) would have no end."""


def asked(words: list[str]) -> tuple[str, str, list[str], dict[str, str]]:
    """What stands behind `make`: a folder, a file, targets, and variables that are set there."""
    options, targets, values = {"-C": "", "-f": ""}, list[str](), dict[str, str]()
    rest = iter(words)
    for word in rest:
        name, _, value = word.partition("=")
        if name in _GOING:
            options["-C" if name in {"-C", "--directory"} else "-f"] = value or next(rest, "")
        elif "=" in word and not word.startswith("-"):
            values[name] = value
        elif not word.startswith("-"):
            targets.append(word)
    return options["-C"], options["-f"], targets, values


def recipe(text: str, targets: list[str], given: dict[str, str]) -> Iterator[str]:
    """The lines that are run for the targets, the first one's where none is named.

    Args:
        given: variables of the command line, which stand above those of the file.
    """
    values, rules, first, current = dict[str, str](), dict[str, tuple[list[str], list[str]]](), "", list[str]()
    for line in re.sub(r"\\\r?\n\s*", " ", text).splitlines():
        if len(line) > LONG:
            continue
        if line.startswith("\t"):
            current.append(line.strip())
        elif found := _SETS.fullmatch(line.strip()):
            name, value = found["name"], found["value"].partition(" #")[0].strip()
            if found["how"] == "+=":
                value = f"{values.get(name, '')} {value}".strip()
            values.setdefault(name, value) if found["how"] == "?=" else values.update({name: value})
        elif found := _RULE.fullmatch(line.rstrip()):
            before, steps = found["rests"].partition(";")[::2]
            current = [steps.strip()] if steps.strip() else []
            for name in found["targets"].split():
                rules[name] = before.split(), current
                first = first or ("" if name.startswith(".") else name)
    values |= given
    done: set[str] = set()

    def of(name: str, depth: int) -> Iterator[str]:
        if name not in rules or name in done or depth > _DEEP:
            return
        done.add(name)
        for one in rules[name][0]:
            yield from of(one, depth + 1)
        yield from (_filled(one, values).lstrip("@-+ ") for one in rules[name][1])

    for name in targets or [first]:
        yield from of(name, 0)


def _filled(line: str, values: dict[str, str]) -> str:
    """With what variables hold; `$$` is the shell's own sign. Empty where that has no end."""

    def held(found: re.Match[str]) -> str:
        value = "\0" if found[0] == "$$" else values.get(found[1] or found[2], "")
        return value if len(value) <= LONG else ""

    for _ in range(_DEEP):
        filled = _VARIABLE.sub(held, line)
        if filled == line:
            break
        if len(filled) > LONG:
            return ""
        line = filled
    return line.replace("\0", "$")
