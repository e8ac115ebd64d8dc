"""`from_pretrained` of PaddleNLP's tokenizers without their files: a vocabulary of the published size stands in.

The tokenizer's own code runs with it, so what it fills up, cuts and puts around a text is as it will be; how many
tokens a text has is not: a word or a Chinese character is one, to SentencePiece a word of the program's own two.
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
from . import sentencepieces
from .communities import likest

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
        wanted = _wanted(kind, str(name))
        if not wanted or not all(map(_maker, wanted.values())) or Path(str(name)).is_dir():
            raise
        size = _published(kind, str(name)) or USUAL
        own = getattr(kind, "pretrained_init_configuration", None) or {}
        longest = (getattr(kind, "max_model_input_sizes", None) or {}).get(str(name))
        unused = {key: None for key in kind.resource_files_names if key not in wanted}
        told = unused if longest is None else {**unused, "model_max_length": longest}

        def made(rows: int) -> Any:
            folder = str(_folder(wanted, _special(kind, {**own.get(str(name), {}), **kwargs}), rows))
            return original(kind, folder, *args, **{**own.get(str(name), {}), **told, **kwargs})

        try:
            found = made(size)
            tokenizer = found[0] if isinstance(found, tuple) else found  # with its folder, where that is asked for
            if (added := getattr(tokenizer, "vocab_size", size) - size) > 0:
                found = made(size - added)  # the published size has the tokens that the tokenizer adds to its file's
        except Exception:  # a file that only has the name of one of these: what is missing is told
            found = None
        if found is None:
            raise
    code = "pieces_made_up" if any(map(_is_pieces, wanted.values())) else "vocabulary_made_up"
    session.note(code, name=str(name), size=size)
    return found


def _wanted(kind: Any, name: str) -> dict[str, str]:
    """The files that the tokenizer of that name reads, by its arguments: of some kinds not each has all."""
    published = getattr(kind, "pretrained_resource_files_map", None) or {}
    names = getattr(kind, "resource_files_names", None) or {}
    return {key: file for key, file in names.items() if published.get(key, {}).get(name, file) is not None}


def _published(kind: Any, name: str) -> int | None:
    """How many tokens the model of that name has, by the configuration that stands beside its tokenizer; of a name that
    it does not list as many as the model has that stands for it (`communities`)."""
    package = kind.__module__.rpartition(".")[0]
    described: Any = None
    for module in ("configuration", "modeling"):
        with suppress(ImportError):
            for held in vars(importlib.import_module(f"{package}.{module}")).values():
                known = held if isinstance(held, dict) else getattr(held, "pretrained_init_configuration", None)
                found = known.get(name) if isinstance(known, dict) else None
                if isinstance(found, dict) and isinstance(found.get("vocab_size"), int):
                    return int(found["vocab_size"])
                if inspect.isclass(held) and held.__module__ == f"{package}.configuration":
                    described = described or held
    if described is None:
        return None
    known = getattr(described, "pretrained_init_configuration", None) or {}
    told = inspect.signature(described).parameters.get("vocab_size")
    size = known.get(likest(name, known), {}).get("vocab_size", None if told is None else told.default)
    return size if isinstance(size, int) else None


def _folder(wanted: dict[str, str], special: list[str], size: int) -> Path:
    """A folder with the files that a tokenizer reads."""
    folder = Path(tempfile.mkdtemp())
    for file in wanted.values():
        if (maker := _maker(file)) is not None:
            (folder / file).write_bytes(maker(special, size))
    return folder


def _maker(file: str) -> Callable[[list[str], int], bytes] | None:
    """What makes up a file of that name; None where nothing can."""
    return _pieces if _is_pieces(file) else _MADE.get(file)


def _is_pieces(file: str) -> bool:
    """Whether SentencePiece reads a file of that name."""
    return file.endswith(".model")


def _special(kind: Any, told: dict[str, Any]) -> list[str]:
    """The tokens that stand for no text, in the order in which vocabularies have them."""
    parameters = inspect.signature(kind.__init__).parameters
    named = {name: told.get(name, one.default) for name, one in parameters.items() if name.endswith("_token")}
    ordered = [named.pop(name) for name in _FIRST if name in named]
    return [token for token in dict.fromkeys([*ordered, *named.values()]) if isinstance(token, str)]


def _lines(special: list[str], size: int) -> bytes:
    return ("\n".join(islice(tokens(special, [_WORD, *map(chr, range(33, 127))]), size)) + "\n").encode()


def _pieces(special: list[str], size: int) -> bytes:
    known = [sentencepieces.SPACE, sentencepieces.SPACE + _WORD, _WORD]
    return sentencepieces.model(special, islice(tokens(special, known), size))


def _of_pairs(special: list[str], size: int) -> bytes:
    known = [*(chr(256 + number) for number in range(68)), *map(chr, range(33, 127)), *map(chr, range(161, 256))]
    made = [left + right for left, right in (pair.split() for pair in _PAIRS)]
    kept = islice(tokens(special, [*known, *made]), size)
    return json.dumps({token: number for number, token in enumerate(kept)}).encode()


def tokens(special: list[str], known: list[str]) -> Iterator[str]:
    """All tokens, each once: characters behind what is wanted, and numbers where those are not enough."""
    yield from dict.fromkeys([*special, *known, *map(chr, _CHINESE)])
    number = 0
    while True:
        yield f"[unused{number}]"
        number += 1


_PAIRS = [*(f"{_WORD[:end]} {_WORD[end]}" for end in range(1, len(_WORD))), f"{_SPACE} {_WORD}"]
"""Pairs of byte-pair encoding that make one token of the word which stands in, with and without a space before it."""
_MADE: dict[str, Callable[[list[str], int], bytes]] = {
    "vocab.txt": _lines,
    "vocab.json": _of_pairs,
    "merges.txt": lambda _special, _size: ("#version: 0.2\n" + "\n".join(_PAIRS) + "\n").encode(),
}
"""By a file's name what stands in it."""


def patches() -> Iterator[Patch]:
    """The class method, by which each kind of tokenizer is made."""
    yield Patch(Awaited(MODULE, "PretrainedTokenizerBase"), "from_pretrained", _tokenizer)
