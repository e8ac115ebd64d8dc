# model: two-tower classifier
# batch: 32
# optimizer: AdamW
# feature: Model.fit with two inputs, InputSpec, metrics, evaluation
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

import numpy as np


class Pairs(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count

    def __getitem__(self, index):
        generator = np.random.default_rng(index)
        return (
            generator.normal(size=(3, 32, 32)).astype("float32"),
            generator.integers(0, 500, 20).astype("int64"),
            np.array([index % 4], dtype="int64"),
        )

    def __len__(self):
        return self.count


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.picture = nn.Sequential(
            nn.Conv2D(3, 16, 3, stride=2),
            nn.ReLU(),
            nn.Conv2D(16, 32, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2D(1),
            nn.Flatten(),
        )
        self.words, self.text = nn.Embedding(500, 32), nn.GRU(32, 32)
        self.head = nn.Linear(64, 4)

    def forward(self, picture, text):
        _, last = self.text(self.words(text))
        return self.head(paddle.concat([self.picture(picture), last[0]], axis=1))


specs = [
    paddle.static.InputSpec([None, 3, 32, 32], "float32", "picture"),
    paddle.static.InputSpec([None, 20], "int64", "text"),
]
model = paddle.Model(Model(), inputs=specs, labels=[paddle.static.InputSpec([None, 1], "int64", "label")])
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
model.prepare(optimizer, nn.CrossEntropyLoss(), paddle.metric.Accuracy())
model.fit(Pairs(640), Pairs(64), epochs=1, batch_size=32, verbose=0, shuffle=False)
