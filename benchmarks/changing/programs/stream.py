"""A stream of signals of 40 to 600 points, padded to the longest of their batch, through convolutions in one dimension
and a GRU."""

import numpy as np
import paddle
from paddle import nn

paddle.set_flags({"FLAGS_use_stride_kernel": 0})  # the device that checks it has no kernels of its own
draws = np.random.RandomState(19)
BATCH, WIDTH = 16, 96
LENGTHS = [max(40, min(600, int(draws.lognormal(5.3, 0.5)))) for _ in range(2000)]


class Signals(paddle.io.IterableDataset):
    def __iter__(self):
        for number, length in enumerate(LENGTHS):
            yield np.zeros([length, 12], "float32"), number % 5


def padded(batch):
    signals = np.zeros([len(batch), max(len(one) for one, _ in batch), 12], "float32")
    return signals, np.array([label for _, label in batch], "int64")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1D(12, WIDTH, 5, padding=2)
        self.second = nn.Conv1D(WIDTH, WIDTH, 5, padding=2)
        self.gru = nn.GRU(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, 5)

    def forward(self, signals):
        seen = nn.functional.relu(self.first(signals.transpose([0, 2, 1])))
        seen = nn.functional.relu(self.second(seen))
        return self.out(self.gru(seen.transpose([0, 2, 1]))[0].mean(1))


net = Net()
optimizer = paddle.optimizer.Momentum(1e-3, parameters=net.parameters())
for signals, labels in paddle.io.DataLoader(Signals(), batch_size=BATCH, collate_fn=padded):
    loss = nn.functional.cross_entropy(net(signals), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
