# model: SN-GAN
# batch: 16
# optimizer: Adam + Adam
# feature: spectral_norm, hinge loss, self-attention
# updates: 2
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.nn.utils import spectral_norm


class SelfAttention(nn.Layer):
    def __init__(self, c):
        super().__init__()
        self.f, self.g, self.h = nn.Conv2D(c, c // 8, 1), nn.Conv2D(c, c // 8, 1), nn.Conv2D(c, c, 1)
        self.gamma = self.create_parameter([1], default_initializer=nn.initializer.Constant(0.0))

    def forward(self, x):
        b, c, h, w = x.shape
        f, g, v = self.f(x).flatten(2), self.g(x).flatten(2), self.h(x).flatten(2)
        weights = F.softmax(paddle.bmm(f.transpose([0, 2, 1]), g), axis=-1)
        return x + self.gamma * paddle.bmm(v, weights.transpose([0, 2, 1])).reshape([b, c, h, w])


class G(nn.Layer):
    def __init__(self, c=32):
        super().__init__()
        self.fc = nn.Linear(64, c * 4 * 16)
        self.up = nn.LayerList(
            [
                nn.Sequential(nn.BatchNorm2D(a), nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2D(a, b, 3, padding=1))
                for a, b in ((4 * c, 2 * c), (2 * c, c), (c, c))
            ]
        )
        self.attention, self.out = SelfAttention(c), nn.Conv2D(c, 3, 3, padding=1)

    def forward(self, z):
        x = self.fc(z).reshape([z.shape[0], -1, 4, 4])
        x = self.up[1](self.up[0](x))
        return paddle.tanh(self.out(F.relu(self.up[2](self.attention(x)))))


class D(nn.Layer):
    def __init__(self, c=32):
        super().__init__()
        self.convs = nn.LayerList(
            [spectral_norm(nn.Conv2D(a, b, 4, 2, 1)) for a, b in ((3, c), (c, 2 * c), (2 * c, 4 * c))]
        )
        self.fc = spectral_norm(nn.Linear(4 * c * 16, 1))

    def forward(self, x):
        for conv in self.convs:
            x = F.leaky_relu(conv(x), 0.1)
        return self.fc(x.flatten(1))


g, d = G(), D()
opt_g = paddle.optimizer.Adam(1e-4, beta1=0.0, parameters=g.parameters())
opt_d = paddle.optimizer.Adam(4e-4, beta1=0.0, parameters=d.parameters())
for step in range(6):
    real = paddle.rand([16, 3, 32, 32]) * 2 - 1
    with paddle.no_grad():
        fake = g(paddle.randn([16, 64]))
    loss_d = F.relu(1.0 - d(real)).mean() + F.relu(1.0 + d(fake)).mean()
    loss_d.backward()
    opt_d.step()
    opt_d.clear_grad()
    loss_g = -d(g(paddle.randn([16, 64]))).mean()
    loss_g.backward()
    opt_g.step()
    opt_g.clear_grad()
    opt_d.clear_grad()
