from __future__ import annotations

import pytest

from jupyter_paddle_gpu.devices.catalogue import accelerators, find


def test_every_row_has_a_source_and_finds_itself() -> None:
    rows = accelerators()
    assert len(rows) >= 40
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
        ("910B2C", "Ascend 910B 64GB"),
        ("Ascend910B", "Ascend 910B 64GB"),
        ("a100", "A100 SXM 40GB"),
        ("a100 80g", "A100 SXM 80GB"),
        ("rtx4090", "RTX 4090 24GB"),
        ("2080ti", "RTX 2080 Ti 11GB"),
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
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA A10G",
        "A100 64GB",
        "NVIDIA H100 NVL",
        "RTX 2080",
        "T400",
        "Ascend 310P",
    ],
)
def test_a_similar_name_of_another_card_finds_nothing(name: str) -> None:
    assert find(name) is None
