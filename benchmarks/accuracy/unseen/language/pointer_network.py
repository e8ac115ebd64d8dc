# model: pointer network
# batch: 32
# optimizer: Adam
# feature: LSTM encoder, cell in a loop, masked attention, input feeding
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Pointer(nn.Layer):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Linear(2, width)
        self.encoder, self.cell = nn.LSTM(width, width), nn.LSTMCell(width, width)
        self.a, self.b, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, points, targets):
        x = self.embed(points)
        memory, (h, c) = self.encoder(x)
        h, c, mask = h[0], c[0], paddle.zeros(points.shape[:2])
        into, out = x.mean(1), []
        for t in range(points.shape[1]):
            _, (h, c) = self.cell(into, (h, c))
            scores = self.v(paddle.tanh(self.a(memory) + self.b(h).unsqueeze(1))).squeeze(-1)
            out.append(scores - 1e6 * mask)
            hot = F.one_hot(targets[:, t], points.shape[1])
            mask = mask + hot
            into = (x * hot.unsqueeze(-1)).sum(1)
        return paddle.stack(out, 1)


model = Pointer()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(2.0))
for step in range(6):
    points = paddle.rand([32, 10, 2])
    targets = paddle.argsort(paddle.rand([32, 10]), axis=1)
    loss = F.cross_entropy(model(points, targets), targets)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
