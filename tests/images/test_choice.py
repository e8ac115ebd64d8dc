from __future__ import annotations

import pytest

from jupyter_paddle_gpu.devices.makers.registry import makers
from jupyter_paddle_gpu.domain.containers.images import LocalImage, RegistryAnswer
from jupyter_paddle_gpu.domain.containers.references import parse_reference
from jupyter_paddle_gpu.images.catalogue import load_catalogue, version_key
from jupyter_paddle_gpu.images.choice import ImagePolicy, allowed_image, choose_image
from jupyter_paddle_gpu.images.tags import explain_tag

BAIDU = "ccr-2vdh3abv-pub.cnc.bj.baidubce.com/paddlepaddle/paddle"
NEW_DRIVER = "580.95.05"


def tag(choice) -> str:
    return choice.reference.rpartition(":")[2]


def codes(messages) -> set[str]:
    return {message.code for message in messages}


@pytest.mark.parametrize(
    ("card", "capability", "paddle", "driver", "expected"),
    [
        ("P40", (6, 1), "3.3.1", NEW_DRIVER, "3.3.1-gpu-cuda11.8-cudnn8.9"),
        ("V100", (7, 0), "3.3.1", NEW_DRIVER, "3.3.1-gpu-cuda12.6-cudnn9.5"),
        ("V100, old driver", (7, 0), "3.3.1", "470.57.02", "3.3.1-gpu-cuda11.8-cudnn8.9"),
        ("T4", (7, 5), "3.3.1", NEW_DRIVER, "3.3.1-gpu-cuda13.0-cudnn9.13"),
        ("A100", (8, 0), "3.3.1", "550.54.14", "3.3.1-gpu-cuda12.9-cudnn9.9"),
        ("A100, 535", (8, 0), "3.3.1", "535.183.01", "3.3.1-gpu-cuda11.8-cudnn8.9"),
        ("L4", (8, 9), "3.0.0", "560.35.03", "3.0.0-gpu-cuda12.6-cudnn9.5-trt10.5"),
        ("H100", (9, 0), "2.6.2", "535.183.01", "2.6.2-gpu-cuda12.0-cudnn8.9-trt8.6"),
        ("B200", (10, 0), "3.2.0", "570.86.15", "3.2.0-gpu-cuda12.9-cudnn9.9"),
        ("RTX 5090", (12, 0), "3.2.1", "570.86.15", "3.2.1-gpu-cuda12.9-cudnn9.9"),
        # 3.2.0 has no kernels for it: the next release of the same line that has.
        ("RTX 5090 on 3.2.0", (12, 0), "3.2.0", "570.86.15", "3.2.1-gpu-cuda12.9-cudnn9.9"),
    ],
)
def test_the_build_fits_driver_and_card(card, capability, paddle, driver, expected):
    choice = choose_image(paddle, driver, capability, "nvidia")
    assert tag(choice) == expected, card
    assert choice.reference.startswith(BAIDU)
    assert {"gpu_image", "registry_not_asked"} <= codes(choice.reasons)


def test_what_was_ruled_out_says_why():
    choice = choose_image("3.3.1", "470.57.02", (9, 0), "nvidia")
    assert choice.reference == ""
    sentences = [message.render() for message in choice.ruled_out]
    assert any("needs driver 580.65.06 or newer, here it is 470.57.02" in text for text in sentences)
    assert any("this card is 9.0" in text for text in sentences)


def test_no_gpu_takes_the_cpu_image():
    assert choose_image("3.3.1", None, None, None).reference == f"{BAIDU}:3.3.1"
    assert choose_image("3.3.1", None, None, "cpu").reference == f"{BAIDU}:3.3.1"


def test_a_local_image_comes_before_a_newer_one_elsewhere():
    name = "paddlepaddle/paddle:3.3.1-gpu-cuda12.6-cudnn9.5"
    here = LocalImage(id="sha256:1", references=(name,), digests=(f"paddlepaddle/paddle@sha256:{'a' * 64}",))
    choice = choose_image("3.3.1", NEW_DRIVER, (8, 0), "nvidia", local=[here])
    assert (choice.reference, choice.local, choice.digest) == (name, True, f"sha256:{'a' * 64}")
    # … but never one that does not run here.
    assert not choose_image("3.3.1", NEW_DRIVER, (6, 1), "nvidia", local=[here]).local


def test_registries_are_asked_in_the_configured_order_and_pin_the_digest():
    asked = []

    def ask(reference: str) -> RegistryAnswer:
        asked.append(reference)
        if reference.startswith("mirror.example"):
            return RegistryAnswer(state="missing")
        return RegistryAnswer(state="found", digest="sha256:" + "b" * 64)

    policy = ImagePolicy(registries=("mirror.example/paddle/paddle", "docker-hub"))
    choice = choose_image("3.3.1", NEW_DRIVER, (8, 0), "nvidia", policy=policy, ask=ask)
    assert asked == [
        "mirror.example/paddle/paddle:3.3.1-gpu-cuda13.0-cudnn9.13",
        "paddlepaddle/paddle:3.3.1-gpu-cuda13.0-cudnn9.13",
    ]
    assert choice.digest == "sha256:" + "b" * 64
    assert "image_not_in_registry" in codes(choice.ruled_out)


def test_no_registry_answering_is_said():
    choice = choose_image("3.3.1", None, None, None, ask=lambda _: RegistryAnswer(state="silent"))
    assert choice.reference == f"{BAIDU}:3.3.1"
    assert choice.digest is None
    assert "registry_silent" in codes(choice.reasons)


