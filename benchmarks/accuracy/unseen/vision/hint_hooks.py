# model: student with hints
# batch: 8
# optimizer: SGD
# feature: forward hooks, frozen teacher in eval mode, temperature
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

from paddle.vision.models import resnet18, resnet34

teacher, student = resnet34(num_classes=10), resnet18(num_classes=10)
teacher.eval()
kept = {}
teacher.layer2.register_forward_post_hook(lambda layer, inputs, output: kept.__setitem__("teacher", output))
student.layer2.register_forward_post_hook(lambda layer, inputs, output: kept.__setitem__("student", output))
regressor = nn.Conv2D(128, 128, 1)
optimizer = paddle.optimizer.SGD(0.05, parameters=student.parameters() + regressor.parameters(), weight_decay=5e-4)
for step in range(6):
    images, labels = paddle.randn([8, 3, 64, 64]), paddle.randint(0, 10, [8])
    with paddle.no_grad():
        soft = F.softmax(teacher(images) / 4.0, -1)
    logits = student(images)
    distilled = F.kl_div(F.log_softmax(logits / 4.0, -1), soft, reduction="batchmean") * 16
    hint = F.mse_loss(regressor(kept["student"]), kept["teacher"])
    loss = F.cross_entropy(logits, labels) + distilled + hint
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
