"""Where a notebook would stop: real Paddle and the trace say the same, and what is not certain is not said."""

import json
import subprocess
import sys

import pytest

from benchmarks.refusals.running import ROOT
from tests.estimator.tracer.notebook.cells.stop_programs import (
    AGAIN,
    CHOSEN,
    LAYER,
    LIST,
    NODES,
    NOT_READ,
    PLACES,
    REFUSED,
    UNUSED,
    training,
)

AT_ITS_LINE = {
    "a wrong name in a gradient of one's own": LAYER.format(back="return g.foo()", given="net(paddle.rand([4, 4]))"),
    "an axis in a gradient of one's own": LAYER.format(back="return F.softmax(g, 9)", given="net(paddle.rand([4, 4]))"),
    "labels drawn out of bounds": training(loss="F.cross_entropy(net(x), paddle.randint(-90, -9, [4]))"),
    "an index": training(loss="net(x)[9].mean()"),
}
"""Refused by both; the sentence holds an address, a number drawn at random, or the builder's words."""
UNSURE = {
    "a size out of the model": training(loss="net(x).reshape([int(net(x).argmax()) + 3, -1]).mean()"),
    "a size by way of numpy": training(loss="(net(x) + paddle.zeros([3 + net(x).numpy().argmax(), 2])).mean()"),
    "an index out of the model": training(after="[1, 2][int(1e3 * loss)]"),
    "a share behind a choice": training(x=f"paddle.rand([4, 4]); {CHOSEN}x = x[k + 7]"),
    "a place of a list": training(x=f"paddle.rand([4, 4]); {CHOSEN}[1, 2, 3][k - 9]"),
    "a module that is not here": "from not_here_at_all import size\n" + training(x="paddle.rand([4, size])"),
    "a check of the loss": training(after="assert float(loss) > 1e9"),
    "rows that a condition selects": training(loss=f"(net(x){NODES} + paddle.ones([3, 2])).mean()"),
    "a hook that reads a file": training(x="paddle.rand([4, 4]); net.weight.register_hook(lambda g: open('no'))"),
}
RUNS = {
    "an unused input that is allowed": training(
        x=f"paddle.rand([4, 4]); {UNUSED}",
        loss="net(x).mean() + (paddle.grad(net(x), z, allow_unused=True)[0] is not None)",
    ),
    "a layer of one's own": LAYER.format(back="return g * 2", given="net(paddle.rand([4, 4]))"),
    "the last from the end": training(loss="paddle.gather(net(x), paddle.to_tensor([-4, 3])).mean()"),
    "a variance out of the model": training(loss="F.gaussian_nll_loss(net(x), paddle.rand([4, 2]), net(x).exp())"),
    "labels that are ignored": training(loss="F.cross_entropy(net(x), paddle.to_tensor([0, 1, -100, 1]))"),
    "all of the largest": training(loss="paddle.topk(net(x), 2)[0].mean()"),
    "a truth for an index": training(
        loss="net(x).mean()[True].sum() + net(x)[paddle.to_tensor(True)].mean() + net(x).mean()[False].sum()"
    ),
    "text as a number": training(loss="(net(x) + 'w' - '2').mean()"),
    "numbers in tensors": training(
        loss="F.dropout(net(x).sum(axis=paddle.to_tensor(0)).clip(paddle.to_tensor(0.1)), paddle.to_tensor(0.5)).mean()"
    ),
    "an axis among others": training(loss="net(x).logsumexp([paddle.to_tensor(1)]).flip(paddle.to_tensor(0)).mean()"),
    "a hook": training(x="paddle.rand([4, 4]); net.weight.register_hook(lambda g: g * 2)"),
    "statistics beside low precision": training(
        "BatchNorm1D(4)", loss="net(x).mean() + 0 * F.kl_div(net(x), x, reduction='mean')"
    ),
}
RUNS |= {
    "a gradient of a gradient beside drawn rows": training(
        x=AGAIN.format(more=""), loss=LIST.format(call="concat([x, t])")
    ),
    "places before a new axis and a number": training(loss=f"net(x)[{PLACES}, None, 1].mean()"),
    "a mask behind a new axis that fits": training(loss="net(x)[:2][None, :, paddle.ones([2], 'bool')].mean()"),
    "a mask of all axes": training(loss="net(x)[:, paddle.ones([2], 'bool')][x[:, 0] < 2].reshape([4, 2]).mean()"),
    "a map of less than nothing twice": training(
        loss="F.conv2d(net(x).reshape([1, 1, 4, 2]), paddle.rand([1, 1, 6, 6])).mean()"
    ),
    "labels beside no classes": training(loss="F.cross_entropy(net(x)[:, :0], paddle.to_tensor([0, 1, 5, 3])).sum()"),
    "places in rows without elements": training(
        x="paddle.rand([4, 4]); k = paddle.to_tensor([9])",
        loss="sum(f(net(x)[:, :0], k).sum() for f in (paddle.gather, paddle.gather_nd, paddle.index_select))",
    ),
}
RUNS |= {
    f"written over: {name}": training(loss="h.mean()").replace("    loss =", f"    {code}\n    loss =", 1)
    for name, code in NOT_READ.items()
}
ONLY_ON_GPU = training(loss="F.margin_cross_entropy(F.normalize(net(x)), paddle.to_tensor([0, 1, 1, 0])).mean()")
"""This Paddle has a kernel for it that does nothing."""
LARGE_KERNEL = training(x="F.max_pool2d(F.conv2d(paddle.rand([4, 3, 2, 2]), paddle.rand([1, 3, 5, 5])), 2).flatten(1)")
"""Paddle reads past the map; it ends some runs before it refuses what has no size."""
BEHIND = training(behind="#---\nimport json\nfirst = json.loads('[]')[0]\n").replace("range(4)", "range(1)")