def test_the_old_registry_serves_only_old_releases():
    policy = ImagePolicy(registries=("baidu-old", "docker-hub"))
    assert choose_image("2.6.2", None, None, None, policy=policy).reference.startswith("registry.baidubce.com/")
    assert choose_image("3.0.0", None, None, None, policy=policy).reference == "paddlepaddle/paddle:3.0.0"


@pytest.mark.parametrize(
    ("made_up", "real"),
    [
        ("latest-gpu-cuda11.8-cudnn8", "3.3.1-gpu-cuda11.8-cudnn8.9"),
        ("2.6-gpu-cuda11.8-cudnn8", "2.6.2-gpu-cuda11.7-cudnn8.4-trt8.4"),
        ("3.0.0-gpu-cuda12.6-cudnn9.5", "3.0.0-gpu-cuda12.6-cudnn9.5-trt10.5"),
        ("3.2-gpu-cuda12.6", "3.2.2-gpu-cuda12.6-cudnn9.5"),
    ],
)
def test_made_up_tags_are_recognised(made_up, real):
    choice = choose_image(None, None, None, "nvidia", wanted=f"paddlepaddle/paddle:{made_up}")
    assert choice.reference == f"paddlepaddle/paddle:{real}"
    assert "made_up_tag" in codes(choice.ruled_out)
    assert real in choice.ruled_out[0].render_hint()


def test_a_tag_newer_than_the_catalogue_is_left_alone():
    assert explain_tag(parse_reference("paddlepaddle/paddle:3.9.0-gpu-cuda14.0-cudnn10.0")) is None
    assert explain_tag(parse_reference("paddlepaddle/paddle:latest-dev-cuda11.2-cudnn8-gcc82")) is None
    assert explain_tag(parse_reference("other/paddle:latest-gpu-cuda11.8-cudnn8")) is None
    assert choose_image("9.9.9", None, None, None).reference == f"{BAIDU}:3.3.1"


def test_other_vendors_have_their_own_images():
    assert "paddle-npu" in choose_image("3.3.1", None, None, "ascend", machine="aarch64").reference
    assert "paddle-xpu" in choose_image("3.3.1", None, None, "kunlun").reference
    assert choose_image("3.3.1", None, None, "kunlun", machine="riscv64").reference == ""


def test_a_team_image_needs_the_allow_list():
    refused = choose_image("3.3.1", None, None, None, wanted="evil.example/x:1")
    assert refused.reference == ""
    assert "image_not_allowed" in codes(refused.ruled_out)
    policy = ImagePolicy(allowed=("registry.example/team/*",))
    assert allowed_image("registry.example/team/paddle:7", policy) is None
    assert allowed_image("registry.example/teammate:7", policy) is not None
    assert choose_image(None, None, None, None, wanted="registry.example/team/p:7", policy=policy).reference


def test_every_row_of_the_catalogue_is_whole():
    catalogue = load_catalogue()
    assert list(catalogue.releases) == sorted(catalogue.releases, key=version_key)
    assert all(registry.source for registry in catalogue.registries)
    rows = makers().rows["nvidia"].releases
    assert set(rows.published) <= set(catalogue.releases)
    assert all(build.source and build.tag.startswith(f"cuda{build.runtime}-") for build in rows.builds)
    assert {tag for tags in rows.published.values() for tag in tags} == {build.tag for build in rows.builds}


def test_the_asked_version_comes_before_what_is_local_and_without_one_local_wins():
    here = LocalImage(id="sha256:1", references=(f"{BAIDU}:3.2.0",))
    assert choose_image("3.3.1", None, None, None, local=[here]).reference == f"{BAIDU}:3.3.1"
    assert choose_image(None, None, None, None, local=[here]).reference == f"{BAIDU}:3.2.0"


def said(choice) -> str:
    return " ".join(message.render() for message in choice.reasons)


def test_another_paddle_than_the_asked_one_is_said():
    newer, older = (choose_image(version, None, None, None) for version in ("9.9.9", "1.8.5"))
    assert newer.reference == f"{BAIDU}:3.3.1" and older.reference == f"{BAIDU}:2.5.2"
    assert "No image with Paddle 9.9.9 is known (the catalog has 2.5.2 to 3.3.1); Paddle 3.3.1 is" in said(newer)
    assert "No image with Paddle 1.8.5 is known" in said(older)
    blackwell = choose_image("2.6.2", NEW_DRIVER, (12, 0), "nvidia")
    assert tag(blackwell).startswith("3.2.1-")
    assert "No image with Paddle 2.6.2 fits here; Paddle 3.2.1 is the nearest that does" in said(blackwell)
    for version in ("3.3.1", "3.3.1+cu126", None):
        told = codes(choose_image(version, None, None, None).reasons)
        assert not {"paddle_without_image", "paddle_does_not_run"} & told


def test_what_is_known_of_driver_and_card_is_said_and_nothing_else():
    card = choose_image("3.3.1", None, (8, 0), "nvidia")
    assert "gpu_image_for_card" in codes(card.reasons) and "needs driver 580.65.06 or newer" in said(card)
    driver = choose_image("3.3.1", NEW_DRIVER, None, "nvidia")
    assert "gpu_image_for_driver" in codes(driver.reasons) and f"runs on driver {NEW_DRIVER}" in said(driver)
    assert "gpu_image_unchecked" in codes(choose_image("3.3.1", None, None, "nvidia").reasons)


def test_a_maker_without_an_image_is_said():
    choice = choose_image("3.3.1", None, None, "amd")
    assert choice.reference == "" and codes(choice.ruled_out) == {"vendor_without_image"}
