# model: CycleGAN
# batch: 2
# optimizer: Adam + Adam
# feature: four networks, image pool
# updates: 2
import itertools
import random

import paddle
import paddle.nn as nn


class Residual(nn.Layer):
    def __init__(self, c):
        super().__init__()
        self.block = nn.Sequential(
            nn.Pad2D(1, mode="reflect"),
            nn.Conv2D(c, c, 3),
            nn.InstanceNorm2D(c),
            nn.ReLU(),
            nn.Pad2D(1, mode="reflect"),
            nn.Conv2D(c, c, 3),
            nn.InstanceNorm2D(c),
        )

    def forward(self, x):
        return x + self.block(x)


def generator(c=24):
    return nn.Sequential(
        nn.Pad2D(3, mode="reflect"),
        nn.Conv2D(3, c, 7),
        nn.InstanceNorm2D(c),
        nn.ReLU(),
        nn.Conv2D(c, 2 * c, 3, 2, 1),
        nn.InstanceNorm2D(2 * c),
        nn.ReLU(),
        *[Residual(2 * c) for _ in range(3)],
        nn.Conv2DTranspose(2 * c, c, 3, 2, 1, output_padding=1),
        nn.InstanceNorm2D(c),
        nn.ReLU(),
        nn.Pad2D(3, mode="reflect"),
        nn.Conv2D(c, 3, 7),
        nn.Tanh(),
    )


def discriminator(c=24):
    return nn.Sequential(
        nn.Conv2D(3, c, 4, 2, 1),
        nn.LeakyReLU(0.2),
        nn.Conv2D(c, 2 * c, 4, 2, 1),
        nn.InstanceNorm2D(2 * c),
        nn.LeakyReLU(0.2),
        nn.Conv2D(2 * c, 1, 4, 1, 1),
    )


G_AB, G_BA, D_A, D_B = generator(), generator(), discriminator(), discriminator()
opt_G = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=list(itertools.chain(G_AB.parameters(), G_BA.parameters())))
opt_D = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=list(itertools.chain(D_A.parameters(), D_B.parameters())))
gan_loss, l1 = nn.MSELoss(), nn.L1Loss()


def adversarial(prediction, real):
    return gan_loss(prediction, paddle.full_like(prediction, 1.0 if real else 0.0))


for step in range(6):
    real_A, real_B = paddle.randn([2, 3, 64, 64]), paddle.randn([2, 3, 64, 64])
    fake_B, fake_A = G_AB(real_A), G_BA(real_B)
    cycle_A, cycle_B = G_BA(fake_B), G_AB(fake_A)
    for p in itertools.chain(D_A.parameters(), D_B.parameters()):
        p.stop_gradient = True
    loss_G = adversarial(D_B(fake_B), True) + adversarial(D_A(fake_A), True)
    loss_G = (
        loss_G
        + 10 * (l1(cycle_A, real_A) + l1(cycle_B, real_B))
        + 5 * (l1(G_BA(real_A), real_A) + l1(G_AB(real_B), real_B))
    )
    opt_G.clear_grad()
    loss_G.backward()
    opt_G.step()
    for p in itertools.chain(D_A.parameters(), D_B.parameters()):
        p.stop_gradient = False
    loss_D_A = (adversarial(D_A(real_A), True) + adversarial(D_A(fake_A.detach()), False)) * 0.5
    loss_D_B = (adversarial(D_B(real_B), True) + adversarial(D_B(fake_B.detach()), False)) * 0.5
    opt_D.clear_grad()
    loss_D_A.backward()
    loss_D_B.backward()
    opt_D.step()
