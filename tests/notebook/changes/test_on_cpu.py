"""The CPU in place of the GPU that cells name: wherever a call is given one, and nowhere else."""

from __future__ import annotations

import pytest

from .test_table import lines, made, refused


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("paddle.set_device('gpu')  # mine", "paddle.set_device('cpu')  # mine"),
        ("paddle.device.set_device(f'gpu:{rank}')", "paddle.device.set_device('cpu')"),
        ("paddle.set_device('gpu' if fast else 'cpu')", "paddle.set_device('cpu')"),
        ("net.to(device='cuda:1'); x = x.cuda()", "net.to(device='cpu'); x = x.cpu()"),
        ("x = paddle.to_tensor(a, place=paddle.CUDAPlace(0))", "x = paddle.to_tensor(a, place=paddle.CPUPlace())"),
        ("x = f(batch)[0].cuda(0, blocking=False)", "x = f(batch)[0].cpu()"),
    ],
)
def test_each_device_of_a_call_becomes_the_cpu(before, after):
    _, found = made({"on_cpu": True}, f"import paddle\n{before}")
    assert lines(found) == [f"-{before}", f"+{after}"]
    assert [one.render() for one in found.says] == ["on the CPU where the notebook names a GPU"]


def test_a_name_is_followed_to_the_device_it_stands_for():
    _, found = made({"on_cpu": True}, "import paddle\nDEVICE = 'gpu:0'\nname = 'gpu'", "paddle.set_device(DEVICE)")
    assert lines(found) == ["-paddle.set_device(DEVICE)", "+paddle.set_device('cpu')"]


@pytest.mark.parametrize(
    "cell", ["paddle.set_device('cpu')", "kind = 'gpu'\nprint(kind, {'gpu': 1})", "net.to('float16')"]
)
def test_without_a_device_it_is_refused(cell):
    _, found = made({"on_cpu": True}, f"import paddle\n{cell}")
    assert refused(found) == [("on_cpu", "device_nowhere")]
