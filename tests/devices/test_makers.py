"""A device maker is one row: from it follow inventory, variables, nodes, images, context and doctor's findings."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from jupyter_paddle_gpu.devices import catalogue
from jupyter_paddle_gpu.devices.contexts import ContextRange, of_cuda
from jupyter_paddle_gpu.devices.maker import DeviceNodes, Maker, MakerImage, PciIds
from jupyter_paddle_gpu.devices.makers import registry
from jupyter_paddle_gpu.devices.releases import Build, DriverRule, ReleaseBuilds
from jupyter_paddle_gpu.devices.service import DeviceService
from jupyter_paddle_gpu.domain.devices import Device, Inventory
from jupyter_paddle_gpu.domain.errors import PaddleGpuError
from jupyter_paddle_gpu.domain.messages import Message
from jupyter_paddle_gpu.domain.notebooks import NotebookFacts
from jupyter_paddle_gpu.domain.what_ifs import EstimateRequest
from jupyter_paddle_gpu.engines.docker.connection.daemon import DaemonFacts
from jupyter_paddle_gpu.engines.docker.devices import access
from jupyter_paddle_gpu.engines.docker.policy import check_environment
from jupyter_paddle_gpu.engines.docker.settings import DockerSettings
from jupyter_paddle_gpu.estimator.sources.traces import tracer_request
from jupyter_paddle_gpu.images.choice import choose_image


def _findings(inventory: Inventory) -> Iterable[Message]:
    yield Message(code="driver_found", text="Acme's driver.")


ACME = Maker(
    name="acme",
    title="Acme",
    set_device="acme",
    visible_devices="ACME_VISIBLE",
    reserved=("ACME_ORDER",),
    hidden="none",
    container=DeviceNodes(nodes=("/dev/acme{n}",), shared=("/dev/acmectl",), tools=("/opt/acme",)),
    pci=PciIds(vendor="0x9999", classes=("0x12",), names={"0x0001": "Acme One"}),
    tools=("acme-smi",),
    images=(MakerImage(machine="x86_64", reference="acme.example/paddle:1", standing="reported", source="here"),),
    context=lambda capability, cuda: ContextRange(1, 3, "here"),
    findings=_findings,
    standing="reported",
)
"""A maker that exists only in the tests."""


@pytest.fixture
def makers(monkeypatch: pytest.MonkeyPatch) -> Iterable[registry.Makers]:
    """With one line more in the table."""
    monkeypatch.setattr(registry, "BUILT_IN", (*registry.BUILT_IN, ACME))
    registry.makers.cache_clear()
    yield registry.makers()
    registry.makers.cache_clear()


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with two of its cards."""
    for number, address in enumerate(("0000:01:00.0", "0000:02:00.0")):
        folder = tmp_path / "sys/bus/pci/devices" / address
        folder.mkdir(parents=True)
        for name, text in {"vendor": "0x9999", "device": "0x0001", "class": "0x120000"}.items():
            (folder / name).write_text(text + "\n")
        (tmp_path / "dev").mkdir(exist_ok=True)
        (tmp_path / f"dev/acme{number}").touch()
    (tmp_path / "opt/acme").mkdir(parents=True)
    return tmp_path


FACTS = DaemonFacts(id="x")


def test_its_cards_are_listed(makers: registry.Makers, machine: Path) -> None:
    service = DeviceService(machine, simulate="", readers=makers.readers(machine))
    found = [(device.id, device.index, device.vendor, device.name) for device in service.snapshot().devices]
    short = {device.short_name for device in service.snapshot().devices}
    service.close()
    assert found == [("acme-0000:01:00.0", 0, "acme", "Acme One"), ("acme-0000:02:00.0", 1, "acme", "Acme One")]
    assert short == {"One"}


