# model: neural collaborative filtering
# batch: 512
# optimizer: Adagrad
# feature: negative samples, product and tower joined, BCE with logits
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Model(nn.Layer):
    def __init__(self, users=4000, items=2500, width=24):
        super().__init__()
        self.gu, self.gi = nn.Embedding(users, width), nn.Embedding(items, width)
        self.mu, self.mi = nn.Embedding(users, width), nn.Embedding(items, width)
        self.tower = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 32), nn.ReLU())
        self.out = nn.Linear(32 + width, 1)

    def forward(self, user, item):
        product = self.gu(user) * self.gi(item)
        tower = self.tower(paddle.concat([self.mu(user), self.mi(item)], axis=-1))
        return self.out(paddle.concat([product, tower], axis=-1)).squeeze(-1)


model = Model()
optimizer = paddle.optimizer.Adagrad(0.05, parameters=model.parameters())
for step in range(6):
    user = paddle.randint(0, 4000, [512])
    positive, negative = paddle.randint(0, 2500, [512]), paddle.randint(0, 2500, [512])
    up, down = model(user, positive), model(user, negative)
    loss = F.binary_cross_entropy_with_logits(up, paddle.ones_like(up)) + F.binary_cross_entropy_with_logits(
        down, paddle.zeros_like(down)
    )
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
