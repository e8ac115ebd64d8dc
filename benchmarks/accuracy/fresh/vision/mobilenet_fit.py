# model: MobileNetV3 small x0.75
# batch: 16
# optimizer: Momentum
# feature: Model.fit with metrics and rate callback
# summary: (16, 3, 64, 64)
import numpy as np
import paddle
from paddle.vision import transforms as T
from paddle.vision.models import mobilenet_v3_small


class Pictures(paddle.io.Dataset):
    def __init__(self, count):
        self.count = count
        self.transform = T.Compose([T.ToTensor(), T.Normalize([0.5] * 3, [0.5] * 3)])

    def __getitem__(self, index):
        picture = np.full((64, 64, 3), index % 255, dtype="uint8")
        return self.transform(picture), np.array([index % 6], dtype="int64")

    def __len__(self):
        return self.count


model = mobilenet_v3_small(scale=0.75, num_classes=6)
net = paddle.Model(model)
scheduler = paddle.optimizer.lr.StepDecay(0.05, step_size=4)
net.prepare(
    paddle.optimizer.Momentum(scheduler, parameters=net.parameters(), weight_decay=paddle.regularizer.L2Decay(4e-5)),
    paddle.nn.CrossEntropyLoss(),
    [paddle.metric.Accuracy(topk=(1, 3))],
)
net.fit(
    Pictures(320),
    Pictures(32),
    batch_size=16,
    epochs=2,
    verbose=0,
    callbacks=[paddle.callbacks.LRScheduler(by_step=True), paddle.callbacks.EarlyStopping("loss")],
)
