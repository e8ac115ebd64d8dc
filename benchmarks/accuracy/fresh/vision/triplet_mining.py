# model: siamese CNN
# batch: 48
# optimizer: Adam
# feature: batch-hard triplets
# summary: (48, 1, 40, 40)
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Embedder(nn.Layer):
    def __init__(self, dim=64):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 32, 5),
            nn.PReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(32, 64, 5),
            nn.PReLU(),
            nn.MaxPool2D(2, 2),
        )
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(64 * 7 * 7, 256), nn.PReLU(), nn.Linear(256, dim))

    def forward(self, x):
        return F.normalize(self.fc(self.features(x)), axis=1)


def batch_hard(embeddings, labels, margin=0.3):
    dot = paddle.matmul(embeddings, embeddings, transpose_y=True)
    square = paddle.diag(dot)
    distance = F.relu(square.unsqueeze(0) - 2.0 * dot + square.unsqueeze(1))
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    positive = paddle.where(same, distance, paddle.zeros_like(distance))
    negative = paddle.where(same, paddle.full_like(distance, 1e9), distance)
    hardest_positive = positive.max(axis=1)
    hardest_negative = negative.min(axis=1)
    return F.relu(hardest_positive - hardest_negative + margin).mean()


model = Embedder()
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
contrastive = nn.TripletMarginLoss(margin=1.0)
for i in range(6):
    images = paddle.rand([48, 1, 40, 40])
    labels = paddle.arange(48) // 4
    emb = model(images)
    anchors, positives, negatives = model(images[:16]), emb[16:32], emb[32:]
    loss = batch_hard(emb, labels) + 0.1 * contrastive(anchors, positives, negatives)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
