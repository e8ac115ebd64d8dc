# ruff: noqa: E501, PLR0917 - one case a line reads as a table
"""The cases: a training script each, run for real by `truth` and traced by `estimate`.

`rules` cases were looked at while the tracer's rules were written; `held_out` cases were fixed in the benchmark's first
commit and not run before the rules were done. `fresh` ones are whole programs, written later without a look at their
estimates and committed before their first run; `unseen` ones after the rules that these brought, and no rule was written
for them: their first run says how the estimate does on what nobody looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .programs import programs

Split = Literal["rules", "held_out", "fresh", "unseen"]


@dataclass(frozen=True)
class Case:
    """One script. `model`, `batch`, `optimizer`, `feature` are for the table."""

    name: str
    split: Split
    source: str
    model: str
    batch: int
    optimizer: str
    feature: str = "plain"
    summary: str | None = None
    """Input shape for `paddle.summary`, as a Python expression, where it can be asked."""
    updates: int = 1
    """Updates of one step: a critic's several and the generator's one."""


HEAD = """
import random
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from benchmarks.accuracy.models import *
paddle.seed(0)
"""
LOOP = """
for step in range(6):
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""


def floats(*shape: int) -> str:
    return f"paddle.to_tensor(np.random.rand({', '.join(map(str, shape))}).astype('float32'))"


def integers(high: int, *shape: int) -> str:
    return f"paddle.to_tensor(np.random.randint(0, {high}, ({', '.join(map(str, shape))},)).astype('int64'))"


ADAM = "paddle.optimizer.Adam(1e-3, parameters=model.parameters())"


def optimizer_name(expression: str) -> str:
    return expression.split("(")[0].rsplit(".", 1)[-1]


def plain(
    name: str, split: Split, model: str, batch: int, x: str, y: str, loss: str = "F.cross_entropy(model(x), y)",
    optimizer: str = ADAM, feature: str = "plain", summary: str | None = None, before: str = "", loop: str = LOOP, head: str = "",
) -> Case:  # fmt: skip
    source = (
        f"{HEAD}{head}\nmodel = {model}\nmodel.train()\n{before}\nx = {x}\ny = {y}\noptimizer = {optimizer}\n"
        + loop.replace("{loss}", loss)
    )
    shown = model.split("[")[-1].strip("]()").strip("'\"") if model.startswith("VISION") else model.split("(")[0]
    return Case(name, split, source, shown.strip("'\"])("), batch, optimizer_name(optimizer), feature, summary)


def image(name: str, split: Split, batch: int, size: int, **options: str) -> Case:
    channels = 1 if name == "LeNet" else 3
    return plain(
        f"{name}-b{batch}" + (f"-{options['feature']}" if "feature" in options else ""), split, f"VISION['{name}']()", batch,
        floats(batch, channels, size, size), integers(10, batch), summary=f"({batch}, {channels}, {size}, {size})", **options,
    )  # fmt: skip


def tokens(name: str, split: Split, model: str, batch: int, length: int, **options: str) -> Case:
    return plain(name, split, model, batch, integers(2000, batch, length), integers(2, batch), **options)


PERPLEXITY = "F.cross_entropy(model(x).reshape([-1, 2000]), y.reshape([-1]))"


def language(name: str, split: Split, batch: int, **options: str) -> Case:
    options.setdefault("loss", PERPLEXITY)
    return plain(name, split, "GPT()", batch, integers(2000, batch, 128), integers(2000, batch, 128), **options)


def mlp(name: str, split: Split, batch: int = 256, **options: str) -> Case:
    return plain(
        name, split, "MLP()", batch, floats(batch, 784), integers(10, batch), summary=f"({batch}, 784)", **options
    )


def cnn(name: str, split: Split, batch: int = 32, **options: str) -> Case:
    return plain(
        name, split, "SmallCNN()", batch, floats(batch, 3, 32, 32), integers(10, batch), summary=f"({batch}, 3, 32, 32)",
        **options,
    )  # fmt: skip


