"""DeepSpeech 2 as yeyupiaoling/PaddlePaddle-DeepSpeech#60 tells it: 2 convolutions and 3 GRU layers of 2,048 both ways,
each behind a projection to three gates with batch normalization, CTC over 4,300 letters; 16 utterances that come to
7,065 frames behind the convolutions, as the refused request says, on zeros."""

import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional

BATCH, FRAMES, BINS, WIDTH, LETTERS = 16, 3 * 442, 161, 2048, 4300


class Both(nn.Layer):
    """A layer both ways; the old operator takes what a projection made."""

    def __init__(self, width):
        super().__init__()
        self.project = nn.LayerList(nn.Linear(width, 3 * WIDTH, bias_attr=False) for _ in range(2))
        self.norm = nn.LayerList(nn.BatchNorm1D(3 * WIDTH, data_format="NLC") for _ in range(2))
        self.run = nn.LayerList(nn.RNN(Gates(), is_reverse=way == 1) for way in range(2))

    def forward(self, x):
        gates = [norm(project(x)) for norm, project in zip(self.norm, self.project, strict=True)]
        return paddle.concat([run(one)[0] for run, one in zip(self.run, gates, strict=True)], -1)


class Gates(nn.RNNCellBase):
    """What is left of a GRU cell behind the projection."""

    def __init__(self):
        super().__init__()
        self.gates, self.candidate = (self.create_parameter([WIDTH, n * WIDTH]) for n in (2, 1))

    state_shape = (WIDTH,)

    def forward(self, x, h=None):
        update, reset = (functional.sigmoid(x[:, : 2 * WIDTH] + h @ self.gates)).split(2, -1)
        made = functional.relu(x[:, 2 * WIDTH :] + (reset * h) @ self.candidate)
        h = update * h + (1 - update) * made
        return h, h


class Net(nn.Layer):
    """The whole."""

    def __init__(self):
        super().__init__()
        self.convs = nn.Sequential(
            nn.Conv2D(1, 32, (41, 11), (2, 3), (20, 5)), nn.BatchNorm2D(32), nn.Hardtanh(0, 24),
            nn.Conv2D(32, 32, (21, 11), (2, 1), (10, 5)), nn.BatchNorm2D(32), nn.Hardtanh(0, 24),
        )  # fmt: skip
        self.layers = nn.Sequential(*[Both(32 * 41 if n == 0 else 2 * WIDTH) for n in range(3)])
        self.out = nn.Linear(2 * WIDTH, LETTERS + 1)

    def forward(self, sound):
        x = self.convs(sound)
        x = x.transpose([0, 3, 1, 2]).flatten(2)
        return self.out(self.layers(x))


net = Net()
optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(3.0))
for _ in range(3):
    scores = net(paddle.zeros([BATCH, 1, BINS, FRAMES]))
    letters = paddle.to_tensor(np.ones([BATCH, 30], "int32"))
    frames, counts = paddle.full([BATCH], scores.shape[1], "int64"), paddle.full([BATCH], 30, "int64")
    loss = functional.ctc_loss(scores.transpose([1, 0, 2]), letters, frames, counts)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
