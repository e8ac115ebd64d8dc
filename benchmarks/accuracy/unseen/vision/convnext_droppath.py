# model: ConvNeXt-like
# batch: 8
# optimizer: AdamW
# feature: depthwise 7x7, channels-last norm, drop path
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Block(nn.Layer):
    def __init__(self, dim, drop):
        super().__init__()
        self.drop = drop
        self.depthwise = nn.Conv2D(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, epsilon=1e-6)
        self.grow, self.shrink = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.scale = self.create_parameter([dim], default_initializer=nn.initializer.Constant(1e-6))

    def forward(self, x):
        y = self.depthwise(x).transpose([0, 2, 3, 1])
        y = self.scale * self.shrink(F.gelu(self.grow(self.norm(y))))
        y = y.transpose([0, 3, 1, 2])
        if self.training and self.drop > 0:
            keep = paddle.floor(1 - self.drop + paddle.rand([x.shape[0], 1, 1, 1]))
            y = y / (1 - self.drop) * keep
        return x + y


class Model(nn.Layer):
    def __init__(self, dims=(24, 48, 96)):
        super().__init__()
        self.stem = nn.Conv2D(3, dims[0], 4, stride=4)
        stages = []
        for i, dim in enumerate(dims):
            if i:
                stages.append(nn.Conv2D(dims[i - 1], dim, 2, stride=2))
            stages += [Block(dim, 0.1 * i), Block(dim, 0.1 * i)]
        self.stages = nn.Sequential(*stages)
        self.norm, self.head = nn.LayerNorm(dims[-1]), nn.Linear(dims[-1], 10)

    def forward(self, x):
        return self.head(self.norm(self.stages(self.stem(x)).mean([2, 3])))


model = Model()
optimizer = paddle.optimizer.AdamW(4e-3, parameters=model.parameters(), weight_decay=0.05)
for step in range(6):
    loss = F.cross_entropy(model(paddle.randn([8, 3, 96, 96])), paddle.randint(0, 10, [8]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
