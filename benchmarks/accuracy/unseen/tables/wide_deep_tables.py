# model: wide and deep
# batch: 256
# optimizer: Adam
# feature: many tables in a list, crossed ids, lazy mode off
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

SIZES = [10, 200, 31, 5000, 12, 900]


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.tables = nn.LayerList([nn.Embedding(size, 8) for size in SIZES])
        self.wide = nn.Embedding(10000, 1)
        self.deep = nn.Sequential(
            nn.BatchNorm1D(8 * len(SIZES) + 13),
            nn.Linear(8 * len(SIZES) + 13, 128),
            nn.ReLU(),
            nn.Linear(128, 64),
            nn.ReLU(),
            nn.Linear(64, 1),
        )

    def forward(self, ids, dense):
        parts = [table(ids[:, i]) for i, table in enumerate(self.tables)]
        crossed = (ids[:, 0] * 997 + ids[:, 3]) % 10000
        return self.deep(paddle.concat([*parts, dense], axis=1)) + self.wide(crossed)


model = Model()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters(), weight_decay=paddle.regularizer.L1Decay(1e-6))
for step in range(6):
    ids = paddle.stack([paddle.randint(0, size, [256]) for size in SIZES], axis=1)
    logits = model(ids, paddle.randn([256, 13]))
    loss = F.binary_cross_entropy(F.sigmoid(logits), paddle.randint(0, 2, [256, 1]).astype("float32"))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
