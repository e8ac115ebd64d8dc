# model: DeepSpeech-like
# batch: 8
# optimizer: Adam
# feature: CTC, 2-D front, variable lengths
import numpy as np
import paddle
import paddle.nn as nn


class Speech(nn.Layer):
    def __init__(self, features=64, classes=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2D(1, 16, (11, 5), stride=(2, 2), padding=(5, 2)),
            nn.BatchNorm2D(16),
            nn.Hardtanh(0, 20),
            nn.Conv2D(16, 16, (11, 5), stride=(2, 1), padding=(5, 2)),
            nn.BatchNorm2D(16),
            nn.Hardtanh(0, 20),
        )
        self.rnn = nn.LSTM(16 * features // 4, 160, num_layers=2, direction="bidirect", time_major=True)
        self.norm = nn.LayerNorm(320)
        self.head = nn.Linear(320, classes)

    def forward(self, x):
        x = self.conv(x.unsqueeze(1))
        b, c, f, t = x.shape
        x = x.reshape([b, c * f, t]).transpose([2, 0, 1])
        x, _ = self.rnn(x)
        return self.head(self.norm(x))


model = Speech()
ctc = nn.CTCLoss(blank=0, reduction="mean")
optimizer = paddle.optimizer.Adam(3e-4, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(3.0))
rng = np.random.default_rng(0)
for step in range(6):
    spectrogram = paddle.to_tensor(rng.standard_normal((8, 64, 200)).astype("float32"))
    texts = paddle.to_tensor(rng.integers(1, 32, (8, 25)).astype("int32"))
    log_probs = model(spectrogram)
    input_lengths = paddle.full([8], log_probs.shape[0], dtype="int64")
    label_lengths = paddle.to_tensor(rng.integers(10, 26, 8).astype("int64"))
    loss = ctc(log_probs, texts, input_lengths, label_lengths)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
