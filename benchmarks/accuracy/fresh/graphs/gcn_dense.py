# model: GCN
# batch: 1500
# optimizer: Adam
# feature: dense adjacency, training mask
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

N, FEATURES, CLASSES = 1500, 500, 7
rng = np.random.RandomState(0)
edges = rng.randint(0, N, (2, 6000))
A = np.zeros((N, N), dtype="float32")
A[edges[0], edges[1]] = 1
A = np.maximum(A, A.T) + np.eye(N, dtype="float32")
d = A.sum(1) ** -0.5
adjacency = paddle.to_tensor(A * d[:, None] * d[None, :])
features = paddle.to_tensor(rng.rand(N, FEATURES).astype("float32"))
labels = paddle.to_tensor(rng.randint(0, CLASSES, N))
train_mask = paddle.to_tensor(np.arange(N) < 140)


class GraphConv(nn.Layer):
    def __init__(self, cin, cout):
        super().__init__()
        self.weight = self.create_parameter([cin, cout], default_initializer=nn.initializer.XavierUniform())
        self.bias = self.create_parameter([cout], is_bias=True)

    def forward(self, x, adj):
        return paddle.mm(adj, paddle.mm(x, self.weight)) + self.bias


class GCN(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gc1, self.gc2 = GraphConv(FEATURES, 64), GraphConv(64, CLASSES)

    def forward(self, x, adj):
        x = F.dropout(F.relu(self.gc1(x, adj)), 0.5, training=self.training)
        return F.log_softmax(self.gc2(x, adj), axis=1)


model = GCN()
optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters(), weight_decay=5e-4)
for epoch in range(8):
    model.train()
    output = model(features, adjacency)
    loss = F.nll_loss(output[train_mask], labels[train_mask])
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with paddle.no_grad():
        prediction = model(features, adjacency).argmax(1)
        print(epoch, float((prediction == labels).astype("float32").mean()))
