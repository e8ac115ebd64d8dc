"""The step of PaddleNLP's `llm/run_finetune.py` in O2 on zeros: of ChatGLM2 6B in float16 with recomputation, of Llama
7B (`llama`) likewise, or of PP-UIE-7B (`qwen`), which is Qwen2.5 7B, in bfloat16 without."""

import sys

import numpy as np
import paddle
from paddlenlp import transformers  # that of October 2023 has no Qwen2

LENGTH = 2048
LLAMA = {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32}
QWEN = {
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152064,
    "tie_word_embeddings": False,
}
name = sys.argv[1] if len(sys.argv) > 1 else "chatglm2"
if name == "llama":
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA, vocab_size=32000))
elif name == "qwen":
    model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**QWEN))
else:
    model = transformers.ChatGLMv2ForCausalLM(transformers.ChatGLMv2Config())
DTYPE = "bfloat16" if name == "qwen" else "float16"
if name != "qwen":
    model.recompute_enable()
optimizer = paddle.optimizer.AdamW(
    3e-5,
    parameters=model.parameters(),
    multi_precision=True,
    grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0),
)
model, optimizer = paddle.amp.decorate(model, optimizer, level="O2", dtype=DTYPE)
scaler = paddle.amp.GradScaler(init_loss_scaling=32768)


class Zeros(paddle.io.Dataset):
    """Tokens and labels."""

    def __len__(self):
        return 100

    def __getitem__(self, index):
        tokens = np.ones(LENGTH, "int64")
        return tokens, tokens


for tokens, labels in paddle.io.DataLoader(Zeros(), batch_size=1):
    with paddle.amp.auto_cast(level="O2", dtype=DTYPE):
        loss = model(input_ids=tokens, labels=labels)
        loss = loss[0] if isinstance(loss, tuple) else loss
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()
