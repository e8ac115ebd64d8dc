# model: DDPM U-Net
# batch: 8
# optimizer: AdamW
# feature: time embedding, attention, EMA
import copy
import math

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

T = 200
betas = paddle.linspace(1e-4, 0.02, T)
alphas_bar = paddle.cumprod(1 - betas, dim=0)


def time_embedding(t, dim):
    half = dim // 2
    freqs = paddle.exp(-math.log(10000) * paddle.arange(half, dtype="float32") / half)
    args = t.astype("float32").unsqueeze(1) * freqs.unsqueeze(0)
    return paddle.concat([paddle.sin(args), paddle.cos(args)], axis=-1)


class ResBlock(nn.Layer):
    def __init__(self, cin, cout, temb):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, cin), nn.Conv2D(cin, cout, 3, padding=1)
        self.emb = nn.Linear(temb, cout)
        self.norm2, self.conv2 = nn.GroupNorm(8, cout), nn.Conv2D(cout, cout, 3, padding=1)
        self.skip = nn.Conv2D(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.emb(F.silu(t))[:, :, None, None]
        h = self.conv2(F.dropout(F.silu(self.norm2(h)), 0.1, training=self.training))
        return h + self.skip(x)


class Attention(nn.Layer):
    def __init__(self, c):
        super().__init__()
        self.norm, self.qkv, self.proj = nn.GroupNorm(8, c), nn.Conv2D(c, 3 * c, 1), nn.Conv2D(c, c, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape([b, 3, c, h * w]).unbind(1)
        weights = F.softmax(paddle.einsum("bci,bcj->bij", q, k) * c**-0.5, axis=-1)
        out = paddle.einsum("bij,bcj->bci", weights, v).reshape([b, c, h, w])
        return x + self.proj(out)


class UNet(nn.Layer):
    def __init__(self, c=32):
        super().__init__()
        self.c = c
        self.time = nn.Sequential(nn.Linear(c, 4 * c), nn.Silu(), nn.Linear(4 * c, 4 * c))
        self.stem = nn.Conv2D(3, c, 3, padding=1)
        self.d1, self.down1 = ResBlock(c, c, 4 * c), nn.Conv2D(c, c, 3, 2, 1)
        self.d2, self.down2 = ResBlock(c, 2 * c, 4 * c), nn.Conv2D(2 * c, 2 * c, 3, 2, 1)
        self.mid1, self.attention, self.mid2 = (
            ResBlock(2 * c, 2 * c, 4 * c),
            Attention(2 * c),
            ResBlock(2 * c, 2 * c, 4 * c),
        )
        self.u2, self.u1 = ResBlock(4 * c, c, 4 * c), ResBlock(2 * c, c, 4 * c)
        self.out = nn.Sequential(nn.GroupNorm(8, c), nn.Silu(), nn.Conv2D(c, 3, 3, padding=1))

    def forward(self, x, t):
        t = self.time(time_embedding(t, self.c))
        h1 = self.d1(self.stem(x), t)
        h2 = self.d2(self.down1(h1), t)
        h = self.mid2(self.attention(self.mid1(self.down2(h2), t)), t)
        h = self.u2(paddle.concat([F.interpolate(h, scale_factor=2, mode="nearest"), h2], axis=1), t)
        h = self.u1(paddle.concat([F.interpolate(h, scale_factor=2, mode="nearest"), h1], axis=1), t)
        return self.out(h)


model = UNet()
ema = copy.deepcopy(model)
ema.eval()
for p in ema.parameters():
    p.stop_gradient = True
optimizer = paddle.optimizer.AdamW(2e-4, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
for step in range(6):
    x0 = paddle.rand([8, 3, 32, 32]) * 2 - 1
    t = paddle.randint(0, T, [8])
    noise = paddle.randn_like(x0) if hasattr(paddle, "randn_like") else paddle.randn(x0.shape)
    a = paddle.gather(alphas_bar, t).reshape([-1, 1, 1, 1])
    xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
    loss = F.mse_loss(model(xt, t), noise)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        for shadow, p in zip(ema.parameters(), model.parameters()):
            shadow.set_value(shadow * 0.995 + p * 0.005)
