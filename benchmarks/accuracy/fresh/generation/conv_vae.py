# model: convolutional beta-VAE
# batch: 64
# optimizer: Adamax
# feature: reparametrisation
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class BetaVAE(nn.Layer):
    def __init__(self, latent=32):
        super().__init__()
        sizes = [3, 16, 32, 64]
        self.encoder = nn.Sequential(
            *[
                nn.Sequential(nn.Conv2D(a, b, 4, 2, 1), nn.BatchNorm2D(b), nn.LeakyReLU(0.1))
                for a, b in zip(sizes, sizes[1:])
            ]
        )
        self.stats = nn.Linear(64 * 4 * 4, 2 * latent)
        self.expand = nn.Linear(latent, 64 * 4 * 4)
        self.decoder = nn.Sequential(
            nn.Conv2DTranspose(64, 32, 4, 2, 1),
            nn.ReLU(),
            nn.Upsample(scale_factor=2, mode="nearest"),
            nn.Conv2D(32, 16, 3, padding=1),
            nn.ELU(),
            nn.Conv2DTranspose(16, 3, 3, 2, 1, output_padding=1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        mean, logvar = self.stats(self.encoder(x).flatten(1)).chunk(2, axis=-1)
        std = (0.5 * logvar).exp()
        z = mean + std * paddle.randn(std.shape)
        image = self.decoder(self.expand(z).reshape([-1, 64, 4, 4]))
        return image, mean, logvar


vae = BetaVAE()
optimizer = paddle.optimizer.Adamax(1e-3, parameters=vae.parameters())
dataset = paddle.rand([192, 3, 32, 32])
history = []
for epoch in range(4):
    for i in range(0, 192, 64):
        batch = dataset[i : i + 64]
        image, mean, logvar = vae(batch)
        reconstruction = F.mse_loss(image, batch, reduction="sum") / batch.shape[0]
        kl = -0.5 * (1 + logvar - mean.square() - logvar.exp()).sum(axis=1).mean()
        loss = reconstruction + 4.0 * kl
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        history.append((float(reconstruction), float(kl)))
