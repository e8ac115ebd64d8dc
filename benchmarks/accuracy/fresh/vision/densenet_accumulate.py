# model: DenseNet-121 growing slowly
# batch: 6
# optimizer: RMSProp
# feature: accumulation with clip, label smoothing
# summary: (6, 3, 72, 72)
import paddle
import paddle.nn.functional as F
from paddle.vision.models import DenseNet

model = DenseNet(layers=121, bn_size=2, dropout=0.1, num_classes=30)
clip = paddle.nn.ClipGradByGlobalNorm(clip_norm=5.0)
optimizer = paddle.optimizer.RMSProp(1e-3, momentum=0.9, centered=True, parameters=model.parameters(), grad_clip=clip)
accumulation_steps = 3
running = 0.0
for step in range(1, 16):
    x = paddle.uniform([6, 3, 72, 72])
    y = paddle.randint(0, 30, (6,))
    loss = F.cross_entropy(model(x), y, label_smoothing=0.1) / accumulation_steps
    loss.backward()
    running += loss.numpy()
    if step % accumulation_steps == 0:
        optimizer.step()
        optimizer.clear_grad()
        print(running)
        running = 0.0
