"""The step of PaddleNLP's `model_zoo/uie/finetune.py` on zeros: network uie-base with 32 texts of 256 tokens, or
uie-m-base (`m`) with 32 of 512."""

import sys

import numpy as np
import paddle
from paddlenlp.transformers import UIE, UIEM, ErnieConfig, ErnieMConfig

IS_M = sys.argv[1:] == ["m"]
TEXTS, LENGTH = 32, 512 if IS_M else 256
shape = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
words = {"vocab_size": 40000, "max_position_embeddings": 2048, "task_type_vocab_size": 16, "type_vocab_size": 4}
if IS_M:
    model = UIEM(ErnieMConfig(vocab_size=250002, max_position_embeddings=514, pad_token_id=1, num_hidden_layers=12))
else:
    model = UIE(ErnieConfig(**shape, **words, use_task_id=True, hidden_act="gelu"))


class Zeros(paddle.io.Dataset):
    """Four kinds of numbers of tokens, and where an answer begins and ends."""

    def __len__(self):
        return 100 * TEXTS

    def __getitem__(self, index):
        return (*[np.zeros(LENGTH, "int64")] * 4, *[np.zeros(LENGTH, "float32")] * 2)


optimizer = paddle.optimizer.AdamW(learning_rate=1e-5, parameters=model.parameters())
criterion = paddle.nn.BCELoss()
for tokens, types, attended, positions, begins, ends in paddle.io.DataLoader(Zeros(), batch_size=TEXTS):
    begin, end = model(tokens, positions) if IS_M else model(tokens, types, positions, attended)
    loss = (criterion(begin, begins) + criterion(end, ends)) / 2
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
