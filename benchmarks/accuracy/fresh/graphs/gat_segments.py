# model: GraphSAGE + GAT
# batch: 900
# optimizer: AdamW
# feature: send_u_recv, edge softmax by scatter
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

NODES, EDGES = 900, 5400
source, target = paddle.randint(0, NODES, [EDGES]), paddle.randint(0, NODES, [EDGES])


class Sage(nn.Layer):
    def __init__(self, cin, cout):
        super().__init__()
        self.own, self.neighbour = nn.Linear(cin, cout), nn.Linear(cin, cout, bias_attr=False)

    def forward(self, x):
        mean = paddle.geometric.send_u_recv(x, source, target, reduce_op="mean", out_size=NODES)
        return F.relu(self.own(x) + self.neighbour(mean))


class Gat(nn.Layer):
    def __init__(self, cin, cout, heads=4):
        super().__init__()
        self.heads, self.size = heads, cout // heads
        self.fc = nn.Linear(cin, cout, bias_attr=False)
        self.a_src, self.a_dst = (
            self.create_parameter([1, heads, self.size]),
            self.create_parameter([1, heads, self.size]),
        )

    def forward(self, x):
        h = self.fc(x).reshape([-1, self.heads, self.size])
        score_src, score_dst = (h * self.a_src).sum(-1), (h * self.a_dst).sum(-1)
        score = F.leaky_relu(paddle.gather(score_src, source) + paddle.gather(score_dst, target), 0.2)
        score = paddle.exp(score - score.max())
        total = paddle.scatter_nd_add(paddle.zeros([NODES, self.heads]), target.unsqueeze(1), score)
        alpha = score / (paddle.gather(total, target) + 1e-9)
        message = paddle.gather(h, source) * alpha.unsqueeze(-1)
        out = paddle.scatter_nd_add(paddle.zeros_like(h), target.unsqueeze(1), message)
        return F.elu(out.flatten(1))


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.sage, self.gat, self.norm, self.head = Sage(128, 96), Gat(96, 64), nn.LayerNorm(64), nn.Linear(64, 5)

    def forward(self, x):
        return self.head(self.norm(self.gat(self.sage(x))))


model = Net()
optimizer = paddle.optimizer.AdamW(5e-3, parameters=model.parameters())
features, labels = paddle.randn([NODES, 128]), paddle.randint(0, 5, [NODES])
for epoch in range(6):
    loss = F.cross_entropy(model(features), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
