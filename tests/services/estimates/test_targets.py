import pytest

from jupyter_paddle_gpu.domain.devices import Accelerator, Device, HostSample, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.services.estimates.targets import resolve

HOST = HostSample(cpu_count=2, cpu_percent=0, memory_total=1, memory_available=1)
A100 = Accelerator(name="A100-80GB", vendor="nvidia", memory_bytes=80 << 30)
CARD = Device(id="GPU-1", index=0, vendor="nvidia", name="NVIDIA A100-SXM4-80GB", memory_total=81920 << 20)
ODD = Device(id="GPU-2", index=1, vendor="nvidia", name="NVIDIA Odd", memory_total=7 << 30)
PAPER = Device(id="simulated-0", index=2, vendor="nvidia", name="H100", simulated=True, memory_total=80 << 30)
SLICE = Device(id="MIG-1", index=0, vendor="nvidia", name=CARD.name, memory_total=10 << 30, parent="GPU-1")


def find(name):
    return A100 if "a100" in name.lower() else None


def ask(*devices, device=None, target="gpu"):
    request = EstimateRequest(device=device, target=target)
    return resolve(request, lambda: Inventory(time=0, host=HOST, devices=devices), find)


def test_without_a_wish_it_is_the_first_real_card_with_its_own_memory():
    found = ask(PAPER, CARD, ODD)
    assert (found.name, found.memory_bytes, found.usable_bytes) == ("A100-80GB", 80 << 30, 81920 << 20)
    assert ask() is None
    assert ask(PAPER) is None


def test_a_card_that_the_catalogue_does_not_know_speaks_for_itself():
    for wish in ("GPU-2", "1", "nvidia odd"):
        assert ask(CARD, ODD, device=wish) == Accelerator(
            name="NVIDIA Odd", vendor="nvidia", memory_bytes=7 << 30, usable_bytes=7 << 30
        )


def test_a_slice_has_its_own_memory():
    assert ask(SLICE, device="MIG-1").memory_bytes == 10 << 30


def test_the_catalogue_answers_what_is_not_here():
    assert ask(device="a100") == A100


def test_the_cpu_target_needs_no_accelerator():
    assert ask(CARD, target="cpu") is None


def test_an_unknown_name_is_refused():
    with pytest.raises(PaddleGpuError, match="toaster") as caught:
        ask(CARD, device="toaster")
    assert caught.value.code == "unknown_device"
