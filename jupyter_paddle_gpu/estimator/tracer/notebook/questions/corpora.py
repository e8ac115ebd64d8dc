"""Public data by the names that paths, addresses and cells have for it, with the sizes that were published of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...undecided.needs import Need

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
