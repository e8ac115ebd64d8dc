"""Data of the right shapes for PaddleNLP: texts of one token, vocabularies, and models by their published figures."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from .made_up_talks import long_texts
from .models import FUSED_NORM, GPT, LLAMA, PRETRAINING, QWEN

TEXTS, TOKENS = 4000, 1100
UTTERANCES = 600
"""Sounds, lines or samples of a kind."""


def tokens(root: Path) -> None:
    """PaddleNLP since December 2023: texts of one token, tokenizers that know four words, and models by their published
    figures."""
    llm, gpt = root / "llm", root / "slm" / "model_zoo" / "gpt-3"
    models = [
        (llm / "qwen0p5b", "Qwen2Tokenizer", QWEN),
        (llm / "gpt2medium", "GPTTokenizer", GPT),
        (llm / "llama13b", "GPTTokenizer", LLAMA),  # its own asks for a file of SentencePiece
    ]
    if (llm / "auto_parallel" / "gpt-3").is_dir():
        models.append((llm / "auto_parallel" / "gpt-3" / "gpt345m", "GPTTokenizer", GPT | WHOLE))
    for folder, tokenizer_class, model in models:
        folder.mkdir(parents=True, exist_ok=True)
        _words(folder)
        ends = {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "unk_token": "<|endoftext|>"}
        (folder / "config.json").write_text(json.dumps(model))
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": tokenizer_class, **ends}))
    if gpt.is_dir():
        _fleet(gpt)
    if (llm / "config" / "qwen").is_dir():
        (llm / "config" / "qwen" / "gpu_logs.json").write_text(json.dumps(PRETRAINING))
    (root / "fused_ln.py").write_text(FUSED_NORM)
    for module, renamed in TODAYS_NAMES.items():
        file = root / module
        for old, new in renamed if file.exists() else ():
            file.write_text(file.read_text().replace(old, new))
    sys.path.insert(0, str(root))
    from paddlenlp.data import indexed_dataset

    (llm / "data").mkdir(exist_ok=True)
    builder = indexed_dataset.make_builder(str(llm / "data" / "made.bin"), "mmap", save_dtype=np.int32)
    for _ in range(TEXTS):
        builder.add_item(np.ones(TOKENS, "int32"))
        builder.end_document()
    builder.finalize(str(llm / "data" / "made.idx"))
    for trainer in ("auto_parallel/llama", "llama/auto_parallel", "gpt-3"):  # they begin in a folder of their own
        for name in ("data", "llama13b", "gpt2medium") if (llm / trainer).is_dir() else ():
            link = llm / trainer / name
            link.unlink(missing_ok=True)
            link.symlink_to(llm.resolve() / name)
    long_texts(root)


def _words(folder: Path, before: str = "") -> None:
    """A vocabulary of four words."""
    words = {"<|endoftext|>": 0, "a": 1, "b": 2, "ab": 3}
    (folder / f"{before}vocab.json").write_text(json.dumps(words))
    (folder / f"{before}merges.txt").write_text("#version: 0.2\na b\n")


def _fleet(gpt: Path) -> None:
    """GPT-3 as PaddleFleetX had it."""
    _words(gpt, "gpt2-")
    tokenizer = gpt / "ppfleetx" / "data" / "tokenizers" / "gpt_tokenizer.py"
    tokenizer.write_text(tokenizer.read_text().replace("http://fleet.bj.bcebos.com/datasets/gpt/gpt2", "./gpt2"))
    engine = gpt / "ppfleetx" / "core" / "engine" / "eager_engine.py"
    engine.write_text(engine.read_text().replace("._found_inf", "._cache_found_inf"))  # its name in Paddle 3
    (gpt / "data").mkdir(exist_ok=True)
    np.save(gpt / "data" / "made_ids.npy", np.ones(TEXTS * TOKENS, "uint16"))
    np.savez(gpt / "data" / "made_idx.npz", lens=np.full(TEXTS, TOKENS, "int32"))


WHOLE = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}
DEEP = " " * 16
TODAYS_NAMES = {
    "paddlenlp/trainer/utils/ckpt_converter.py": [
        ("paddle.distributed.checkpoint.", "paddle.distributed.flex_checkpoint.dcp.")
    ],
    **{
        f"llm/auto_parallel/{model}/run_pretrain_auto.py": [
            ("random.seed(random_seed)", "random.seed(int(random_seed))")
        ]
        for model in ("gpt-3", "llama")
    },
    "llm/llama/auto_parallel/run_pretrain_auto.py": [("random.seed(random_seed)", "random.seed(int(random_seed))")],
    "paddlenlp/trainer/trainer.py": [("_cache_founf_inf", "_cache_found_inf")],
    "paddlenlp/trainer/training_args.py": [
        (
            f"{DEEP}pipeline.enable = True\n{DEEP}pipeline.enable_send_recv_overlap",
            f"{DEEP}pipeline.enable = True\n{DEEP}pipeline.pp_degree = self.pipeline_parallel_degree\n"
            f"{DEEP}pipeline.enable_send_recv_overlap",
        )
    ],
    "paddlenlp/trainer/auto_trainer.py": [
        (f"dist.ShardingStage{stage}()", f'dist.ShardingStage{stage}("dp")') for stage in (1, 2, 3)
    ],
    "paddlenlp/transformers/gpt/modeling_auto.py": [
        (
            "attention_mask = dist.reshard(",
            "attention_mask = (dist.reshard if attention_mask.is_dist() else dist.shard_tensor)(",
        )
    ],
}
"""Of PaddleNLP of December 2023 the name of what Paddle 3.3 calls otherwise; of that of 2024 by automatic parallelism a
module that has another name in Paddle 3.3, a seed that Python 3.11 takes no longer, and a mask that is placed nowhere
yet; of April and May besides how many stages a pipeline has, and which part of the mesh shares the optimizer's state:
Paddle 3.3 asks for both, and December's trainer says them."""


def masked(root: Path) -> None:
    """PaddleNLP of June 2024: texts, vocabularies of the published sizes, and ERNIE-Health's generator of 2022."""
    models = root / "made_up" / "models"
    for name, file, size in VOCABULARIES:
        (models / name).mkdir(parents=True, exist_ok=True)
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{number}" for number in range(size - 5))]
        (models / name / file).write_text("\n".join(words) + "\n")
    electra, health = (root / "model_zoo" / name for name in ("electra", "ernie-health"))
    for trainer in (electra, health):
        (trainer / "data").mkdir(exist_ok=True)
    text = " ".join(f"w{number}" for number in range(200))
    (electra / "data" / "train.data").write_text(f"{text}\n" * UTTERANCES)
    np.save(health / "data" / "made_ids.npy", np.full(UTTERANCES * UTTERANCES, 9, "int32"))
    np.savez(health / "data" / "made_idx.npz", lens=np.full(UTTERANCES, UTTERANCES, "int32"))
    made = "        model = model_class(model_config)\n"
    (health / "run_pretrain_2022.py").write_text(
        (health / "run_pretrain.py").read_text().replace(made, made + SMALLER_GENERATOR)
    )


VOCABULARIES = (
    ("electra-small", "electra-small-vocab.txt", 30522),
    ("ernie-health-chinese", "vocab.txt", 22608),
)
SMALLER_GENERATOR = """\
        from paddlenlp.transformers import ElectraGenerator

        model.generator = ElectraGenerator(
            config_class(hidden_size=256, num_attention_heads=4, intermediate_size=1024)
        )
"""
"""As `ernie-health-chinese-generator` of 2022; since 2023 it is as large as the discriminator."""
