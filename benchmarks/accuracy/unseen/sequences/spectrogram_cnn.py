# model: keyword spotting
# batch: 8
# optimizer: NAdam
# feature: short-time Fourier transform, log magnitude, 2-D convolutions
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", paddle.audio.functional.get_window("hann", 256, dtype="float32"))
        self.body = nn.Sequential(
            nn.Conv2D(1, 16, 3, stride=2),
            nn.ReLU(),
            nn.Conv2D(16, 32, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2D(4),
            nn.Flatten(),
        )
        self.head = nn.Linear(32 * 16, 12)

    def forward(self, wave):
        spectrum = paddle.signal.stft(wave, 256, hop_length=128, window=self.window)
        power = paddle.log(spectrum.abs() ** 2 + 1e-6)
        return self.head(self.body(power.unsqueeze(1)))


model = Model()
optimizer = paddle.optimizer.NAdam(1e-3, parameters=model.parameters())
for step in range(6):
    loss = F.cross_entropy(model(paddle.randn([8, 8000])), paddle.randint(0, 12, [8]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
