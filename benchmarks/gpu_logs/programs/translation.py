"""The step of PaddleNLP's `examples/machine_translation/transformer/train.py`, base, on made-up tokens."""

import argparse

import numpy as np
import paddle
from paddlenlp.transformers import CrossEntropyCriterion, TransformerModel

parser = argparse.ArgumentParser()
parser.add_argument("--sentences", type=int, default=16)
parser.add_argument("--length", type=int, default=256)
asked = parser.parse_args()
WORDS = 33712
model = TransformerModel(
    src_vocab_size=WORDS,
    trg_vocab_size=WORDS,
    max_length=257,
    num_encoder_layers=6,
    num_decoder_layers=6,
    n_head=8,
    d_model=512,
    d_inner_hid=2048,
    dropout=0.1,
    weight_sharing=True,
    bos_id=0,
    eos_id=1,
)
criterion = CrossEntropyCriterion(0.1, 0)
rate = paddle.optimizer.lr.NoamDecay(512, 4000, 2.0)
optimizer = paddle.optimizer.Adam(rate, beta1=0.9, beta2=0.997, epsilon=1e-9, parameters=model.parameters())


class Pairs(paddle.io.Dataset):
    """A sentence, its translation, and the same one word later."""

    def __len__(self):
        return 100 * asked.sentences

    def __getitem__(self, index):
        tokens = np.full(asked.length, 5, "int64")
        return tokens, tokens, tokens[:, None]


for source, target, label in paddle.io.DataLoader(Pairs(), batch_size=asked.sentences):
    logits = model(src_word=source, trg_word=target)
    total, loss, count = criterion(logits, label)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
