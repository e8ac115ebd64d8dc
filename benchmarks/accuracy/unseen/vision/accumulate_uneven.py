# model: EfficientViT-like
# batch: 4
# optimizer: AdamW
# feature: accumulation with a remainder, linear attention, einsum
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Linear2(nn.Layer):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(dim), nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.feed = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.Hardswish(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape([b, n, 3, 4, c // 4]).transpose([2, 0, 3, 1, 4]).unbind(0)
        q, k = F.relu(q), F.relu(k)
        state = paddle.einsum("bhnd,bhne->bhde", k, v)
        y = paddle.einsum("bhnd,bhde->bhne", q, state) / (
            paddle.einsum("bhnd,bhd->bhn", q, k.sum(2)).unsqueeze(-1) + 1e-6
        )
        x = x + self.out(y.transpose([0, 2, 1, 3]).reshape([b, n, c]))
        return x + self.feed(x)


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2D(3, 64, 8, stride=8)
        self.place = self.create_parameter([1, 64, 64])
        self.blocks, self.head = nn.Sequential(Linear2(64), Linear2(64)), nn.Linear(64, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose([0, 2, 1]) + self.place
        return self.head(self.blocks(x).mean(1))


model = Model()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
for step in range(21):
    loss = F.cross_entropy(model(paddle.randn([4, 3, 64, 64])), paddle.randint(0, 10, [4])) / 3
    loss.backward()
    if (step + 1) % 3 == 0:
        optimizer.step()
        optimizer.clear_grad()
