# model: RealNVP
# batch: 512
# optimizer: Adam
# feature: normalising flow, masked couplings
import math

import paddle
import paddle.nn as nn


class Coupling(nn.Layer):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        mask = paddle.arange(dim) % 2
        self.register_buffer("mask", ((1 - mask) if flip else mask).astype("float32"))
        self.scale = nn.Sequential(
            nn.Linear(dim, hidden),
            nn.LeakyReLU(),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(),
            nn.Linear(hidden, dim),
            nn.Tanh(),
        )
        self.shift = nn.Sequential(
            nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim)
        )

    def forward(self, x):
        kept = x * self.mask
        s, t = self.scale(kept) * (1 - self.mask), self.shift(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x * paddle.exp(s) + t), s.sum(axis=1)


class Flow(nn.Layer):
    def __init__(self, dim=32, hidden=128, depth=6):
        super().__init__()
        self.layers = nn.LayerList([Coupling(dim, hidden, bool(i % 2)) for i in range(depth)])
        self.dim = dim

    def forward(self, x):
        logdet = paddle.zeros([x.shape[0]])
        for layer in self.layers:
            x, d = layer(x)
            logdet = logdet + d
        prior = -0.5 * (x**2).sum(axis=1) - 0.5 * self.dim * math.log(2 * math.pi)
        return prior + logdet


flow = Flow()
optimizer = paddle.optimizer.Adam(learning_rate=1e-4, parameters=flow.parameters(), weight_decay=1e-5)
data = paddle.to_tensor(__import__("numpy").random.randn(2048, 32).astype("float32"))
loader = paddle.io.DataLoader(paddle.io.TensorDataset([data]), batch_size=512, shuffle=True, drop_last=True)
for epoch in range(3):
    for (x,) in loader:
        loss = -flow(x).mean()
        optimizer.clear_grad()
        loss.backward()
        optimizer.step()
