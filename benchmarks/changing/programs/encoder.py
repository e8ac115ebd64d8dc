"""Texts padded to the longest of their batch, through a Transformer encoder."""

import numpy as np
import paddle
from paddle import nn

paddle.set_flags({"FLAGS_use_stride_kernel": 0})  # the device that checks it has no kernels of its own
draws = np.random.RandomState(3)
COUNT, BATCH, WORDS, WIDTH = 2000, 32, 2000, 128
TEXTS = [
    draws.randint(1, WORDS, max(4, min(100, int(draws.lognormal(3.2, 0.5))))).astype("int64") for _ in range(COUNT)
]


class Texts(paddle.io.Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return TEXTS[index], index % 2


def padded(batch):
    words = np.zeros([len(batch), max(len(text) for text, _ in batch)], "int64")
    for row, (text, _) in zip(words, batch, strict=True):
        row[: len(text)] = text
    return paddle.to_tensor(words), paddle.to_tensor(np.array([label for _, label in batch], "int64"))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(512, WIDTH)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.1), 4)
        self.out = nn.Linear(WIDTH, 2)

    def forward(self, words):
        return self.out(self.encoder(self.words(words) + self.places(paddle.arange(words.shape[1])))[:, 0])


net = Net()
optimizer = paddle.optimizer.AdamW(1e-4, parameters=net.parameters())
for words, labels in paddle.io.DataLoader(Texts(), batch_size=BATCH, shuffle=True, collate_fn=padded):
    loss = nn.functional.cross_entropy(net(words), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
