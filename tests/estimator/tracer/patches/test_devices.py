"""Notebooks written for a GPU, estimated where there is none: what names a device or asks one stops nothing."""

from __future__ import annotations

import re

import paddle
import pytest

pytestmark = pytest.mark.paddle

SCRIPT = """
import copy
import pickle
import paddle
from paddle import nn
import paddle.nn.functional as F
paddle.seed(0)
model = nn.Sequential(nn.Linear(40, 300), nn.ReLU(), nn.Linear(300, 2))
{before}
optimizer = paddle.optimizer.Adam(parameters=model.parameters())
for step in range(6):
    x, y = paddle.rand([64, 40]), paddle.randint(0, 2, [64])
    {inside}
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    {behind}
"""
BEFORE = {
    "to-name": "model.to('gpu')",
    "to-index": "model.to(device='gpu:1')",
    "to-cuda": "model.to('cuda:0')",
    "to-plugin": "model.to('npu:0')",
    "to-place": "model.to(paddle.CPUPlace())",
    "cuda": "model.cuda()",
    "class": "model.to(paddle.CUDAPlace(0)); assert not isinstance(paddle.rand([1]).place, paddle.CUDAPlace)",
    "has": "model.to('gpu' if paddle.is_compiled_with_cuda() else 'no'); assert paddle.device.cuda.device_count() == 1",
    "number": "paddle.set_device(f'gpu:{paddle.distributed.ParallelEnv().dev_id}')",
    "name": "print(paddle.device.cuda.get_device_name(), paddle.device.cuda.get_device_properties().total_memory)",
    "stream": "start = paddle.device.cuda.Event(); start.record(); paddle.device.cuda.current_stream().synchronize()",
    "versions": "assert paddle.get_cudnn_version() // 1000 and float(paddle.version.cuda()), paddle.version.cudnn()",
    "current": "assert paddle.get_device() == paddle.device.get_device() == 'gpu:0'",
    "scaler": "s = paddle.amp.GradScaler(); assert s._scale.item() and not s._cache_found_inf; del s",
    "flags": "paddle.set_flags({'FLAGS_cudnn_deterministic': 1, 'FLAGS_conv_workspace_size_limit': 512})",
    "capability": "assert paddle.device.cuda.get_device_capability() >= (7, 0), 'too old'",
    "memory": "m = paddle.device.cuda.get_device_properties(0).total_memory; print(f'{m / 2**30:.1f}'); del m",
    "flag": "assert not paddle.get_flags(['FLAGS_cudnn_deterministic'])['FLAGS_cudnn_deterministic']",
    "pickled": "x = paddle.rand([3]); copy.copy(x); pickle.loads(pickle.dumps(x)); del x",
}
INSIDE = {
    "moved": "x, y = x.to('gpu:0'), y.cuda()",
    "made": "x = paddle.rand([64, 40], device='gpu')",
    "same": "x = paddle.to_tensor(x.numpy(), place=model[0].weight.place)",
}
BEHIND = {
    "synchronize": "paddle.device.cuda.synchronize(); paddle.device.synchronize('gpu:0')",
    "empty": "paddle.device.cuda.empty_cache()",
    "asked": "print(paddle.device.cuda.max_memory_allocated() / 2**20, paddle.device.cuda.memory_reserved())",
    "cpu": "print(loss.cpu().numpy(), x.place.is_gpu_place())",
}
PROGRAMS = {
    "plain": SCRIPT.format(before="", inside="", behind=""),
    **{name: SCRIPT.format(before=line, inside="", behind="") for name, line in BEFORE.items()},
    **{name: SCRIPT.format(before="", inside=line, behind="") for name, line in INSIDE.items()},
    **{name: SCRIPT.format(before="", inside="", behind=line) for name, line in BEHIND.items()},
}
CASTS = {
    name: SCRIPT.format(before=before, inside="x = x.astype('float64')", behind="")
    for name, before in {
        "to": "model.to(dtype='float64')",
        "double": "model.double() if hasattr(model, 'double') else model.to(dtype='float64')",
        "device-and-type": "model.to(device='cpu', dtype='float64')",
    }.items()
}
CASTS["and-back"] = SCRIPT.format(before="model.to(dtype='float64'); model.to(dtype='float32')", inside="", behind="")
LOW = {
    name: SCRIPT.format(before=before, inside=f"x = x.astype('{kind}')", behind="")
    for name, before, kind in (
        ("bfloat16", "model.bfloat16()", "bfloat16"),
        ("float16", "model.to(dtype=paddle.float16)", "float16"),
    )
}


