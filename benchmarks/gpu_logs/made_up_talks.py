"""Data for two fine-tunings of large models: conversations with a picture for LLaVA, texts for Llama 2 in stages.

Networks are by their published figures, and their weights are nowhere. What Paddle 3.3 or the estimate takes otherwise
is rewritten in the trainer's files; none of it is of a tensor of a step.
"""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

TALKS, LONG = 400, 3000
"""Conversations, and words of an answer: more than any file of the collection lets through."""
LLAMA_7B = {
    "model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
LLAVA = LLAMA_7B | {
    "architectures": ["LlavaLlamaForCausalLM"], "model_type": "llava", "pretraining_tp": 1, "mm_hidden_size": 1024,
    "mm_vision_tower": "openai/clip-vit-large-patch14-336", "mm_projector_type": "mlp2x_gelu",
    "mm_vision_select_layer": -2, "mm_vision_select_feature": "patch", "mm_patch_merge_type": "flat",
    "image_aspect_ratio": "pad", "mm_use_im_start_end": False, "mm_use_im_patch_token": False,
    "pretrain_mm_mlp_adapter": None, "mm_dense_connector_type": "none", "use_mm_proj": True,
    "tune_mm_mlp_adapter": False,
}  # fmt: skip
CLIP = {
    "attention_dropout": 0.0, "dropout": 0.0, "hidden_act": "quick_gelu", "hidden_size": 1024, "image_size": 336,
    "initializer_factor": 1.0, "initializer_range": 0.02, "intermediate_size": 4096, "layer_norm_eps": 1e-05,
    "model_type": "clip_vision_model", "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 24,
    "patch_size": 14, "projection_dim": 768,
}  # fmt: skip
PREPARED = {
    "crop_size": {"height": 336, "width": 336}, "do_center_crop": True, "do_convert_rgb": True, "do_normalize": True,
    "do_rescale": True, "do_resize": True, "image_mean": [0.48, 0.46, 0.41], "image_std": [0.27, 0.26, 0.28],
    "resample": 3, "size": {"shortest_edge": 336}, "image_processor_type": "CLIPImageProcessor",
}  # fmt: skip
FOUND = "paddle.where(cur_input_ids == IMAGE_TOKEN_INDEX)[0]"
IN_LLAVA = [("llava/llava_arch.py", f"{FOUND}.squeeze(axis=1)", f"{FOUND}.flatten()")]
"""`paddle.where` of Paddle 3.3 gives indices in one row."""
SOUND = "from .audioldm2.modeling import *\n"
DEEP = " " * 16
IN_STAGES = [
    ("paddlenlp/transformers/refined_recompute.py", f"{DEEP}if not preserve_rng_state\n", f"{DEEP}if True\n"),
]  # fmt: skip
"""States of random numbers have other arguments in Paddle 3.3."""


def rewritten(root: Path, changes: list[tuple[str, str, str]]) -> None:
    """Each once, however often it is asked for."""
    for name, old, new in changes:
        said = (root / name).read_text()
        if new not in said:
            (root / name).write_text(said.replace(old, new))


def conversations(root: Path) -> None:
    """PaddleMIX's LLaVA: a picture, a short question and an answer without end; a vocabulary of SentencePiece."""
    configured = root / "paddlemix" / "config" / "llava" / "v1_5"
    models = root / "paddlemix" / "models"
    if not (configured / "lora_sft_argument.json").exists() or not (models / IN_LLAVA[0][0]).exists():
        return
    import sentencepiece

    network, data = root / "paddlemix" / "llava" / "llava-v1.5-7b", root / "datasets" / "llava"
    tower = root / "made_up" / "models" / "openai" / "clip-vit-large-patch14-336"
    for folder in (*(network / "processor" / part for part in ("train", "eval")), data, tower):
        folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "eval"):
        (network / "processor" / part / "preprocessor_config.json").write_text(json.dumps(PREPARED))
    (network / "config.json").write_text(json.dumps(LLAVA))
    (tower / "model_config.json").write_text(json.dumps(CLIP))
    marks = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<unk>"}
    told = {"tokenizer_class": "LLavaTokenizer", "padding_side": "right", "model_max_length": 2048, **marks}
    (network / "tokenizer_config.json").write_text(json.dumps(told))
    words = root / "made_up" / "words.txt"
    words.write_text("USER: a b c d e f g ASSISTANT: a b\nA chat between a curious human and an assistant.\n" * 200)
    sentencepiece.SentencePieceTrainer.train(
        input=str(words), model_prefix=str(words.with_suffix("")), vocab_size=70, model_type="bpe",
        hard_vocab_limit=False,
    )  # fmt: skip
    (network / "sentencepiece.bpe.model").write_bytes(words.with_suffix(".model").read_bytes())
    Image.new("RGB", (640, 480)).save(data / "a.jpg")
    talk = f"USER: <image>\n a a a a a ASSISTANT:{' a' * LONG}</s>"
    rows = [{"id": str(one), "image": "datasets/llava/a.jpg", "conversations": talk} for one in range(TALKS)]
    asked = json.loads((configured / "lora_sft_argument.json").read_text())
    asked["dataset"] = {}
    for part, file in (("train", "train_chatml.json"), ("eval", "val_chatml.json")):
        (data / file).write_text(json.dumps(rows))
        said = {"name": "chatml_dataset", "data_files": f"datasets/llava/{file}", "chat_template": None}
        asked["dataset"][part] = [said]
    for most in (2048, 1024):
        one = asked | {"per_device_train_batch_size": 8, "max_length": most, "bf16": True, "report_to": "none"}
        (configured / f"gpu_logs_{most}.json").write_text(json.dumps(one))
    rewritten(models, IN_LLAVA)
    if (models / "audioldm2").is_dir():  # Python 3.11 refuses it
        (models / "audioldm2").rename(root / "made_up" / "audioldm2")
    (models / "__init__.py").write_text((models / "__init__.py").read_text().replace(SOUND, ""))


def long_texts(root: Path) -> None:
    """PaddleNLP's Llama 2 7B in stages: texts without end for its `run_finetune.py` of December 2024."""
    llm = root / "llm"
    if not (llm / "run_finetune.py").exists() or not (root / IN_STAGES[0][0]).exists():
        return
    network, texts = llm / "llama7b", llm / "texts"
    for folder in (network, texts):
        folder.mkdir(exist_ok=True)
    doubled = {"rope_scaling_type": "linear", "rope_scaling_factor": 2.0}
    (network / "config.json").write_text(json.dumps(LLAMA_7B | doubled | {"architectures": ["LlamaForCausalLM"]}))
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        (network / name).write_text((llm / "llama13b" / name).read_text())
    line = json.dumps({"src": "a" * 3 * LONG, "tgt": "a" * 3 * LONG})
    for part in ("train", "dev"):
        (texts / f"{part}.json").write_text(f"{line}\n" * TALKS)
    rewritten(root, IN_STAGES)
