"""The steps of PaddleNLP's `run_pretrain.py` of ELECTRA and of ERNIE-Health, on zeros."""

import argparse

import numpy as np
import paddle
from paddlenlp.transformers import (
    ElectraConfig,
    ElectraForTotalPretraining,
    ElectraGenerator,
    ErnieHealthForTotalPretraining,
)

LARGE = {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "embedding_size": 768}
SMALL = {"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024, "embedding_size": 128}
parser = argparse.ArgumentParser()
parser.add_argument("--health", action="store_true")
parser.add_argument("--amp", action="store_true")
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--length", type=int, default=128)
asked = parser.parse_args()
words = 22608 if asked.health else 30522
config = ElectraConfig(vocab_size=words, num_hidden_layers=12, **(LARGE if asked.health else SMALL))
model = (ErnieHealthForTotalPretraining if asked.health else ElectraForTotalPretraining)(config)
if asked.health:  # its generator is smaller
    model.generator = ElectraGenerator(
        ElectraConfig(vocab_size=words, num_hidden_layers=12, **{**SMALL, "embedding_size": LARGE["embedding_size"]})
    )
optimizer = paddle.optimizer.AdamW(
    learning_rate=1e-4,
    parameters=model.parameters(),
    weight_decay=0.01,
    grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0),
)
scaler = paddle.amp.GradScaler(enable=asked.amp, init_loss_scaling=1024)


class Zeros(paddle.io.Dataset):
    """Masked tokens, the tokens themselves, and the labels of the generator."""

    def __len__(self):
        return 100 * asked.batch

    def __getitem__(self, index):
        tokens = np.ones(asked.length, "int64")
        return tokens, tokens, tokens


for masked, tokens, labels in paddle.io.DataLoader(Zeros(), batch_size=asked.batch):
    with paddle.amp.auto_cast(enable=asked.amp):
        loss = model(input_ids=masked, raw_input_ids=tokens, generator_labels=labels)[0]
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.minimize(optimizer, scaled)
    optimizer.clear_grad()
