"""What a number may be that is computed from data: what was printed, what stands in the cells under another name, the
published size of the data that they name, else a typical one of what its name, or the layer that takes it, says it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...undecided.needs import Need
from .. import syntax
from .corpora import PUBLISHED, published
from .hints import GENERIC, NAMED, Hints

PRINTED, CELLS, LAYER, ASSUMED = "printed", "cells", "layer", "assumed"
BATCH, SIDE, LENGTH, ENTRIES = 32, 224, 128, 10_000
"""What is assumed where nothing in the notebook says it: samples, pixels, tokens, entries of a vocabulary."""
CHARACTERS = 100
"""The same of a text's characters: those of English prose are 60 to 100."""
SIGNS = 5_000
"""The same of a text in Chinese."""
CLASSES, FEATURES = 10, 256
"""The same of what a name calls classes, and of the columns of a table (categories are a column each)."""
SEEN, ACTIONS = 8, 4
"""The same of what an agent sees, in numbers, and of what it can do."""
FIELDS = 32
"""The same of the fields of a table of categories, which each have an embedding."""
SMALL = 64
"""The same of a picture whose every pixel has a weight."""
DEPTH = 4
"""Layers, blocks or heads of a model."""
_BY_NAME = (
    (re.compile(r"(?i)(^|_)(batch(_?size)?|bs)$|批(量|次|大小|尺寸)"), BATCH),
    (re.compile(r"(?i)(^|_)((n|num)_?)?(layers?|blocks?|heads?|depth)$|层数"), DEPTH),
    (re.compile(r"(?i)(^|_)(obs(erv\w*)?|states?|s)(_?(n|num|size|dim|dims|len|shape|space))*(_0)?$"), SEEN),
    (
        re.compile(r"(?i)(^|_)(act(ions?)?|a)_?(n|num|size|dim|dims|len|count|shape|space)?s?(_0)?$|(^|_)n_?act"),
        ACTIONS,
    ),
    (
        re.compile(
            r"(?i)(^|_)(width|hidden(_?(size|dim|units))?|units|channels?|emb(ed(ding)?)?(_?(size|dim))?|d_model)$|隐(藏|含)?层|维度"
        ),
        FEATURES,
    ),
    (re.compile(r"(?i)(^|_)(num_?)?(px|pixels?)$"), SMALL),
    (re.compile(r"(?i)(^|_)(height|side|(image|img|crop)_?size)$"), SIDE),
    (re.compile(r"(?i)class|label|categor|(^|_)tags?(_|2|$)|2label|类别|分类"), CLASSES),
    (re.compile(r"(?i)(^|_)(len_)?fields?(_|$)"), FIELDS),
    (
        re.compile(r"(?i)features?$|columns?$|(^|_)dims?$|^n_?inputs$|_shape_([1-9]|last)$"),
        FEATURES,
    ),
)
_BY_LAYER = {
    **dict.fromkeys(("out_features", "out_channels", "num_classes", "num_labels"), CLASSES),
    **dict.fromkeys(("in_features", "input_size"), FEATURES),
}
"""By what a layer calls it, where its name does not tell: a last layer is as wide as there are classes."""
_OF_OUTPUTS = frozenset(("out_features", "out_channels"))
_OF_WORDS = re.compile(r"(?i)vocab|word|dict|token|char|stoi|itos|2id|2i(x|ndex)?$|to_?(idx|id|ix|i$)")
"""What a vocabulary's size is called."""
_OF_TRANSLATIONS = re.compile(r"(?i)(^|_)(target|tgt|trg)s?(_|$)")
"""What the language is called that is translated to."""
_OF_SIGNS = re.compile(r"(?i)(^|_|2|len)(char|letter|alphabet)|chars?(_|2|set|$)")
"""What the number of a text's characters is called."""
_SPECIAL = re.compile(r"""['"](\[[A-Z]+\]|<\w+>)['"]""")
"""Tokens that a vocabulary has beside its words: `[PAD]`, `<unk>`."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]|(?i:chinese|poe(m|try)|tang\b|(?<![a-z])zh(?![a-z]))")

_POEMS = re.compile(r"(?i)chinese|poe(m|try)|tang(?![a-z])|诗|汉字|小说")
"""Words beside a text whose characters are counted that say that it is in Chinese; comments alone may be, too."""
_SHORT = 2
"""Letters of a name that says nothing."""


def values(need: Need, found: Hints) -> Iterator[tuple[int, str]]:
    """What a number may be that is computed from data, the likeliest first, each with where that comes from."""
    if need.default is not None:
        yield need.default, CELLS
    if need.is_index:
        yield 0, ASSUMED
    for said in re.findall(rf"(?<!\w){re.escape(need.name)}\s*(?:=|is|:)\s*([1-9]\d*)", found.text):
        yield int(said), CELLS
    words = _words(need.name)
    for said, number in found.said.items():
        if words and all(word in said for word in words):
            yield number, PRINTED
    if NAMED["length"].match(need.name):
        yield from ((length, CELLS) for length in found.lengths)
        yield LENGTH, ASSUMED
    if words:
        yield from ((number, CELLS) for name, number in _named(found) if name != need.name and _words(name) == words)
    if _OF_WORDS.search(need.name):
        yield from ((most, CELLS) for most in _most_common(found))
    yield from ((number, PUBLISHED if is_whole else ASSUMED) for number, is_whole in published(need, found.text))
    if (found.counts_characters and _is_of_words(need)) or _OF_SIGNS.search(need.name):
        told = _POEMS if found.counts_characters else _CHINESE
        yield SIGNS if told.search(found.text) else CHARACTERS, ASSUMED
    named = None if _says_nothing(need) else by_name(need.name)
    if named is None and not _OF_WORDS.search(need.name) and "Embedding" not in found.text:
        named = _BY_LAYER.get(need.sizes)
    if named is None and need.sizes in _OF_OUTPUTS and not _is_looked_up(need.name, found):
        named = CLASSES
    if named is None and need.part and not need.part.endswith("[0]") and not _OF_WORDS.search(need.name):
        named = FEATURES
    yield from dict.fromkeys(((named or ENTRIES, ASSUMED), (ENTRIES, ASSUMED)))


def _is_of_words(need: Need) -> bool:
    """Whether a number is that of a vocabulary: by its name, or, where that says nothing (`N`), by what it sizes."""
    return _says_nothing(need) or (by_name(need.name) is None and bool(_OF_WORDS.search(need.name)))


def _says_nothing(need: Need) -> bool:
    """Whether a number of entries has a name of a letter or two: `[Embedding(s, 16) for s in sizes]`."""
    return need.sizes == "num_embeddings" and len(need.name) <= _SHORT


def _is_looked_up(name: str, found: Hints) -> bool:
    """Whether a number is that of entries of an embedding as well: as wide as that is what foretells a word, of the
    same language or of the one that is translated to."""
    own = re.escape(name.removeprefix("len_"))
    if _OF_TRANSLATIONS.search(name) and "ocab" in found.text:
        return True
    return "Embedding" not in found.text or re.search(rf"Embedding\([^\n)]*\b{own}\b", found.text) is not None


def by_name(name: str) -> int | None:
    """What a number of a name is assumed to be; None where the name says nothing."""
    return next((number for kind, number in _BY_NAME if kind.search(name)), None)


def fields(found: Hints) -> list[int]:
    """How many fields a table of categories was answered to have: as many entries has a row of it."""
    return [number for name, number in found.counted.items() if "field" in name.lower()]


def columns(found: Hints) -> list[int]:
    """How many columns a table was answered to have."""
    return [number for name, number in found.counted.items() if not _OF_WORDS.search(name)]


def _words(name: str) -> frozenset[str]:
    """What a name says beside that it is a number: `n_class` and `num_classes` say the same."""
    parts = re.split(r"_|(?<=[a-z])(?=[A-Z])", name)
    return frozenset(part.lower().removesuffix("es").removesuffix("s") for part in parts if part.lower() not in GENERIC)


def _named(found: Hints) -> Iterator[tuple[str, int]]:
    """Numbers of the cells by their names: bound anywhere, and what functions are called with where nothing is said."""
    yield from found.numbers.items()
    for node in syntax.walk(found.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = [*node.args.posonlyargs, *node.args.args][-len(node.args.defaults) :] if node.args.defaults else []
            for argument, default in (
                *zip(given, node.args.defaults, strict=True),
                *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
            ):
                if isinstance(default, ast.Constant) and type(default.value) is int and default.value > 0:
                    yield argument.arg, default.value


def _most_common(found: Hints) -> Iterator[int]:
    """The entries of a vocabulary of the most common words (`counter.most_common(8000)`), with its own tokens."""
    for said in re.findall(r"\bmost_common\(\s*(\w+)\s*\)", found.text):
        most = int(said) if said.isdecimal() else found.numbers.get(said, 0)
        if most:
            yield most + len(set(_SPECIAL.findall(found.text)))


def batch_size(found: Hints) -> int:
    """The batch size that the cells speak of; 0 where they do not."""
    named = [
        value
        for name, value in found.numbers.items()
        if re.fullmatch(r"(?i:(train_)?_?(batch_?size|bs|batch))|B|BS", name)
    ]
    written = re.findall(r"(?i)\bbatch_?size\s*=\s*(\d+)", found.text)
    sliced = re.findall(r"\[(?:(\w+)\s*:\s*\1\s*\+\s*)(\d+)[\],]", found.text)  # `x[i : i + 50]`
    drawn = re.findall(r"\.sample\((?:n\s*=\s*)?(\d+)\)", found.text)  # rows of a table
    drawn += re.findall(r"\b(?:randint\(\s*0\s*,|choice\()\s*len\([\w.]+\)\s*,\s*(\d+)\b", found.text)
    said = [*written, *drawn, *(size for _, size in sliced)]
    return named[0] if named else int(said[0]) if said else 0
