from __future__ import annotations

import pytest

from jupyter_paddle_gpu.devices.catalogue import accelerators, covers, find

MEMORY_CLOSE = 0.08
"""gpuhunt writes GB where others write GiB."""


def test_every_row_has_a_source_and_finds_itself() -> None:
    rows = accelerators()
    assert len(rows) >= 60
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.source
        assert find(row.name) == row
        assert row.usable_bytes is None or 0.9 * row.memory_bytes < row.usable_bytes <= row.memory_bytes


def test_figures_hang_together() -> None:
    for row in accelerators():
        if row.vendor == "nvidia":
            assert row.compute_capability
            assert row.fp32
            assert row.bandwidth
            # bfloat16 came with compute capability 8.0
            assert (row.bf16 is not None) == (row.compute_capability >= (8, 0))
        if row.domestic:
            assert row.vendor not in ("nvidia", "amd")
        if row.vendor in ("nvidia", "amd"):
            assert row.year is not None
            assert row.watts
        # Denser types are never slower than wider ones where tensor cores have both.
        for narrow, wide in ((row.fp8, row.bf16), (row.int8, row.fp8), (row.bf16, row.tf32)):
            assert narrow is None or wide is None or narrow >= wide


def test_what_gpuhunt_knows_too_it_says_likewise() -> None:
    gpuhunt = pytest.importorskip("gpuhunt", reason="the package gpuhunt, which has a catalogue of its own")
    compared = 0
    for known in (*gpuhunt.KNOWN_NVIDIA_GPUS, *gpuhunt.KNOWN_AMD_GPUS):
        row = find(f"{known.name} {known.memory}GB")
        if row is None:
            continue
        compared += 1
        assert abs(row.memory_bytes / 2**30 - known.memory) <= MEMORY_CLOSE * known.memory, (row.name, known)
        if hasattr(known, "compute_capability"):
            assert row.compute_capability == tuple(known.compute_capability), (row.name, known)
        else:
            assert row.vendor == "amd"
    assert compared >= 35


def test_home_grown_cards_are_there() -> None:
    names = "Ascend 910B", "Ascend 910C", "Kunlun P800", "DCU Z100", "DCU K100", "MLU370-X8", "MLU590", "Enflame S60"
    for name in names:
        row = find(name)
        assert row is not None, name
        assert row.domestic


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NVIDIA A100-SXM4-80GB", "A100 SXM 80GB"),
        ("NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"),
        ("NVIDIA A100-PCIE-40GB", "A100 PCIe 40GB"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "A100 SXM 40GB"),
        ("Tesla V100-SXM2-16GB", "V100 SXM 16GB"),
        ("Tesla T4", "T4 16GB"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM 80GB"),
        ("NVIDIA H100 PCIe", "H100 PCIe 80GB"),
        ("NVIDIA H200", "H200 SXM 141GB"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090 24GB"),
        ("NVIDIA GeForce RTX 2080 Ti", "RTX 2080 Ti 11GB"),
        ("NVIDIA RTX A6000", "RTX A6000 48GB"),
        ("AMD Instinct MI210", "MI210 64GB"),
        ("910B2C", "Ascend 910B2C 64GB"),
        ("Ascend 910B4", "Ascend 910B4 32GB"),
        ("Ascend910B", "Ascend 910B 64GB"),
        ("a100", "A100 SXM 40GB"),
        ("a100 80g", "A100 SXM 80GB"),
        ("rtx4090", "RTX 4090 24GB"),
        ("2080ti", "RTX 2080 Ti 11GB"),
        ("NVIDIA GeForce RTX 4090 D", "RTX 4090 D 24GB"),
        ("NVIDIA H100 NVL", "H100 NVL 94GB"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada 48GB"),
        ("Quadro RTX 6000", "Quadro RTX 6000 24GB"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 Blackwell 96GB"),
        ("NVIDIA TITAN RTX", "TITAN RTX 24GB"),
        ("GTX1080Ti", "GTX 1080 Ti 11GB"),
        ("P800 PCIe", "Kunlun P800 96GB"),
        ("RTX_3090", "RTX 3090 24GB"),
        ("V100-32GB", "V100 PCIe 32GB"),
        ("A100-SXM4-40GB", "A100 SXM 40GB"),
        ("v100 32G", "V100 PCIe 32GB"),
    ],
)
def test_names_of_drivers_and_people_are_understood(name: str, expected: str) -> None:
    found = find(name)
    assert found is not None
    assert found.name == expected


@pytest.mark.parametrize(
    "name",
    [
        "",
        "GPU",
        "NVIDIA",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA A10G",
        "A100 64GB",
        "RTX 2080 Super",
        "T400",
        "Ascend 310P",
    ],
)
def test_a_similar_name_of_another_card_finds_nothing(name: str) -> None:
    assert find(name) is None


def test_an_edition_is_a_row_of_its_own_and_the_model_means_all_of_them() -> None:
    assert [find(name).fp16 for name in ("910B2C", "Ascend910B3", "Ascend 910B")] == [353.9e12, 294.9e12, None]  # type: ignore[union-attr]
    assert covers("Ascend 910B", "910B2C")
    assert not covers("910B3", "910B2C")
