# model: SqueezeNet 1.0
# batch: 16
# optimizer: AdamW
# feature: cutmix, soft labels
# summary: (16, 3, 112, 112)
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.vision.models import squeezenet1_0

CLASSES = 12
model = squeezenet1_0(num_classes=CLASSES)
criterion = nn.CrossEntropyLoss(soft_label=True)
optimizer = paddle.optimizer.AdamW(learning_rate=3e-4, parameters=model.parameters(), weight_decay=0.05)


def cutmix(x, y, alpha=1.0):
    lam = np.random.beta(alpha, alpha)
    height, width = x.shape[2:]
    index = paddle.randperm(x.shape[0])
    x1, y1 = 20, 24
    x2, y2 = x1 + width // 4, y1 + height // 4
    x[:, :, y1:y2, x1:x2] = x[index][:, :, y1:y2, x1:x2]
    onehot = F.one_hot(y, CLASSES)
    return x, onehot * lam + onehot[index] * (1 - lam)


model.train()
for step in range(6):
    image = paddle.rand([16, 3, 112, 112])
    label = paddle.randint(0, CLASSES, [16])
    image, soft = cutmix(image, label)
    loss = criterion(model(image), soft)
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
