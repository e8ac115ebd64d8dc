# model: deep equilibrium model
# batch: 64
# optimizer: Adam
# feature: fixed point without gradients, one step with them
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Cell(nn.Layer):
    def __init__(self, width=96):
        super().__init__()
        self.inner, self.outer, self.norm = nn.Linear(width, width), nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, z, x):
        return self.norm(z + F.relu(self.inner(z)) + self.outer(x))


read, cell, head = nn.Linear(30, 96), Cell(), nn.Linear(96, 5)
optimizer = paddle.optimizer.Adam(1e-3, parameters=read.parameters() + cell.parameters() + head.parameters())
for step in range(6):
    x = read(paddle.randn([64, 30]))
    with paddle.no_grad():
        z = paddle.zeros_like(x)
        for _ in range(12):
            z = cell(z, x)
    z = cell(z.detach(), x)
    loss = F.cross_entropy(head(z), paddle.randint(0, 5, [64]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
