"""PaddleNLP's `TokenEmbedding` without its file.

PaddleNLP is no dependency of ours: a module with its class, which would download and read as it does, stands for it.
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
LIBRARY = """
import os
import numpy as np
import paddle
from paddle.utils.download import get_path_from_url
EMBEDDING_HOME = os.path.expanduser("~/.paddlenlp/embeddings")
PAD_TOKEN = "[PAD]"
class Vocab(dict):
    @classmethod
    def from_dict(cls, token_to_idx, unk_token=None, pad_token=None):
        return cls(token_to_idx)
class TokenEmbedding(paddle.nn.Embedding):
    def __init__(self, embedding_name="w2v.sikuquanshu.target.word-word.dim300", unknown_token="[UNK]",
                 unknown_token_vector=None, extended_vocab_path=None, trainable=True, keep_extended_vocab_only=False):
        path = os.path.join(EMBEDDING_HOME, embedding_name + ".npz")
        if not os.path.exists(path):
            get_path_from_url("https://vectors.invalid/" + embedding_name + ".tar.gz", EMBEDDING_HOME)
        table = np.load(path)["embedding"]
        super().__init__(*table.shape)
        self.set_trainable(trainable)
    def _read_vocab_list_from_file(self, path):
        return open(path, encoding="utf-8").read().splitlines()
    def set_trainable(self, trainable):
        self.weight.stop_gradient = not trainable
"""
TRAIN = """
import paddle
from paddlenlp.embeddings.token_embedding import TokenEmbedding
words = TokenEmbedding(ARGUMENTS)
assert len(words.vocab) == words.num_embeddings and words.vocab["[PAD]"] < words.num_embeddings
head = paddle.nn.Linear(words.embedding_dim, 2)
optimizer = paddle.optimizer.SGD(parameters=[*words.parameters(), *head.parameters()])
for step in range(4):
    head(words(paddle.to_tensor([[words.vocab["[UNK]"], 1, 2]]))).mean().backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SMALL = "'w2v.sikuquanshu.target.word-word.dim300'"


@pytest.fixture
def estimated(tmp_path):
    folder, installed = tmp_path / "notebook", tmp_path / "site-packages"
    package = installed / "paddlenlp" / "embeddings"
    folder.mkdir()
    package.mkdir(parents=True)
    (folder / "own.txt").write_text("[PAD]\n好\nword\n国家\n", encoding="utf-8")
    for place in (package.parent, package):
        (place / "__init__.py").write_text("")
    (package / "token_embedding.py").write_text(LIBRARY)
    service = EstimateService(EstimateSettings(calibration=tmp_path / "data" / "calibration.json"))

    def ask(arguments: str):
        source = f"import sys\nsys.path.append({str(installed)!r})" + TRAIN.replace("ARGUMENTS", arguments)
        cell = CodeCell(index=0, id="a", source=source)
        known = NotebookFacts(
            kernel_name="python3", cells=(cell,), language="python", imports_paddle=True, loop="custom"
        )
        return service.estimate(known, folder, EstimateRequest(target="cpu"))

    yield ask
    service.close()


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        (SMALL, 19_529 * 300 + 602),
        ("'glove.twitter.target.word-word.dim25.en'", 1_193_516 * 25 + 52),
        (f"{SMALL}, extended_vocab_path='own.txt'", 19_529 * 300 + 602),
        (f"{SMALL}, extended_vocab_path='own.txt', keep_extended_vocab_only=True", 5 * 300 + 602),
    ],
)
def test_the_published_rows_and_width_stand_in(estimated, arguments, parameters):
    found = estimated(arguments)
    assert (found.status, found.parameters) == ("ok", parameters)
    (note,) = [one for one in found.notes if one.code == "vectors_made_up"]
    assert note.params["name"] in arguments


def test_vectors_that_are_not_trained_have_no_gradient(estimated):
    trained, kept = estimated(SMALL), estimated(f"{SMALL}, trainable=False")
    assert kept.status == "ok"
    assert kept.allocated_peak_bytes < trained.allocated_peak_bytes - 19_000 * 300 * 4


def test_vectors_of_no_published_size_are_not_made_up(estimated):
    found = estimated("'w2v.own.dim300'")
    assert found.status != "ok"
    assert "vectors_made_up" not in {one.code for one in found.notes}
