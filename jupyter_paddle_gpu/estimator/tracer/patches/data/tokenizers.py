"""`from_pretrained` of PaddleNLP's tokenizers without their files: a vocabulary of the published size stands in.

The tokenizer's own code runs with it, so what it fills up, cuts and puts around a text is as it will be; how many
tokens a text has is not: a word or a Chinese character is one, to SentencePiece a word of the program's own two.
Source: `from_pretrained` in `paddlenlp/transformers/tokenizer_utils_base.py`, 2.6 to 3.0, which takes a folder.
"""

from __future__ import annotations

import base64
import importlib
import inspect
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ...session import Session
from ..awaited import Awaited
from ..environment import DownloadNeeded
from ..patch import Patch
from . import sentencepieces
from .communities import configurations, likest

MODULE = "paddlenlp.transformers.tokenizer_utils_base"
USUAL = 30_522
"""Tokens where nothing is published: as many as BERT's (google-research/bert, `vocab.txt` of the uncased models)."""
_TOKENS = {"QWenTokenizer": 151_851, "Llama3Tokenizer": 128_256}
"""Tokens of classes whose configuration does not say them, with those that stand for no text (QwenLM/Qwen,
`tokenization_note.md`: 151,643 and 208; `config.json` of Llama 3)."""
_NOT_INSTALLED = re.compile(r"(\w+) is not installed")
"""How PaddleNLP says that a module is missing by which a tokenizer divides texts."""
_FIRST = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
_CHINESE, _SPACE = range(0x4E00, 0x9FA6), "Ġ"
_WORD = "word"
"""What texts that stand in are made of (`texts`)."""


def _tokenizer(session: Session, original: Callable[..., Any], kind: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
    """The tokenizer with its own files where they are here."""
    try:
        return original(kind, name, *args, **kwargs)
    except (Exception, DownloadNeeded) as raised:
        problem = raised
    wanted = _wanted(kind, str(name))
    makers = [_makers(file) for file in wanted.values()]
    if not makers or not all(makers) or Path(str(name)).is_dir():
        raise problem
    size = _TOKENS.get(kind.__name__) or _published(kind, str(name)) or USUAL
    own = getattr(kind, "pretrained_init_configuration", None) or {}
    longest = (getattr(kind, "max_model_input_sizes", None) or {}).get(str(name))
    unused = {key: None for key in kind.resource_files_names if key not in wanted}
    told = unused if longest is None else {**unused, "model_max_length": longest}

    def made(rows: int, which: int) -> Any:
        folder = str(_folder(wanted, _special(kind, {**own.get(str(name), {}), **kwargs}), rows, which))
        return original(kind, folder, *args, **{**own.get(str(name), {}), **told, **kwargs})

    def tried(which: int) -> Any:
        try:
            found = made(size, which)
            tokenizer = found[0] if isinstance(found, tuple) else found  # with its folder, where that is asked for
            added = getattr(tokenizer, "vocab_size", size) - size
            return made(size - added, which) if added > 0 else found  # the size has what it adds to its file's
        except Exception as raised:  # a file that only has the name of one of these: what is missing is told
            return raised

    gone = None
    for which in range(max(map(len, makers))):
        found = tried(which)
        if not isinstance(found, Exception):
            is_of_pieces = _pieces in {one[min(which, len(one) - 1)] for one in makers}
            session.note("pieces_made_up" if is_of_pieces else "vocabulary_made_up", name=str(name), size=size)
            return found
        gone = _NOT_INSTALLED.match(str(found))
    if gone:
        raise ModuleNotFoundError(gone[0], name=gone[1])
    raise problem


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
    known = configurations(described)
    told = inspect.signature(described).parameters.get("vocab_size")
    size = known.get(likest(name, known) or "", {}).get("vocab_size", None if told is None else told.default)
    return size if isinstance(size, int) else None


def _folder(wanted: dict[str, str], special: list[str], size: int, which: int) -> Path:
    """A folder with the files that a tokenizer reads, made in the one or the other way."""
    folder = Path(tempfile.mkdtemp())
    for file in wanted.values():
        makers = _makers(file)
        (folder / file).write_bytes(makers[min(which, len(makers) - 1)](special, size))
    return folder


def _makers(file: str) -> tuple[Maker, ...]:
    """What makes up a file of that name, the likeliest first; nothing where none can."""
    return _MADE.get(file) or _MADE.get(Path(file).suffix, ())


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


def _ranks(special: list[str], size: int) -> bytes:
    """The file of tiktoken: tokens as bytes, in the order in which pairs of them are merged. The tokens that stand for
    no text are the tokenizer's own."""
    words = [_WORD[:end].encode() for end in range(2, len(_WORD) + 1)]
    digits = [f"{number:0{width}}".encode() for width in (2, 3) for number in range(10**width)]
    letters = [chr(letter).encode() for letter in _CHINESE]
    pairs = dict.fromkeys(letter[:2] for letter in letters)
    known = [*(bytes([one]) for one in range(256)), *words, b" " + words[-1], *digits, *pairs, *letters]
    more = (b"\xff" + number.to_bytes(4, "big") for number in range(size))  # which no text in UTF-8 has
    kept = islice(chain(dict.fromkeys(known), more), size)
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(kept))


def tokens(special: list[str], known: list[str]) -> Iterator[str]:
    """All tokens, each once: characters behind what is wanted, and numbers where those are not enough."""
    yield from dict.fromkeys([*special, *known, *map(chr, _CHINESE)])
    number = 0
    while True:
        yield f"[unused{number}]"
        number += 1


_PAIRS = [*(f"{_WORD[:end]} {_WORD[end]}" for end in range(1, len(_WORD))), f"{_SPACE} {_WORD}"]
"""Pairs of byte-pair encoding that make one token of the word which stands in, with and without a space before it."""
Maker = Callable[[list[str], int], bytes]
_MADE: dict[str, tuple[Maker, ...]] = {
    "vocab.txt": (_lines,),
    "vocab.json": (_of_pairs,),
    "merges.txt": (lambda _special, _size: ("#version: 0.2\n" + "\n".join(_PAIRS) + "\n").encode(),),
    ".model": (_pieces, _ranks),
    ".tiktoken": (_ranks,),
}
"""By a file's name, or its ending, what stands in it: SentencePiece's file and that of Llama 3 have the same name."""


def patches() -> Iterator[Patch]:
    """The class method, by which each kind of tokenizer is made."""
    yield Patch(Awaited(MODULE, "PretrainedTokenizerBase"), "from_pretrained", _tokenizer)
