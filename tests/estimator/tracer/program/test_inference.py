"""Templates do not hang on what was built before them, and eager mode is asked no more often than it has to be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.paddle

HEAD = """
import json, random, sys
sys.path.insert(0, sys.argv[1])
import tracer
tracer.prepare(), tracer.trace_notebook  # which imports the rest
from paddle import _C_ops
from tracer.eager.runtime import Runtime
from tracer.kernels.registry import RULES
from tracer.memory.operators import ORIGINAL_OPS
from tracer.program import inference as inferences
from tracer.program.asking import Types, refusal
from tracer.program.inference import Argument, Inference
from tracer.session import entered
a, b, c = map(Argument, range(3))
sent = json.load(sys.stdin)
runtime = Runtime(Inference(), "cpu")
runtime.put(Types(low_as_float32=False))

def called(name, *args):
    return ORIGINAL_OPS.get(name, getattr(_C_ops, name)), args, {}
"""

# Calls one after the other: shapes of other rank and type in the same places, lists, promotion, refusals in between.
ORDERS = (
    HEAD
    + """
CALLS = [
    (("add", a, b), [((4, 3), "float32"), ((3,), "float32")]),
    (("conv2d", a, b, [1, 1], [0, 0], "EXPLICIT", [1, 1], 1, "NCHW"),
     [((2, 3, 8, 8), "float32"), ((4, 3, 3, 3), "float32")]),
    (("matmul", a, b, False, False), [((5, 4), "float32"), ((3, 4), "float32")]),
    (("matmul", a, b, False, True), [((5, 4), "float32"), ((3, 4), "float32")]),
    (("concat", [a, b, c], 0), [((2, 2), "float32"), ((1, 2), "float32"), ((7, 2), "float32")]),
    (("add", a, b), [((6,), "float32"), ((4, 1), "float64")]),
    (("add", a, b), [((6,), "float32"), ((4, 3), "float32")]),
    (("multiply", a, a), [((), "float32")]),
    (("split", a, [1, 2], 0), [((3, 9), "float32")]),
    (("layer_norm", a, b, c, 1e-5, 1), [((2, 5), "float32"), ((5,), "float32"), ((5,), "float32")]),
    (("softmax", a, 3), [((2, 5), "float32")]),
    (("gather_nd", a, b), [((6, 5), "float32"), ((3, 1), "int64")]),
]  # fmt: skip

def described(inference, call, metas):
    wants = [dtype == "float32" for _, dtype in metas]
    key = (call[0], repr(call[1:]), (), tuple(metas), tuple(wants))
    try:
        with entered(runtime):
            made = inference.template(key, called(*call), metas, wants)
    except Exception as problem:
        return type(problem).__name__
    steps = [(s.name, s.operands, s.results, repr(s.attrs), s.inplace, s.gradient and repr(
        [(g.name, g.operands, g.needed, g.results, g.inplace) for g in s.gradient.steps]
        + [s.gradient.incoming, s.gradient.outgoing, sorted(s.gradient.saved)])) for s in made.steps]
    return repr((steps, made.metas, made.returned))

alone = [described(Inference(), *one) for one in CALLS]
for seed in range(3):
    shared, order = Inference(), list(range(len(CALLS)))
    random.Random(seed).shuffle(order)
    print(json.dumps([f"differ {seed}", [CALLS[i][0][0] for i in order if described(shared, *CALLS[i]) != alone[i]]]))
    block = shared._scratch._program.global_block()
    print(json.dumps([f"left {seed}", sorted({operation.name() for operation in block.ops})]))
print(json.dumps(["refused", [CALLS[i][0][0] for i, one in enumerate(alone) if one.endswith("Error")]]))
"""
)


def test_a_template_is_the_same_whatever_was_built_before(run_code: Callable[[str, object], dict]) -> None:
    found = run_code(ORDERS, None)
    assert {name: found[name] for name in found if name.startswith("differ")} == {f"differ {n}": [] for n in range(3)}
    assert {tuple(found[name]) for name in found if name.startswith("left")} == {("pd_op.data",)}
    assert found["refused"] == ["matmul", "add", "softmax"]


# Sizes that are equal in other places, that are one and none, that are equal by chance, and types.
PATTERNS = (
    HEAD
    + """
