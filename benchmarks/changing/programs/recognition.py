"""Pictures of lines of text padded to the widest of their batch, through a convolutional net."""

import numpy as np
import paddle
from paddle import nn

paddle.set_flags({"FLAGS_use_stride_kernel": 0})  # the device that checks it has no kernels of its own
draws = np.random.RandomState(11)
COUNT, BATCH = 1000, 16
WIDTHS = [max(32, min(400, int(draws.lognormal(5.0, 0.4)) // 4 * 4)) for _ in range(COUNT)]


class Lines(paddle.io.Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return np.zeros([1, 32, WIDTHS[index]], "float32"), index % 10


def padded(batch):
    pictures = np.zeros([len(batch), 1, 32, max(one.shape[2] for one, _ in batch)], "float32")
    return pictures, np.array([label for _, label in batch], "int64")


def block(inner, outer, stride):
    return nn.Sequential(nn.Conv2D(inner, outer, 3, stride=stride, padding=1), nn.BatchNorm2D(outer), nn.ReLU())


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(block(1, 16, 1), block(16, 32, 2), block(32, 64, 2), block(64, 64, (2, 1)))
        self.out = nn.Linear(64, 10)

    def forward(self, pictures):
        return self.out(self.blocks(pictures).mean([2, 3]))


net = Net()
optimizer = paddle.optimizer.Momentum(1e-3, parameters=net.parameters())
for pictures, labels in paddle.io.DataLoader(Lines(), batch_size=BATCH, shuffle=True, collate_fn=padded):
    loss = nn.functional.cross_entropy(net(pictures), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
