"""Public data by the names that paths, addresses and cells have for it, with the sizes that were published of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ...undecided.needs import Need
from .. import syntax

PUBLISHED = "published"


class Corpus(NamedTuple):
    """What is known of public data.

    Attributes:
        name: how cells call it.
        sizes: by what an asked name, or the layer that takes the number, says.
    """

    name: re.Pattern[str]
    sizes: tuple[tuple[str, int], ...]


def _named(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<![a-z0-9])(?:{pattern})(?![a-z])")


_USER, _ITEM, _JOB, _AGE = r"us(e)?r", r"item|mov(ie)?", r"job|occup", r"\bage|_age"
_GENRE, _TITLE = r"cat|genre", r"_tit(le)?s?$"
_WORDS = r"vocab|word|dict|token|stoi|itos"
_CLASSES = r"class|label|categor|\bcats?\b|cat2|cats$|^names$|len_names"
_ENTITY, _RELATION = r"(^|_)ent(it(y|ies)|s)?\d?(_|$|2)", r"(^|_)rel(ation|s)?s?\d?(_|$|2)"
_NODES, _FEATURES = r"node|^n$", r"feature|_shape_(1|last)$|in_?dim|feat"
_TABLE = (
    Corpus(
        _named(r"ml[-_]?1m|movielens[-_]?1m"),
        ((_JOB, 20), (_AGE, 56), (_GENRE, 18), (_TITLE, 5175), (_USER, 6040), (_ITEM, 3952)),
    ),
    Corpus(_named(r"ml[-_]?100k|movielens[-_]?100k|u\.data"), ((_GENRE, 19), (_USER, 943), (_ITEM, 1682))),
    Corpus(_named(r"wiki\w*[-_]?2(?!\d)"), ((_WORDS, 33_278),)),
    Corpus(_named(r"wiki\w*[-_]?103"), ((_WORDS, 267_735),)),
    Corpus(_named(r"ptb|penn[-_]?tree"), ((_WORDS, 10_000),)),
    Corpus(_named(r"text8"), ((_WORDS, 253_854),)),
    Corpus(_named(r"coco|instances_(train|val)201[47]"), ((_CLASSES, 80),)),
    Corpus(_named(r"voc(devkit|20\d\d)"), ((_CLASSES, 20),)),
    Corpus(_named(r"cora"), ((_NODES, 2708), (_FEATURES, 1433), (_CLASSES, 7))),
    Corpus(_named(r"citeseer"), ((_NODES, 3327), (_FEATURES, 3703), (_CLASSES, 6))),
    Corpus(_named(r"pubmed"), ((_NODES, 19_717), (_FEATURES, 500), (_CLASSES, 3))),
    Corpus(_named(r"cub[-_]?200"), ((_CLASSES, 200),)),
    Corpus(_named(r"caltech[-_]?101"), ((_CLASSES, 102),)),
    Corpus(_named(r"caltech[-_]?256"), ((_CLASSES, 257),)),
    Corpus(_named(r"food[-_]?101"), ((_CLASSES, 101),)),
    Corpus(_named(r"(oxford)?[-_]?102[-_]?flowers|flowers[-_]?102"), ((_CLASSES, 102),)),
    Corpus(_named(r"dog[-_]?breed|stanford[-_]?dogs"), ((_CLASSES, 120),)),
    Corpus(_named(r"ucf[-_]?101"), ((_CLASSES, 101),)),
    Corpus(_named(r"esc[-_]?50"), ((_CLASSES, 50),)),
    Corpus(_named(r"urban[-_]?sound[-_]?8k"), ((_CLASSES, 10),)),
    Corpus(_named(r"gtsrb"), ((_CLASSES, 43),)),
    Corpus(_named(r"20[-_]?news(groups)?"), ((_CLASSES, 20),)),
    Corpus(_named(r"ag[-_]?news"), ((_CLASSES, 4),)),
    Corpus(_named(r"thucnews"), ((_CLASSES, 14),)),
    Corpus(_named(r"fb15k(?![-_]?237)"), ((_ENTITY, 14_951), (_RELATION, 1345))),
    Corpus(_named(r"fb15k[-_]?237"), ((_ENTITY, 14_541), (_RELATION, 237))),
    Corpus(_named(r"wn18(?!rr)"), ((_ENTITY, 40_943), (_RELATION, 18))),
    Corpus(_named(r"wn18rr"), ((_ENTITY, 40_943), (_RELATION, 11))),
    Corpus(_named(r"iris(?=\.)"), ((_CLASSES, 3), (_FEATURES, 4))),
    Corpus(_named(r"wine(?=\.)"), ((_CLASSES, 3), (_FEATURES, 13))),
)
"""Source, each looked up: MovieLens 1M by its README as Paddle's book quotes it (ids of users to 6040, of films to
3952, 21 occupations from 0, ages to 56) and its films (18 genres; copies without their accents have 5,172 and 5,173
words in their titles), 100K by its README (19 genres, one of them for unknown); WikiText-103 and the Penn Treebank as
Mikolov cut it by sebastianruder/NLP-progress; WikiText-2 and text8 as programs on them have them; Cora by
mindspore.cn's page of `CoraV2`, CiteSeer and PubMed as programs print them; FB15k by dgl.ai's page of it, FB15k-237
and WN18RR by Colinasda/KGdatasets, WN18 by a test on it; Caltech-101 (with its clutter), Stanford Dogs and CUB-200 by
TensorFlow's catalog and their pages; GTSRB, UrbanSound8K and THUCNews by READMEs of programs on them. Of the others
the name says the classes, or they were not looked up: COCO, PASCAL VOC, Caltech-256, 20 Newsgroups, AG News, iris and
wine."""


NODES = 2708
"""What is assumed of a graph: those of Cora."""


def nodes(text: str) -> tuple[str, int]:
    """How many nodes the graph has that cells name, and where that comes from."""
    for corpus in _TABLE:
        if (found := dict(corpus.sizes).get(_NODES)) and corpus.name.search(text):
            return PUBLISHED, found
    return "assumed", NODES


_CUT = re.compile(
    r"(?i)min_?(freq|count)|most_common|max_?(vocab|words|features)|cut_?off|threshold"
    r"|\bin\b[^\n]*\.items\(\)\s*if\s+\w+\s*>|\bif\s+\w+\[\w+\]\s*>"
)
"""How cells speak of words that a vocabulary leaves out."""


def published(need: Need, text: str) -> Iterator[tuple[int, bool]]:
    """What the data that cells name has of what is asked for, and whether that is all of it: a vocabulary may leave
    words out."""
    for corpus in _TABLE:
        if corpus.name.search(text) is not None:
            is_last = need.sizes in {"out_features", "out_channels"}
            said = [size for kind, size in corpus.sizes if re.search(f"(?i){kind}", need.name)]
            by_layer = [size for kind, size in corpus.sizes if is_last and kind == _CLASSES]
            is_cut = _CUT.search(text) is not None and re.search(f"(?i){_WORDS}", need.name) is not None
            yield from ((size, not is_cut) for size in [*said, *by_layer][:1])


def takes_characters(tree: ast.Module) -> bool:
    """Whether a text is taken apart into characters by a function that can do it in several ways:
    `tokenize(lines, "char")`."""
    calls = (node for node in syntax.walk(tree) if isinstance(node, ast.Call))
    given = (one for call in calls for one in (*call.args, *(word.value for word in call.keywords)))
    return any(isinstance(one, ast.Constant) and one.value in _CHARACTERS for one in given)


_CHARACTERS = frozenset(("char", "chars", "character", "characters"))
_SIGN = re.compile(r"(?i)(c|ch|chr|char|character|letter|sign)s?$")
"""What the name of a loop is called that goes through the characters of a text."""
_OF_TEXT = frozenset(("lower", "upper", "strip", "replace", "read_text"))
"""Methods that give one text, of one or of a file."""


def counts_characters(tree: ast.Module) -> bool:
    """Whether cells sort out the characters of a text that they read: `set(open(path).read())`, `{c for line in lines
    for c in line}`, `for c in text: ids.setdefault(c, len(ids))`."""
    every = list(syntax.walk(tree))
    texts: set[str] = set()
    for node in every:
        match node:
            case ast.FunctionDef(name=name) if any(
                isinstance(one, ast.Return) and one.value is not None and _is_text(one.value, set())
                for one in ast.walk(node)
            ):
                texts.add(name)
    counted = takes_characters(tree)
    for node in every:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_text(value, texts):
                texts.add(name)
            case ast.Call(func=ast.Name(id="set" | "Counter"), args=[text]) if _is_text(text, texts):
                counted = True
            case ast.SetComp(elt=ast.Name(id=name)) if _SIGN.match(name):
                counted = True
            case ast.For(target=ast.Name(id=name)) if _SIGN.match(name) and _numbers(node, name):
                counted = True
    return counted


def _numbers(loop: ast.For, name: str) -> bool:
    """Whether a loop gives each thing that it goes through a number, or puts it into a set."""
    for node in ast.walk(loop):
        match node:
            case ast.Assign(
                targets=[ast.Subscript(slice=ast.Name(id=key))], value=ast.Call(func=ast.Name(id="len"))
            ) if key == name:
                return True
            case ast.Call(func=ast.Attribute(attr="setdefault" | "add"), args=[ast.Name(id=key), *_]) if key == name:
                return True
    return False


def _is_text(node: ast.expr, texts: set[str]) -> bool:
    match node:
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
            return name in texts
        case ast.Subscript(value=text, slice=ast.Slice()):
            return _is_text(text, texts)
        case (
            ast.Call(func=ast.Attribute(attr="read"), args=[])
            | ast.Call(func=ast.Attribute(value=ast.Constant(value=""), attr="join"))
        ):
            return True
        case ast.Call(func=ast.Attribute(value=text, attr=method)) if method in _OF_TEXT:
            return method == "read_text" or _is_text(text, texts)
        case ast.Call(func=ast.Attribute(attr="sub"), args=[*_, text]):
            return _is_text(text, texts)
    return False
