# model: GraphSAGE
# batch: 600
# optimizer: Adam
# feature: paddle.geometric messages, mean and max, batch norm
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Layer(nn.Layer):
    def __init__(self, a, b, how):
        super().__init__()
        self.own, self.other, self.norm, self.how = nn.Linear(a, b), nn.Linear(a, b), nn.BatchNorm1D(b), how

    def forward(self, x, source, target):
        gathered = paddle.geometric.send_u_recv(x, source, target, reduce_op=self.how)
        return F.relu(self.norm(self.own(x) + self.other(gathered)))


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.head = Layer(50, 64, "mean"), Layer(64, 64, "max"), nn.Linear(64, 7)

    def forward(self, x, source, target):
        return self.head(self.two(self.one(x, source, target), source, target))


model = Model()
optimizer = paddle.optimizer.Adam(1e-2, parameters=model.parameters(), weight_decay=5e-4)
features, labels = paddle.randn([600, 50]), paddle.randint(0, 7, [600])
source, target = paddle.randint(0, 600, [3000]), paddle.randint(0, 600, [3000])
chosen = paddle.arange(0, 140)
for step in range(6):
    logits = model(features, source, target)
    loss = F.cross_entropy(paddle.index_select(logits, chosen), paddle.index_select(labels, chosen))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
