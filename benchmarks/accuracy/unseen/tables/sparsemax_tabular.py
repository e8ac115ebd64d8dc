# model: TabNet-like
# batch: 128
# optimizer: Adam
# feature: sparsemax by sorting, gated blocks, prior scales
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def sparsemax(x):
    ordered = paddle.sort(x, axis=-1, descending=True)
    total = paddle.cumsum(ordered, axis=-1) - 1
    rank = paddle.arange(1, x.shape[-1] + 1, dtype="float32")
    size = (rank * ordered > total).astype("int64").sum(-1, keepdim=True)
    threshold = paddle.take_along_axis(total, size - 1, -1) / size.astype("float32")
    return F.relu(x - threshold)


class Gated(nn.Layer):
    def __init__(self, a, b):
        super().__init__()
        self.linear, self.norm = nn.Linear(a, 2 * b), nn.BatchNorm1D(2 * b)

    def forward(self, x):
        return F.glu(self.norm(self.linear(x)))


class Model(nn.Layer):
    def __init__(self, features=40, width=32, steps=3):
        super().__init__()
        self.norm, self.first = nn.BatchNorm1D(features), Gated(features, width)
        self.masks = nn.LayerList([nn.Linear(width, features) for _ in range(steps)])
        self.blocks = nn.LayerList([Gated(features, width) for _ in range(steps)])
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        x = self.norm(x)
        state, prior, total, entropy = self.first(x), paddle.ones_like(x), 0.0, 0.0
        for mask, block in zip(self.masks, self.blocks):
            chosen = sparsemax(mask(state) * prior)
            prior = prior * (1.3 - chosen)
            entropy = entropy - (chosen * paddle.log(chosen + 1e-9)).sum(-1).mean()
            state = block(chosen * x)
            total = total + F.relu(state)
        return self.out(total), entropy


model = Model()
optimizer = paddle.optimizer.Adam(2e-2, parameters=model.parameters())
for step in range(6):
    logits, entropy = model(paddle.randn([128, 40]))
    loss = F.cross_entropy(logits, paddle.randint(0, 2, [128])) + 1e-3 * entropy
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
