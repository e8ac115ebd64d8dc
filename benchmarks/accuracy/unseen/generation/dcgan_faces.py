# model: DCGAN
# batch: 16
# optimizer: Adam
# feature: transposed convolutions, one real and one generated batch
# updates: 2
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

generator = nn.Sequential(
    nn.Conv2DTranspose(64, 96, 4, bias_attr=False),
    nn.BatchNorm2D(96),
    nn.ReLU(),
    nn.Conv2DTranspose(96, 48, 4, stride=2, padding=1, bias_attr=False),
    nn.BatchNorm2D(48),
    nn.ReLU(),
    nn.Conv2DTranspose(48, 24, 4, stride=2, padding=1, bias_attr=False),
    nn.BatchNorm2D(24),
    nn.ReLU(),
    nn.Conv2DTranspose(24, 3, 4, stride=2, padding=1),
    nn.Tanh(),
)
judge = nn.Sequential(
    nn.Conv2D(3, 24, 4, stride=2, padding=1),
    nn.LeakyReLU(0.2),
    nn.Conv2D(24, 48, 4, stride=2, padding=1, bias_attr=False),
    nn.BatchNorm2D(48),
    nn.LeakyReLU(0.2),
    nn.Conv2D(48, 96, 4, stride=2, padding=1, bias_attr=False),
    nn.BatchNorm2D(96),
    nn.LeakyReLU(0.2),
    nn.Conv2D(96, 1, 4),
    nn.Flatten(),
)
criterion = nn.BCEWithLogitsLoss()
d_optimizer = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=judge.parameters())
g_optimizer = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=generator.parameters())
for step in range(6):
    real = paddle.rand([16, 3, 32, 32])
    d_optimizer.clear_grad()
    real_loss = criterion(judge(real), paddle.ones([16, 1]))
    real_loss.backward()
    fake = generator(paddle.randn([16, 64, 1, 1]))
    fake_loss = criterion(judge(fake.detach()), paddle.zeros([16, 1]))
    fake_loss.backward()
    d_optimizer.step()
    g_optimizer.clear_grad()
    g_loss = criterion(judge(fake), paddle.ones([16, 1]))
    g_loss.backward()
    g_optimizer.step()
