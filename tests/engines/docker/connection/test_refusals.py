"""What Docker, containerd and NVIDIA say when they refuse: its class and the next step."""

from __future__ import annotations

import pytest

from jupyter_paddle_gpu.engines.docker.connection.faults import classify
from jupyter_paddle_gpu.i18n import translator

REFUSALS = [
    (
        'could not select device driver "" with capabilities: [[gpu]]',
        "gpu_toolkit_missing",
        "nvidia-ctk runtime configure",
    ),
    ("Unknown runtime specified nvidia", "gpu_toolkit_missing", "sudo apt-get install nvidia-container-toolkit"),
    ("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6", "driver_mismatch", "images`"),
    (
        "initialization error: nvml error: driver/library version mismatch: unknown",
        "driver_mismatch",
        "Restart the machine",
    ),
    ("initialization error: nvml error: driver not loaded: unknown", "driver_not_loaded", "`sudo modprobe nvidia`"),
    ("initialization error: driver error: failed to process request", "driver_not_loaded", "`nvidia-smi`"),
    (
        "initialization error: load library failed: libnvidia-ml.so.1: cannot open",
        "driver_not_loaded",
        "ubuntu-drivers",
    ),
    ("nvidia-container-cli: device error: GPU-1: unknown device: unknown", "device_unknown", "`nvidia-smi -L`"),
    ("failed to register layer: write /x: no space left on device", "disk_full", "`docker image prune -a`"),
    ('invalid mount config for type "bind": bind source path does not exist: /x', "path_unseen", "local engine"),
    ("no matching manifest for linux/arm64/v8 in the manifest list entries", "image_other_machine", "--image"),
    ("Get https://h/v2/: dial tcp: lookup h: no such host", "registry_unreachable", "`docker pull h.example/x:1`"),
    ("toomanyrequests: You have reached your pull rate limit", "pull_interrupted", "`docker login`"),
    ("error pulling image configuration: download failed: unexpected EOF", "pull_interrupted", "tried again"),
    ("pull access denied for x, repository does not exist", "pull_refused", "`docker login h.example`"),
    ("manifest for x:1 not found: manifest unknown", "image_missing", "`docker pull h.example/x:1`"),
    ('OCI runtime create failed: exec: "python": not found: permission denied', "container_start_failed", "doctor`"),
    ("task 68446b575b85: already exists", "start_refused_busy", "`journalctl -u docker"),
    ("failed to create shim task: ttrpc: closed: unknown", "start_refused_busy", "tried again"),
    (
        "transport: Error while dialing dial unix /run/containerd/containerd.sock: connection refused",
        "start_refused_busy",
        "tried again",
    ),
    ("id already in use", "container_lost", "Submit it again"),
    ("something new", "docker_refused", "doctor`"),
]
"""What Docker, containerd or NVIDIA say; the class; what the next step names."""


@pytest.mark.parametrize(("text", "code", "step"), REFUSALS)
def test_each_refusal_of_docker_has_a_class_and_a_next_step(text, code, step):
    message = classify(text, image="h.example/x:1", gpus="GPU-1")
    assert message.code == code
    assert step in message.render_hint()
    chinese = message.render(translator("zh_CN")) + message.render_hint(translator("zh_CN"))
    assert message.render() not in chinese
    assert "{" not in chinese


@pytest.mark.parametrize(
    ("image", "command"),
    [
        ("paddlepaddle/paddle:3.3.1", "`docker login docker.io`"),
        ("registry.baidubce.com/paddlepaddle/paddle:3.3.1", "`docker login registry.baidubce.com`"),
        ("127.0.0.1:5000/team/x@sha256:" + 64 * "0", "`docker login 127.0.0.1:5000`"),
    ],
)
def test_whoever_is_refused_is_told_where_to_log_in(image, command):
    assert command in classify("unauthorized: authentication required", image=image).render_hint()
