# model: 3-D U-Net
# batch: 2
# optimizer: Adam
# feature: dice loss, instance norm, trilinear upsampling
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def block(a, b):
    return nn.Sequential(
        nn.Conv3D(a, b, 3, padding=1),
        nn.InstanceNorm3D(b),
        nn.LeakyReLU(),
        nn.Conv3D(b, b, 3, padding=1),
        nn.LeakyReLU(),
    )


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = block(1, 8), block(8, 16), block(16, 32)
        self.pool = nn.MaxPool3D(2)
        self.up = nn.Upsample(scale_factor=[2, 2, 2], mode="trilinear", data_format="NCDHW")
        self.up2, self.up1, self.head = block(48, 16), block(24, 8), nn.Conv3D(8, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.up(self.middle(self.pool(b)))
        d = self.up2(paddle.concat([c, b], axis=1))
        return self.head(self.up1(paddle.concat([self.up(d), a], axis=1)))


model = Model()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
for step in range(6):
    volume, mask = paddle.randn([2, 1, 16, 32, 32]), paddle.randint(0, 2, [2, 16, 32, 32])
    probability = F.softmax(model(volume), axis=1)
    target = F.one_hot(mask, 2).transpose([0, 4, 1, 2, 3])
    overlap = (probability * target).sum([2, 3, 4])
    loss = 1 - (2 * overlap / (probability.sum([2, 3, 4]) + target.sum([2, 3, 4]) + 1e-5)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
