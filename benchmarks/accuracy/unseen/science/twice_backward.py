# model: shared trunk
# batch: 32
# optimizer: Adamax
# feature: retain_graph, two losses backward apart, kept histories
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

trunk = nn.Sequential(
    nn.Conv1D(8, 32, 5, padding=2),
    nn.ReLU(),
    nn.Conv1D(32, 32, 5, padding=2),
    nn.ReLU(),
    nn.AdaptiveMaxPool1D(8),
    nn.Flatten(),
)
first, second = nn.Linear(256, 3), nn.Linear(256, 1)
optimizer = paddle.optimizer.Adamax(1e-3, parameters=trunk.parameters() + first.parameters() + second.parameters())
history = []
for step in range(8):
    shared = trunk(paddle.randn([32, 8, 120]))
    kind = F.cross_entropy(first(shared), paddle.randint(0, 3, [32]))
    value = F.smooth_l1_loss(second(shared), paddle.randn([32, 1]))
    kind.backward(retain_graph=True)
    value.backward()
    optimizer.step()
    optimizer.clear_grad()
    history.append(kind.detach() + value.detach())
