"""Sentences padded to the longest of their batch, through an LSTM that tags each word."""

import numpy as np
import paddle
from paddle import nn

paddle.set_flags({"FLAGS_use_stride_kernel": 0})  # the device that checks it has no kernels of its own
draws = np.random.RandomState(5)
COUNT, BATCH, WORDS, WIDTH = 2000, 32, 3000, 128
TEXTS = [
    draws.randint(1, WORDS, max(3, min(120, int(draws.lognormal(3.0, 0.6))))).astype("int64") for _ in range(COUNT)
]


class Texts(paddle.io.Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return TEXTS[index], TEXTS[index] % 9


def padded(rows):
    out = np.zeros([len(rows), max(map(len, rows))], "int64")
    for place, row in zip(out, rows, strict=True):
        place[: len(row)] = row
    return out


class Tagger(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, direction="bidirect", num_layers=2)
        self.out = nn.Linear(2 * WIDTH, 9)

    def forward(self, words):
        return self.out(self.lstm(self.words(words))[0])


net = Tagger()
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for words, tags in paddle.io.DataLoader(
    Texts(),
    batch_size=BATCH,
    shuffle=True,
    collate_fn=lambda batch: [padded(column) for column in zip(*batch, strict=True)],
):
    loss = nn.functional.cross_entropy(net(words), tags)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
