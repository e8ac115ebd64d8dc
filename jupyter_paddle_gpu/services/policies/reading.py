"""A policy file as it stands: YAML or JSON, with the line and column of each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...domain.errors import PaddleGpuError

if TYPE_CHECKING:
    import yaml  # type: ignore[import-untyped]

_WORDS: Mapping[str, Mapping[str, str]] = {"scheduler.algorithm": {"rl_based": "learned"}}
"""Words of the field for what is called otherwise here."""
_SECTIONS: Mapping[str, str] = {"resource_policy": "matching"}
"""Sections of the field for what is called otherwise here; a file may use either word, not both."""


@dataclass(frozen=True)
class PolicyFile:
    """What one file says.

    Attributes:
        sections: by the names that the product uses.
        places: field (`matching.prefer`) -> line and column, from 1.
        said: section by those names -> the word that the file uses for it.
    """

    path: Path
    sections: dict[str, Any]
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)

    def at(self, name: str) -> str:
        """The file with line and column of a field, or of the section it is missing in."""
        name = name.partition("[")[0]
        while name and name not in self.places:
            name = name.rpartition(".")[0]
        return ":".join(map(str, (self.path, *self.places.get(name, ()))))

    def offered(self, name: str) -> str:
        """A section as a file of this kind usually calls it."""
        usual = {ours: theirs for theirs, ours in _SECTIONS.items()}
        return name if self.path.suffix == ".json" else usual.get(name, name)

    def word(self, name: str) -> str:
        """A field as the file itself calls it."""
        section, dot, rest = name.partition(".")
        return f"{self.said.get(section, section)}{dot}{rest}"


def read(path: Path, *, needed: bool = False) -> PolicyFile | None:
    """The file; None where it is not there and needs not be.

    Raises:
        PaddleGpuError: `policy_unreadable`, `policy_wrong` (503), with the file and the place in it.
    """
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError as error:
        if not needed:
            return None
        raise unreadable(str(path), "there is no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(str(path), getattr(error, "strerror", None) or str(error)) from error
    raw, places = _json(text, path) if path.suffix == ".json" else _yaml(text, path)
    return _understood(PolicyFile(path, raw, places))


def _json(text: str, path: Path) -> tuple[Any, dict[str, tuple[int, int]]]:
    try:
        return msgspec.json.decode(text), {}
    except msgspec.DecodeError as error:
        raise unreadable(str(path), str(error)) from error


def _yaml(text: str, path: Path) -> tuple[Any, dict[str, tuple[int, int]]]:
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        places = dict(_places(node, ""))
        return loader.construct_document(node), places
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise unreadable(where, error.problem or str(error)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise unreadable(str(path), str(error)) from error
    finally:
        loader.dispose()


def _places(node: yaml.Node, name: str) -> Iterator[tuple[str, tuple[int, int]]]:
    import yaml

    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        full = f"{name}.{key.value}".lstrip(".")
        yield full, (key.start_mark.line + 1, key.start_mark.column + 1)
        yield from _places(value, full)


def _understood(file: PolicyFile) -> PolicyFile:
    """With the product's own names for what people of the field call otherwise."""
    raw = file.sections
    if not isinstance(raw, dict):
        raise wrong(file, "", "it must be an object {…}" if file.path.suffix == ".json" else "it must have sections")
    sections, places, said = dict(raw), dict(file.places), {}
    for word, name in _SECTIONS.items():
        if word not in sections:
            continue
        if name in sections:
            raise wrong(file, name, f"“{word}” is another word for “{name}”, and the file has both")
        sections[name] = sections.pop(word)
        said[name] = word
        for field_name, place in file.places.items():
            if field_name == word or field_name.startswith(f"{word}."):
                places[name + field_name[len(word) :]] = place
    for field_name, words in _WORDS.items():
        section, _, name = field_name.partition(".")
        if isinstance(sections.get(section), dict) and sections[section].get(name) in words:
            sections[section] = {**sections[section], name: words[sections[section][name]]}
    return PolicyFile(file.path, sections, places, said)


def unreadable(where: str, why: str) -> PaddleGpuError:
    """A file that is none."""
    return PaddleGpuError(
        "policy_unreadable",
        "The policy file {file} cannot be read: {why}.",
        hint="docs/policy.md shows one; `jupyter paddle-gpu policy init` writes one.",
        status=503,
        file=where,
        why=why,
    )


def wrong(file: PolicyFile, field_name: str, why: str) -> PaddleGpuError:
    """A field of a file that cannot be so."""
    return PaddleGpuError(
        "policy_wrong",
        "The policy file {file} has a wrong “{field}”: {why}.",
        hint="docs/policy.md lists the fields; nothing of the file is used until it is mended.",
        status=503,
        file=file.at(field_name),
        field=file.word(field_name) or "$",
        why=why,
    )
