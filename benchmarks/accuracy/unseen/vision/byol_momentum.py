# model: BYOL
# batch: 8
# optimizer: AdamW
# feature: momentum target, predictor, symmetric cosine loss
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

import copy

from paddle.vision.models import mobilenet_v2


def heads(width):
    return nn.Sequential(nn.Linear(width, 256), nn.BatchNorm1D(256), nn.ReLU(), nn.Linear(256, 64))


online = nn.Sequential(mobilenet_v2(scale=0.5, num_classes=0, with_pool=True), nn.Flatten(), heads(1280))
target = copy.deepcopy(online)
for parameter in target.parameters():
    parameter.stop_gradient = True
predictor = heads(64)
optimizer = paddle.optimizer.AdamW(1e-3, parameters=online.parameters() + predictor.parameters())
for step in range(6):
    a, b = paddle.randn([8, 3, 48, 48]), paddle.randn([8, 3, 48, 48])
    with paddle.no_grad():
        ta, tb = target(a), target(b)
    pa, pb = predictor(online(a)), predictor(online(b))
    loss = 4 - 2 * (F.cosine_similarity(pa, tb) + F.cosine_similarity(pb, ta)).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        for new, old in zip(online.parameters(), target.parameters()):
            old.set_value(0.99 * old + 0.01 * new)
