"""The NVIDIA Container Toolkit: how it refuses to hand out a card, and what a person does then.

Each fragment was seen in the answer of a real daemon (lower case).
"""

from __future__ import annotations

from ....domain.messages import Message
from ...maker import HookRefusal

MISSING = Message(
    code="gpu_toolkit_missing",
    text="This Docker daemon cannot hand out GPUs: the NVIDIA Container Toolkit is missing.",
    hint="`sudo apt-get install nvidia-container-toolkit` (dnf, zypper elsewhere; NVIDIA's package source comes "
    "first: https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html), then "
    "`sudo nvidia-ctk runtime configure --runtime=docker` and `sudo systemctl restart docker`.",
)
IGNORED = Message(
    code="gpu_request_ignored",
    text="The daemon took the request for a GPU, but the container has none.",
    hint="Run `sudo nvidia-ctk runtime configure --runtime=docker` and `sudo systemctl restart docker`.",
)
ROOTLESS = Message(
    code="docker_rootless",
    text="Docker runs rootless: it sees only what this user sees, and GPUs need no-cgroups in NVIDIA's settings.",
    hint="For GPUs: `sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups --in-place`, then `systemctl "
    "--user restart docker`.",
)


def _missing(detail: str, devices: str, image: str) -> Message:
    return MISSING


def _unknown(detail: str, devices: str, image: str) -> Message:
    return Message(
        code="device_unknown",
        text="The driver does not know the device {device}: {detail}",
        hint="Look which devices there are with `nvidia-smi -L`; a lost card (Xid) needs a reset or a restart.",
        params={"device": devices, "detail": detail},
    )


def _too_old(detail: str, devices: str, image: str) -> Message:
    return Message(
        code="driver_mismatch",
        text="The host's driver is too old for {image}: {detail}",
        hint="`jupyter paddle-gpu images` names the image for this driver: submit with it as `--image`, or update the "
        "driver.",
        params={"image": image, "detail": detail},
    )


def _updated(detail: str, devices: str, image: str) -> Message:
    return Message(
        code="driver_mismatch",
        text="The loaded NVIDIA driver and its library are of different versions: it was updated without a restart.",
        hint="Restart the machine. In a container, start it anew.",
    )


def _away(detail: str, devices: str, image: str) -> Message:
    return Message(
        code="driver_not_loaded",
        text="No NVIDIA driver is at work on the machine of the Docker daemon: {detail}",
        hint="`nvidia-smi` says what is wrong with it. Where it is installed: `sudo modprobe nvidia`; else install it "
        "(on Ubuntu: `sudo ubuntu-drivers install`) and restart.",
        params={"detail": detail},
    )


REFUSALS = (
    HookRefusal(
        ("could not select device driver", "unknown runtime specified nvidia", "unknown or invalid runtime"), _missing
    ),
    HookRefusal(("unsatisfied condition: cuda", "cuda driver version is insufficient"), _too_old),
    HookRefusal(("unknown device", "unresolvable cdi devices", "failed to inject cdi", "device error"), _unknown),
    HookRefusal(("driver/library version mismatch",), _updated),
    HookRefusal(("driver not loaded", "driver error", "load library failed: lib"), _away),
)
