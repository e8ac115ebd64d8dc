# model: first-order MAML
# batch: 5
# optimizer: Adam
# feature: inner steps by paddle.grad, functional forward, gradients added by hand
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def forward(x, weights):
    w1, b1, w2, b2 = weights
    return paddle.matmul(paddle.tanh(paddle.matmul(x, w1) + b1), w2) + b2


shapes = [[12, 64], [64], [64, 3], [3]]
weights = [paddle.create_parameter(shape, "float32") for shape in shapes]
optimizer = paddle.optimizer.Adam(1e-3, parameters=weights)
for step in range(6):
    total = [paddle.zeros(shape) for shape in shapes]
    for task in range(3):
        fast = [weight.detach() for weight in weights]
        for weight in fast:
            weight.stop_gradient = False
        for inner in range(2):
            loss = F.cross_entropy(forward(paddle.randn([25, 12]), fast), paddle.randint(0, 3, [25]))
            grads = paddle.grad(loss, fast)
            fast = [(weight - 0.1 * grad).detach() for weight, grad in zip(fast, grads)]
            for weight in fast:
                weight.stop_gradient = False
        loss = F.cross_entropy(forward(paddle.randn([25, 12]), fast), paddle.randint(0, 3, [25]))
        total = [one + grad for one, grad in zip(total, paddle.grad(loss, fast))]
    proxy = sum((weight * one.detach()).sum() for weight, one in zip(weights, total))
    proxy.backward()
    optimizer.step()
    optimizer.clear_grad()
