# model: ShuffleNetV2 swish
# batch: 24
# optimizer: Momentum
# feature: mixup, cosine rate with warm-up
# summary: (24, 3, 80, 80)
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle.vision.models import shufflenet_v2_swish

np.random.seed(0)
model = shufflenet_v2_swish(num_classes=20)
cosine = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=50)
rate = paddle.optimizer.lr.LinearWarmup(cosine, warmup_steps=5, start_lr=0.0, end_lr=0.1)
opt = paddle.optimizer.Momentum(learning_rate=rate, momentum=0.9, parameters=model.parameters(), use_nesterov=True)
data = paddle.randn([96, 3, 80, 80])
target = paddle.randint(0, 20, [96])
for step in range(6):
    idx = paddle.randperm(96)[:24]
    x, y = data[idx], target[idx]
    lam = float(np.random.beta(0.2, 0.2))
    perm = paddle.randperm(x.shape[0])
    mixed = lam * x + (1 - lam) * x[perm]
    logits = model(mixed)
    loss = lam * F.cross_entropy(logits, y) + (1 - lam) * F.cross_entropy(logits, y[perm])
    loss.backward()
    opt.step()
    opt.clear_grad()
    rate.step()
