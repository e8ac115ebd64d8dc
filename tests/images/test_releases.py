"""Which Paddle an image has, by its tag or its label."""

import pytest

from jupyter_paddle_gpu.domain.containers.images import LocalImage
from jupyter_paddle_gpu.images.choice import ImagePolicy
from jupyter_paddle_gpu.images.releases import LABEL, release_of

MIRROR = ImagePolicy(registries=("registry.example/mirror/paddle",))
OWN = LocalImage(id="sha256:1", references=("registry.example/team/paddle:7.0.0",), labels={LABEL: "3.1.1"})
ODD = LocalImage(id="sha256:2", references=("registry.example/team/odd:1",), labels={LABEL: "newest"})


@pytest.mark.parametrize(
    ("reference", "release"),
    [
        ("paddlepaddle/paddle:2.6.2-gpu-cuda11.7-cudnn8.4-trt8.4", "2.6.2"),
        ("paddlepaddle/paddle:3.3.1", "3.3.1"),
        ("paddlepaddle/paddle:latest-dev", None),
        ("paddlepaddle/paddle@sha256:" + "0" * 64, None),
        ("registry.example/mirror/paddle:3.0.0-gpu-cuda11.8", "3.0.0"),
        ("registry.example/team/paddle:7.0.0", "3.1.1"),
        ("registry.example/team/other:7.0.0", None),
        ("registry.example/team/odd:1", None),
    ],
)
def test_a_tag_speaks_in_paddles_repositories_and_a_label_everywhere(reference, release):
    assert release_of(reference, (OWN, ODD), MIRROR) == release
