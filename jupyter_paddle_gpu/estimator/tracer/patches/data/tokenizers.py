"""`from_pretrained` of PaddleNLP's tokenizers without their files: a vocabulary of the published size stands in.

The tokenizer's own code runs with it, so what it fills up, cuts and puts around a text is as it will be; how many
tokens a text has is not: a word or a Chinese character is one. Vocabularies of SentencePiece are not made up.
Source: `from_pretrained` in `paddlenlp/transformers/tokenizer_utils_base.py`, 2.6 to 3.0, which takes a folder.
"""

from __future__ import annotations

import importlib
import inspect
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from ...session import Session
from ..awaited import Awaited
from ..environment import DownloadNeeded
from ..patch import Patch

MODULE = "paddlenlp.transformers.tokenizer_utils_base"
USUAL = 30_522
"""Tokens where nothing is published: as many as BERT's (google-research/bert, `vocab.txt` of the uncased models)."""
_FIRST = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
_CHINESE, _SPACE = range(0x4E00, 0x9FA6), "Ġ"
_WORD = "word"
"""What texts that stand in are made of (`texts`)."""


def _tokenizer(session: Session, original: Callable[..., Any], kind: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
    """The tokenizer with its own files where they are here."""
    try:
        return original(kind, name, *args, **kwargs)
    except (Exception, DownloadNeeded):
        size = _published(kind, str(name)) or USUAL
        folder = _folder(kind, size)
        if folder is None or Path(str(name)).is_dir():
            raise
    session.note("vocabulary_made_up", name=str(name), size=size)
    own = getattr(kind, "pretrained_init_configuration", None) or {}
    longest = (getattr(kind, "max_model_input_sizes", None) or {}).get(str(name))
    told = {} if longest is None else {"model_max_length": longest}
    return original(kind, str(folder), *args, **{**own.get(str(name), {}), **told, **kwargs})


def _published(kind: Any, name: str) -> int | None:
    """How many tokens the model of that name has, by the configuration that stands beside its tokenizer."""
    package = kind.__module__.rpartition(".")[0]
    for module in ("configuration", "modeling"):
        with suppress(ImportError):
            for held in vars(importlib.import_module(f"{package}.{module}")).values():
                known = held if isinstance(held, dict) else getattr(held, "pretrained_init_configuration", None)
                found = known.get(name) if isinstance(known, dict) else None
                if isinstance(found, dict) and isinstance(found.get("vocab_size"), int):
                    return int(found["vocab_size"])
    return None


def _folder(kind: Any, size: int) -> Path | None:
    """A folder with the files that a tokenizer reads; None where one of them cannot be made up."""
    files = set((getattr(kind, "resource_files_names", None) or {}).values())
    if not files or files - _MADE.keys():
        return None
    folder = Path(tempfile.mkdtemp())
    for file in files:
        (folder / file).write_text(_MADE[file](_special(kind), size), encoding="utf-8")
    return folder


def _special(kind: Any) -> list[str]:
    """The tokens that stand for no text, in the order in which vocabularies have them."""
    parameters = inspect.signature(kind.__init__).parameters
    named = {name: one.default for name, one in parameters.items() if name.endswith("_token")}
    ordered = [named.pop(name) for name in _FIRST if name in named]
    return [token for token in dict.fromkeys([*ordered, *named.values()]) if isinstance(token, str)]


def _lines(special: list[str], size: int) -> str:
    return "\n".join(islice(_tokens(special, [_WORD, *map(chr, range(33, 127))]), size)) + "\n"


def _of_pairs(special: list[str], size: int) -> str:
    known = [*(chr(256 + number) for number in range(68)), *map(chr, range(33, 127)), *map(chr, range(161, 256))]
    made = [left + right for left, right in (pair.split() for pair in _PAIRS)]
    return json.dumps({token: number for number, token in enumerate(islice(_tokens(special, [*known, *made]), size))})


def _tokens(special: list[str], known: list[str]) -> Iterator[str]:
    """All tokens, each once: characters behind what is wanted, and numbers where those are not enough."""
    yield from dict.fromkeys([*special, *known, *map(chr, _CHINESE)])
    number = 0
    while True:
        yield f"[unused{number}]"
        number += 1


_PAIRS = [*(f"{_WORD[:end]} {_WORD[end]}" for end in range(1, len(_WORD))), f"{_SPACE} {_WORD}"]
"""Pairs of byte-pair encoding that make one token of the word which stands in, with and without a space before it."""
_MADE: dict[str, Callable[[list[str], int], str]] = {
    "vocab.txt": _lines,
    "vocab.json": _of_pairs,
    "merges.txt": lambda _special, _size: "#version: 0.2\n" + "\n".join(_PAIRS) + "\n",
}
"""By a file's name what stands in it."""


def patches() -> Iterator[Patch]:
    """The class method, by which each kind of tokenizer is made."""
    yield Patch(Awaited(MODULE, "PretrainedTokenizerBase"), "from_pretrained", _tokenizer)
