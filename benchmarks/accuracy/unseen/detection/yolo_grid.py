# model: one-stage detector
# batch: 4
# optimizer: Momentum
# feature: anchors, IoU loss, gathered cells, focal objectness
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        layers, inside = [], 3
        for width in (16, 32, 64, 64):
            layers += [nn.Conv2D(inside, width, 3, stride=2, padding=1), nn.BatchNorm2D(width), nn.LeakyReLU(0.1)]
            inside = width
        self.body, self.head = nn.Sequential(*layers), nn.Conv2D(64, 3 * 9, 1)

    def forward(self, x):
        y = self.head(self.body(x))
        return y.reshape([x.shape[0], 3, 9, y.shape[2], y.shape[3]]).transpose([0, 1, 3, 4, 2])


model = Net()
optimizer = paddle.optimizer.Momentum(1e-2, parameters=model.parameters(), weight_decay=5e-4)
grid_y, grid_x = paddle.meshgrid(paddle.arange(8, dtype="float32"), paddle.arange(8, dtype="float32"))
anchors = paddle.to_tensor([[1.0, 1.5], [2.0, 2.0], [3.0, 4.0]]).reshape([1, 3, 1, 1, 2])
for step in range(6):
    out = model(paddle.rand([4, 3, 128, 128]))
    centre = F.sigmoid(out[..., :2]) + paddle.stack([grid_x, grid_y], -1)
    size = paddle.exp(paddle.clip(out[..., 2:4], -4, 4)) * anchors
    where = paddle.stack(
        [paddle.arange(4), paddle.randint(0, 3, [4]), paddle.randint(0, 8, [4]), paddle.randint(0, 8, [4])], 1
    )
    c, s = paddle.gather_nd(centre, where), paddle.gather_nd(size, where)
    tc, ts = paddle.rand([4, 2]) * 8, paddle.rand([4, 2]) * 3 + 0.5
    low, high = paddle.maximum(c - s / 2, tc - ts / 2), paddle.minimum(c + s / 2, tc + ts / 2)
    overlap = paddle.clip(high - low, min=0).prod(-1)
    iou = overlap / (s.prod(-1) + ts.prod(-1) - overlap + 1e-6)
    present = paddle.scatter_nd(where, paddle.ones([4]), [4, 3, 8, 8])
    objectness = F.sigmoid_focal_loss(out[..., 4], present, normalizer=paddle.to_tensor([4.0]))
    kind = F.cross_entropy(paddle.gather_nd(out[..., 5:], where), paddle.randint(0, 4, [4]))
    loss = (1 - iou).mean() + objectness + kind
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
