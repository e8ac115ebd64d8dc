"""How many tokens a tokenizer of PaddleNLP's has whose name is in none of its tables."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

pytestmark = pytest.mark.paddle


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("meta-llama/Meta-Llama-3-8B", 128_256),
        ("meta-llama/Llama-3.1-70B", 128_256),
        ("meta-llama/Llama-2-70b", 32_000),
    ],
)
def test_a_community_name_has_as_many_as_its_model(monkeypatch, name, size):
    """Llama 3 had the 32,000 of Llama's defaults, its model another number."""
    tokenizers = pytest.importorskip("jupyter_paddle_gpu.estimator.tracer.patches.data.tokenizers")

    class LlamaConfig:
        pretrained_init_configuration: dict[str, dict[str, int]] = {}  # noqa: RUF012 - as PaddleNLP has it

        def __init__(self, vocab_size: int = 32_000) -> None:
            self.vocab_size = vocab_size

    LlamaConfig.__module__ = "made_up_nlp.llama.configuration"
    module = ModuleType(LlamaConfig.__module__)
    vars(module)["LlamaConfig"] = LlamaConfig
    monkeypatch.setitem(sys.modules, module.__name__, module)
    kind = type("LlamaTokenizer", (), {"__module__": "made_up_nlp.llama.tokenizer"})
    assert tokenizers._published(kind, name) == size