@pytest.fixture(scope="module")
def answers():
    pytest.importorskip("paddle")
    programs = {**REFUSED, **UNSURE, **RUNS, **AT_ITS_LINE, "behind": BEHIND, "right": training()}
    programs["by chance"] = training(
        x="paddle.rand([4, 4]); paddle.seed(3)",
        loss="F.cross_entropy(net(x), paddle.randint(0, 3, [2]).repeat_interleave(2))",
    )
    once = "paddle.rand([{count}, 4]); {first}y = paddle.to_tensor(np.random.randint(-1, 2, {count}))"
    labelled = {"drawn once": (3, ""), "seeded": (3, "np.random.seed(0); "), "many drawn once": (90, "")}
    programs |= {
        name: training(x=once.format(count=count, first=first), loss="F.cross_entropy(net(x), y)")
        for name, (count, first) in labelled.items()
    }
    asked = [{"name": name, "source": source} for name, source in programs.items()]
    asked += [{"name": f"only {target}", "source": ONLY_ON_GPU, "target": target} for target in ("cpu", "gpu")]
    asked.append({"name": "large kernel", "source": LARGE_KERNEL})
    sent = "".join(json.dumps(one) + "\n" for one in asked)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.refusals.running"]
    done = subprocess.run(command, cwd=ROOT, input=sent, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", REFUSED)
def test_the_same_sentence_at_the_same_line(answers, name):
    row = answers[name]
    assert row["real"]["ended"] == "refused"
    assert row["traced"] == row["real"]


@pytest.mark.parametrize("name", AT_ITS_LINE)
def test_the_same_error_at_the_same_line(answers, name):
    row = answers[name]
    assert row["real"]["ended"] == "refused"
    assert [row["traced"][key] for key in ("ended", "cell", "line", "error")] == [
        row["real"][key] for key in ("ended", "cell", "line", "error")
    ]


@pytest.mark.parametrize("name", UNSURE)
def test_what_hangs_on_what_is_not_known_is_not_called_an_error(answers, name):
    assert answers[name]["traced"]["ended"] != "refused"


@pytest.mark.parametrize("name", RUNS)
def test_what_paddle_takes_is_taken(answers, name):
    assert answers[name]["real"] == {"ended": "ran"}
    assert answers[name]["traced"] == {"ended": "ran", "status": "ok"}


def test_what_only_some_draws_have_out_of_bounds_is_said_beside_the_figure(answers):
    assert answers["by chance"]["traced"] == {"ended": "ran", "status": "ok", "by_chance": 8}


def test_what_only_some_draws_of_numpy_have_is_no_stop(answers):
    """Labels that are drawn once, three of them: every third program or so is refused, and nobody knows which."""
    traced = answers["drawn once"]["traced"]
    assert traced == {"ended": "ran", "status": "ok", "by_chance": 8}
    for name in ("many drawn once", "seeded"):
        assert answers[name]["traced"] == answers[name]["real"]
        assert answers[name]["real"]["ended"] == "refused"


def test_a_kernel_that_only_a_gpu_has_is_refused_on_a_cpu_alone(answers):
    assert answers["only cpu"]["traced"] == answers["only cpu"]["real"]
    assert answers["only gpu"]["traced"]["ended"] != "refused"


def test_a_kernel_larger_than_its_map_gives_nothing(answers):
    traced = answers["large kernel"]["traced"]
    assert (traced["ended"], traced["error"]) == ("refused", "ValueError")
    assert "[1]dimension of Input(X) is [0]" in traced["text"]


def test_behind_the_training_the_error_stands_beside_the_figure(answers):
    traced = answers["behind"]["traced"]
    assert (traced["cell"], traced["line"], traced["error"]) == (1, 2, "IndexError")


def test_a_right_program_has_none(answers):
    assert answers["right"]["traced"] == {"ended": "ran", "status": "ok"}
