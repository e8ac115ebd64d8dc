"""The step of PaddleNLP's `model_zoo/uie/finetune.py`, network uie-base, on zeros: 32 texts of 256 tokens."""

import numpy as np
import paddle
from paddlenlp.transformers import UIE, ErnieConfig

TEXTS, LENGTH = 32, 256
shape = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
words = {"vocab_size": 40000, "max_position_embeddings": 2048, "task_type_vocab_size": 16, "type_vocab_size": 4}
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
    begin, end = model(tokens, types, positions, attended)
    loss = (criterion(begin, begins) + criterion(end, ends)) / 2
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
