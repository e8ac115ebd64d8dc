# model: regression net
# batch: 4000
# optimizer: LBFGS
# feature: closure
# summary: (4000, 20)
import paddle
import paddle.nn as nn

paddle.seed(5)
x = paddle.randn([4000, 20])
y = (x[:, :5] * x[:, 5:10]).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = paddle.optimizer.LBFGS(learning_rate=0.5, max_iter=5, history_size=8, parameters=model.parameters())


def closure():
    optimizer.clear_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for epoch in range(6):
    loss = optimizer.step(closure)
    print(epoch, float(loss))