@pytest.fixture(scope="module")
def traced(run_child):
    return run_child("trace", PROGRAMS, {name: {"target": "gpu"} for name in PROGRAMS})


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "plain"])
def test_devices_stop_nothing_and_take_nothing(traced, name):
    assert traced[name]["questions"] == []
    assert "few_steps" not in traced[name]["notes"]
    assert traced[name]["standing"] == traced["plain"]["standing"]
    if name not in INSIDE:  # `.to()` of data holds what it was called on as well
        assert traced[name]["peak"] == traced["plain"]["peak"]


def test_a_batch_that_hangs_on_the_cards_memory_is_asked_for(run_child):
    """Its memory was 0, so that such a program trained on one sample, with a figure and without a word."""
    source = SCRIPT.format(
        before="memory = paddle.device.cuda.get_device_properties(0).total_memory; count = int(memory // 2**30) * 8",
        inside="x, y = paddle.rand([count, 40]), paddle.randint(0, 2, [count])",
        behind="",
    )
    requests = {"open": {"target": "gpu"}, "answered": {"target": "gpu", "answers": {"count": 64}}}
    found = run_child("trace", dict.fromkeys(requests, source), requests)
    assert [one["name"] for one in found["open"]["questions"]] == ["count"]
    assert found["answered"]["questions"] == [] and found["answered"]["peak"]


def test_a_device_of_a_maker_that_a_package_adds_stops_nothing(run_child):
    sources = dict.fromkeys(("known", "unknown"), SCRIPT.format(before="model.to('globex:1')", inside="", behind=""))
    found = run_child("trace", sources, {"known": {"device_names": ["globex"]}, "unknown": {}})
    assert found["known"]["peak"]
    assert not found["unknown"]["peak"]


def test_a_program_for_the_cpu_hears_that_there_is_no_cuda(run_child):
    source = SCRIPT.format(before="assert not paddle.is_compiled_with_cuda()", inside="", behind="")
    found = run_child("trace", {"cpu": source}, {"cpu": {"target": "cpu"}})["cpu"]
    assert found["questions"] == []
    assert found["peak"]


LEAVES = """import sys
def check(use_gpu):
    said = "Set use_gpu as \\n\\t false"
    try:
        if use_gpu and not paddle.is_compiled_with_cuda():
            print(said)
            sys.exit(1)
    except Exception:
        pass
check({use_gpu})
"""
"""How the makers' trainers look for a GPU."""


@pytest.mark.skipif(paddle.is_compiled_with_cuda(), reason="a build for CPUs alone leaves")
def test_a_program_that_leaves_without_a_gpu_has_a_figure_and_its_own_words(run_child):
    found = run_child(
        "trace",
        {name: SCRIPT.format(before=LEAVES.format(use_gpu=name == "asked"), inside="", behind="") for name in LEFT},
        {name: {"target": "cpu"} for name in LEFT},
    )
    assert {name: found[name]["peak"] for name in LEFT} == dict.fromkeys(LEFT, found["not asked"]["peak"])
    assert found["not asked"]["peak"]
    assert found["not asked"]["stop"] is None
    stop = found["asked"]["stop"]
    assert (stop["error"], stop["device"]) == ("SystemExit: Set use_gpu as false", "GPU")


