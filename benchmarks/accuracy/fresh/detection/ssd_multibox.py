# model: SSD-like
# batch: 8
# optimizer: Momentum
# feature: hard negative mining by sorting
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


def conv(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2D(cin, cout, 3, stride, 1, bias_attr=False), nn.BatchNorm2D(cout), nn.ReLU())


class SSD(nn.Layer):
    def __init__(self, classes=6, boxes=4):
        super().__init__()
        self.classes = classes
        self.stages = nn.LayerList(
            [
                nn.Sequential(conv(3, 16, 2), conv(16, 32, 2), conv(32, 64)),
                nn.Sequential(conv(64, 96, 2), conv(96, 96)),
                conv(96, 128, 2),
            ]
        )
        self.loc = nn.LayerList([nn.Conv2D(c, boxes * 4, 3, padding=1) for c in (64, 96, 128)])
        self.conf = nn.LayerList([nn.Conv2D(c, boxes * classes, 3, padding=1) for c in (64, 96, 128)])

    def forward(self, x):
        locs, confs = [], []
        for stage, loc, conf in zip(self.stages, self.loc, self.conf):
            x = stage(x)
            locs.append(paddle.flatten(loc(x).transpose([0, 2, 3, 1]), 1))
            confs.append(paddle.flatten(conf(x).transpose([0, 2, 3, 1]), 1))
        b = x.shape[0]
        return paddle.concat(locs, 1).reshape([b, -1, 4]), paddle.concat(confs, 1).reshape([b, -1, self.classes])


class MultiBoxLoss(nn.Layer):
    def forward(self, loc, conf, loc_t, conf_t):
        positive = conf_t > 0
        mask = positive.unsqueeze(-1).expand_as(loc).astype("float32")
        loss_l = (F.smooth_l1_loss(loc, loc_t, reduction="none") * mask).sum()
        ce = F.cross_entropy(conf.reshape([-1, conf.shape[-1]]), conf_t.reshape([-1]), reduction="none").reshape(
            conf_t.shape
        )
        negative = paddle.where(positive, paddle.zeros_like(ce), ce.detach())
        rank = negative.argsort(1, descending=True).argsort(1)
        wanted = paddle.clip(3 * positive.astype("int64").sum(1, keepdim=True), max=conf_t.shape[1] - 1)
        chosen = paddle.logical_or(positive, rank < wanted).astype("float32")
        return (loss_l + (ce * chosen).sum()) / positive.astype("float32").sum()


model, criterion = SSD(), MultiBoxLoss()
optimizer = paddle.optimizer.Momentum(1e-3, 0.9, parameters=model.parameters(), weight_decay=5e-4)
for step in range(6):
    image = paddle.randn([8, 3, 128, 128])
    loc, conf = model(image)
    target = paddle.randint(0, 30, conf.shape[:2])
    target = paddle.where(target < 6, target, paddle.zeros_like(target))
    loss = criterion(loc, conf, paddle.randn(loc.shape), target)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
