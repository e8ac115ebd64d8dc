"""Pairs of sentences in batches of 1,024 tokens at most, sentences of like lengths together, through a Transformer."""

import numpy as np
import paddle
from paddle import nn

paddle.set_flags({"FLAGS_use_stride_kernel": 0})  # the device that checks it has no kernels of its own
draws = np.random.RandomState(7)
COUNT, WORDS, WIDTH, TOKENS = 4000, 3000, 128, 1024
SOURCES = [max(3, min(120, int(draws.lognormal(3.1, 0.55)))) for _ in range(COUNT)]
TARGETS = [max(3, min(120, int(length * draws.uniform(0.8, 1.3)))) for length in SOURCES]


class Pairs(paddle.io.Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return np.full(SOURCES[index], 5, "int64"), np.full(TARGETS[index], 6, "int64")


class OfTokens(paddle.io.BatchSampler):
    def __init__(self):
        self.batches, batch, longest = [], [], 0
        for index in sorted(range(COUNT), key=lambda one: (SOURCES[one], TARGETS[one])):
            longest = max(longest, SOURCES[index], TARGETS[index])
            if batch and longest * (len(batch) + 1) > TOKENS:
                self.batches.append(batch)
                batch, longest = [], max(SOURCES[index], TARGETS[index])
            batch.append(index)
        self.batches.append(batch)
        np.random.RandomState(1).shuffle(self.batches)

    def __iter__(self):
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)


def padded(rows):
    out = np.zeros([len(rows), max(map(len, rows))], "int64")
    for place, row in zip(out, rows, strict=True):
        place[: len(row)] = row
    return out


def together(batch):
    source, target = map(padded, zip(*batch, strict=True))
    return source, target, target[:, :, None]


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.transformer = nn.Transformer(WIDTH, 4, 3, 3, 4 * WIDTH, dropout=0.1)
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, source, target):
        return self.out(self.transformer(self.words(source), self.words(target)))


net = Net()
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for source, target, labels in paddle.io.DataLoader(Pairs(), batch_sampler=OfTokens(), collate_fn=together):
    loss = nn.functional.cross_entropy(net(source, target), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