@pytest.mark.parametrize(
    ("vendor", "name", "short"),
    [
        ("nvidia", "NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("nvidia", "NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("nvidia", "Tesla T4", "Tesla T4"),
        ("amd", "AMD Instinct MI300X", "Instinct MI300X"),
        ("ascend", "Ascend 910B", "Ascend 910B"),
    ],
)
def test_a_narrow_line_leaves_out_what_every_card_of_a_maker_is_called(vendor: str, name: str, short: str) -> None:
    (named,) = registry.with_names([Device(id="1", index=0, vendor=vendor, name=name)])
    assert named.short_name == short


def test_a_container_gets_exactly_its_nodes(makers: registry.Makers, machine: Path) -> None:
    given = access(("acme-0000:02:00.0",), FACTS, DockerSettings(), root=machine)
    assert given.nodes == ("/dev/acme1",)
    assert [mount.source for mount in given.mounts] == ["/opt/acme"]
    assert given.environment == {"ACME_VISIBLE": "1", "NVIDIA_VISIBLE_DEVICES": "void"}
    (machine / "dev/acme1").unlink()
    with pytest.raises(PaddleGpuError) as caught:
        access(("acme-0000:02:00.0",), FACTS, DockerSettings(), root=machine)
    assert (caught.value.code, caught.value.message.params["node"]) == ("device_node_missing", "/dev/acme1")


def test_a_process_sees_its_devices_and_no_others(makers: registry.Makers, machine: Path) -> None:
    assert makers.visible(()) == {"CUDA_VISIBLE_DEVICES": "", "ACME_VISIBLE": "none"}
    assert makers.visible(("acme-0000:02:00.0",), machine) == {"CUDA_VISIBLE_DEVICES": "", "ACME_VISIBLE": "1"}
    assert makers.visible(("GPU-1", "GPU-2")) == {"CUDA_VISIBLE_DEVICES": "GPU-1,GPU-2", "ACME_VISIBLE": "none"}


def test_the_tracer_is_told_its_devices_name(makers: registry.Makers) -> None:
    facts = NotebookFacts(kernel_name="python3", cells=(), language="python", imports_paddle=True, loop="custom")
    assert "acme" in tracer_request(facts, Path(), EstimateRequest())["device_names"]


def test_nobody_sets_its_variables_in_a_container(makers: registry.Makers) -> None:
    for name in ("ACME_VISIBLE", "ACME_ORDER"):
        with pytest.raises(PaddleGpuError) as caught:
            check_environment({name: "0"})
        assert caught.value.code == "variable_reserved"


def test_image_context_and_finding_follow(makers: registry.Makers) -> None:
    choice = choose_image("3.3.1", None, None, "acme", machine="x86_64")
    assert choice.reference == "acme.example/paddle:1"
    assert registry.context_range("acme", None) == ContextRange(1, 3, "here")
    assert [finding.render() for finding in makers.rows["acme"].findings(None)] == ["Acme's driver."]  # type: ignore[arg-type]


RELEASES = ReleaseBuilds(
    platform="AcmeRT",
    builds=(
        Build(tag="rt4", runtime="4.0", architectures=("1.0",), standing="reported", source="here"),
        Build(tag="rt5", runtime="5.1", architectures=("1.0", "2.0"), standing="reported", source="here"),
    ),
    published={"3.3.1": ("rt4", "rt5"), "3.3.0": ("rt4",)},
    named="{paddle}-acme-{build}",
    written="<version>-acme-rt<x>",
    manner=re.compile(r"(?P<paddle>latest|[\d.]+)-acme-rt-?(?P<runtime>\d)"),
    drivers=(DriverRule(runtime="5", minimum="20.0", standing="reported", source="here"),),
    runs=lambda compiled, card: compiled == card,
)


def test_images_of_releases_follow_from_its_row(makers: registry.Makers) -> None:
    makers.rows["acme"] = dataclasses.replace(ACME, images=(), releases=RELEASES)
    chosen = choose_image("3.3.1", "20.1", (1, 0), "acme")
    assert chosen.reference.endswith("paddle:3.3.1-acme-rt5")
    assert "Paddle 3.3.1 with AcmeRT 5.1: runs on driver 20.1" in chosen.reasons[0].render()
    older = choose_image("3.3.1", "19.0", (1, 0), "acme")
    assert older.reference.endswith("paddle:3.3.1-acme-rt4")
    assert "rt5: AcmeRT 5.1 needs driver 20.0 or newer, here it is 19.0." in older.ruled_out[0].render()
    assert choose_image("3.3.1", None, (3, 0), "acme").reference == ""
    meant = choose_image(None, None, None, "acme", wanted="paddlepaddle/paddle:latest-acme-rt-4")
    assert meant.reference == "paddlepaddle/paddle:3.3.1-acme-rt4"


def test_what_is_not_known_stays_unknown() -> None:
    assert registry.context_range("nobody", None).source.startswith("no published figure")
    assert registry.context_range(None, (8, 6)) == of_cuda((8, 6), None)
    assert choose_image("3.3.1", None, None, "nobody").reference == ""
    assert registry.makers().of_device("0").name == "nvidia", "a bare number is a CUDA device"


def test_ours_are_complete() -> None:
    rows = registry.load(others=()).rows
    assert set(rows) == {row.name for row in registry.BUILT_IN}
    assert {card.vendor for card in catalogue.accelerators()} <= set(rows)
    assert {name for name, row in rows.items() if row.standing == "read"} == {"nvidia"}
    known = {"CUDA", "HIP", "ROCR", "XPU", "MLU", "TOPS", "ASCEND", "ASCEND_RT"}
    assert {f"{name}_VISIBLE_DEVICES" for name in known} | {"GPU_DEVICE_ORDINAL"} <= registry.makers().variables()
    ids = {"GPU-3f1c": "nvidia", "MIG-9": "nvidia", "3": "nvidia", "ascend-0000:01:00.0": "ascend", "amd-1": "amd"}
    assert {device: registry.makers().of_device(device).name for device in ids} == ids


def test_two_of_a_name_are_an_error() -> None:
    with pytest.raises(ValueError, match="acme"):
        registry.load((ACME, ACME), others=())


def test_a_package_that_cannot_be_loaded_keeps_no_other_maker_away() -> None:
    broken = EntryPoint(name="absent", value="no_such_module:MAKER", group=registry.GROUP)
    loaded = registry.load(others=[broken])
    assert set(loaded.rows) == {row.name for row in registry.BUILT_IN}
    assert [problem.params["name"] for problem in loaded.problems] == ["absent"]


def test_another_packages_entry_point_is_enough(tmp_path: Path) -> None:
    installed = tmp_path / "site"
    metadata = installed / "acme-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{registry.GROUP}]\nacme = acme:MAKER\n")
    (installed / "acme.py").write_text(
        "from jupyter_paddle_gpu.devices.maker import DeviceNodes, Maker\n"
        "MAKER = Maker(name='acme', title='Acme', set_device='acme', visible_devices='ACME_VISIBLE',\n"
        "              container=DeviceNodes(nodes=('/dev/acme{n}',)), standing='reported')\n"
    )
    code = (
        "from jupyter_paddle_gpu.devices.makers.registry import makers\n"
        "print(makers().of_device('acme-1').title, makers().visible(('acme-1',))['ACME_VISIBLE'])"
    )
    paths = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Acme", "1"]


def test_the_rows_load_no_driver() -> None:
    """The estimator asks them for a context range: it must not pay for NVML."""
    code = "import sys, jupyter_paddle_gpu.devices.makers.registry as r; r.makers(); print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pynvml", "docker", "psutil"} & set(loaded)


def test_makers_that_have_one_word_of_paddles_are_called_by_their_own():
    def titles(*vendors: str) -> list[str]:
        return [one.title for one in registry.with_names(Device(id=v, index=0, vendor=v, name=v) for v in vendors)]

    assert titles("hygon", "ascend") == ["GPU 0", "NPU 0"], "as Paddle says it"
    assert titles("nvidia", "hygon", "amd", "kunlun") == ["GPU 0", "DCU 0", "AMD 0", "XPU 0"]
