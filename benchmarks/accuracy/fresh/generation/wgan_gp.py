# model: WGAN-GP
# batch: 32
# optimizer: Adam + Adam
# feature: gradient penalty, several critic steps
# updates: 4
import paddle
import paddle.nn as nn

paddle.seed(3)
G = nn.Sequential(
    nn.Linear(48, 256 * 4 * 4),
    nn.Unflatten(1, [256, 4, 4]),
    nn.Conv2DTranspose(256, 128, 4, 2, 1),
    nn.BatchNorm2D(128),
    nn.ReLU(),
    nn.Conv2DTranspose(128, 64, 4, 2, 1),
    nn.BatchNorm2D(64),
    nn.ReLU(),
    nn.Conv2DTranspose(64, 1, 4, 2, 1),
    nn.Tanh(),
)
D = nn.Sequential(
    nn.Conv2D(1, 64, 4, 2, 1),
    nn.LeakyReLU(0.2),
    nn.Conv2D(64, 128, 4, 2, 1),
    nn.LeakyReLU(0.2),
    nn.Conv2D(128, 1, 8),
)
opt_g = paddle.optimizer.Adam(1e-4, beta1=0.0, beta2=0.9, parameters=G.parameters())
opt_d = paddle.optimizer.Adam(1e-4, beta1=0.0, beta2=0.9, parameters=D.parameters())


def penalty(real, fake):
    mix = paddle.rand([real.shape[0], 1, 1, 1])
    between = mix * real + (1 - mix) * fake
    between.stop_gradient = False
    score = D(between)
    grads = paddle.grad(
        outputs=score, inputs=between, grad_outputs=paddle.ones_like(score), create_graph=True, retain_graph=True
    )[0]
    norm = paddle.sqrt(paddle.sum(grads.reshape([grads.shape[0], -1]) ** 2, axis=1) + 1e-12)
    return ((norm - 1) ** 2).mean()


for iteration in range(8):
    for _ in range(3):
        real = paddle.rand([32, 1, 32, 32]) * 2 - 1
        fake = G(paddle.randn([32, 48])).detach()
        d_loss = D(fake).mean() - D(real).mean() + 10.0 * penalty(real, fake)
        opt_d.clear_grad()
        d_loss.backward()
        opt_d.step()
    g_loss = -D(G(paddle.randn([32, 48]))).mean()
    opt_g.clear_grad()
    g_loss.backward()
    opt_g.step()
