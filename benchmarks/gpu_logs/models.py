"""Language models of the collection by their published figures, and what else PaddleNLP asks for beside its data."""

from __future__ import annotations

QWEN = {
    "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "vocab_size": 151936, "hidden_size": 896,
    "intermediate_size": 4864, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2,
    "max_position_embeddings": 32768, "rope_theta": 1000000.0, "rms_norm_eps": 1e-6, "tie_word_embeddings": True,
}  # fmt: skip
GPT = {
    "architectures": ["GPTForCausalLM"], "model_type": "gpt", "vocab_size": 50304, "hidden_size": 1024,
    "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "max_position_embeddings": 1024,
    "type_vocab_size": 1, "initializer_range": 0.02, "eos_token_id": 0, "eol_token_id": 0,
}  # fmt: skip
"""`gpt2-medium-en` of the trainer's `gpt/configuration.py`."""
LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 32000, "hidden_size": 5120,
    "intermediate_size": 13824, "num_hidden_layers": 40, "num_attention_heads": 40, "num_key_value_heads": 40,
    "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
"""Llama-2-13b; how many of its layers there are a command says."""
FUSED_NORM = '''"""The trainer's own operator of CUDA, by Paddle's of the same results."""

from paddle.incubate.nn.functional import fused_rms_norm_ext

fused_ln = None  # its GPT asks for the name, and does without it


def fused_rms_norm(x, scale, epsilon):
    """(the result, the rows' inverse deviations)."""
    return fused_rms_norm_ext(x, scale, epsilon)
'''
"""`fused_ln` of the trainer's `slm/model_zoo/gpt-3/external_ops`, which nvcc compiles."""
PRETRAINING = {
    "model_name_or_path": "./qwen0p5b", "tokenizer_name_or_path": "./qwen0p5b", "input_dir": "./data",
    "output_dir": "./checkpoints/made_up", "per_device_train_batch_size": 1, "per_device_eval_batch_size": 2,
    "sharding": "stage2", "use_flash_attention": False, "use_fused_rms_norm": False, "max_seq_length": 1024,
    "learning_rate": 3e-05, "min_learning_rate": 3e-06, "warmup_steps": 30, "logging_steps": 1, "max_steps": 10000,
    "save_steps": 5000, "eval_steps": 1000, "weight_decay": 0.01, "fp16": True, "fp16_opt_level": "O2",
    "max_grad_norm": 1.0, "dataloader_num_workers": 1, "continue_training": 0, "do_train": True, "do_eval": True,
    "do_predict": True, "disable_tqdm": True, "recompute": False, "distributed_dataloader": 1,
    "unified_checkpoint": True, "report_to": "none",
}  # fmt: skip
"""What decides of the trainer's own file; of VisualDL's writer nothing is asked."""
