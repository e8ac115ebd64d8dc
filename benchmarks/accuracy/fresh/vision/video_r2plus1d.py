# model: R(2+1)D
# batch: 4
# optimizer: SGD
# feature: 3-D convolutions
# summary: (4, 3, 8, 48, 48)
import paddle
import paddle.nn as nn


class Factored(nn.Layer):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        mid = (cin + cout) // 2 + 4
        self.space = nn.Conv3D(cin, mid, (1, 3, 3), (1, stride, stride), (0, 1, 1), bias_attr=False)
        self.bn = nn.BatchNorm3D(mid)
        self.time = nn.Conv3D(mid, cout, (3, 1, 1), (stride, 1, 1), (1, 0, 0), bias_attr=False)
        self.bn2 = nn.BatchNorm3D(cout)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.bn2(self.time(self.relu(self.bn(self.space(x)))))


class Block(nn.Layer):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.a, self.b = Factored(cin, cout, stride), Factored(cout, cout)
        self.skip = nn.Sequential(nn.Conv3D(cin, cout, 1, stride), nn.BatchNorm3D(cout)) if stride != 1 else None
        self.relu = nn.ReLU()

    def forward(self, x):
        identity = x if self.skip is None else self.skip(x)
        return self.relu(self.b(self.relu(self.a(x))) + identity)


model = nn.Sequential(
    nn.Conv3D(3, 16, (3, 7, 7), (1, 2, 2), (1, 3, 3)),
    nn.BatchNorm3D(16),
    nn.ReLU(),
    nn.MaxPool3D((1, 2, 2)),
    Block(16, 16, 1),
    Block(16, 32, 2),
    Block(32, 64, 2),
    nn.AdaptiveAvgPool3D(1),
    nn.Flatten(),
    nn.Linear(64, 10),
)
optimizer = paddle.optimizer.SGD(0.01, parameters=model.parameters(), weight_decay=1e-4)
loss_fn = nn.CrossEntropyLoss()
for clip in range(6):
    video, label = paddle.randn([4, 3, 8, 48, 48]), paddle.randint(0, 10, [4])
    loss = loss_fn(model(video), label)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
