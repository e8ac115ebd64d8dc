"""The step of PaddleNLP's `llm/run_finetune.py` of ChatGLM2 6B in float16 (O2) with recomputation, on zeros."""

import numpy as np
import paddle
from paddlenlp.transformers import ChatGLMv2Config, ChatGLMv2ForCausalLM

LENGTH = 2048
model = ChatGLMv2ForCausalLM(ChatGLMv2Config())
model.recompute_enable()
optimizer = paddle.optimizer.AdamW(
    3e-5,
    parameters=model.parameters(),
    multi_precision=True,
    grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0),
)
model, optimizer = paddle.amp.decorate(model, optimizer, level="O2", dtype="float16")
scaler = paddle.amp.GradScaler(init_loss_scaling=32768)


class Zeros(paddle.io.Dataset):
    """Tokens and labels."""

    def __len__(self):
        return 100

    def __getitem__(self, index):
        tokens = np.ones(LENGTH, "int64")
        return tokens, tokens


for tokens, labels in paddle.io.DataLoader(Zeros(), batch_size=1):
    with paddle.amp.auto_cast(level="O2", dtype="float16"):
        loss = model(input_ids=tokens, labels=labels)
        loss = loss[0] if isinstance(loss, tuple) else loss
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.clear_grad()
