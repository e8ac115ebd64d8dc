"""Tokenizers of PaddleNLP without their files.

PaddleNLP is no dependency of ours: a package with the class method and tokenizers of both kinds of files stands for it.
"""

from __future__ import annotations

import sys

import pytest

from jupyter_paddle_gpu.domain.notebooks import CodeCell, NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.estimator.service import EstimateService, EstimateSettings

pytestmark = [
    pytest.mark.paddle,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's guards are Linux's"),
]
BASE = """
import copy, json, os, socket
class PretrainedTokenizerBase:
    resource_files_names, pretrained_init_configuration, max_model_input_sizes = {}, {}, {}
    @classmethod
    def from_pretrained(cls, name, *args, return_tokenizer_file_dir=False, **kwargs):
        own = {}
        if os.path.isdir(name):
            files = {key: os.path.join(name, file) for key, file in cls.resource_files_names.items()}
        else:
            os.makedirs(os.path.expanduser("~/.paddlenlp/models"), exist_ok=True)
            socket.create_connection(("vocabularies.invalid", 443))
        made = cls(**{**own, **files, **kwargs})
        return (made, name) if return_tokenizer_file_dir else made
"""
TOKENIZER = """
import base64, json, re
from ..tokenizer_utils_base import PretrainedTokenizerBase
class BertTokenizer(PretrainedTokenizerBase):
    resource_files_names = {"vocab_file": "vocab.txt"}
    pretrained_init_configuration = {"bert-tiny": {"do_lower_case": True}}
    max_model_input_sizes = {"bert-tiny": 12}
    def __init__(self, vocab_file, do_lower_case=False, model_max_length=512, unk_token="[UNK]", pad_token="[PAD]",
                 cls_token="[CLS]", sep_token="[SEP]"):
        lines = open(vocab_file, encoding="utf-8").read().splitlines()
        self.vocab = {token: number for number, token in enumerate(lines)}
        assert do_lower_case and self.vocab[pad_token] == 0 and len(lines) == len(self.vocab)
        self.most, self.around = model_max_length, (cls_token, sep_token)
    def __call__(self, text):
        words = [one for word in text.split() for one in ([word] if word.isascii() else word)]
        tokens = [self.around[0], *words[:self.most - 2], self.around[1]]
        return {"input_ids": [self.vocab.get(token, 1) for token in tokens]}
class PairTokenizer(PretrainedTokenizerBase):
    resource_files_names = {"vocab_file": "vocab.json", "merges_file": "merges.txt"}
    def __init__(self, vocab_file, merges_file, eos_token="<|endoftext|>"):
        self.vocab, pairs = json.load(open(vocab_file)), open(merges_file).read().splitlines()[1:]
        assert eos_token in self.vocab and all(pair.replace(" ", "") in self.vocab for pair in pairs)
    def __call__(self, text):
        return {"input_ids": [self.vocab[word] for word in text.replace(" ", " \\u0120").split()]}
class SentenceTokenizer(PretrainedTokenizerBase):
    resource_files_names = {"model_file": "spiece.model", "vocab_file": "vocab.txt"}
    pretrained_resource_files_map = {"vocab_file": {"bert-tiny": None}, "model_file": {"chinese": None}}
    pretrained_init_configuration = {"chinese": {"unk_token": "[UNK]"}}
    @classmethod
    def from_pretrained(cls, name, *args, **kwargs):  # as that of 2.8, which looks for a template in the folder
        made, folder = super().from_pretrained(name, *args, return_tokenizer_file_dir=True, **kwargs)
        return made
    def __init__(self, model_file, vocab_file, unk_token="<unk>", extra=100):
        assert (model_file is None) != (vocab_file is None)
        if model_file is None:
            self.vocab = open(vocab_file, encoding="utf-8").read().splitlines()
            assert unk_token in self.vocab
        else:
            file, place, rows = open(model_file, "rb").read(), 0, 0
            while file[place] == 10:  # a piece, and how long it is
                place, rows = place + 2 + file[place + 1], rows + 1
            self.vocab = range(rows + extra)
        self.vocab_size = len(self.vocab)
    def __call__(self, text):
        return {"input_ids": [1, 2, 3]}
class OtherTokenizer(PretrainedTokenizerBase):
    resource_files_names = {"vocab_file": "tokenizer.model"}
    def __init__(self, vocab_file):
        raise ValueError("no file of SentencePiece")
class AbsentTokenizer(BertTokenizer):
    resource_files_names = {"vocab_file": "tokenizer.bin"}
class RankTokenizer(PretrainedTokenizerBase):  # as Llama 3's, whose file has the name of SentencePiece's
    resource_files_names = {"vocab_file": "tokenizer.model"}
    def __init__(self, vocab_file):
        rows = [line.split() for line in open(vocab_file, "rb").read().splitlines()]
        self.vocab = {base64.b64decode(token): int(rank) for token, rank in rows}
        self.vocab_size = len(self.vocab) + 256
    def __call__(self, text):
        found = []
        for part in re.findall(r" ?[a-z]+|[0-9]{1,3}|.", text):
            held = [bytes([one]) for one in part.encode()]
            while True:
                pairs = [(self.vocab.get(a + b), at) for at, (a, b) in enumerate(zip(held, held[1:]))]
                if not (pairs := [one for one in pairs if one[0] is not None]):
                    break
                at = min(pairs)[1]
                held[at:at + 2] = [held[at] + held[at + 1]]
            found += [self.vocab[one] for one in held]
        return {"input_ids": found}
class Llama3Tokenizer(RankTokenizer):
    pass
class UnreadTokenizer(PretrainedTokenizerBase):
    resource_files_names = {"vocab_file": "qwen.tiktoken"}
    def __init__(self, vocab_file):
        raise ValueError("tiktoken is not installed, please install it use: pip install tiktoken")
"""
CONFIGURATION = 'BERT = {"bert-tiny": {"vocab_size": 25000, "hidden_size": 8}}'
TRAIN = """
import paddle
from paddlenlp.transformers.bert.tokenizer import *
tokenizer = TOKENIZER
net = paddle.nn.Embedding(len(tokenizer.vocab), 4)
optimizer = paddle.optimizer.SGD(parameters=net.parameters())
for step in range(4):
    ids = paddle.to_tensor([tokenizer(text)["input_ids"] for text in TEXTS])
    net(ids).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""


@pytest.fixture
def estimated(tmp_path):
    folder, installed = tmp_path / "notebook", tmp_path / "site-packages"
    folder.mkdir()
    package = installed / "paddlenlp" / "transformers"
    (package / "bert").mkdir(parents=True)
    for place in (installed / "paddlenlp", package, package / "bert"):
        (place / "__init__.py").write_text("")
    (package / "tokenizer_utils_base.py").write_text(BASE)
    (package / "bert" / "tokenizer.py").write_text(TOKENIZER)
    (package / "bert" / "configuration.py").write_text(CONFIGURATION)
    service = EstimateService(EstimateSettings(calibration=tmp_path / "data" / "calibration.json"))

    def ask(tokenizer: str, texts: list[str]):
        source = f"import sys\nsys.path.append({str(installed)!r})" + TRAIN.replace("TOKENIZER", tokenizer).replace(
            "TEXTS", repr(texts)
        )
        cell = CodeCell(index=0, id="a", source=source)
        known = NotebookFacts(
            kernel_name="python3", cells=(cell,), language="python", imports_paddle=True, loop="custom"
        )
        return service.estimate(known, folder, EstimateRequest(target="cpu"))

    yield ask
    service.close()


def test_a_vocabulary_of_the_published_size_stands_in(estimated):
    """With what is published of the tokenizer itself: ids are cut to twelve, with both tokens around."""
    found = estimated("BertTokenizer.from_pretrained('bert-tiny')", ["中" * 40, "word " * 20])
    (note,) = [one for one in found.notes if one.code == "vocabulary_made_up"]
    assert (found.status, note.params) == ("ok", {"name": "bert-tiny", "size": 25_000})
    assert found.parameters == 25_000 * 4
    assert found.inputs == ("int64[2, 12]",)


def test_words_are_one_token_of_byte_pairs_each(estimated):
    found = estimated("PairTokenizer.from_pretrained('gpt')", ["word word word"])
    assert (found.status, found.parameters, found.inputs) == ("ok", 30_522 * 4, ("int64[1, 3]",))


def test_of_sentence_pieces_as_many_are_made_as_the_tokenizer_adds_to(estimated):
    found = estimated("SentenceTokenizer.from_pretrained('bert-tiny')", ["word"])
    (note,) = [one for one in found.notes if one.code == "pieces_made_up"]
    assert (found.status, note.params) == ("ok", {"name": "bert-tiny", "size": 25_000})
    assert found.parameters == 25_000 * 4


def test_a_name_with_another_file_has_that_one_with_its_own_unknown(estimated):
    found = estimated("SentenceTokenizer.from_pretrained('chinese')", ["word"])
    assert found.status == "ok"
    assert "vocabulary_made_up" in {one.code for one in found.notes}


def test_of_ranked_tokens_a_word_a_character_and_three_digits_are_one_each(estimated):
    """A file of `tiktoken` under the name of SentencePiece's."""
    found = estimated("Llama3Tokenizer.from_pretrained('meta-llama/Meta-Llama-3-8B')", ["word word 中文123"])
    (note,) = [one for one in found.notes if one.code == "vocabulary_made_up"]
    assert (found.status, note.params["size"]) == ("ok", 128_256)
    assert (found.parameters, found.inputs) == ((128_256 - 256) * 4, ("int64[1, 6]",))


def test_a_module_that_the_tokenizer_divides_by_is_asked_for(estimated):
    found = estimated("UnreadTokenizer.from_pretrained('qwen/qwen-7b')", ["word"])
    assert (found.status, [one.module for one in found.packages]) == ("no_package", ["tiktoken"])


@pytest.mark.parametrize("kind", ["AbsentTokenizer", "OtherTokenizer"])
def test_what_cannot_be_made_up_is_told(estimated, kind):
    found = estimated(f"{kind}.from_pretrained('xlnet')", ["word"])
    assert found.status != "ok"
    assert not {"vocabulary_made_up", "pieces_made_up"} & {one.code for one in found.notes}
