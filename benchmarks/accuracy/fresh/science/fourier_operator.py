# model: Fourier neural operator
# batch: 8
# optimizer: AdamW
# feature: rfft2, complex weights, einsum
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Spectral(nn.Layer):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        init = nn.initializer.Uniform(-0.02, 0.02)
        self.real = self.create_parameter([width, width, modes, modes], default_initializer=init)
        self.imag = self.create_parameter([width, width, modes, modes], default_initializer=init)

    def forward(self, x):
        b, c, h, w = x.shape
        spectrum = paddle.fft.rfft2(x)
        low = spectrum[:, :, : self.modes, : self.modes]
        a, d = low.real(), low.imag()
        re = paddle.einsum("bixy,ioxy->boxy", a, self.real) - paddle.einsum("bixy,ioxy->boxy", d, self.imag)
        im = paddle.einsum("bixy,ioxy->boxy", a, self.imag) + paddle.einsum("bixy,ioxy->boxy", d, self.real)
        pad = [0, w // 2 + 1 - self.modes, 0, h - self.modes]
        out = paddle.complex(F.pad(re, pad), F.pad(im, pad))
        return paddle.fft.irfft2(out, s=[h, w])


class FNO(nn.Layer):
    def __init__(self, width=24, modes=8, depth=3):
        super().__init__()
        self.lift = nn.Linear(3, width)
        self.spectral = nn.LayerList([Spectral(width, modes) for _ in range(depth)])
        self.local = nn.LayerList([nn.Conv2D(width, width, 1) for _ in range(depth)])
        self.project = nn.Sequential(nn.Linear(width, 96), nn.GELU(), nn.Linear(96, 1))

    def forward(self, x):
        x = self.lift(x).transpose([0, 3, 1, 2])
        for spectral, local in zip(self.spectral, self.local):
            x = F.gelu(spectral(x) + local(x))
        return self.project(x.transpose([0, 2, 3, 1]))


model = FNO()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters(), weight_decay=1e-4)
for step in range(6):
    a, u = paddle.rand([8, 32, 32, 3]), paddle.rand([8, 32, 32, 1])
    out = model(a)
    difference = paddle.norm((out - u).flatten(1), p=2, axis=1) / paddle.norm(u.flatten(1), p=2, axis=1)
    loss = difference.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
