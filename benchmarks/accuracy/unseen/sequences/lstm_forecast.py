# model: stacked LSTM
# batch: 32
# optimizer: Adam
# feature: DataLoader over windows, ReduceOnPlateau, dropout between layers
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

import numpy as np

series = np.sin(np.arange(2000) / 20).astype("float32")


class Windows(paddle.io.Dataset):
    def __getitem__(self, index):
        return series[index : index + 48, None], series[index + 48 : index + 60]

    def __len__(self):
        return 600


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 48, num_layers=2, dropout=0.2)
        self.head = nn.Linear(48, 12)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1])


model = Model()
rate = paddle.optimizer.lr.ReduceOnPlateau(1e-3, patience=2)
optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters())
loader = paddle.io.DataLoader(Windows(), batch_size=32, shuffle=True, drop_last=True)
for epoch in range(2):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        total += float(loss)
    rate.step(total / len(loader))
