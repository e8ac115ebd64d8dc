"""PaddleNLP's `TokenEmbedding` without its file: vectors of the published number and width stand in.

The words are made up; no array of their vectors is made, which would be gigabytes for the largest.
Source: the table of models in PaddleNLP's `docs/model_zoo/embeddings.md` (2.8), whose sizes have the unknown and the
padding token in them; the width stands in the name.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import paddle

from ...session import Session
from ..awaited import Awaited
from ..patch import Patch
from .tokenizers import tokens

MODULE = "paddlenlp.embeddings.token_embedding"
_ROWS = {
    "w2v.baidu_encyclopedia.target.word-word.dim300": 635_965,
    "w2v.baidu_encyclopedia.target.word-character.char1-1.dim300": 636_038,
    "w2v.baidu_encyclopedia.target.word-character.char1-2.dim300": 636_038,
    "w2v.baidu_encyclopedia.target.word-character.char1-4.dim300": 636_038,
    "w2v.baidu_encyclopedia.target.word-ngram.1-2.dim300": 635_977,
    "w2v.baidu_encyclopedia.target.word-ngram.1-3.dim300": 628_669,
    "w2v.baidu_encyclopedia.target.word-ngram.2-2.dim300": 6_969_069,
    "w2v.baidu_encyclopedia.target.word-wordLR.dim300": 635_958,
    "w2v.baidu_encyclopedia.target.word-wordPosition.dim300": 636_038,
    "w2v.baidu_encyclopedia.target.bigram-char.dim300": 635_976,
    "w2v.baidu_encyclopedia.context.word-word.dim300": 635_952,
    "w2v.baidu_encyclopedia.context.word-character.char1-1.dim300": 636_200,
    "w2v.baidu_encyclopedia.context.word-character.char1-2.dim300": 792_631,
    "w2v.baidu_encyclopedia.context.word-character.char1-4.dim300": 1_117_461,
    "w2v.baidu_encyclopedia.context.word-ngram.1-2.dim300": 6_967_598,
    "w2v.baidu_encyclopedia.context.word-ngram.1-3.dim300": 5_000_001,
    "w2v.baidu_encyclopedia.context.word-ngram.2-2.dim300": 6_968_998,
    "w2v.baidu_encyclopedia.context.word-wordLR.dim300": 1_271_031,
    "w2v.baidu_encyclopedia.context.word-wordPosition.dim300": 6_293_920,
    "w2v.wiki.target.bigram-char.dim300": 352_274,
    "w2v.wiki.target.word-char.dim300": 352_223,
    "w2v.wiki.target.word-word.dim300": 352_219,
    "w2v.wiki.target.word-bigram.dim300": 352_219,
    "w2v.people_daily.target.bigram-char.dim300": 356_055,
    "w2v.people_daily.target.word-char.dim300": 355_998,
    "w2v.people_daily.target.word-word.dim300": 355_989,
    "w2v.people_daily.target.word-bigram.dim300": 355_991,
    "w2v.weibo.target.bigram-char.dim300": 195_199,
    "w2v.weibo.target.word-char.dim300": 195_204,
    "w2v.weibo.target.word-word.dim300": 195_204,
    "w2v.weibo.target.word-bigram.dim300": 195_204,
    "w2v.sogou.target.bigram-char.dim300": 365_112,
    "w2v.sogou.target.word-char.dim300": 365_078,
    "w2v.sogou.target.word-word.dim300": 364_992,
    "w2v.sogou.target.word-bigram.dim300": 364_994,
    "w2v.zhihu.target.bigram-char.dim300": 259_755,
    "w2v.zhihu.target.word-char.dim300": 259_940,
    "w2v.zhihu.target.word-word.dim300": 259_871,
    "w2v.zhihu.target.word-bigram.dim300": 259_885,
    "w2v.financial.target.bigram-char.dim300": 467_163,
    "w2v.financial.target.word-char.dim300": 467_343,
    "w2v.financial.target.word-word.dim300": 467_324,
    "w2v.financial.target.word-bigram.dim300": 467_331,
    "w2v.literature.target.bigram-char.dim300": 187_975,
    "w2v.literature.target.word-char.dim300": 187_980,
    "w2v.literature.target.word-word.dim300": 187_961,
    "w2v.literature.target.word-bigram.dim300": 187_962,
    "w2v.sikuquanshu.target.word-word.dim300": 19_529,
    "w2v.sikuquanshu.target.word-bigram.dim300": 19_529,
    "w2v.mixed-large.target.word-char.dim300": 1_292_552,
    "w2v.mixed-large.target.word-word.dim300": 1_292_483,
    "w2v.google_news.target.word-word.dim300.en": 3_000_000,
    **{f"glove.wiki2014-gigaword.target.word-word.dim{width}.en": 400_002 for width in (50, 100, 200, 300)},
    **{f"glove.twitter.target.word-word.dim{width}.en": 1_193_516 for width in (25, 50, 100, 200)},
    "fasttext.wiki-news.target.word-word.dim300.en": 999_996,
    "fasttext.crawl.target.word-word.dim300.en": 2_000_002,
}
_WIDTH = re.compile(r"\.dim(\d+)")


def _embedding(session: Session, original: Callable[..., Any], layer: Any, *args: Any, **kwargs: Any) -> None:
    """`TokenEmbedding.__init__`, with its own file where it is here."""
    bound = inspect.signature(original).bind(layer, *args, **kwargs)
    bound.apply_defaults()
    name, told = str(bound.arguments["embedding_name"]), bound.arguments
    module = sys.modules[MODULE]
    rows, width = _ROWS.get(name), _WIDTH.search(name)
    if rows is None or width is None or (Path(module.EMBEDDING_HOME) / f"{name}.npz").exists():
        original(layer, *args, **kwargs)
        return
    session.note("vectors_made_up", name=name, rows=rows, width=int(width[1]))
    own = told.get("extended_vocab_path")
    # What is not known of a vocabulary of the program's own is how much of it the file has: all, which is the least.
    added = [told["unknown_token"], module.PAD_TOKEN]
    words = dict.fromkeys([] if own is None else layer._read_vocab_list_from_file(own))
    if own is None or not told.get("keep_extended_vocab_only"):
        made = (word for word in tokens([], []) if word not in words)
        words |= dict.fromkeys(islice(made, max(rows - len(added) - len(words.keys() - set(added)), 0)))
    known = list(words | dict.fromkeys(added))
    layer.embedding_dim, layer.num_embeddings = int(width[1]), len(known)
    layer.unknown_token, layer._idx_to_word = told["unknown_token"], known
    layer._word_to_idx = {word: number for number, word in enumerate(known)}
    layer.vocab = module.Vocab.from_dict(
        layer._word_to_idx,
        unk_token=told["unknown_token"],
        pad_token=module.PAD_TOKEN,
    )
    padding = layer._word_to_idx[module.PAD_TOKEN]
    paddle.nn.Embedding.__init__(layer, len(known), int(width[1]), padding_idx=padding)
    layer.set_trainable(told["trainable"] or own is not None)


def patches() -> Iterator[Patch]:
    """The layer as it is made."""
    yield Patch(Awaited(MODULE, "TokenEmbedding"), "__init__", _embedding)
