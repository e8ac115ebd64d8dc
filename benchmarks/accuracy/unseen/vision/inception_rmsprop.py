# model: Inception v3
# batch: 2
# optimizer: RMSProp
# feature: centered, warm-up
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from paddle.vision.models import inception_v3

model = inception_v3(num_classes=7)
rate = paddle.optimizer.lr.LinearWarmup(0.045, warmup_steps=4, start_lr=0.0, end_lr=0.045)
optimizer = paddle.optimizer.RMSProp(
    rate, rho=0.9, epsilon=1.0, momentum=0.9, centered=True, parameters=model.parameters()
)
for step in range(6):
    images, labels = paddle.randn([2, 3, 107, 107]), paddle.randint(0, 7, [2, 1])
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    rate.step()
