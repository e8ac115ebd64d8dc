"""Reviews of 108 characters on average, cut at 256 and padded to the longest of their batch, through convolutions."""

import numpy as np
import paddle
from paddle import nn

paddle.set_flags({"FLAGS_use_stride_kernel": 0})  # the device that checks it has no kernels of its own
draws = np.random.RandomState(13)
BATCH, WORDS, WIDTH, LIMIT = 8, 5000, 128, 256
REVIEWS = [{"text": "字" * max(5, int(draws.gamma(1.5, 72))), "label": number % 2} for number in range(9600)]


class Reviews(paddle.io.Dataset):
    def __len__(self):
        return len(REVIEWS)

    def __getitem__(self, index):
        row = REVIEWS[index]
        return np.array([ord(one) % WORDS for one in row["text"][:LIMIT]], "int64"), row["label"]


def padded(batch):
    words = np.zeros([len(batch), max(len(text) for text, _ in batch)], "int64")
    for row, (text, _) in zip(words, batch, strict=True):
        row[: len(text)] = text
    return words, np.array([label for _, label in batch], "int64")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.first = nn.Conv1D(WIDTH, WIDTH, 3, padding=1)
        self.second = nn.Conv1D(WIDTH, WIDTH, 5, padding=2)
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, words):
        words = self.words(words).transpose([0, 2, 1])
        seen = nn.functional.relu(self.second(nn.functional.relu(self.first(words))))
        return self.out(seen.mean(2))


net = Net()
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
for words, labels in paddle.io.DataLoader(Reviews(), batch_size=BATCH, shuffle=True, collate_fn=padded):
    loss = nn.functional.cross_entropy(net(words), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