def opt(name: str, extra: str = "", rate: str = "1e-3") -> str:
    return f"paddle.optimizer.{name}({rate}, parameters=model.parameters(){extra})"


ACCUMULATE = """
for step in range(16):
    loss = {loss} / 4
    loss.backward()
    if (step + 1) % 4 == 0:
        optimizer.step()
        optimizer.clear_grad()
"""
NOT_ZERO = LOOP.replace("clear_grad()", "clear_grad(set_to_zero=False)")
READS = (
    LOOP
    + """
    history = loss.item() if step == 0 else history + float(loss)
"""
)
KEEPS = (
    "kept = []\n"
    + LOOP
    + """
    kept = (kept + [loss])[-2:]
    logits = model(x)
"""
)
EMA = (
    """
shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
"""
    + LOOP
    + """
    for name, p in model.named_parameters():
        shadow[name] = shadow[name] * 0.99 + p.detach() * 0.01
"""
)
GAN = """
generator, discriminator = Generator(), Discriminator()
real = {real}
g_optimizer = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=generator.parameters())
d_optimizer = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=discriminator.parameters())
for step in range(6):
    noise = paddle.randn([{batch}, 64, 1, 1])
    fake = generator(noise)
    real_score, fake_score = discriminator(real), discriminator(fake.detach())
    d_loss = F.binary_cross_entropy_with_logits(real_score, paddle.ones_like(real_score)) + \\
        F.binary_cross_entropy_with_logits(fake_score, paddle.zeros_like(fake_score))
    d_loss.backward()
    d_optimizer.step()
    d_optimizer.clear_grad()
    score = discriminator(fake)
    g_loss = F.binary_cross_entropy_with_logits(score, paddle.ones_like(score))
    g_loss.backward()
    g_optimizer.step()
    g_optimizer.clear_grad()
    d_optimizer.clear_grad()
"""
RECOMPUTE = """
from paddle.distributed.fleet.utils import recompute
def forward(self, x):
    h = self.tokens(x) + self.positions(paddle.arange(0, x.shape[1]).unsqueeze(0))
    for block in self.blocks:
        h = recompute(block, h)
    return self.head(self.norm(h))
GPT.forward = forward
"""
PYLAYER = """
class Swish(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * F.sigmoid(x)
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensor()
        s = F.sigmoid(x)
        return grad * (s * (1 + x * (1 - s)))
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(784, 1024), nn.Linear(1024, 1024), nn.Linear(1024, 10)
    def forward(self, x):
        return self.c(Swish.apply(self.b(Swish.apply(self.a(x)))))
"""
TEACHER = """
teacher = VISION['resnet34']()
teacher.eval()
"""
DISTIL = """
for step in range(6):
    with paddle.no_grad():
        target = F.softmax(teacher(x), axis=-1)
    logits = model(x)
    loss = F.cross_entropy(logits, y) + F.kl_div(F.log_softmax(logits, axis=-1), target, reduction='batchmean')
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
HAPI = """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.full([3, 32, 32], i % 7, 'float32'), np.array([i % 10], 'int64')
    def __len__(self):
        return {count}
