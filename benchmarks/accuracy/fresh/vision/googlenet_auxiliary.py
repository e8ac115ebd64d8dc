# model: GoogLeNet
# batch: 4
# optimizer: Momentum
# feature: auxiliary losses, polynomial rate, L2
import paddle
import paddle.nn.functional as F
from paddle.vision.models import googlenet

paddle.seed(1)
model = googlenet(num_classes=17)
schedule = paddle.optimizer.lr.PolynomialDecay(learning_rate=0.01, decay_steps=200)
optimizer = paddle.optimizer.Momentum(schedule, 0.9, parameters=model.parameters(), weight_decay=2e-4)
for epoch in range(6):
    images, labels = paddle.randn([4, 3, 224, 224]), paddle.randint(0, 17, [4, 1])
    out, out1, out2 = model(images)
    loss = F.cross_entropy(out, labels) + 0.3 * F.cross_entropy(out1, labels) + 0.3 * F.cross_entropy(out2, labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    schedule.step()
    print(epoch, loss.item())