import paddle
from paddle.base import core
from tracer.eager.calls import encode
SIZES, of = [1, 2, 3, 5, 7, 11, 13, 0], tuple(map(Argument, range(7)))
told = lambda step: step.attrs if step.takes[0] else {k: v for k, v in step.attrs.items() if type(v) is not float}
described = lambda made: repr([(s.name, s.operands, s.results, told(s), s.inplace, s.gradient and (
    s.gradient.incoming, s.gradient.outgoing, sorted(s.gradient.saved), s.gradient.metas, s.gradient.origin[1:],
    [(g.name, g.operands, g.needed, g.results, g.attrs, g.inplace) for g in s.gradient.steps],
)) for s in made.steps] + [made.metas, made.returned, made.is_dynamic])
one, none = ((1,), "float32"), ((), "float32")

def calls(name):
    drawn = random.Random(name)
    for _ in range(90 if name in sent else 400):
        m, n, k = (drawn.choice(SIZES) for _ in range(3))
        rows = drawn.choice([(m,), (m, n), (m, n, k), ()])
        other = drawn.choice([rows, rows, (k,), (n, k), (m, 1, k), (*rows[:1], k, n)])
        dtype = drawn.choice(["float32", "float64"])
        x, y = (rows, dtype), (other, dtype)
        bounds, place = (drawn.random(), 2.0), core.CPUPlace()
        if name == "gaussian":
            yield (list(rows), *bounds, 0, paddle.float32, place), []
        elif name == "uniform":
            yield (list(rows), drawn.choice([paddle.float32, paddle.float64]), *bounds, 0, place), []
        elif name in {"add", "subtract", "multiply"}:
            yield of[:2], [x, y]
        elif name == "matmul":
            yield (*of[:2], drawn.random() < 0.5, drawn.random() < 0.5), [x, y]
        elif name in sent:
            axis = drawn.choice([0, 1, -1])
            yield (a, *eval(f"[{sent[name]}]")), [x]
        elif name == "transpose":
            yield (a, drawn.sample(range(len(rows)), len(rows))), [x]
        elif name == "dropout":
            yield (a, None, 0.1, False, "upscale_in_train", 0, False), [x]
        elif name == "embedding":
            yield (*of[:2], -1, False), [(rows, "int64"), ((n, k), dtype)]
        elif name == "linear_v2":
            yield (*of[:3], False), [((*rows, k), dtype), ((k, n), dtype), ((n,), dtype)]
        elif name == "conv2d":
            (height, width), by = drawn.choice([(1, 1), (3, 3), (1, 3), (3, 5)]), drawn.choice([1, 1, 1, 2])
            beside = [height // 2, drawn.choice([0, width // 2, width // 2])]
            beside = drawn.choice([beside, beside, beside, [beside[0], beside[0], beside[1], beside[1]]])
            yield (*of[:2], [1, by], beside, "EXPLICIT", [1, drawn.choice([1] * 5 + [2])], 1, "NCHW"), [
                ((m, n, *drawn.choice([(7, 11), (11, 13), (5, 3)])), dtype), ((k, n, height, width), dtype)]
        elif name == "batch_norm":
            of_channels = [((n,), "float32")] * 4
            yield (*of[:5], False, 0.9, 1e-5, "NCHW", False, False), [
                ((m, n, k, k), "float32"), *of_channels]
        elif name == "sgd_":
            yield (*of[:3], None, False), [x, none, y]
        elif name == "rmsprop_":
            yield (*of[:5], None, None, 1e-6, 0.9, 0.0, False, False), [x, x, y, x, none]
        elif name == "momentum_":
            yield (*of[:4], None, 0.9, False, "", 0.0, False, 1.0), [x, y, x, none]
        else:
            rest = [None, *of[5:], None, None, 0.9, 0.999, 1e-8]
            more = [1.0, 0.01, True] if name == "adamw_" else []
            yield (*of[:5], *rest, *more, False, 1000, False, False, False), [x, y, none, x, x, one, one]

shared, counts, wrong, moved = Inference(), {}, [], []
resized, redrawn = inferences.resized, inferences.redrawn
inferences.resized = lambda *given: moved.append(0) or resized(*given)
inferences.redrawn = lambda *given: moved.append(0) or redrawn(*given)
for name in sorted(name for name, rule in RULES.items() if rule.keeps_sizes):
    alike, before = 0, len(moved)
    for args, metas in calls(name):
        found = []
        wants = [not name.endswith("_") and dtype != "int64" for _, dtype in metas]
        for inference in (shared, Inference()):
            key = (name, encode(args, [])[1], (), tuple(metas), tuple(wants))
            try:
                with entered(runtime):
                    found.append(described(inference.template(key, called(name, *args), metas, wants)))
            except Exception as problem:
                found.append(type(problem).__name__)
        alike += found[0] == found[1] and not found[0].endswith("Error")
        if found[0] != found[1]:
            wrong.append([name, metas, found])
    counts[name] = [alike, len(moved) - before]
print(json.dumps(["wrong", wrong[:1]]))
print(json.dumps(["counts", counts]))
"""
)

OF_ONE = {
    **dict.fromkeys((
        "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cosh", "expm1", "floor", "log10", "log1p", "log2",
        "logsigmoid", "mean_all", "reciprocal", "relu", "relu6", "sigmoid", "sign", "silu", "sinh", "softsign", "tanh",
        "trunc",
    ), ""),
    "gelu": "False", "hardsigmoid": "0.2, 0.5", "leaky_relu": "0.1", "log_softmax": "axis", "mish": "20.0",
    "scale": "2.0, 1.0, True", "selu": "1.05, 1.67", "softmax": "axis",
}  # fmt: skip
"""Operators of one tensor, with the rest of their arguments."""


def test_one_pattern_of_sizes_is_built_once(run_code: Callable[[str, object], dict]) -> None:
    found = run_code(PATTERNS, OF_ONE)
    assert found["wrong"] == []
    assert {"adamw_", "batch_norm", "conv2d", "matmul", "relu"} <= found["counts"].keys()
    assert {name: counts for name, counts in found["counts"].items() if min(counts) < 10} == {}


# The rest of the arguments of those that have more than tensors.
ATTRIBUTES = {
    **dict.fromkeys(("all", "any", "amax", "max", "mean", "min"), "[axis], False"),
    **dict.fromkeys(("softmax", "log_softmax"), "axis"),
    "celu": "1.0", "elu": "1.0", "clip": "0.0, 1.0", "cumsum": "axis, False, False, False", "flip": "[axis]",
    "gelu": "False", "hardsigmoid": "0.2, 0.5", "leaky_relu": "0.1", "logsumexp": "[axis], False, False",
    "mish": "20.0", "p_norm": "2.0, axis, 1e-12, False, False", "pow": "2.0", "prod": "[axis], True, False",
    "reshape": "[-1, 2]", "roll": "[1], [axis]", "scale": "2.0, 1.0, True", "selu": "1.05, 1.67",
    "softplus": "1.0, 20.0", "tile": "[2, 1]",
}  # fmt: skip
BY_TYPES = (
    HEAD
    + """
drawn = random.Random(0)
SHAPES = [(), (2,), (3,), (4, 2), (4, 1), (1, 2), (2, 4, 2), (3, 4, 2), (0, 2)]
fill = inferences._fill
for name, rule in RULES.items():
    if rule.asked not in inferences._BY_TYPES:
        continue
    count = inferences._BY_TYPES[rule.asked]
    asked, wrong = 0, []
    for dtypes in [["float32"] * count, ["int64"] * count, ["float32", "int64"][:count]]:
        taken = False
        for _ in range(3):
            axis = drawn.choice([0, 1, -1, 2])
            metas = [(drawn.choice(SHAPES), dtype) for dtype in dtypes]
            call = called(name, *(a, b)[:count], *eval(f"[{sent.get(name, '')}]"))
            with entered(runtime):
                says = refusal(call, metas, fill)
                try:
                    runtime.inference._typed(call, metas, [False] * count)
                except Exception:
                    continue
            asked += 1
            if says is None:
                taken = True
            elif taken:
                wrong.append([metas, str(says)[-200:]])
    print(json.dumps([name, [asked, wrong]]))
"""
)


def test_types_are_all_that_the_builder_leaves_out(run_code: Callable[[str, object], dict]) -> None:
    found = run_code(BY_TYPES, ATTRIBUTES)
    assert {name: wrong for name, (_, wrong) in found.items() if wrong} == {}
    assert {name for name, (asked, _) in found.items() if not asked} == set()


# What a kernel would fill of a batch like these: gigabytes.
LARGE = (
    HEAD
    + """
import resource
CALLS = {
    "conv2d_transpose": (("conv2d_transpose", a, b, [2, 2], [0, 0], [], [], "EXPLICIT", 1, [1, 1], "NCHW"),
        [((4096, 64, 112, 112), "float32"), ((64, 64, 2, 2), "float32")]),
    "fold": (("fold", a, [112, 112], [3, 3], [1, 1], [1, 1, 1, 1], [1, 1]), [((4096, 576, 12544), "float32")]),
    "send_u_recv": (("send_u_recv", a, b, c, "SUM", [0]),
        [((1 << 22, 768), "float32"), ((1 << 20,), "int64"), ((1 << 20,), "int64")]),
}  # fmt: skip
for name, (call, metas) in CALLS.items():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with entered(runtime):
        Inference()._ask(name, called(*call), metas)
    print(json.dumps([name, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 19]))
with entered(runtime):
    (call, metas), said = CALLS["conv2d_transpose"], ""
    try:
        Inference()._ask(call[0], called(*call), [metas[0], ((32, 64, 2, 2), "float32")])
    except Exception as problem:
        said = str(problem)
print(json.dumps(["names the batch", "4096" in said]))
"""
)


def test_no_large_batch_is_filled_for_an_answer(run_code: Callable[[str, object], dict]) -> None:
    found = run_code(LARGE, None)
    assert found == dict.fromkeys(("conv2d_transpose", "fold", "send_u_recv", "names the batch"), True)


# Parts that begin anywhere, go past the end, or backward, are empty, or leave axes out.
PARTS = (
    HEAD
    + """
from tracer.eager.calls import encode
PLACES = {"starts", "ends"}

def described(inference, name, args, metas):
    tensors, (encoded, key) = [], encode(args, [])
    wants = [dtype == "float32" for _, dtype in metas]
    try:
        with entered(runtime):
            made = inference.template((name, key, (), tuple(metas), tuple(wants)), called(name, *encoded), metas, wants)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}".split("at (")[0]
    told = lambda step: {name: one for name, one in step.attrs.items() if name not in PLACES}
    return repr([(s.name, s.operands, s.results, told(s), s.inplace, s.gradient and (
        s.gradient.metas, [(g.name, g.operands, g.results, told(g)) for g in s.gradient.steps],
    )) for s in made.steps] + [made.metas, made.returned, made.is_dynamic])

def calls():
    drawn = random.Random(7)
    while True:
        shape = tuple(drawn.choice([1, 2, 5, 8]) for _ in range(drawn.choice([1, 2, 3])))
        axes = sorted(drawn.sample(range(len(shape)), drawn.choice(range(1, len(shape) + 1))))
        starts = [drawn.randint(-9, 9) for _ in axes]
        ends = [drawn.choice([start + drawn.randint(1, 4), 2147483647]) for start in starts]
        steps = [drawn.choice([1, 1, 2, 3, -1]) for _ in axes]
        dropped = drawn.choice([[], [], axes[:1]])
        ends = [start + 1 if axis in dropped and start != -1 else end for axis, start, end in zip(axes, starts, ends)]
        x, name = (shape, "float32"), drawn.choice(sorted(sent))
        if name == "slice":
            yield name, (a, axes, starts, ends, [1] * len(axes), dropped), [x]
        elif name == "strided_slice":
            yield name, (a, axes, starts, ends, steps), [x]
        elif name == "set_value_":
            yield name, (a, starts, ends, [max(one, 1) for one in steps], axes, dropped, [], [1], [0.0]), [x]
        else:
            value = tuple(1 for _ in shape)
            yield name, (a, b, starts, ends, [max(one, 1) for one in steps], axes, dropped, []), [x, (value, "float32")]

import itertools, paddle
real, shared, differ, moved = inferences.at_origin, Inference(), [], dict.fromkeys(sent, 0)
for name, args, metas in itertools.islice(calls(), 600):
    moved[name] += bool(real(name, args, metas))
    found = described(shared, name, args, metas)
    inferences.at_origin = lambda *given: {}
    alone = described(Inference(), name, args, metas)
    inferences.at_origin = real
    if found != alone:
        differ.append([name, repr(args), repr(metas), found, alone])
print(json.dumps(["differ", differ[:3]]))
print(json.dumps(["moved", moved]))
"""
)


def test_a_part_of_a_tensor_has_one_template_wherever_it_begins(run_code: Callable[[str, object], dict]) -> None:
    names = ["slice", "strided_slice", "set_value_", "set_value_with_tensor_"]
    found = run_code(PARTS, names)
    assert found["differ"] == []
    assert min(found["moved"].values()) > 30
