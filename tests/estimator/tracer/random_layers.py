# ruff: noqa: E501 - one line of a program a line
"""The grammar of small networks at random: layers and operators by the rank of what they are given."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

Shape = list[int]


@dataclass
class Program:
    """A network in the making: its layers, the lines of its forward pass, and the shape `h` has after them."""

    dice: random.Random
    shape: Shape
    layers: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def layer(self, source: str) -> str:
        name = f"self.l{len(self.layers)}"
        self.layers.append(f"{name} = {source}")
        return name

    def say(self, *lines: str) -> None:
        self.lines.extend(lines)


def convolution(program: Program) -> None:
    """Convolution over the 1 to 3 last dimensions; the shape after it is kept near the one before it."""
    dice, shape = program.dice, program.shape
    rank = len(shape) - 2
    kernel, dilation, stride = dice.choice([1, 3, 3, 5]), dice.choice([1, 1, 2]), dice.choice([1, 1, 2])
    if min(shape[2:]) < 8:
        stride = dilation = 1
    padding = dilation * (kernel - 1) // 2
    groups = dice.choice([1, 1, 1, 2, 4]) if shape[1] % 4 == 0 else 1
    out = dice.choice([8, 12, 16])
    mode = dice.choice(["zeros", "zeros", "zeros", "reflect", "replicate", "circular"]) if rank < 3 else "zeros"
    bias = dice.choice(["", "", ", bias_attr=False"])
    name = program.layer(
        f"nn.Conv{rank}D({shape[1]}, {out}, {kernel}, stride={stride}, padding={padding}, dilation={dilation}, "
        f"groups={groups}, padding_mode='{mode}'{bias})"
    )
    program.say(f"h = {name}(h)")
    sides = [(side + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1 for side in shape[2:]]
    program.shape = [shape[0], out, *sides]


def transposed(program: Program) -> None:
    shape = program.shape
    rank, out = len(shape) - 2, program.dice.choice([6, 8])
    stride = 2 if max(shape[2:]) <= 12 else 1
    name = program.layer(f"nn.Conv{rank}DTranspose({shape[1]}, {out}, {stride}, stride={stride})")
    program.say(f"h = {name}(h)")
    program.shape = [shape[0], out, *[side * stride for side in shape[2:]]]


def pool(program: Program) -> None:
    shape, kind = program.shape, program.dice.choice(["Max", "Avg", "AdaptiveAvg", "AdaptiveMax"])
    rank = len(shape) - 2
    if min(shape[2:]) < 4:
        return
    if kind.startswith("Adaptive"):
        program.say(f"h = nn.{kind}Pool{rank}D(3)(h)")
        program.shape = [*shape[:2], *[3] * rank]
    else:
        program.say(f"h = nn.{kind}Pool{rank}D(2, 2)(h)")
        program.shape = [*shape[:2], *[side // 2 for side in shape[2:]]]


def channel_norm(program: Program) -> None:
    shape, rank = program.shape, len(program.shape) - 2
    groups = 2 if shape[1] % 2 == 0 else 1
    kinds = [
        f"nn.BatchNorm{rank}D({shape[1]})",
        f"nn.GroupNorm({groups}, {shape[1]})",
        f"nn.InstanceNorm{rank}D({shape[1]})",
    ]
    program.say(f"h = {program.layer(program.dice.choice(kinds))}(h)")


def linear(program: Program) -> None:
    out = program.dice.choice([16, 24, 40])
    bias = program.dice.choice(["", "", ", bias_attr=False"])
    program.say(f"h = {program.layer(f'nn.Linear({program.shape[-1]}, {out}{bias})')}(h)")
    program.shape = [*program.shape[:-1], out]


def shared(program: Program) -> None:
    width = program.shape[-1]
    name = program.layer(f"nn.Linear({width}, {width})")
    program.say(f"h = {name}(F.relu({name}(h)))")


def layer_norm(program: Program) -> None:
    width = program.shape[-1]
    program.say(f"h = {program.layer(f'nn.LayerNorm({width})')}(h)")


def recurrent(program: Program) -> None:
    dice, shape = program.dice, program.shape
    size, kind = dice.choice([8, 16]), dice.choice(["LSTM", "GRU", "SimpleRNN"])
    both, deep = dice.random() < 0.3, dice.choice([1, 1, 2])
    direction = ", direction='bidirect'" if both else ""
    name = program.layer(f"nn.{kind}({shape[-1]}, {size}, num_layers={deep}{direction})")
    program.say(f"h, state = {name}(h)" if dice.random() < 0.5 else f"h = {name}(h)[0]")
    program.shape = [*shape[:2], size * (2 if both else 1)]


def attention(program: Program) -> None:
    dice, width = program.dice, program.shape[-1]
    if width % 4:
        return
    if dice.random() < 0.5:
        name = program.layer(
            f"nn.MultiHeadAttention({width}, {dice.choice([1, 2, 4])}, dropout={dice.choice([0, 0.1])})"
        )
        program.say(f"h = h + {name}(h)")
        return
    name = program.layer(f"nn.Linear({width}, {3 * width})")
    program.say(
        f"q = {name}(h).reshape([{program.shape[0]}, {program.shape[1]}, 3, 2, {width // 2}]).transpose([2, 0, 3, 1, 4])",
        "s = F.softmax(paddle.matmul(q[0] * 0.25, q[1], transpose_y=True))",
        f"h = h + paddle.matmul(s, q[2]).transpose([0, 2, 1, 3]).reshape([{program.shape[0]}, {program.shape[1]}, {width}])",
    )


ACTIVATIONS = (  # noqa: SIM905 - a list of quoted lines reads worse
    "F.relu(h) F.gelu(h) F.silu(h) F.tanh(h) F.sigmoid(h) F.leaky_relu(h) F.elu(h) F.selu(h) F.softplus(h) F.mish(h) F.hardswish(h) "
    "F.hardsigmoid(h) F.relu6(h) F.softsign(h) F.celu(h) F.hardtanh(h) F.log_sigmoid(h) F.swish(h) F.softmax(h) F.log_softmax(h) "
    "F.tanhshrink(h) F.softshrink(h) F.normalize(h) F.dropout(h,0.2) F.relu_(h*1.5) h.exp().clip(0,3) h.abs().sqrt() h.square() "
    "paddle.sin(h) paddle.atan(h) paddle.erf(h) paddle.log1p(h.abs()) paddle.rsqrt(h*h+1) paddle.cumsum(h,-1) paddle.flip(h,[0]) "
    "paddle.roll(h,1,0) paddle.maximum(h,-h) paddle.pow(h,3) paddle.reciprocal(h.abs()+1) paddle.stanh(h) paddle.lerp(h,h*2,0.3) "
    "paddle.tile(h,[1]*h.ndim) paddle.assign(h)+h paddle.logsumexp(h,-1,keepdim=True)+h h.clone()*h h.detach()*h h.astype('float64').astype('float32')"
).split()
ARITHMETIC = (
    "h = h * 2 + 1",
    "h = 1 - h / 3",
    "h = 1.0 / (h.abs() + 1.0)",
    "h = h - h.mean(-1, keepdim=True)",
    "h = h / (h.std(-1, keepdim=True) + 1.0)",
    "h = h * h.max(-1, keepdim=True)",
    "h = h + h.sum(0, keepdim=True)",
    "h = h * F.sigmoid(h.mean(axis=list(range(1, h.ndim)), keepdim=True))",
    "r = h\nh = F.relu(h)\nh = h + r",
    "r = F.tanh(h)\nh = r * F.sigmoid(h) + r",
    "h = paddle.where(h > 0, h, paddle.zeros_like(h))",
    "h = paddle.where(h > 0, h, h * 0.1)",
    "h = h * (paddle.rand(h.shape) > 0.1).astype('float32')",
    "with paddle.no_grad():\n    m = (h * 2).mean()\nh = h - m",
    "with paddle.no_grad():\n    g = F.softmax(h)\nh = h * g",
    "a, b = h * 2, h - 1\nh = a * b\ndel a",
    "h += 1\nh = h * 2",
    "h = paddle.add_n([h, h * 2, F.relu(h)])",
    "h = recompute(lambda v: F.gelu(v * 2) * v, h)",
    "h = Twice.apply(h)",
    "h = F.relu(h)\nif not h.stop_gradient:\n    h.register_hook(lambda g: g * 0.5)",
    "h = h[paddle.arange(h.shape[0] - 1, -1, -1)]",
    "h = paddle.gather(h, paddle.to_tensor([i // 2 for i in range(h.shape[0])]))",
    "h = paddle.scatter(h, paddle.to_tensor([0, 1]), h[2:4])",
    "h = paddle.concat([h[1:], h[:1]])",
    "h = paddle.stack([h, F.relu(h)]).mean(0)",
    "h = paddle.stack(list(h.unbind(0)))",
    "h = h.unsqueeze(1).expand([h.shape[0], 2, *h.shape[1:]]).sum(1)",
    "h = paddle.index_select(h, paddle.to_tensor([0, 1, 2, 3] * (h.shape[0] // 4)))",
    "h = h.flatten(1).reshape(h.shape)",
    "h = paddle.einsum('n...,n...->n...', h, h)",
    "h = h.masked_fill(h > 1, 0.0)",
    "h = paddle.clip(h, -1.0, 1.0)",
    "h = paddle.minimum(h, h.mean())",
)


def activation(program: Program) -> None:
    program.say(f"h = {program.dice.choice(ACTIVATIONS)}")


def arithmetic(program: Program) -> None:
    program.say(*program.dice.choice(ARITHMETIC).splitlines())


def last_axis(program: Program) -> None:
    """Cuts, joins and turns of the last dimension."""
    width, dice = program.shape[-1], program.dice
    half = width // 2
    choices = [
        (f"h = paddle.concat([h[..., {half}:], h[..., :{half}]], -1)", width),
        ("h = paddle.concat([h, F.relu(h)], -1)", 2 * width),
        ("h = h[..., 1:-1]", width - 2),
        ("h = h[..., ::2]", (width + 1) // 2),
        (f"a = h[..., :{half}]\nb = h[..., {half}:]\nh = paddle.concat([a * 2, b], -1)", width),
    ]
    if width % 2 == 0:
        choices += [
            ("a, b = paddle.split(h, 2, -1)\nh = a * F.sigmoid(b)", half),
            ("a, b = h.chunk(2, -1)\nh = paddle.concat([b, a + b], -1)", width),
            ("h = F.glu(h)", half),
        ]
    source, after = dice.choice(choices)
    if 4 <= after <= 64:
        program.say(*source.splitlines())
        program.shape = [*program.shape[:-1], after]


def sequence_axis(program: Program) -> None:
    count, steps, width = program.shape
    source, after = program.dice.choice(
        [
            ("h = h.transpose([0, 2, 1])", [count, width, steps]),
            ("h = h.transpose([0, 2, 1]) * 2", [count, width, steps]),
            ("h = F.pad(h, [1, 1], data_format='NLC')", [count, steps + 2, width]),
            (f"h = paddle.bmm(h, h.transpose([0, 2, 1])) / {width}", [count, steps, steps]),
            (f"h = paddle.einsum('btf,bsf->bts', h, h) / {width}", [count, steps, steps]),
            (f"h = paddle.matmul(h, h, transpose_y=True) / {width}", [count, steps, steps]),
            ("h = h[:, 1:]", [count, steps - 1, width]),
            ("h = h + h[:, :1]", [count, steps, width]),
            ("h = h * h[:, :, :1]", [count, steps, width]),
        ]
    )
    if min(after[1:]) >= 4:
        program.say(source)
        program.shape = after


def image_axis(program: Program) -> None:
    shape = program.shape
    count, channels, *sides = shape
    choices = [
        ("h = F.pad(h, [1, 1, 1, 1])", [count, channels, sides[0] + 2, sides[1] + 2]),
        ("h = h.transpose([0, 1, 3, 2])", [count, channels, sides[1], sides[0]]),
        ("h = h[:, :, 1:, 1:]", [count, channels, sides[0] - 1, sides[1] - 1]),
        ("h = F.interpolate(h, scale_factor=2, mode='nearest')", [count, channels, sides[0] * 2, sides[1] * 2]),
        ("h = F.interpolate(h, scale_factor=2, mode='bilinear')", [count, channels, sides[0] * 2, sides[1] * 2]),
        ("h = h.transpose([0, 2, 3, 1])\nh = F.relu(h)\nh = h.transpose([0, 3, 1, 2])", shape),
    ]
    source, after = program.dice.choice(choices)
    if min(after[2:]) >= 4 and max(after[2:]) <= 24:
        program.say(*source.splitlines())
        program.shape = after


Move = Callable[[Program], None]
ANYWHERE: list[Move] = [activation, activation, arithmetic, arithmetic, arithmetic]
MOVES: dict[int, list[Move]] = {
    2: [linear, linear, linear, shared, layer_norm, last_axis, *ANYWHERE],
    3: [
        linear,
        linear,
        shared,
        layer_norm,
        recurrent,
        attention,
        last_axis,
        sequence_axis,
        convolution,
        channel_norm,
        pool,
        *ANYWHERE,
    ],
    4: [convolution, convolution, transposed, pool, channel_norm, image_axis, last_axis, *ANYWHERE],
    5: [convolution, convolution, transposed, pool, channel_norm, *ANYWHERE],
}
INPUTS: dict[str, list[Shape]] = {
    "table": [[32, 20], [64, 48], [16, 33]],
    "sequence": [[8, 12, 10], [16, 9, 24], [4, 30, 16]],
    "tokens": [[8, 12], [16, 10]],
    "image": [[8, 3, 16, 16], [4, 4, 12, 20], [16, 1, 11, 11]],
    "volume": [[4, 2, 6, 8, 8], [4, 3, 5, 5, 5]],
}


def network(dice: random.Random) -> tuple[Program, str]:
    """The network, and the line that makes its input `x`."""
    kind = dice.choice(list(INPUTS))
    shape = dice.choice(INPUTS[kind])
    if kind == "tokens":
        data = f"x = paddle.to_tensor(np.random.randint(0, 50, {tuple(shape)}).astype('int64'))"
        width = dice.choice([16, 24])
        program = Program(dice, [*shape, width])
        table = program.layer(f"nn.Embedding(50, {width}, sparse={dice.random() < 0.2})")
        program.say(f"h = {table}(h)")
    else:
        data = f"x = paddle.to_tensor(np.random.rand(*{tuple(shape)}).astype('float32'))"
        program = Program(dice, list(shape))
        MOVES[len(shape)][0](program)
    for _ in range(dice.randint(2, 8)):
        dice.choice(MOVES[len(program.shape)])(program)
    end = dice.choice(["flatten", "mean"]) if len(program.shape) > 2 else "none"
    if end == "flatten":
        program.say("h = h.flatten(1)")
        width = 1
        for side in program.shape[1:]:
            width *= side
    elif end == "mean" and len(program.shape) == 3:
        program.say("h = h.mean(1)")
        width = program.shape[2]
    elif end == "mean":
        program.say(f"h = h.mean(axis={list(range(2, len(program.shape)))})")
        width = program.shape[1]
    else:
        width = program.shape[1]
    program.say(f"return {program.layer(f'nn.Linear({width}, 10)')}(h)")
    return program, data
