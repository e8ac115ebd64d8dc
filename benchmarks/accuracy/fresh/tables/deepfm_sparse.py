# model: DeepFM
# batch: 1024
# optimizer: Adam lazy
# feature: sparse embeddings
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

FIELDS = [5000, 3000, 1200, 800, 200, 50, 20, 12]


class DeepFM(nn.Layer):
    def __init__(self, dim=16, dense=13):
        super().__init__()
        self.first = nn.LayerList([nn.Embedding(n, 1, sparse=True) for n in FIELDS])
        self.second = nn.LayerList([nn.Embedding(n, dim, sparse=True) for n in FIELDS])
        self.dense = nn.Linear(dense, dim)
        self.deep = nn.Sequential(
            nn.Linear(dim * (len(FIELDS) + 1), 200),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(200, 100),
            nn.ReLU(),
            nn.Linear(100, 1),
        )
        self.bias = self.create_parameter([1], is_bias=True)

    def forward(self, ids, dense):
        linear = sum(e(ids[:, i]) for i, e in enumerate(self.first))
        vectors = paddle.stack([e(ids[:, i]) for i, e in enumerate(self.second)] + [self.dense(dense)], axis=1)
        square_of_sum = vectors.sum(1).square()
        sum_of_square = vectors.square().sum(1)
        fm = 0.5 * (square_of_sum - sum_of_square).sum(1, keepdim=True)
        return F.sigmoid(linear + fm + self.deep(vectors.flatten(1)) + self.bias)


model = DeepFM()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters(), lazy_mode=True)
auc = paddle.metric.Auc()
for step in range(6):
    ids = paddle.stack([paddle.randint(0, n, [1024]) for n in FIELDS], axis=1)
    dense, click = paddle.rand([1024, 13]), paddle.randint(0, 2, [1024, 1]).astype("float32")
    prediction = model(ids, dense)
    loss = F.log_loss(prediction, click).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    auc.update(paddle.concat([1 - prediction, prediction], axis=1).numpy(), click.numpy())
