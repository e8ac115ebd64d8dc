# model: PointNet with T-Nets
# batch: 12
# optimizer: Adam
# feature: orthogonality penalty, step decay
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class TNet(nn.Layer):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv1, self.conv2, self.conv3 = nn.Conv1D(k, 32, 1), nn.Conv1D(32, 64, 1), nn.Conv1D(64, 256, 1)
        self.bn1, self.bn2, self.bn3 = nn.BatchNorm1D(32), nn.BatchNorm1D(64), nn.BatchNorm1D(256)
        self.fc1, self.fc2 = nn.Linear(256, 128), nn.Linear(128, k * k)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = F.relu(self.bn3(self.conv3(x)))
        x = paddle.max(x, 2)
        x = self.fc2(F.relu(self.fc1(x)))
        identity = paddle.eye(self.k).flatten().unsqueeze(0).tile([x.shape[0], 1])
        return (x + identity).reshape([-1, self.k, self.k])


class Segmenter(nn.Layer):
    def __init__(self, parts=6):
        super().__init__()
        self.t3, self.t32 = TNet(3), TNet(32)
        self.a, self.b = nn.Conv1D(3, 32, 1), nn.Conv1D(32, 256, 1)
        self.head = nn.Sequential(nn.Conv1D(288, 64, 1), nn.BatchNorm1D(64), nn.ReLU(), nn.Conv1D(64, parts, 1))

    def forward(self, x):
        n = x.shape[2]
        x = paddle.bmm(x.transpose([0, 2, 1]), self.t3(x)).transpose([0, 2, 1])
        x = F.relu(self.a(x))
        transform = self.t32(x)
        x = paddle.bmm(x.transpose([0, 2, 1]), transform).transpose([0, 2, 1])
        point = x
        x = paddle.max(self.b(x), 2, keepdim=True).expand([-1, -1, n])
        return self.head(paddle.concat([x, point], 1)), transform


model = Segmenter()
scheduler = paddle.optimizer.lr.StepDecay(1e-3, 20, 0.5)
optimizer = paddle.optimizer.Adam(scheduler, parameters=model.parameters(), weight_decay=1e-4)
for step in range(6):
    points, parts = paddle.randn([12, 3, 128]), paddle.randint(0, 6, [12, 128])
    logits, transform = model(points)
    loss = F.nll_loss(F.log_softmax(logits.transpose([0, 2, 1]), -1).reshape([-1, 6]), parts.reshape([-1]))
    gap = paddle.bmm(transform, transform.transpose([0, 2, 1])) - paddle.eye(32)
    loss = loss + 1e-3 * paddle.norm(gap, axis=(1, 2)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    scheduler.step()
