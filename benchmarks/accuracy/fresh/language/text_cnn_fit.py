# model: TextCNN
# batch: 32
# optimizer: Adam
# feature: Model.fit, ParamAttr with regularizer, Precision and Recall
import numpy as np
import paddle
import paddle.nn as nn


class Reviews(paddle.io.Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.tokens, self.labels = rng.integers(0, 8000, (count, 120)), rng.integers(0, 2, (count, 1))

    def __getitem__(self, i):
        return self.tokens[i], self.labels[i].astype("float32")

    def __len__(self):
        return len(self.tokens)


class TextCNN(nn.Layer):
    def __init__(self, dim=100, filters=64):
        super().__init__()
        self.embedding = nn.Embedding(8000, dim, padding_idx=0)
        decay = paddle.ParamAttr(
            regularizer=paddle.regularizer.L2Decay(1e-3), initializer=nn.initializer.KaimingNormal()
        )
        self.convs = nn.LayerList([nn.Conv2D(1, filters, (k, dim), weight_attr=decay) for k in (3, 4, 5)])
        self.dropout = nn.Dropout(0.5)
        self.fc = nn.Linear(3 * filters, 1, weight_attr=paddle.ParamAttr(learning_rate=0.5))

    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(1)
        pooled = [nn.functional.relu(conv(x)).squeeze(3).max(axis=2) for conv in self.convs]
        return nn.functional.sigmoid(self.fc(self.dropout(paddle.concat(pooled, axis=1))))


model = paddle.Model(TextCNN())
model.prepare(
    paddle.optimizer.Adam(5e-4, parameters=model.parameters()),
    nn.BCELoss(),
    [paddle.metric.Precision(), paddle.metric.Recall()],
)
train = paddle.io.DataLoader(Reviews(640), batch_size=32, shuffle=True)
model.fit(train, epochs=1, verbose=0, log_freq=10)
