"""Recordings of 60 to 500 frames padded to the longest of their batch, through a Transformer encoder."""

import numpy as np
import paddle
from paddle import nn

paddle.set_flags({"FLAGS_use_stride_kernel": 0})  # the device that checks it has no kernels of its own
draws = np.random.RandomState(9)
COUNT, BATCH, WIDTH = 1000, 8, 128
LENGTHS = [int(draws.uniform(60, 500)) for _ in range(COUNT)]


class Recordings(paddle.io.Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return np.zeros([LENGTHS[index], 80], "float32"), index % 10


def padded(batch):
    frames = np.zeros([len(batch), max(len(one) for one, _ in batch), 80], "float32")
    return frames, np.array([label for _, label in batch], "int64")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.into = nn.Linear(80, WIDTH)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH), 3)
        self.out = nn.Linear(WIDTH, 10)

    def forward(self, frames):
        return self.out(self.encoder(self.into(frames)).mean(1))


net = Net()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
for frames, labels in paddle.io.DataLoader(Recordings(), batch_size=BATCH, shuffle=True, collate_fn=padded):
    loss = nn.functional.cross_entropy(net(frames), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
