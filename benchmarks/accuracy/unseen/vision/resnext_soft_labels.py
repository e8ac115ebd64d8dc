# model: ResNeXt-50 32x4d
# batch: 4
# optimizer: SGD
# feature: soft labels, clip by value
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from paddle.vision.models import resnext50_32x4d

model = resnext50_32x4d(num_classes=12)
optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters(), grad_clip=nn.ClipGradByValue(0.5))
for step in range(6):
    images, labels = paddle.randn([4, 3, 64, 64]), paddle.randint(0, 12, [4])
    soft = F.label_smooth(F.one_hot(labels, 12), epsilon=0.1)
    loss = F.cross_entropy(model(images), soft, soft_label=True)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
