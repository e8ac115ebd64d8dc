# model: two towers
# batch: 512
# optimizer: Adagrad
# feature: in-batch softmax, bags of words
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Tower(nn.Layer):
    def __init__(self, count, words=4000, dim=64):
        super().__init__()
        self.id = nn.Embedding(count, dim)
        self.words = nn.Embedding(words, dim, padding_idx=0)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 128), nn.BatchNorm1D(128), nn.LeakyReLU(), nn.Linear(128, dim))

    def forward(self, ident, words):
        mask = (words != 0).astype("float32").unsqueeze(-1)
        bag = (self.words(words) * mask).sum(1) / paddle.clip(mask.sum(1), min=1.0)
        return F.normalize(self.mlp(paddle.concat([self.id(ident), bag], axis=-1)), p=2, axis=-1)


query, item = Tower(3000), Tower(8000)
temperature = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(2.6))
optimizer = paddle.optimizer.Adagrad(0.05, parameters=query.parameters() + item.parameters() + [temperature])
for step in range(6):
    q = query(paddle.randint(0, 3000, [512]), paddle.randint(0, 4000, [512, 12]))
    d = item(paddle.randint(0, 8000, [512]), paddle.randint(0, 4000, [512, 30]))
    logits = q @ d.T * temperature.exp()
    labels = paddle.arange(512)
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    recall = (paddle.topk(logits, k=10, axis=1)[1] == labels.unsqueeze(1)).any(axis=1).astype("float32").mean()
    print(step, recall.item())
