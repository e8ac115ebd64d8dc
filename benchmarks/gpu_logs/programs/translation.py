"""The step of PaddleNLP's `examples/machine_translation/transformer/train.py`, base, on made-up tokens.

With `--tokens` sentences have lengths of their own, and batches so many tokens at most, as the trainer's sampler makes
them of sentences that it has sorted: the lengths of translations go about with a log-normal distribution around the
mean of WMT14's English and German, 28 words.
"""

import argparse

import numpy as np
import paddle
from paddlenlp.transformers import CrossEntropyCriterion, TransformerModel

parser = argparse.ArgumentParser()
parser.add_argument("--sentences", type=int, default=16)
parser.add_argument("--length", type=int, default=256)
parser.add_argument("--tokens", type=int)
parser.add_argument("--spread", type=float, default=0.6)
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


COUNT, MEAN, LONGEST = 100 * asked.sentences, 28, 256
draws = np.random.RandomState(0)
if asked.tokens:
    COUNT, middle = 20_000, np.log(MEAN) - asked.spread**2 / 2
    SOURCES = np.clip(draws.lognormal(middle, asked.spread, COUNT), 3, LONGEST).astype(int).tolist()
    TARGETS = [min(LONGEST, max(3, int(length * draws.uniform(0.8, 1.2)))) for length in SOURCES]
else:
    SOURCES = TARGETS = [asked.length] * COUNT


class Pairs(paddle.io.Dataset):
    """A sentence, its translation, and the same one word later."""

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        source, target = np.full(SOURCES[index], 5, "int64"), np.full(TARGETS[index], 5, "int64")
        return source, target, target[:, None]


class OfTokens(paddle.io.BatchSampler):
    """Sentences of like lengths together, as many as have so many tokens with what fills them up."""

    def __init__(self):
        self.batches, batch, longest = [], [], 0
        for index in sorted(range(COUNT), key=lambda one: (SOURCES[one], TARGETS[one])):
            longest = max(longest, SOURCES[index], TARGETS[index])
            if batch and longest * (len(batch) + 1) > asked.tokens:
                self.batches.append(batch)
                batch, longest = [], max(SOURCES[index], TARGETS[index])
            batch.append(index)
        draws.shuffle(self.batches)

    def __iter__(self):
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)


def padded(batch):
    """Each column as long as its longest."""
    columns = []
    for column in zip(*batch, strict=True):
        shape = [len(column), max(len(one) for one in column), *column[0].shape[1:]]
        columns.append(np.full(shape, 5, "int64"))
    return columns


loader = (
    paddle.io.DataLoader(Pairs(), batch_sampler=OfTokens(), collate_fn=padded)
    if asked.tokens
    else paddle.io.DataLoader(Pairs(), batch_size=asked.sentences)
)
for source, target, label in loader:
    logits = model(src_word=source, trg_word=target)
    total, loss, count = criterion(logits, label)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
