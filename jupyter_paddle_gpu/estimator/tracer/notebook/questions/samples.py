"""A sample of a program's data that lies beside it, where the data itself is not here.

Repositories come with a few rows of data and a configuration that names them (`config.yaml`), beside the one for the
data itself (`config_bigdata.yaml`). Of that one a batch is looked at with those rows: the program reads its
configuration with the sample's places.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...patches.data.loaders import Loaders
from ...session import current

MOST_BESIDE = 20
"""Configurations of a folder that are looked at, at most."""
_LINE = re.compile(
    rb"""^(?P<key>[ ]*[A-Za-z_][\w.-]*)[ ]*:[ ]*(?P<quote>["']?)(?P<text>[^"'#\s{}\[\]]+)(?P=quote)\s*(?:#.*)?$""", re.M
)
_OPEN = re.compile(rb"^(?P<key>[ ]*[A-Za-z_][\w.-]*)[ ]*:[ ]*(?:#.*)?$", re.M)
_HOLDS = re.compile("data|dir|path|list|file|root|train|test|valid|eval", re.I)
_MADE = re.compile("model|weight|pretrain|init|checkpoint|ckpt|save|output|log|base|infer_load", re.I)
_READS = re.compile("reader|class|type|format|module", re.I)


class Told(NamedTuple):
    """What stands behind a key: the text, and its bytes in the file."""

    text: str
    start: int
    end: int


def sampled(path: str, text: bytes, read: Callable[[str], bytes]) -> bytes:
    """A configuration as the program reads it; what stands for the data is told.

    Args:
        path: of the file; YAML alone is looked at.
        text: what it holds.
        read: gives what another file holds.
    """
    session = current()
    if session is None:
        return text
    text, places = _with_samples(path, text, read)
    for wanted, sample in places.items():
        session.of(Loaders).are_samples = True
        session.note("data_sampled", wanted=wanted, sample=sample)
    return text


def _with_samples(path: str, text: bytes, read: Callable[[str], bytes]) -> tuple[bytes, dict[str, str]]:
    """A configuration with samples' places for those that are not here, and which place stands for which."""
    file = Path(path)
    told = dict(_told(text)) if file.suffix in {".yaml", ".yml"} else {}
    absent = {key: one for key, one in told.items() if _is_place(key, one.text) and not _is_here(file, one.text)}
    for other in _beside(file) if absent else ():
        beside = dict(_told(read(str(other))))
        found = {key: beside[key].text for key in absent if key in beside and _has_data(file, beside[key].text)}
        if found and all(beside[key].text == one.text for key, one in told.items() if key in beside and _says_how(key)):
            for key in sorted(found, key=lambda key: -told[key].start):
                text = text[: told[key].start] + found[key].encode() + text[told[key].end :]
            return text, {told[key].text: place for key, place in found.items()}
    return text, {}


def _beside(file: Path) -> Iterator[Path]:
    """Configurations of the same name with another ending: `config.yaml` of `config_bigdata.yaml`."""
    others = sorted(one for one in file.parent.glob(f"*{file.suffix}") if one != file)[:MOST_BESIDE]
    return (one for one in others if file.stem.startswith(one.stem) or one.stem.startswith(file.stem))


def _told(text: bytes) -> Iterator[tuple[str, Told]]:
    """The texts behind keys, with the keys above them."""
    above: list[tuple[int, str]] = []
    for one in sorted([*_LINE.finditer(text), *_OPEN.finditer(text)], key=lambda match: match.start()):
        key = one["key"].decode()
        indent, name = len(key) - len(key.lstrip()), key.strip()
        while above and above[-1][0] >= indent:
            above.pop()
        if one.re is _OPEN:
            above.append((indent, name))
        else:
            whole = ".".join([*(part for _, part in above), name])
            yield whole, Told(one["text"].decode(errors="replace"), *one.span("text"))


def _is_place(key: str, text: str) -> bool:
    name = key.rpartition(".")[2]
    return bool(_HOLDS.search(name)) and not _MADE.search(name) and not _says_how(key) and "/" in text


def _says_how(key: str) -> bool:
    """Whether it says by which code data is read."""
    return bool(_READS.search(key.rpartition(".")[2]))


def _is_here(file: Path, place: str) -> bool:
    return any(one.exists() for one in _places(file, place))


def _has_data(file: Path, place: str) -> bool:
    return any(one.is_file() or (one.is_dir() and any(one.iterdir())) for one in _places(file, place))


def _places(file: Path, place: str) -> tuple[Path, Path]:
    """As programs look for it: beside the configuration, or in the folder they run in."""
    return file.parent / place, Path(os.path.expanduser(place))  # noqa: PTH111 - as it is written
