# model: AlexNet
# batch: 4
# optimizer: Momentum
# feature: Nesterov, dropout, step decay
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from paddle.vision.models import alexnet

model = alexnet(num_classes=20)
rate = paddle.optimizer.lr.MultiStepDecay(0.01, milestones=[3, 5])
optimizer = paddle.optimizer.Momentum(
    rate, momentum=0.9, use_nesterov=True, parameters=model.parameters(), weight_decay=1e-4
)
for step in range(6):
    images, labels = paddle.randn([4, 3, 224, 224]), paddle.randint(0, 20, [4])
    loss = nn.CrossEntropyLoss()(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    rate.step()
