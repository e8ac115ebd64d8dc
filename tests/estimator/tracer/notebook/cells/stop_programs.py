"""Programs that Paddle or Python refuses, and the parts that they are made of."""

import numpy as np
from packaging.version import Version

NET = """
import numpy as np, paddle, paddle.nn.functional as F
from paddle import nn
net = nn.{net}
opt = paddle.optimizer.Adam(parameters=net.parameters())
x = {x}
for step in range(4):
    loss = {loss}
    loss.backward()
    opt.step()
    opt.clear_grad()
    {after}
"""


def training(net="Linear(4, 2)", x="paddle.rand([4, 4])", loss="net(x).mean()", after="pass", behind=""):
    return NET.format(net=net, x=x, loss=loss, after=after) + behind


CHANNELS = """
import paddle
from paddle import nn
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(3, 16, 3)
        self.second = nn.Conv2D(32, 64, 3)
        self.norm = nn.BatchNorm2D(64)
        self.head = nn.Linear(64, 10)
    def forward(self, x):
        x = self.first(x)
        x = self.second(x)
        x = self.norm(x)
        return self.head(x.mean([2, 3]))
net = Net()
opt = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(4):
    loss = net(paddle.rand([4, 3, 32, 32])).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
NODES = "[paddle.nonzero(net(x).sum(1) > -9).flatten()]"
SELECTED = {
    "a product of rows that a condition selects": training(
        "Linear(4, 4)", loss=f"(net(x){NODES} @ paddle.ones([5, 3])).mean()"
    ),
    "labels of rows that a condition selects": training(
        "Linear(4, 4)", loss=f"F.cross_entropy(net(x){NODES}, paddle.ones([3, 5, 6]))"
    ),
}
"""Faults that do not hang on how many rows are selected."""
INDICES = {
    "index_select": "paddle.index_select(net(x), paddle.to_tensor([-6, 1]))",
    "gather": "paddle.gather(net(x), paddle.to_tensor([1, 9]))",
    "gather of columns": "paddle.gather(net(x), paddle.to_tensor([-7, 1]), axis=1)",
    "gather_nd": "paddle.gather_nd(net(x), paddle.to_tensor([[1, 0], [2, 9]]))",
    "index_sample": "paddle.index_sample(net(x), paddle.to_tensor([[9], [1], [1], [1]]))",
    "index_add": "paddle.index_add(net(x), paddle.to_tensor([9]), 0, paddle.ones([1, 2]))",
    "scatter": "paddle.scatter(net(x), paddle.to_tensor([9]), paddle.ones([1, 2]))",
    "scatter before the first": "paddle.scatter(net(x), paddle.to_tensor([-9]), paddle.ones([1, 2]))",
    "take_along_axis": "paddle.take_along_axis(net(x), paddle.to_tensor([[9, 0]]), 0)",
    "put_along_axis": "paddle.put_along_axis(net(x), paddle.to_tensor([[9, 0]]), 1.0, 0)",
    "nodes": "paddle.geometric.send_u_recv(net(x), paddle.to_tensor([9]), paddle.to_tensor([0]))",
    "smoothed classes": "F.cross_entropy(net(x), paddle.to_tensor([0, 1, 1, 12]), label_smoothing=0.1)",
}
ORDERED = {
    "more than there are": "paddle.topk(net(x), 9)[0]",
    "more than there are in a row": "paddle.topk(net(x), 5)[0]",
    "none of the largest by a tensor": "paddle.topk(net(x), paddle.to_tensor(0))[0]",
    "more than there are by a tensor": "paddle.topk(net(x), paddle.to_tensor(5))[0]",
    "none of the largest": "paddle.topk(net(x), 0)[0]",
    "largest along no axis": "paddle.topk(net(x), 1, axis=4)[0]",
    "largest of truths": "paddle.topk(net(x) > 0, 2)[0].astype('float32')",
    "smallest beyond the last": "paddle.kthvalue(net(x), 9)[0]",
    "smallest of a number": "paddle.kthvalue(net(x).mean(), 2)[0]",
    "mode of short integers": "paddle.mode(net(x).astype('int16'))[0].astype('float32')",
    "mode along no axis": "paddle.mode(net(x), axis=-4)[0]",
    "order along no axis": "paddle.sort(net(x), axis=5)",
    "order of truths": "(net(x) > 0).argsort(-1).astype('float32')",
}
MADE = {
    "labels with wrong bounds": "F.cross_entropy(net(x), paddle.randint(5, 0, [4]))",
    "a bound that is no integer": "F.cross_entropy(net(x), paddle.randint(1.5, 4, [4]))",
    "a negative size": "paddle.randn([4, -4]).mean()",
    "a negative size of zeros": "paddle.zeros([4, -4]).mean()",
    "steps of nothing": "paddle.arange(1, 5, 0).mean()",
    "a shape in words": "paddle.ones('four').mean()",
}
CELLS = "import paddle\n#---\nnet = paddle.nn.Linear(4, 2)\n#---\n" + training(x="paddle.rand([4, 5])")

REFUSED = {
    "labels of accuracy": training(loss="net(x).mean() + paddle.metric.accuracy(net(x), paddle.ones([2, 2], 'int64'))"),
    "level of mixed precision": training(x="paddle.rand([4, 4])\n    with paddle.amp.auto_cast(level='O3'): pass"),
    "type of mixed precision": training(x="paddle.rand([4, 4])\n    with paddle.amp.auto_cast(dtype='half'): pass"),
    **{
        f"mixed precision with {given}": training(
            x=f"paddle.rand([4, 4])\n    with paddle.amp.auto_cast({given}): pass"
        )
        for given in ("level=None", "dtype=3", "custom_white_list=3", "custom_black_list=3")
    },
    "a data set of no tensors": training(after="paddle.io.TensorDataset(2)"),
    "parts of no list": training(after="paddle.io.random_split(paddle.io.TensorDataset([net.weight]), 2)"),
    "a number for a place": training(after="paddle.io.DataLoader(paddle.io.TensorDataset([net.weight]), places=2)"),
    "a layer's argument given twice": training(x="nn.Dropout(0.5, p=0.5)(paddle.rand([4, 4]))"),
    "an optimizer's argument given twice": training(x="paddle.optimizer.SGD(0.1, learning_rate=0.1)"),
    "a function's argument given twice": training(loss="F.dropout(net(x), 0.5, p=0.5).mean()"),
    "a file that is not named": training(after="paddle.save(net.state_dict())"),
    "channels": CHANNELS,
    "number of no dimensions": training(after="print(loss.numpy()[0])"),
    "features": training(x="paddle.rand([4, 5])"),
    "half a feature": training("Linear(4.5, 2)"),
    "two seeds": training(after="paddle.seed(0, None)"),
    "in a later cell": CELLS,
    "statistics of other channels": training(
        "Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(5))", "paddle.rand([2, 3, 8, 8])"
    ),
    "words that are no numbers": training("Embedding(4, 2)"),
    "whole numbers into a layer": training(x="paddle.ones([4, 4], 'int64')"),
    "double precision into a layer": training(x="paddle.ones([4, 4], 'float64')"),
    "a kernel that is not there": training(loss="net(F.relu(x.astype('int64'))).mean()"),
    "capacity": training(loss="net(x.reshape([3, 5])).mean()"),
    "axis": training(loss="paddle.concat([net(x), net(x)], 3).mean()"),
    "missing argument": training(loss="F.cross_entropy(net(x))"),
    "unknown keyword": training(loss="F.softmax(net(x), dims=1).mean()"),
    "misspelt name": training(after="opt.clear_gard()"),
    "name without a value": training(loss="net(inputs).mean()"),
    "fit": """
