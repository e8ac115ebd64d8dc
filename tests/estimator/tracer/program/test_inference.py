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
    key, wants = (call[0], repr((call[1:], metas))), [dtype == "float32" for _, dtype in metas]
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