fitted = paddle.Model(model)
fitted.prepare(optimizer, nn.CrossEntropyLoss(), {metrics})
fitted.fit(Data(), batch_size={batch}, epochs=1, verbose=0, shuffle={shuffle})
"""
LOADER = """
class Data(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.full([3, 32, 32], i % 7, 'float32'), i % 10
    def __len__(self):
        return {count}
for images, labels in paddle.io.DataLoader(Data(), batch_size={batch}, shuffle=True):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SLICES = """
images, labels = paddle.rand([1024, 3, 32, 32]), paddle.randint(0, 10, [1024])
for epoch in range(2):
    for start in range(0, 1024, {batch}):
        loss = F.cross_entropy(model(images[start:start + {batch}]), labels[start:start + {batch}])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
"""
CTC = """
for step in range(6):
    logits = model(x).transpose([1, 0, 2])
    lengths = paddle.full([logits.shape[1]], logits.shape[0], dtype='int64')
    label_lengths = paddle.full([logits.shape[1]], y.shape[1], dtype='int64')
    loss = F.ctc_loss(logits, y, lengths, label_lengths)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
VAE_LOOP = """
for step in range(6):
    out, mean, log_variance = model(x)
    loss = F.binary_cross_entropy(out, x, reduction='sum') - 0.5 * paddle.sum(1 + log_variance - mean ** 2 - paddle.exp(log_variance))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
SCHEDULE = LOOP + "    schedule.step()\n"
GROUPS = (
    "paddle.optimizer.AdamW(1e-3, parameters=[{'params': model.body[0].parameters()}, "
    "{'params': model.body[2].parameters() + model.body[5].parameters(), 'learning_rate': 0.1}])"
)
FREEZE = "for p in list(model.parameters())[:40]: p.stop_gradient = True"
CLIP = ", grad_clip=nn.{clip}"
L2 = ", weight_decay=paddle.regularizer.L2Decay(1e-4)"
L1 = ", weight_decay=paddle.regularizer.L1Decay(1e-4)"


def gan(name: str, split: Split, batch: int) -> Case:
    source = HEAD + GAN.replace("{real}", floats(batch, 3, 32, 32)).replace("{batch}", str(batch))
    return Case(name, split, source, "Generator + Discriminator", batch, "Adam + Adam", "gan", updates=2)


def with_batch(text: str, batch: int, **extra: object) -> str:
    for key, value in {"batch": batch, **extra}.items():
        text = text.replace("{" + key + "}", str(value))
    return text


MSE = "F.mse_loss(model(x), y)"
R: Split = "rules"
H: Split = "held_out"

RULES = [
    mlp("mlp-b64", R, 64), mlp("mlp-b2048", R, 2048),
    image("LeNet", R, 256, 28), cnn("cnn-b32", R), cnn("cnn-b256", R, 256),
    image("resnet18", R, 16, 64), image("resnet50", R, 8, 96), image("mobilenet_v2", R, 16, 96),
    image("mobilenet_v3_small", R, 16, 96), image("vgg16", R, 8, 64), image("densenet121", R, 8, 64),
    image("shufflenet_v2_x1_0", R, 16, 96),
    tokens("encoder-128", R, "Encoder(128)", 16, 128), tokens("encoder-512", R, "Encoder(512)", 4, 512),
    language("gpt-b8", R, 8),
    plain("unet-b8", R, "UNet()", 8, floats(8, 3, 64, 64), integers(4, 8, 64, 64), "F.cross_entropy(model(x), y, axis=1)"),
    mlp("mlp-sgd", R, optimizer=opt("SGD"), feature="sgd"), mlp("mlp-momentum", R, optimizer=opt("Momentum"), feature="momentum"),
    mlp("mlp-adamw", R, optimizer=opt("AdamW"), feature="adamw"), mlp("mlp-adamax", R, optimizer=opt("Adamax"), feature="adamax"),
    mlp("mlp-adagrad", R, optimizer=opt("Adagrad"), feature="adagrad"),
    mlp("mlp-rmsprop", R, optimizer=opt("RMSProp"), feature="rmsprop"),
    mlp("mlp-adam-l2", R, optimizer=opt("Adam", L2), feature="l2"),
    mlp("mlp-momentum-l2", R, optimizer=opt("Momentum", L2), feature="l2"),
    mlp("mlp-clip-global", R, optimizer=opt("Adam", CLIP.format(clip="ClipGradByGlobalNorm(1.0)")), feature="clip-global"),
    mlp("mlp-clip-value", R, optimizer=opt("Adam", CLIP.format(clip="ClipGradByValue(1.0)")), feature="clip-value"),
    mlp("mlp-accumulate", R, loop=ACCUMULATE, feature="accumulation"),
    image("resnet18", R, 8, 64, loop=ACCUMULATE, feature="accumulation"),
    mlp("mlp-not-zero", R, loop=NOT_ZERO, feature="set_to_zero=False"),
    cnn("cnn-reads", R, loop=READS, feature="item"), cnn("cnn-keeps", R, loop=KEEPS, feature="kept"),
    mlp("mlp-ema", R, loop=EMA, feature="ema"), gan("gan-b32", R, 32),
    language("gpt-recompute", R, 8, before=RECOMPUTE, feature="recompute"),
    plain("pylayer-b512", R, "Net()", 512, floats(512, 784), integers(10, 512), head=PYLAYER, feature="pylayer"),
    tokens("lstm-bi2", R, "Recurrent('LSTM', 2, 'bidirect', 0.1)", 32, 128, feature="rnn"),
    tokens("gru-1", R, "Recurrent('GRU')", 32, 128, feature="rnn"), tokens("rnn-1", R, "Recurrent('SimpleRNN')", 32, 64, feature="rnn"),
    tokens("gru-last", R, "LastState()", 32, 64, feature="rnn"),
    plain("mf-sparse", R, "Recommender(True)", 4096, integers(10000, 4096, 2), floats(4096, 1), MSE, feature="sparse"),
    cnn("cnn-hapi", R, loop=with_batch(HAPI, 32, count=640, metrics="paddle.metric.Accuracy()", shuffle="True"), feature="hapi"),
    cnn("cnn-loader", R, 64, loop=with_batch(LOADER, 64, count=1280), feature="loader"),
    cnn("cnn-slices", R, 64, loop=with_batch(SLICES, 64), feature="slices"),
    image("resnet18", R, 16, 64, before=FREEZE, feature="frozen"),
]  # fmt: skip

HELD_OUT = [
    image("alexnet", H, 16, 224), image("squeezenet1_1", H, 16, 96),
    image("googlenet", H, 4, 224, loss="sum(F.cross_entropy(o, y) for o in model(x))"),
    image("resnext50_32x4d", H, 8, 64), image("mobilenet_v1", H, 16, 96), image("mobilenet_v3_large", H, 16, 96),
    image("wide_resnet50_2", H, 8, 64), image("inception_v3", H, 4, 128), image("resnet34", H, 32, 64), image("vgg11", H, 16, 64),
    plain("vit-b16", H, "ViT()", 16, floats(16, 3, 64, 64), integers(10, 16)),
    plain("autoencoder", H, "AutoEncoder()", 32, floats(32, 3, 64, 64), "None", "F.mse_loss(model(x), x)"),
    plain("recommender", H, "Recommender()", 4096, integers(10000, 4096, 2), floats(4096, 1), MSE),
    plain("seq2seq", H, "Seq2Seq()", 8, integers(3000, 8, 64), integers(3000, 8, 64)),
    plain("convnext", H, "ConvNeXt()", 16, floats(16, 3, 64, 64), integers(10, 16)),
    plain("espcn", H, "SuperResolution()", 16, floats(16, 1, 48, 48), floats(16, 1, 144, 144), MSE),
    plain("pointnet", H, "PointNet()", 16, floats(16, 3, 1024), integers(10, 16)),
    plain("tcn", H, "TemporalCNN()", 32, floats(32, 8, 256), integers(10, 32)),
    plain("volume", H, "Volume()", 8, floats(8, 1, 16, 32, 32), integers(5, 8), feature="conv3d"),
    plain("groupnorm", H, "GroupNormNet()", 16, floats(16, 3, 64, 64), integers(10, 16), feature="norms"),
    plain("vae", H, "VAE()", 512, floats(512, 784), "None", loop=VAE_LOOP, feature="several losses"),
    language("gpt-b16", H, 16), language("gpt-adamw-clip", H, 8, optimizer=opt("AdamW", CLIP.format(clip="ClipGradByGlobalNorm(1.0)")), feature="clip-global"),
    mlp("mlp-adadelta", H, optimizer=opt("Adadelta"), feature="adadelta"), mlp("mlp-lamb", H, optimizer=opt("Lamb"), feature="lamb"),
    mlp("mlp-sgd-l1", H, optimizer=opt("SGD", L1), feature="l1"), mlp("mlp-clip-norm", H, optimizer=opt("Adam", CLIP.format(clip="ClipGradByNorm(1.0)")), feature="clip-norm"),
    image("resnet18", H, 16, 64, optimizer=opt("Momentum", L2), feature="momentum-l2"),
    image("mobilenet_v2", H, 16, 64, optimizer=opt("RMSProp"), feature="rmsprop"),
    mlp("mlp-groups", H, optimizer=GROUPS, feature="param-groups"), mlp("mlp-schedule", H, loop=SCHEDULE, feature="schedule", optimizer=opt("Adam", "", "schedule"), before="schedule = paddle.optimizer.lr.CosineAnnealingDecay(1e-3, T_max=100)"),
    language("gpt-accumulate", H, 4, loop=ACCUMULATE, feature="accumulation"),
    image("mobilenet_v2", H, 8, 64, loop=ACCUMULATE, feature="accumulation"),
    language("gpt-not-zero", H, 8, loop=NOT_ZERO, feature="set_to_zero=False"),
    cnn("cnn-ema", H, 64, loop=EMA, feature="ema"), gan("gan-b128", H, 128),
    language("gpt-recompute-b16", H, 16, before=RECOMPUTE, feature="recompute"),
    plain("distil", H, "VISION['resnet18']()", 16, floats(16, 3, 64, 64), integers(10, 16), before=TEACHER, loop=DISTIL, feature="teacher"),
    tokens("lstm-1", H, "Recurrent('LSTM')", 64, 64, feature="rnn"), tokens("gru-bi2", H, "Recurrent('GRU', 2, 'bidirect', 0.2)", 16, 64, feature="rnn"),
    tokens("rnn-3", H, "Recurrent('SimpleRNN', 3)", 32, 64, feature="rnn"), tokens("lstm-accumulate", H, "Recurrent('LSTM', 2)", 16, 64, loop=ACCUMULATE, feature="accumulation"),
    plain("crnn-ctc", H, "CRNN()", 16, floats(16, 1, 32, 64), "paddle.to_tensor(np.random.randint(1, 40, (16, 8)).astype('int32'))", loop=CTC, feature="ctc"),
    plain("mf-sparse-sgd", H, "Recommender(True)", 2048, integers(10000, 2048, 2), floats(2048, 1), MSE, optimizer=opt("SGD"), feature="sparse"),
    cnn("cnn-hapi-b64", H, 64, loop=with_batch(HAPI, 64, count=1280, metrics="[paddle.metric.Accuracy(topk=(1, 2))]", shuffle="False"), feature="hapi"),
    cnn("cnn-slices-b128", H, 128, loop=with_batch(SLICES, 128), feature="slices"),
    tokens("encoder-frozen", H, "Encoder(128)", 16, 128, before="model.embedding.weight.stop_gradient = True", feature="frozen"),
    image("resnet50", H, 8, 96, loop=NOT_ZERO, feature="set_to_zero=False"),
]  # fmt: skip


def whole_programs(split: Literal["fresh", "unseen"]) -> list[Case]:
    """The programs that stand in the folder of that name."""
    return [
        Case(
            name, split, source, about["model"], int(about["batch"]), about["optimizer"], about["feature"],
            about.get("summary"), int(about.get("updates", 1)),
        )
        for name, about, source in programs(split)
    ]  # fmt: skip


CASES: tuple[Case, ...] = (*RULES, *HELD_OUT, *whole_programs("fresh"), *whole_programs("unseen"))