@pytest.mark.skipif(paddle.is_compiled_with_cuda(), reason="a build for CPUs alone leaves")
@pytest.mark.parametrize(("before", "error"), [
    ("has = paddle.is_compiled_with_cuda()\nif not has:\n    print('no GPU')\n    exit()", "SystemExit: no GPU"),
    ("assert paddle.is_compiled_with_cuda(), 'no GPU'", "AssertionError: no GPU"),
    ("if not paddle.is_compiled_with_cuda():\n    raise RuntimeError('no GPU')", "RuntimeError: no GPU"),
])  # fmt: skip
def test_other_ways_to_leave_without_a_gpu_are_told_in_their_words(run_child, before, error):
    found = run_child(
        "trace", {"script": SCRIPT.format(before=before, inside="", behind="")}, {"script": {"target": "cpu"}}
    )
    assert found["script"]["peak"]
    assert (found["script"]["stop"]["error"], found["script"]["stop"]["device"]) == (error, "GPU")


LEFT = ("asked", "not asked")
ON_CPU = {
    "set": ("paddle.set_device('gpu')", "paddle.set_device('gpu')"),
    "to": ("model.to('gpu:0')", "paddle.nn.Linear(2, 2).to('gpu:0')"),
    "data": ("paddle.rand([3]).cuda()", "paddle.rand([3]).cuda()"),
    "class": ("paddle.CUDAPlace(0)", "paddle.CUDAPlace(0)"),
    "tried later": (
        "paddle.set_device('gpu')\ntry:\n    model.to('gpu'); found = 'gpu'\nexcept ValueError:\n    found = 'cpu'\n"
        "assert found == 'cpu'",
        "paddle.set_device('gpu')",
    ),
    "tried for another": (
        "\ntry:\n    paddle.set_device('gpu')\nexcept KeyError:\n    pass\n",
        "paddle.set_device('gpu')",
    ),
    "within a with": (
        "import contextlib\n@contextlib.contextmanager\ndef on():\n    paddle.set_device('gpu')\n    yield\n"
        "for _ in range(2):\n    with on():\n        pass\n",
        "paddle.set_device('gpu')",
    ),
    "asked first": ("paddle.set_device('gpu' if paddle.is_compiled_with_cuda() else 'cpu')", ""),
    "tried": ("\ntry:\n    paddle.set_device('gpu')\nexcept ValueError:\n    paddle.set_device('cpu')\n", ""),
}
"""A line before the training, and what Paddle refuses of it."""


@pytest.mark.skipif(paddle.is_compiled_with_cuda(), reason="a build for CPUs alone refuses")
def test_on_the_cpu_a_gpu_that_is_asked_for_ends_the_job(run_child):
    sources = {name: SCRIPT.format(before=line, inside="", behind="") for name, (line, _) in ON_CPU.items()}
    found = run_child("trace", sources, {name: {"target": "cpu"} for name in sources})
    for name, (_, real) in ON_CPU.items():
        assert found[name]["peak"]
        stop = found[name]["stop"]
        assert (stop is not None) == bool(real), name
        if stop is not None:
            with pytest.raises(ValueError) as refusal:
                eval(real)
            assert str(refusal.value).split(" (at ")[0].strip()[:20] in stop["error"]
            asks = [at for at, line in enumerate(sources[name].splitlines(), 1) if re.search("'gpu|cuda|CUDA", line)]
            assert stop["line"] == asks[0]
            assert stop["device"]


def test_a_library_beside_paddle_is_a_program_that_uses_it(run_child):
    """PaddleNLP's folder begins with the name of Paddle's."""
    file = "paddle.__file__.replace('paddle/__init__', 'paddlenlp/__init__')"
    asks = f"exec(compile('assert paddle.is_compiled_with_cuda()', {file}, 'exec'))"
    source = SCRIPT.format(before=asks, inside="", behind="")
    assert run_child("trace", {"gpu": source}, {"gpu": {"target": "gpu"}})["gpu"]["questions"] == []


@pytest.fixture(scope="module")
def casts(measure):
    return measure(CASTS)


@pytest.mark.parametrize("name", CASTS)
def test_a_model_of_another_type_takes_what_the_allocator_says(casts, name):
    peaks, found = casts.pair(name)
    assert found["peak"] == peaks[-1], found["questions"]


def test_a_model_in_low_precision_takes_half(run_child, traced):
    found = run_child("trace", LOW, {name: {"target": "gpu"} for name in LOW})
    for name in LOW:
        assert found[name]["questions"] == []
        assert found[name]["standing"]["parameters"] * 2 == traced["plain"]["standing"]["parameters"]
