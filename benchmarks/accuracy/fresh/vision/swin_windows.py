# model: Swin-like
# batch: 8
# optimizer: AdamW
# feature: shifted windows, relative bias by index
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

W = 4


def windows(x):
    b, h, w, c = x.shape
    x = x.reshape([b, h // W, W, w // W, W, c]).transpose([0, 1, 3, 2, 4, 5])
    return x.reshape([-1, W * W, c])


def merge(x, h, w):
    c = x.shape[-1]
    return x.reshape([-1, h // W, w // W, W, W, c]).transpose([0, 1, 3, 2, 4, 5]).reshape([-1, h, w, c])


class Block(nn.Layer):
    def __init__(self, c, heads, shift):
        super().__init__()
        self.heads, self.shift = heads, shift
        self.norm1, self.norm2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.qkv, self.proj = nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.table = self.create_parameter([(2 * W - 1) ** 2, heads])
        grid = np.stack(np.meshgrid(np.arange(W), np.arange(W), indexing="ij")).reshape(2, -1)
        relative = grid[:, :, None] - grid[:, None, :] + W - 1
        self.register_buffer("index", paddle.to_tensor((relative[0] * (2 * W - 1) + relative[1]).reshape(-1)))
        self.mlp = nn.Sequential(nn.Linear(c, 4 * c), nn.GELU(), nn.Linear(4 * c, c))

    def forward(self, x):
        b, h, w, c = x.shape
        y = self.norm1(x)
        if self.shift:
            y = paddle.roll(y, shifts=[-W // 2, -W // 2], axis=[1, 2])
        y = windows(y)
        n = y.shape[0]
        q, k, v = self.qkv(y).reshape([n, W * W, 3, self.heads, c // self.heads]).transpose([2, 0, 3, 1, 4])
        score = (q * (c // self.heads) ** -0.5) @ k.transpose([0, 1, 3, 2])
        bias = self.table[self.index].reshape([W * W, W * W, self.heads]).transpose([2, 0, 1])
        y = F.softmax(score + bias.unsqueeze(0), axis=-1) @ v
        y = merge(self.proj(y.transpose([0, 2, 1, 3]).reshape([n, W * W, c])), h, w)
        if self.shift:
            y = paddle.roll(y, shifts=[W // 2, W // 2], axis=[1, 2])
        x = x + y
        return x + self.mlp(self.norm2(x))


class Swin(nn.Layer):
    def __init__(self, c=32):
        super().__init__()
        self.patch, self.norm = nn.Conv2D(3, c, 4, 4), nn.LayerNorm(c)
        self.stage1 = nn.LayerList([Block(c, 2, False), Block(c, 2, True)])
        self.reduce = nn.Linear(4 * c, 2 * c, bias_attr=False)
        self.stage2 = nn.LayerList([Block(2 * c, 4, False), Block(2 * c, 4, True)])
        self.head = nn.Linear(2 * c, 10)

    def forward(self, x):
        x = self.norm(self.patch(x).transpose([0, 2, 3, 1]))
        for block in self.stage1:
            x = block(x)
        x = self.reduce(
            paddle.concat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], axis=-1)
        )
        for block in self.stage2:
            x = block(x)
        return self.head(x.mean([1, 2]))


model = Swin()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters(), weight_decay=0.05)
for step in range(6):
    x, y = paddle.rand([8, 3, 64, 64]), paddle.randint(0, 10, [8])
    loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
