# model: SimCLR
# batch: 16
# optimizer: Momentum
# feature: two views, normalised similarities, masked diagonal
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from paddle.vision.models import resnet18

encoder = resnet18(num_classes=0, with_pool=True)
projector = nn.Sequential(nn.Flatten(), nn.Linear(512, 256), nn.BatchNorm1D(256), nn.ReLU(), nn.Linear(256, 64))
model = nn.Sequential(encoder, projector)
optimizer = paddle.optimizer.Momentum(0.3, parameters=model.parameters(), weight_decay=1e-6)
for step in range(6):
    images = paddle.randn([16, 3, 48, 48])
    first = images + 0.1 * paddle.randn(images.shape)
    second = paddle.flip(images, axis=[3])
    z = F.normalize(model(paddle.concat([first, second])), axis=1)
    similarity = paddle.matmul(z, z, transpose_y=True) / 0.2
    similarity = similarity - 1e9 * paddle.eye(32)
    target = paddle.concat([paddle.arange(16, 32), paddle.arange(0, 16)])
    loss = F.cross_entropy(similarity, target)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