import numpy as np, paddle
from paddle import nn
class Data(paddle.io.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return np.ones([1, 28, 28], "float32"), np.array([1])
model = paddle.Model(nn.Sequential(nn.Flatten(), nn.Linear(783, 10)))
model.prepare(paddle.optimizer.Adam(parameters=model.parameters()), nn.CrossEntropyLoss())
model.fit(Data(), batch_size=8, epochs=1, verbose=0)
""",
    **{name: training(loss=f"({call}).mean()") for name, call in {**INDICES, **ORDERED, **MADE}.items()},
    **SELECTED,
    "divergence of half a type": training(
        loss="F.kl_div(F.log_softmax(net(x)), paddle.ones([4, 2], 'float16'), reduction='batchmean')"
    ),
    "a hook that is none": training(x="paddle.rand([4, 4]); net.weight.register_hook(None)"),
    "a hook without a gradient": training(x="paddle.rand([4, 4]); net.weight.register_hook(lambda: 3)"),
    "steps of another width": training("GRU(4, 8)", "paddle.rand([4, 3, 5])", "net(x)[0].mean()"),
    "a state of another width": training(
        "LSTM(4, 8)", "paddle.rand([3, 5, 4])", "net(x, (paddle.zeros([1, 3, 9]), paddle.zeros([1, 3, 9])))[0].mean()"
    ),
    "a star that is none": training(behind="kept = *x\n"),
}
LAYER = """
import paddle, paddle.nn.functional as F
class Twice(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        {back}
net = paddle.nn.Linear(4, 4)
opt = paddle.optimizer.Adam(parameters=net.parameters())
for step in range(4):
    loss = Twice.apply({given}).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
UNUSED = "z = paddle.rand([4]); z.stop_gradient = False"
REFUSED |= {
    "a layer of one's own with an argument too many": LAYER.format(
        back="return g", given="net(paddle.rand([4, 4])), 3"
    ),
    "rows of two types": training(loss="paddle.stack([net(x), net(x).astype('float64')]).mean()"),
    "lengths that are no whole numbers": training(
        "GRU(4, 8)", "paddle.rand([2, 3, 4])", "net(x, sequence_length=paddle.to_tensor([1., 2.]))[0].mean()"
    ),
    "gradients of the same twice": training(
        x="paddle.rand([4, 4]); x.stop_gradient = False",
        loss="paddle.grad(net(x).mean(), [x, x], create_graph=True)[0].mean()",
    ),
    "the gradient of what wants none": training(loss="paddle.grad(net(x).mean(), x, create_graph=True)[0].mean()"),
    "the gradient of a sum that wants none": training(
        x="paddle.rand([4, 4]) * 2", loss="paddle.grad(net(x).mean(), x, create_graph=True)[0].mean()"
    ),
    "the gradient of a loader's batch": training(
        x="next(iter(paddle.io.DataLoader(paddle.io.TensorDataset([paddle.rand([9, 4])]), batch_size=4)))[0]",
        loss="paddle.grad(net(x).mean(), x, create_graph=True)[0].mean()",
    ),
    "a loop through a number": training().replace("range(4)", "4"),
    "an array for a layer": training(x="np.ones((4, 4), 'float32')"),
    "no gradient for a word": training(
        x="paddle.rand([4, 4]); x.stop_gradient = False",
        loss="paddle.grad(net(x).mean(), x, no_grad_vars='x')[0].mean()",
    ),
    "precision of several classes": training(after="paddle.metric.Precision().update(net(x), net(x))"),
    "a rate by hand beside a scheduler": training(
        x="paddle.rand([4, 4]); opt.set_lr_scheduler(paddle.optimizer.lr.StepDecay(0.1, 3))", after="opt.set_lr(0.01)"
    ),
    "the gradient of what has no part": training(
        x=f"paddle.rand([4, 4]); {UNUSED}", loss="paddle.grad(net(x), z, create_graph=True)[0].mean()"
    ),
}
SMALLER_THAN_KERNEL = {
    "volumes": "F.conv3d(net(x).reshape([1, 1, 2, 2, 2]), paddle.rand([1, 1, 3, 3, 3]), dilation=2)",
    "rows": "F.conv1d(net(x).reshape([1, 2, 4]), paddle.rand([1, 2, 6]))",
    "known volumes": "net(x) + F.conv3d(paddle.ones([1, 1, 2, 2, 2]), paddle.ones([1, 1, 4, 4, 4])).mean()",
    "transposed": "F.conv3d_transpose(net(x[0]).expand([1, 1, 2, 2, 2]), paddle.ones([1, 1, 2, 2, 2]), padding=2)",
}
REFUSED |= {
    f"smaller than their kernel: {name}": training(loss=f"({call}).mean()")
    for name, call in SMALLER_THAN_KERNEL.items()
}
AGAIN = "x = paddle.rand([4, 4]); x.stop_gradient = False; t = paddle.rand([4, 4]){more}"
LIST = "paddle.grad(net(paddle.{call}).sum(), x, create_graph=True)[0].mean()"
REFUSED |= {
    "a product with factors that want no gradient": training(loss="paddle.linalg.multi_dot([net(x), x[:2], x]).mean()"),
    "a gradient of a gradient beside a fixed row": training(
        x=AGAIN.format(more=" * 1"), loss=LIST.format(call="concat([x, t])")
    ),
    "a gradient of a gradient beside a fixed layer": training(
        x=AGAIN.format(more=" * 1"), loss=LIST.format(call="stack([x, t])")
    ),
}
MASKS = {
    "rows": "net(x)[paddle.ones([3], 'bool')]",
    "columns": "net(x)[:, x[:, 0] > 0.5]",
    "last columns": "net(x)[..., paddle.ones([4], 'bool')]",
    "entries": "net(x)[x > 0.5]",
    "a list": "net(x)[[True, False, True]]",
    "more axes than there are": "net(x)[paddle.ones([4, 2, 3], 'bool')]",
    "behind a new axis": "net(x)[None, x[:, 0] > 0.5]",
    "behind a number and a new axis": "net(x)[0, None, paddle.ones([2], 'bool')]",
    "of all axes behind an ellipsis": "net(x)[..., net(x) > 0.5]",
}
REFUSED |= {f"a mask of another shape: {name}": training(loss=f"{call}.mean()") for name, call in MASKS.items()}
REFUSED["a mask of another shape that is written by"] = training(loss="(h := net(x) * 1).mean()").replace(
    "    loss.b", "    h[paddle.ones([3], 'bool')] = 0.0\n    loss.b"
)
PLACES = "paddle.to_tensor([0, 2, 1])"
CHOSEN = "k = int(net(x).argmax()); "
"""A number that nobody computes, before what does not hang on it."""
EMPTY = {
    "a product of no rows": training(x="paddle.rand([4, 4])[3:1]"),
    "a norm of no rows": training("LayerNorm(4)", "paddle.rand([4, 4])[3:1]"),
    "places in a table without rows": training(
        loss="net(x).mean() + paddle.index_select(net(x)[3:1], paddle.to_tensor([0])).sum()"
    ),
    "a pool to fewer than none": training(loss="nn.AdaptiveMaxPool1D(-3)(net(x).unsqueeze(0)).mean()"),
    "a mean of volumes to fewer than none": training(
        loss="nn.AdaptiveAvgPool3D(-3)(net(x).reshape([1, 1, 2, 2, 2])).mean()"
    ),
    "no samples for a cell with gates": training("GRU(4, 8)", "paddle.rand([4, 3, 4])[3:1]", "net(x)[0].mean()"),
    "no samples in two directions": training(
        "SimpleRNN(4, 8, direction='bidirect')", "paddle.rand([4, 3, 4])[3:1]", "net(x)[0].mean()"
    ),
    "a transposed convolution of no depth": training(
        "Conv3DTranspose(2, 3, 2, stride=2)", "paddle.rand([1, 2, 0, 4, 4])", "net(x).flatten(1) @ paddle.ones([5, 1])"
    ),
}
IN_TENSORS = {
    "axes that have to stand in a list": "net(x).amax(axis=paddle.to_tensor([0, 1]))",
    "an order that has to stand in a list": "net(x).transpose(paddle.to_tensor([1, 0]))",
    "an index too many": "net(x)[0, 0, 0]",
    "rows of a number": "net(x).mean()[paddle.to_tensor([0, 1])]",
}
if Version(np.__version__) >= Version("2.4"):  # before, numpy took a row of one number for the number, with a warning
    IN_TENSORS["an axis in a row"] = "net(x).mean(axis=paddle.to_tensor([0]))"
TWO_WIDTHS = (
    "paddle.bmm(x.unsqueeze(0), paddle.rand([1, 4, 4], 'float64'))",
    "F.prelu(net(x), paddle.rand([1], 'float64'))",
    "paddle.scatter(net(x), paddle.arange(4), paddle.rand([4, 2], 'float64'))",
    "F.grid_sample(x.reshape([1, 1, 4, 4]), paddle.rand([1, 2, 2, 2], 'float64'))",
)
MADE_IN_STATIC_MODE = """
import numpy, paddle
class Pictures(paddle.io.Dataset):
    def __len__(self): return 32
    def __getitem__(self, index): return numpy.zeros(20, "float32")
paddle.enable_static()
image = paddle.static.data("image", [None, 20], "float32")
loader = paddle.io.DataLoader(Pictures(), feed_list=[image], places=paddle.CPUPlace(), batch_size=8)
"""
REFUSED |= {
    **EMPTY,
    "a loader read in dynamic mode": MADE_IN_STATIC_MODE + "paddle.disable_static()\nfor batch in loader(): pass",
    "a picture out of what feeds a graph": MADE_IN_STATIC_MODE + "for batch in loader():\n    batch[0]['image']",
    **{name: training(loss=f"({call}).mean()") for name, call in IN_TENSORS.items()},
    **{f"two widths: {call}": training(loss=f"({call}).mean()") for call in TWO_WIDTHS},
    "a count for each of fewer": training(loss="paddle.repeat_interleave(net(x), paddle.to_tensor([2]), 0).mean()"),
    "a width beside a number in a tensor": training(loss="paddle.minimum(net(x), paddle.shape(x)[0]).mean()"),
    "text in an array": training(x="paddle.to_tensor(np.array('four'))"),
    "a data set with an argument too many": training(x="paddle.io.TensorDataset([paddle.rand([4, 4])], 3)"),
    "an axis in words": training(loss="net(x).argsort('four').mean()"),
    "a type behind a choice": training(x=f"paddle.rand([4, 4]); {CHOSEN}x = x.astype('float64')"),
    "an axis that Paddle's own function looks at, behind a choice": training(
        loss="paddle.take_along_axis(net(x), paddle.full([4, 1], int(net(x).argmax(1)[0])), 7).mean()"
    ),
    "an axis behind a place that was chosen": training(
        x="paddle.rand([4, 4]); k = int(net(x).argmax(1)[0]); net(x)[:, k]; net(x).argmax(7)"
    ),
    "parts behind a choice": training(x=f"paddle.rand([4, 4]); {CHOSEN}a, b = net(x)"),
}
REFUSED |= {
    "a number of many": training(loss="net(x)", after="").replace("loss.backward()", "loss.item()"),
    "a backward pass of a number": training(loss="float(net(x).mean())"),
    "an argument that an optimizer has not": training().replace("net.parameters())", "net.parameters(), lr=0.1)"),
    "an interface that Paddle has no more": "import paddle\nimport paddle.fluid as fluid\n" + training(),
    "a part that a package has no more": "from sklearn.externals import joblib\n" + training(),
    "whole numbers where probabilities are compared": training(
        loss="F.binary_cross_entropy(F.sigmoid(net(x)), paddle.ones([4, 2], 'int32'))"
    ),
}
WRITTEN_OVER = {
    "what a gradient reads": "h = F.sigmoid(net(x)); h.scale_(2.0); h[0] = 0.0",
    "an operand": "h = net(x); g = h * h; h[h > 0.5] = 0.0; h = g",
    "a mask by assign": "m = paddle.zeros([4, 2]); h = net(x) * m; paddle.assign(m + 1, m)",
    "by a detached one": "h = F.sigmoid(net(x)); h.detach().zero_()",
    "by a part": "h = paddle.tanh(net(x)); h[1:2].detach().scale_(2.0)",
    "by two in place": "h = (net(x) * 1.0).exp_().tanh_().multiply_(x[:, :2])",
    "second derivatives": "x.stop_gradient = False; g = paddle.tanh(net(x)); h = paddle.grad(g.sum(), x, "
    "create_graph=True)[0]; g.zero_()",
}
NOT_READ = {
    "what no gradient reads": "h = net(x) + 1; h[0] = 0.0",
    "in place once": "h = (net(x) * 1.0).exp_()",
    "operands of concat": "g = net(x) * 1.0; h = paddle.concat([g, g]); g.zero_()",
    "a mask by set_value": "m = paddle.zeros([4, 2]); h = net(x) * m; m.set_value(m + 1); m.copy_(m + 1)",
    "parameters by their optimizer": "h = net(net(x) @ paddle.ones([2, 4])); h.sum().backward(retain_graph=True); "
    "opt.step()",
}
REFUSED |= {
    f"written over: {name}": training(loss="h.mean()").replace("    loss =", f"    {code}\n    loss =", 1)
    for name, code in WRITTEN_OVER.items()
}
