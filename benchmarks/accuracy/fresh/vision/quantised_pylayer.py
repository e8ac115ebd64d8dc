# model: binary-weight CNN
# batch: 32
# optimizer: RAdam
# feature: straight-through PyLayer
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.autograd import PyLayer


class Binarise(PyLayer):
    @staticmethod
    def forward(ctx, weight):
        ctx.save_for_backward(weight)
        return paddle.sign(weight) * weight.abs().mean()

    @staticmethod
    def backward(ctx, grad):
        (weight,) = ctx.saved_tensor()
        return grad * (weight.abs() <= 1).astype(grad.dtype)


class FakeQuant(PyLayer):
    @staticmethod
    def forward(ctx, x, bits):
        levels = 2**bits - 1
        clipped = paddle.clip(x, 0.0, 1.0)
        ctx.save_for_backward(x)
        return paddle.round(clipped * levels) / levels

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensor()
        inside = paddle.logical_and(x >= 0, x <= 1)
        return paddle.where(inside, grad, paddle.zeros_like(grad))


class BinaryConv(nn.Conv2D):
    def forward(self, x):
        return F.conv2d(FakeQuant.apply(x, 4), Binarise.apply(self.weight), self.bias, self._stride, self._padding)


model = nn.Sequential(
    nn.Conv2D(3, 32, 3, padding=1),
    nn.BatchNorm2D(32),
    nn.Hardtanh(),
    BinaryConv(32, 64, 3, stride=2, padding=1),
    nn.BatchNorm2D(64),
    nn.Hardtanh(),
    BinaryConv(64, 64, 3, stride=2, padding=1),
    nn.BatchNorm2D(64),
    nn.Hardtanh(),
    nn.AdaptiveMaxPool2D(1),
    nn.Flatten(),
    nn.Linear(64, 10),
)
optimizer = paddle.optimizer.RAdam(1e-3, parameters=model.parameters())
for step in range(6):
    loss = F.multi_margin_loss(model(paddle.randn([32, 3, 32, 32])), paddle.randint(0, 10, [32]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
